package integrations

import (
	"context"
	"encoding/json"
	"errors"
	"net/netip"
	"net/url"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/svc-observability/svc/server/chat"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/store"
)

// The setting of a chat workspace that leaves out pictures, and its values. Without it, messages have pictures.
const (
	SettingPictures = "pictures"
	PicturesOn      = "on"
	PicturesOff     = "off"
)

// isPicture reports whether a chat service refused the picture of a message.
func isPicture(err error) bool {
	var p *Problem
	return errors.As(err, &p) && p.Picture
}

// picture is the picture of a message to a workspace. It is left out if the workspace wants none, if the service cannot reach our address,
// for a while after the service could not fetch one, and for a day if it could fetch none for longer.
func (e *Engine) picture(c store.IntegrationConnection, provider ChatProvider, p *chat.Picture) *chat.Picture {
	switch {
	case p == nil, picturesOff(c.Settings), IsLocal(e.cfg.BaseURL) && !IsLocal(provider.BaseURL()):
		return nil
	case c.PictureFailedAt != nil && e.cfg.Now().Sub(*c.PictureFailedAt) < limits.ChartPause:
		return nil
	case e.trouble.pauses(c.ID, e.cfg.Now()):
		return nil
	}
	return p
}

func picturesOff(settings json.RawMessage) bool {
	var s map[string]any
	return json.Unmarshal(settings, &s) == nil && s[SettingPictures] == PicturesOff
}

// IsLocal reports whether an address leads to the machine itself. Another server reaches nothing of ours there.
func IsLocal(address string) bool {
	u, err := url.Parse(address)
	if err != nil || u.Hostname() == "" || u.Hostname() == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(u.Hostname())
	return err == nil && (ip.IsLoopback() || ip.IsUnspecified())
}

// troubles are the workspaces whose services could not fetch the last picture. The reason may be this server: it may have been busy, or
// have started again. It is safe for concurrent use.
type troubles struct {
	mu sync.Mutex
	of map[uuid.UUID]trouble
}

// trouble is when the service first, and when it last, could not fetch a picture.
type trouble struct{ since, last time.Time }

func (t *troubles) pauses(workspace uuid.UUID, now time.Time) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	known, ok := t.of[workspace]
	return ok && now.Sub(known.last) < limits.ChartRetry
}

// lasts notes a failure, and reports whether it is one of many for so long that the reason stays.
func (t *troubles) lasts(workspace uuid.UUID, now time.Time) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	known, ok := t.of[workspace]
	if !ok || now.Sub(known.last) > limits.ChartPause {
		known.since = now
	}
	known.last = now
	if t.of == nil {
		t.of = map[uuid.UUID]trouble{}
	}
	t.of[workspace] = known
	if now.Sub(known.since) < limits.ChartTrouble {
		return false
	}
	delete(t.of, workspace)
	return true
}

func (t *troubles) over(workspace uuid.UUID) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.of, workspace)
}

// pictureFailed notes that the service could not fetch a picture, and remembers it if that lasts. A failure to remember costs one more try.
func (e *Engine) pictureFailed(ctx context.Context, c store.IntegrationConnection, err error) {
	if !e.trouble.lasts(c.ID, e.cfg.Now()) {
		e.cfg.Logger.InfoContext(ctx, "a chat service did not take a picture; the next messages to the workspace have none",
			"provider", c.Provider, "connection", c.ID, "error", err)
		return
	}
	e.cfg.Logger.WarnContext(ctx, "a chat service took no picture for some time; messages to the workspace have none for a day",
		"provider", c.Provider, "connection", c.ID, "error", err)
	stored, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	if err := e.cfg.Store.RecordPictureFailure(stored, c.Org, c.ID, e.cfg.Now()); err != nil {
		e.cfg.Logger.WarnContext(ctx, "the failure of a picture was not stored", "connection", c.ID, "error", err)
	}
}
