package integrations

import (
	"context"
	"encoding/json"
	"errors"
	"net/netip"
	"net/url"
	"time"

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
// and for a day after the service could not fetch one.
func (e *Engine) picture(c store.IntegrationConnection, provider ChatProvider, p *chat.Picture) *chat.Picture {
	switch {
	case p == nil, picturesOff(c.Settings), IsLocal(e.cfg.BaseURL) && !IsLocal(provider.BaseURL()):
		return nil
	case c.PictureFailedAt != nil && e.cfg.Now().Sub(*c.PictureFailedAt) < limits.ChartPause:
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

// pictureFailed remembers that the service could not fetch a picture. A failure to remember costs one more try.
func (e *Engine) pictureFailed(ctx context.Context, c store.IntegrationConnection, err error) {
	e.cfg.Logger.WarnContext(ctx, "a chat service did not take a picture; messages to the workspace have none for a day",
		"provider", c.Provider, "connection", c.ID, "error", err)
	stored, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	if err := e.cfg.Store.RecordPictureFailure(stored, c.Org, c.ID, e.cfg.Now()); err != nil {
		e.cfg.Logger.WarnContext(ctx, "the failure of a picture was not stored", "connection", c.ID, "error", err)
	}
}
