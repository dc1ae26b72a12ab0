// Package pgtest gives tests a scratch PostgreSQL: a server that the environment names, or a cluster in a temporary folder.
package pgtest

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver that creates scratch databases

	"github.com/svc-observability/svc/server/testport"
)

// Environment variables of the PostgreSQL tests.
const (
	// EnvURL is the URL of a server whose user may create databases. Without it, Start starts a scratch cluster.
	EnvURL = "SVC_TEST_POSTGRES_URL"
	// EnvRequire set to 1 makes a test fail instead of skip when there is no PostgreSQL.
	EnvRequire = "SVC_TEST_REQUIRE_POSTGRES"
)

const clusterStart = 30 * time.Second

// Server is a server on which tests create databases of their own.
type Server struct {
	url  *url.URL
	next atomic.Int64
}

// Start returns a server that lives as long as the test. If this machine has no PostgreSQL, it skips the test with a message, or
// fails it if EnvRequire is set.
func Start(t testing.TB) *Server {
	t.Helper()
	if text := os.Getenv(EnvURL); text != "" {
		u, err := url.Parse(text)
		if err != nil {
			t.Fatalf("%s is not a URL", EnvURL)
		}
		return &Server{url: u}
	}
	bin := postgresBin()
	if bin == "" {
		const reason = "no PostgreSQL: initdb and postgres are neither in PATH nor in /usr/lib/postgresql/*/bin, and " + EnvURL + " is not set"
		if os.Getenv(EnvRequire) == "1" {
			t.Fatal(reason)
		}
		t.Skip(reason)
	}
	return startCluster(t, bin)
}

// postgresBin returns the folder of the newest PostgreSQL binaries, or an empty text if there are none.
func postgresBin() string {
	if path, err := exec.LookPath("initdb"); err == nil {
		if real, err := filepath.EvalSymlinks(path); err == nil && executable(filepath.Join(filepath.Dir(real), "postgres")) {
			return filepath.Dir(real)
		}
	}
	dirs, _ := filepath.Glob("/usr/lib/postgresql/*/bin")
	slices.SortFunc(dirs, func(a, b string) int { return debianVersion(b) - debianVersion(a) })
	for _, dir := range dirs {
		if executable(filepath.Join(dir, "initdb")) && executable(filepath.Join(dir, "postgres")) {
			return dir
		}
	}
	return ""
}

func debianVersion(dir string) int {
	n, _ := strconv.Atoi(filepath.Base(filepath.Dir(dir)))
	return n
}

func executable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode()&0o111 != 0
}

func startCluster(t testing.TB, bin string) *Server {
	t.Helper()
	// Not t.TempDir: the path of a unix socket is limited to about 100 bytes, and PostgreSQL's user must reach it.
	dir, err := os.MkdirTemp("", "svcpg")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Errorf("remove the scratch cluster: %v", err)
		}
	})
	attr := clusterUser(t, dir)
	data := filepath.Join(dir, "data")

	ctx, cancel := context.WithTimeout(context.Background(), clusterStart)
	defer cancel()
	initdb := exec.CommandContext(ctx, filepath.Join(bin, "initdb"),
		"-D", data, "-U", "svc", "--auth=trust", "--no-sync", "--encoding=UTF8", "--locale=C", "--no-instructions")
	initdb.Dir, initdb.SysProcAttr = dir, attr
	if out, err := initdb.CombinedOutput(); err != nil {
		t.Fatalf("initdb: %v\n%s", err, out)
	}

	port := testport.Free(t)
	var log bytes.Buffer
	server := exec.Command(filepath.Join(bin, "postgres"), "-D", data, "-k", dir, "-p", strconv.Itoa(port),
		"-c", "listen_addresses=127.0.0.1", "-c", "fsync=off", "-c", "full_page_writes=off", "-c", "max_connections=200",
		"-c", "shared_buffers=32MB", "-c", "timezone=Asia/Kolkata") // an unusual zone: the store must not depend on it
	server.Dir, server.SysProcAttr, server.Stdout, server.Stderr = dir, attr, &log, &log
	if err := server.Start(); err != nil {
		t.Fatalf("start postgres: %v", err)
	}
	exited := make(chan error, 1)
	go func() { exited <- server.Wait() }()
	t.Cleanup(func() {
		// SIGQUIT means an immediate shutdown. The cluster needs no checkpoint.
		_ = server.Process.Signal(syscall.SIGQUIT)
		select {
		case <-exited:
		case <-time.After(10 * time.Second):
			_ = server.Process.Kill()
			<-exited
		}
	})

	p := &Server{url: &url.URL{
		Scheme: "postgres", User: url.User("svc"), Host: net.JoinHostPort("127.0.0.1", strconv.Itoa(port)), Path: "/postgres",
		RawQuery: "sslmode=disable",
	}}
	for {
		err := p.exec(ctx, "SELECT 1")
		if err == nil {
			return p
		}
		select {
		case werr := <-exited:
			exited <- werr
			t.Fatalf("postgres ended at start: %v\n%s", werr, log.String())
		case <-ctx.Done():
			t.Fatalf("postgres does not answer: %v", err)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// clusterUser gives the folder to an unprivileged user if the test runs as root, because PostgreSQL refuses to run as root.
func clusterUser(t testing.TB, dir string) *syscall.SysProcAttr {
	t.Helper()
	if os.Geteuid() != 0 {
		return nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, uerr := strconv.ParseUint(u.Uid, 10, 32)
		gid, gerr := strconv.ParseUint(u.Gid, 10, 32)
		if uerr != nil || gerr != nil {
			continue
		}
		if err := os.Chown(dir, int(uid), int(gid)); err != nil {
			t.Fatal(err)
		}
		return &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
	}
	t.Fatal("running as root, and neither the user postgres nor nobody exists to run PostgreSQL")
	return nil
}

// NewDatabase creates an empty database and returns its URL. It is dropped with the test.
func (p *Server) NewDatabase(t testing.TB) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), clusterStart)
	defer cancel()
	name := fmt.Sprintf("svc_test_%d_%d", os.Getpid(), p.next.Add(1))
	if err := p.exec(ctx, "CREATE DATABASE "+name); err != nil {
		t.Fatalf("create a database: %v", err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), clusterStart)
		defer cancel()
		if err := p.exec(ctx, "DROP DATABASE "+name+" WITH (FORCE)"); err != nil && !strings.Contains(err.Error(), "does not exist") {
			t.Errorf("drop the database: %v", err)
		}
	})
	u := *p.url
	u.Path = "/" + name
	return u.String()
}

func (p *Server) exec(ctx context.Context, statement string) error {
	db, err := sql.Open("pgx", p.url.String())
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	_, err = db.ExecContext(ctx, statement)
	return err
}
