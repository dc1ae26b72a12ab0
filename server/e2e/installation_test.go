package e2e

import (
	"bytes"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/svc-observability/svc/server/store/pgtest"
	"github.com/svc-observability/svc/server/testkit"
)

// refusedStart runs `svc serve` on a folder, expects the exit code of a configuration error, and returns the message.
func refusedStart(t *testing.T, dir string, more ...string) string {
	t.Helper()
	cmd := testkit.Command(t, append([]string{
		"serve", "--data-dir", dir, "--api-addr", "127.0.0.1:0", "--ingest-addr", "127.0.0.1:0",
		"--otlp-grpc-addr", "127.0.0.1:0",
	}, more...)...)
	out := &bytes.Buffer{}
	cmd.Stderr = out
	err := cmd.Run()
	if code := cmd.ProcessState.ExitCode(); code != 2 {
		t.Fatalf("exit code %d (%v), want 2\n%s", code, err, out)
	}
	return out.String()
}

func mentions(t *testing.T, message string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(message, part) {
			t.Errorf("the message lacks %q:\n%s", part, message)
		}
	}
}

func move(t *testing.T, from, to string) {
	t.Helper()
	if err := os.Rename(from, to); err != nil {
		t.Fatal(err)
	}
}

func adopt(t *testing.T, dir, lost string) {
	t.Helper()
	if out, err := testkit.Command(t, "admin", "installation", "adopt", "--lost", lost, "--data-dir", dir).CombinedOutput(); err != nil {
		t.Fatalf("adopt --lost %s: %v\n%s", lost, err, out)
	}
}

// TestLostParts: a start without a part that the rest of the installation needs is refused, and replaces nothing. With the part
// restored, everything works as before. Only an explicit command starts anew.
func TestLostParts(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	aside := t.TempDir()
	p := testkit.StartFirst(t, dir)
	if status, _, tag := ingest(t, &p.Server, oneSpan(1, 100)); status != http.StatusOK {
		t.Fatalf("%d %s", status, tag)
	}
	awaitCount(t, p, "1")
	stop := func() {
		t.Helper()
		if code := p.Stop(t); code != 0 {
			t.Fatalf("exit code %d\n%s", code, p.Log())
		}
	}
	stop()

	secrets := filepath.Join(dir, "secrets")
	move(t, secrets, filepath.Join(aside, "secrets"))
	mentions(t, refusedStart(t, dir), filepath.Join(secrets, "pepper"), "is missing", "svc.db", "Restore the file", "adopt --lost secret-key")
	if _, err := os.Stat(secrets); !os.IsNotExist(err) {
		t.Errorf("the refused start made a new secret key (%v)", err)
	}
	other := strings.Repeat("k", 32)
	mentions(t, refusedStart(t, dir, "--secret-key", other), "secret-key", "were made with the secret key", "adopt --lost secret-key")
	if out, err := testkit.Command(t, "admin", "org", "create", "second", "--data-dir", dir).CombinedOutput(); err == nil ||
		!strings.Contains(string(out), "Restore the file") {
		t.Errorf("an organization with keys that no server accepts: %v\n%s", err, out)
	}
	move(t, filepath.Join(aside, "secrets"), secrets)

	database := filepath.Join(dir, "svc.db")
	move(t, database, filepath.Join(aside, "svc.db"))
	mentions(t, refusedStart(t, dir), database, "is missing", filepath.Join(dir, "warehouse"),
		filepath.Join(dir, "queue"), "adopt --lost database")
	if _, err := os.Stat(database); !os.IsNotExist(err) {
		t.Errorf("the refused start made a new database (%v)", err)
	}
	move(t, filepath.Join(aside, "svc.db"), database)

	p = testkit.StartFirst(t, dir)
	if status, _, tag := ingest(t, &p.Server, oneSpan(2, 100)); status != http.StatusOK {
		t.Fatalf("with both restored: %d %s", status, tag)
	}
	awaitCount(t, p, "2")
	stop()

	// A database that was moved in from another installation.
	foreign := filepath.Join(t.TempDir(), "other")
	q := testkit.StartFirst(t, foreign)
	if code := q.Stop(t); code != 0 {
		t.Fatalf("exit code %d\n%s", code, q.Log())
	}
	move(t, database, filepath.Join(aside, "svc.db"))
	move(t, secrets, filepath.Join(aside, "secrets"))
	move(t, filepath.Join(foreign, "svc.db"), database)
	move(t, filepath.Join(foreign, "secrets"), secrets)
	mentions(t, refusedStart(t, dir), "the warehouse in "+filepath.Join(dir, "warehouse"), "of another installation", "Restore the database")
	move(t, filepath.Join(dir, "warehouse"), filepath.Join(aside, "warehouse"))
	move(t, filepath.Join(foreign, "warehouse"), filepath.Join(dir, "warehouse"))
	mentions(t, refusedStart(t, dir), "the ingest queue in "+filepath.Join(dir, "queue"), "of another installation")
	for _, part := range []string{"warehouse", "svc.db", "secrets"} {
		if err := os.RemoveAll(filepath.Join(dir, part)); err != nil {
			t.Fatal(err)
		}
		move(t, filepath.Join(aside, part), filepath.Join(dir, part))
	}

	// Both are lost for good, one after the other.
	if err := os.RemoveAll(secrets); err != nil {
		t.Fatal(err)
	}
	adopt(t, dir, "secret-key")
	p = testkit.StartFirst(t, dir)
	if status, _, _ := ingest(t, &p.Server, oneSpan(3, 100)); status != http.StatusUnauthorized {
		t.Errorf("a key of the lost secret key: %d", status)
	}
	awaitCount(t, p, "2")
	stop()
	if err := os.Remove(database); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(secrets); err != nil {
		t.Fatal(err)
	}
	adopt(t, dir, "database")
	if err := os.Remove(dir + ".keys.json"); err != nil {
		t.Fatal(err)
	}
	p = testkit.StartFirst(t, dir)
	if status, _, tag := ingest(t, &p.Server, oneSpan(4, 100)); status != http.StatusOK {
		t.Errorf("a key of the new database: %d %s", status, tag)
	}
	awaitCount(t, p, "3")
	stop()
}

