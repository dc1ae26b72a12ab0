package auth

import (
	"context"
	"log/slog"
	"time"
)

const (
	touchQueue   = 1024
	touchTimeout = 5 * time.Second
)

// touch records one use of a credential.
type touch func(ctx context.Context) error

// toucher records uses outside of the requests. A use that finds the queue full is not recorded; the next one is.
type toucher struct {
	logger *slog.Logger
	queue  chan touch
	stop   chan struct{}
	done   chan struct{}
}

func startToucher(logger *slog.Logger) *toucher {
	t := &toucher{logger: logger, queue: make(chan touch, touchQueue), stop: make(chan struct{}), done: make(chan struct{})}
	go t.run()
	return t
}

func (t *toucher) add(u touch) {
	select {
	case t.queue <- u:
	default:
	}
}

func (t *toucher) run() {
	defer close(t.done)
	for {
		select {
		case u := <-t.queue:
			t.record(u)
		case <-t.stop:
			for {
				select {
				case u := <-t.queue:
					t.record(u)
				default:
					return
				}
			}
		}
	}
}

func (t *toucher) record(u touch) {
	ctx, cancel := context.WithTimeout(context.Background(), touchTimeout)
	defer cancel()
	if err := u(ctx); err != nil {
		t.logger.Warn("last use of a credential not recorded", slog.Any("error", err))
	}
}

func (t *toucher) close() {
	close(t.stop)
	<-t.done
}
