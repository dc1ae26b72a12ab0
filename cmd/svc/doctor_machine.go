package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"golang.org/x/sys/cpu"
	"golang.org/x/sys/unix"

	"github.com/svc-observability/svc/server/config"
	"github.com/svc-observability/svc/server/warehouse/chdb"
)

// Below diskLow the warehouse cannot merge for much longer. Below diskScarce the operator should plan for more disk space.
const (
	diskLow    = 1 << 30
	diskScarce = 10 << 30
)

// serverRuns reports whether a process holds the lock of the data folder.
func serverRuns(cfg config.Config) bool {
	f, err := os.Open(filepath.Join(cfg.DataDir, "lock"))
	if err != nil {
		return false
	}
	defer f.Close()
	// Take a shared lock and release it at once, so that two concurrent doctors do not mistake each other for a server.
	err = unix.Flock(int(f.Fd()), unix.LOCK_SH|unix.LOCK_NB)
	return errors.Is(err, unix.EWOULDBLOCK)
}

// checkProcessor checks for the instruction sets that ClickHouse is compiled for. Without them the engine dies of an illegal
// instruction.
func checkProcessor(_ context.Context, cfg config.Config, _ bool) finding {
	if cfg.WarehouseURL.Reveal() != "" {
		return skip("the embedded engine is not used")
	}
	if runtime.GOARCH == "amd64" && (!cpu.X86.HasSSE42 || !cpu.X86.HasPOPCNT) {
		return fail("it has no SSE 4.2 and POPCNT, which the embedded engine needs; use --warehouse-url")
	}
	return ok("%s with %d CPUs", runtime.GOARCH, runtime.NumCPU())
}

// checkClock compares the clock with times that must lie in the past.
func checkClock(_ context.Context, cfg config.Config, _ bool) finding {
	now := time.Now()
	past := []string{filepath.Join(cfg.DataDir, "svc.db"), filepath.Join(cfg.DataDir, "queue")}
	if exe, err := os.Executable(); err == nil {
		past = append(past, exe)
	}
	for _, path := range past {
		info, err := os.Stat(path)
		if err == nil && info.ModTime().After(now.Add(time.Minute)) {
			return fail("the clock says %s, but %s was written at %s: set the clock, or telemetry gets wrong times",
				now.UTC().Format(time.RFC3339), path, info.ModTime().UTC().Format(time.RFC3339))
		}
	}
	return ok("%s", now.UTC().Format(time.RFC3339))
}

func checkDataDir(_ context.Context, cfg config.Config, running bool) finding {
	info, err := os.Stat(cfg.DataDir)
	if errors.Is(err, os.ErrNotExist) {
		parent := existingParent(cfg.DataDir)
		if err := unix.Access(parent, unix.W_OK|unix.X_OK); err != nil {
			return fail("%s does not exist and cannot be created: %s is not writable", cfg.DataDir, parent)
		}
		return ok("%s does not exist yet and can be created", cfg.DataDir)
	}
	switch {
	case err != nil:
		return fail("%v", err)
	case !info.IsDir():
		return fail("%s is not a folder", cfg.DataDir)
	case unix.Access(cfg.DataDir, unix.R_OK|unix.W_OK|unix.X_OK) != nil:
		return fail("%s is not writable for this user", cfg.DataDir)
	}
	use := "no server runs on it"
	if running {
		use = "a server runs on it"
	}
	if info.Mode().Perm()&0o007 != 0 {
		return warn("every user of this machine can open %s (mode %o): chmod 700; %s", cfg.DataDir, info.Mode().Perm(), use)
	}
	if pepper, err := os.Stat(filepath.Join(cfg.DataDir, "secrets", "pepper")); err == nil && pepper.Mode().Perm()&0o077 != 0 {
		return fail("other users can read %s/secrets/pepper (mode %o): chmod 600", cfg.DataDir, pepper.Mode().Perm())
	}
	return ok("%s; %s", cfg.DataDir, use)
}

func existingParent(path string) string {
	abs, err := filepath.Abs(path)
	if err != nil {
		return path
	}
	for {
		abs = filepath.Dir(abs)
		if _, err := os.Stat(abs); err == nil || abs == filepath.Dir(abs) {
			return abs
		}
	}
}

func checkDisk(_ context.Context, cfg config.Config, _ bool) finding {
	path := cfg.DataDir
	if _, err := os.Stat(path); err != nil {
		path = existingParent(path)
	}
	var fs unix.Statfs_t
	if err := unix.Statfs(path, &fs); err != nil {
		return fail("%s: %v", path, err)
	}
	free, total := fs.Bavail*uint64(fs.Bsize), fs.Blocks*uint64(fs.Bsize)
	text := fmt.Sprintf("%.1f of %.1f GiB free on %s", float64(free)/(1<<30), float64(total)/(1<<30), path)
	switch {
	case free < diskLow:
		return fail("%s: ingest stops when it is full", text)
	case free < diskScarce:
		return warn("%s", text)
	}
	return ok("%s", text)
}

// checkPorts binds the ports for a moment. If a server runs, it asks the server whether it is ready instead.
func checkPorts(ctx context.Context, cfg config.Config, running bool) finding {
	if running {
		return checkReady(ctx, serverAddresses(cfg).BaseURL)
	}
	var taken, free []string
	for _, p := range []struct{ key, addr, role string }{
		{"api-addr", cfg.APIAddr, config.RoleAPI},
		{"ingest-addr", cfg.IngestAddr, config.RoleIngest},
		{"otlp-grpc-addr", cfg.OTLPGRPCAddr, config.RoleIngest},
	} {
		if !cfg.Roles.Has(p.role) {
			continue
		}
		l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", p.addr)
		if err != nil {
			taken = append(taken, fmt.Sprintf("--%s: %v", p.key, err))
			continue
		}
		if err := l.Close(); err != nil {
			return fail("close %s: %v", p.addr, err)
		}
		free = append(free, p.addr)
	}
	if len(taken) > 0 {
		return fail("%s", strings.Join(taken, "; "))
	}
	if len(free) == 0 {
		return skip("these roles open no port")
	}
	return ok("free: %s", strings.Join(free, ", "))
}

func checkReady(ctx context.Context, base string) finding {
	if base == "" {
		return skip("the running server has no API")
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, base+"/readyz", nil)
	if err != nil {
		return fail("%v", err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return fail("the running server does not answer: %v", err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return fail("the running server is not ready: %s/readyz answers %s", base, res.Status)
	}
	return ok("the running server is ready at %s", base)
}

func checkLibrary(_ context.Context, cfg config.Config, _ bool) finding {
	if cfg.WarehouseURL.Reveal() != "" {
		return skip("the embedded engine is not used")
	}
	path, err := chdb.Locate(cfg.ChdbLib)
	if err != nil {
		return fail("%v", err)
	}
	return ok("%s", path)
}