// awaitCount waits until the number of spans in the warehouse is want.
func awaitCount(t *testing.T, p *testkit.Process, want string, more ...string) {
	t.Helper()
	eventually(t, want+" spans", func() bool {
		args := append([]string{"admin", "sql", "SELECT count() FROM spans", "--data-dir", p.DataDir}, more...)
		out, err := testkit.Command(t, args...).Output()
		return err == nil && strings.TrimSpace(string(out)) == want
	})
}

// engineByURL runs the embedded engine as a ClickHouse server of its own and returns its URL.
func engineByURL(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	socket := filepath.Join(dir, "socket")
	cmd := testkit.Command(t, "warehouse", "--data-dir", filepath.Join(dir, "engine"), "--socket", socket)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
	})
	eventually(t, "the engine", func() bool {
		c, err := net.Dial("unix", socket)
		if err == nil {
			_ = c.Close()
		}
		return err == nil
	})
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ln.Close() })
	go func() {
		for {
			from, err := ln.Accept()
			if err != nil {
				return
			}
			to, err := net.Dial("unix", socket)
			if err != nil {
				_ = from.Close()
				continue
			}
			for _, pair := range [][2]net.Conn{{from, to}, {to, from}} {
				go func() {
					_, _ = io.Copy(pair[0], pair[1])
					_ = pair[0].Close()
				}()
			}
		}
	}()
	return "clickhouse://" + ln.Addr().String() + "/svc"
}

// TestLostPartsOfServers: the same with PostgreSQL and a ClickHouse server, whose nodes may lose their data folders.
func TestLostPartsOfServers(t *testing.T) {
	t.Parallel()
	server := pgtest.Start(t)
	database, clickhouse := server.NewDatabase(t), engineByURL(t)
	databases := []string{"--database-url", database, "--warehouse-url", clickhouse}
	root := t.TempDir()
	one, two := filepath.Join(root, "one"), filepath.Join(root, "two")
	p := testkit.StartFirst(t, one, databases...)
	if status, _, tag := ingest(t, &p.Server, oneSpan(1, 100)); status != http.StatusOK {
		t.Fatalf("%d %s", status, tag)
	}
	awaitCount(t, p, "1", databases...)
	if code := p.Stop(t); code != 0 {
		t.Fatalf("exit code %d\n%s", code, p.Log())
	}
	// A new node, or a node whose data folder was lost, does not get a secret key of its own.
	mentions(t, refusedStart(t, two, databases...), filepath.Join(two, "secrets", "pepper"), "is missing", "copy it from another node")
	if out, err := exec.Command("cp", "-a", filepath.Join(one, "secrets"), two).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	p = testkit.StartFirst(t, two, databases...)
	if code := p.Stop(t); code != 0 {
		t.Fatalf("exit code %d\n%s", code, p.Log())
	}
	// A new database beside the full ClickHouse server, and beside the queue of the first node.
	fresh := []string{"--database-url", server.NewDatabase(t), "--warehouse-url", clickhouse}
	mentions(t, refusedStart(t, filepath.Join(root, "three"), fresh...), "warehouse-url", "of another installation", "adopt --lost database")
	elsewhere := []string{"--database-url", server.NewDatabase(t), "--warehouse-url", engineByURL(t)}
	mentions(t, refusedStart(t, one, elsewhere...), "the ingest queue in "+filepath.Join(one, "queue"), "of another installation")
	p = testkit.StartFirst(t, one, databases...)
	awaitCount(t, p, "1", databases...)
	if code := p.Stop(t); code != 0 {
		t.Fatalf("exit code %d\n%s", code, p.Log())
	}
}
