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

// Config is the configuration of the warehouse process.
type Config struct {
	EngineConfig
	// Socket is the path of the unix socket.
	Socket string
	// Parent ends when the parent process ends: a read from it returns only then. See ParentPipe. With nil, this process does not
	// end with its parent.
	Parent io.Reader
	Logger *slog.Logger
}

// supervisedVariable tells the child that its standard input ends with its parent.
const supervisedVariable = "SVC_WAREHOUSE_SUPERVISED"

// ParentPipe returns the value for Config.Parent in a command that a Supervisor runs. It is the standard input if a Supervisor
// started this process, and nil otherwise, because another parent may not have provided a standard input.
func ParentPipe() io.Reader {
	if os.Getenv(supervisedVariable) == "" {
		return nil
	}
	return os.Stdin
}

// drainTime bounds how long a graceful stop waits for running statements before it kills them.
const drainTime = 10 * time.Second

// engineNice is how far the engine's priority is below the server's. The server acknowledges telemetry, and exporters wait for
// that; the engine's work can wait in the queue (docs/performance.md).
const engineNice = 5

// ErrStuck says that the process stopped while statements were running that cannot be cancelled.
var ErrStuck = errors.New("statements did not end in time")

// Serve boots the engine and answers on the socket. It stops gracefully when ctx ends or SIGTERM arrives. When the parent dies,
// the process exits at once, because no client is left and a new parent needs the data folder. Serve prints nothing. It ignores
// an interrupt: Ctrl-C reaches the whole process group, and the parent stops this process when it no longer needs it.
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
			// Exit instead of shutting down: a shutdown waits for statements and merges and may never end. Acknowledged rows are on disk.
			cfg.Logger.Error("the server has ended; the warehouse process ends too")
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
	// This process holds the lock of the engine's folder, so a socket at the path belongs to a dead process.
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
	statements, kill := context.WithCancelCause(context.WithoutCancel(ctx))
	defer kill(nil)
	server := &http.Server{
		Handler:           newHandler(engine, cfg.Logger),
		ReadHeaderTimeout: 10 * time.Second,
		MaxHeaderBytes:    maxStatementBytes,
		BaseContext:       func(net.Listener) context.Context { return statements },
		ErrorLog:          slog.NewLogLogger(cfg.Logger.Handler(), slog.LevelWarn),
	}
	engine.stuck = endStuck(engine, server, kill, cfg.Logger)
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	var serveErr error
	select {
	case serveErr = <-served:
		if engine.ending.Load() { // a stuck read ends the process
			select {}
		}
	case <-ctx.Done():
		engine.ending.Store(true)
	}
	_ = os.Remove(cfg.Socket)
	drain, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainTime)
	defer cancel()
	if err := server.Shutdown(drain); err != nil {
		kill(nil)
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainTime)
		defer cancel()
		if err := server.Shutdown(last); err != nil {
			// A statement that does not end keeps its connection, so the engine cannot be closed. That does no harm if only reads are
			// left: the rows of all inserts are on disk.
			if engine.writing.Load() == 0 {
				cfg.Logger.Warn("reads did not end in time; the warehouse process ends without them")
				return serveErr
			}
			return errors.Join(serveErr, ErrStuck)
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
