package auth

import (
	"context"
	"log/slog"
	"time"

	"github.com/google/uuid"
	"github.com/svc-observability/svc/server/principal"
)

const (
	touchQueue   = 1024
	touchTimeout = 5 * time.Second
)

// touch is one use of a credential: of an API key, or of a session.
type touch struct {
	apiKey  uuid.UUID
	org     principal.OrgID
	session uuid.UUID
	at      time.Time
}

// toucher records uses beside the requests. A use that finds the queue full is not recorded; the next one is.
type toucher struct {
	store  Store
	logger *slog.Logger
	queue  chan touch
	stop   chan struct{}
	done   chan struct{}
}

func startToucher(st Store, logger *slog.Logger) *toucher {
	t := &toucher{store: st, logger: logger, queue: make(chan touch, touchQueue), stop: make(chan struct{}), done: make(chan struct{})}
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
	var err error
	if u.session != uuid.Nil {
		err = t.store.TouchSession(ctx, u.session, u.at)
	} else {
		err = t.store.TouchApiKey(ctx, u.org, u.apiKey, u.at)
	}
	if err != nil {
		t.logger.Warn("last use of a credential not recorded", slog.Any("error", err))
	}
}

func (t *toucher) close() {
	close(t.stop)
	<-t.done
}
