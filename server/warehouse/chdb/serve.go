package chdb

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// Config is what the warehouse process runs with.
type Config struct {
	EngineConfig
	// Socket is the path of the unix socket.
	Socket string
	// Parent ends with the parent process: reading from it returns only then. See ParentPipe; nil outlives any parent.
	Parent io.Reader
	Logger *slog.Logger
}

// supervisedVariable tells the child that its standard input ends with its parent.
const supervisedVariable = "SVC_WAREHOUSE_SUPERVISED"

// ParentPipe is what Config.Parent of the command that a Supervisor runs should be: the standard input when a Supervisor
// started this process, nil when somebody else did, who may have given it none.
func ParentPipe() io.Reader {
	if os.Getenv(supervisedVariable) == "" {
		return nil
	}
	return os.Stdin
}

// drainTime bounds how long a graceful stop waits for running statements before it kills them.
const drainTime = 10 * time.Second

// engineNice is how far the engine's process gives way to the server's, which acknowledges: what it is late with waits in the queue, and an
// exporter that waits for its answer does not (docs/performance.md).
const engineNice = 5

// ErrParentGone says that the process that started this one has died.
var ErrParentGone = errors.New("the parent process is gone")

// Serve boots the engine and answers on the socket until ctx ends or SIGTERM comes, which stops it gracefully, or the parent
// dies, which exits the process at once: nobody is left to answer, and a new parent wants the data folder. It prints nothing.
// An interrupt is ignored: Ctrl-C reaches the whole process group, and the parent stops this process when it is done with it.
func Serve(ctx context.Context, cfg Config) error {
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	signal.Ignore(os.Interrupt)
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGTERM)
	defer stop()
	if cfg.Parent != nil {
		go func() {
			_, _ = io.Copy(io.Discard, cfg.Parent)
			// Only an exit is sure to come: a shutdown waits for statements and merges. Acknowledged rows are on disk.
			cfg.Logger.Error("the server is gone; the warehouse process ends")
			os.Exit(1)
		}()
	}

	if cfg.Parent != nil {
		if err := lowerPriority(engineNice); err != nil {
			cfg.Logger.Warn("the priority of the warehouse process cannot be lowered", "error", err)
		}
	}
	start := time.Now()
	engine, err := OpenEngine(cfg.EngineConfig)
	if err != nil {
		return err
	}
	// The engine's lock on its folder is ours, so a socket at the path is a dead process's.
	listener, err := ListenUnix(cfg.Socket)
	if err != nil {
		engine.Close()
		return err
	}
	cfg.Logger.Info("the warehouse is ready", "duration", time.Since(start).String(), "engine_version", engine.lib.version(),
		"repaired_tokens", engine.repaired)
	return serve(ctx, cfg, engine, listener)
}

func serve(ctx context.Context, cfg Config, engine *Engine, listener net.Listener) error {
	statements, kill := context.WithCancel(context.WithoutCancel(ctx))
	defer kill()
	server := &http.Server{
		Handler:           newHandler(engine, cfg.Logger),
		ReadHeaderTimeout: 10 * time.Second,
		MaxHeaderBytes:    maxStatementBytes,
		BaseContext:       func(net.Listener) context.Context { return statements },
		ErrorLog:          slog.NewLogLogger(cfg.Logger.Handler(), slog.LevelWarn),
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	var serveErr error
	select {
	case serveErr = <-served:
	case <-ctx.Done():
	}
	_ = os.Remove(cfg.Socket)
	drain, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainTime)
	defer cancel()
	if err := server.Shutdown(drain); err != nil {
		kill()
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainTime)
		defer cancel()
		if err := server.Shutdown(last); err != nil {
			// A statement that does not end holds a connection of the engine, which then cannot be closed.
			return errors.Join(serveErr, errors.New("statements did not end in time"))
		}
	}
	if serveErr == nil {
		serveErr = <-served
	}
	if errors.Is(serveErr, http.ErrServerClosed) {
		serveErr = nil
	}
	engine.Close()
	return serveErr
}
