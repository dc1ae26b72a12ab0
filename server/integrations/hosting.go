package integrations

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/google/uuid"

	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/store"
)

// ConnectToken stores the account of a token that Check has accepted.
func (e *Engine) ConnectToken(ctx context.Context, org principal.OrgID, p TokenProvider, a Account, by principal.UserID) (
	store.IntegrationConnection, error,
) {
	return e.store(ctx, org, p, a, by)
}

// syncPoll is the pause between two looks at an account that is being synchronized.
const syncPoll = 200 * time.Millisecond

// SyncNow makes the synchronization of an account due and waits until it has ended, but no longer than a time. It returns the account, and
// whether the synchronization is still to end.
func (e *Engine) SyncNow(ctx context.Context, org principal.OrgID, id uuid.UUID, most time.Duration) (
	c store.IntegrationConnection, running bool, err error,
) {
	if c, err = e.cfg.Store.RequestIntegrationSync(ctx, org, id); err != nil {
		return c, false, err
	}
	tick := time.NewTicker(syncPoll)
	defer tick.Stop()
	for end := e.cfg.Now().Add(most); ; {
		// An account that has been synchronized is due later, or never.
		if now := e.cfg.Now(); c.SyncDueAt == nil || c.SyncDueAt.After(now) {
			return c, false, nil
		} else if !now.Before(end) {
			return c, true, nil
		}
		select {
		case <-ctx.Done():
			return c, true, ctx.Err()
		case <-tick.C:
		}
		if c, err = e.cfg.Store.GetIntegrationConnection(ctx, org, id); err != nil {
			return c, false, err
		}
	}
}

// HostingSettings is the part of the settings of a hosting account that every platform has.
type HostingSettings struct {
	Drains []HostingDrain `json:"drains,omitempty"`
	// DrainsError says why the drains could not be read.
	DrainsError string `json:"drains_error,omitempty"`
	// Seen is the number of things that the last synchronization read, Errors the environments that it could not read.
	Seen   int            `json:"seen"`
	Errors []HostingError `json:"errors,omitempty"`
}

// HostingError is an environment that could not be read.
type HostingError struct {
	Environment string `json:"environment"`
	Message     string `json:"message"`
}

// ReadHosting reads the common part of the settings of a hosting account.
func ReadHosting(text json.RawMessage) (HostingSettings, error) {
	var s HostingSettings
	if err := json.Unmarshal(text, &s); err != nil {
		return s, fmt.Errorf("integrations: settings of a hosting account: %w", err)
	}
	return s, nil
}

// States of drains.
const (
	DrainEnabled  = "enabled"
	DrainDisabled = "disabled"
	DrainErrored  = "errored"
	DrainMissing  = "missing"
)

// HostingDrain is a stream of telemetry that a platform sends somewhere.
type HostingDrain struct {
	ID    string `json:"id"`
	Name  string `json:"name"`
	State string `json:"state"`
	// MissingSince is when the platform first did not list it.
	MissingSince *time.Time `json:"missing_since,omitempty"`
}

// MergeDrains returns the drains that a platform lists, by name, with those that it listed before.
func MergeDrains(known, listed []HostingDrain, now time.Time) []HostingDrain {
	out := slices.Clone(listed)
	for _, d := range known {
		if slices.ContainsFunc(listed, func(l HostingDrain) bool { return l.ID == d.ID }) {
			continue
		}
		if d.MissingSince == nil {
			d.State, d.MissingSince = DrainMissing, &now
		}
		if now.Sub(*d.MissingSince) < limits.HostingMissing {
			out = append(out, d)
		}
	}
	slices.SortFunc(out, func(a, b HostingDrain) int { return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.ID, b.ID)) })
	return out
}

// Clip returns the first characters of a text that a platform wrote, without control characters.
func Clip(text string) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, ""))
	if runes := []rune(text); len(runes) > limits.HostingText {
		text = string(runes[:limits.HostingText])
	}
	return strings.TrimSpace(text)
}

// IsHost reports whether a text of a platform is the name of a host, and so no address of another kind.
func IsHost(text string) bool {
	return text != "" && len(text) <= 255 && strings.Trim(strings.ToLower(text), "abcdefghijklmnopqrstuvwxyz0123456789.-") == ""
}
