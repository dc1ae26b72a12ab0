package charts

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/svc-observability/svc/server/auth"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/store"
)

func seals(t *testing.T, pepper byte, purpose string) *auth.Sealer {
	t.Helper()
	h, err := auth.NewHasher(bytes.Repeat([]byte{pepper}, auth.PepperSize))
	if err != nil {
		t.Fatal(err)
	}
	s, err := h.Sealer(purpose)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestIDs checks that an id tells what it was made for, and that no other text opens.
func TestIDs(t *testing.T) {
	now := time.Date(2026, 11, 28, 10, 0, 0, 0, time.UTC)
	s := seals(t, 1, SealPurpose)
	made := &id{
		Org: "org_a", Subject: ofDigest, Version: 3, Start: now.Add(-time.Hour), At: now, Expires: now.Add(limits.ChartLifetime),
	}
	for range limits.ChartRanks {
		made.Things = append(made.Things, uuid.New())
	}
	text, err := made.seal(s, kindChat)
	if err != nil || len(text) > idLength || len(text) < 100 || strings.Contains(text, "org_a") {
		t.Fatalf("%q %v", text, err)
	}
	if again, _ := made.seal(s, kindChat); again == text {
		t.Error("two ids of one chart are the same")
	}
	got, err := open(s, kindChat, text, now.Add(limits.ChartLifetime-time.Second))
	if err != nil || !cmp.Equal(got, made) {
		t.Errorf("%+v %v, want %+v", got, err, made)
	}
	raw, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	empty := base64.RawURLEncoding.EncodeToString(s.Seal([]byte(`{"o":"org_a","s":"issue","e":99999999999}`), kindChat))
	for name, bad := range map[string]func() (*id, error){
		"its time is over": func() (*id, error) { return open(s, kindChat, text, now.Add(limits.ChartLifetime)) },
		"another kind":     func() (*id, error) { return open(s, kindAlert, text, now) },
		"another server":   func() (*id, error) { return open(seals(t, 2, SealPurpose), kindChat, text, now) },
		"another purpose":  func() (*id, error) { return open(seals(t, 1, "dashboard share"), kindChat, text, now) },
		"nothing":          func() (*id, error) { return open(s, kindChat, "", now) },
		"a guess":          func() (*id, error) { return open(s, kindChat, "nobody-knows-this-chart", now) },
		"no base64":        func() (*id, error) { return open(s, kindChat, text+"=", now) },
		"no subject":       func() (*id, error) { return open(s, kindChat, empty, now) },
		"too long":         func() (*id, error) { return open(s, kindChat, text+strings.Repeat("A", idLength), now) },
	} {
		if got, err := bad(); !errors.Is(err, errID) || got != nil {
			t.Errorf("%s: opened as %+v, %v", name, got, err)
		}
	}
	for i := range raw {
		changed := slices.Clone(raw)
		changed[i] ^= 0x10
		if _, err := open(s, kindChat, base64.RawURLEncoding.EncodeToString(changed), now); !errors.Is(err, errID) {
			t.Errorf("opened with byte %d changed: %v", i, err)
		}
	}
	long := &id{Org: "org_a", Things: make([]uuid.UUID, 60)}
	if text, err := long.seal(s, kindChat); text != "" || err != nil {
		t.Errorf("an id that is too long: %q %v", text, err)
	}
}

// TestLinks checks the window of an incident's picture, and that a server without an address gives none.
func TestLinks(t *testing.T) {
	at := time.Date(2026, 11, 28, 10, 0, 0, 0, time.UTC)
	l := Links{BaseURL: "https://svc.example.com", Seals: seals(t, 1, SealPurpose), Now: func() time.Time { return at }}
	rule := &store.AlertRule{ID: uuid.New(), Org: "org_a", Version: 2, WindowMinutes: 5}
	for name, c := range map[string]struct {
		window int
		opened time.Duration
		want   time.Duration
	}{
		"opens now":        {5, 0, time.Hour},
		"a long window":    {60, 0, 4 * time.Hour},
		"a day":            {1440, 0, 24 * time.Hour},
		"open for 2 hours": {5, 2 * time.Hour, 2*time.Hour + 15*time.Minute},
		"open for a week":  {5, 7 * limits.Day, 24 * time.Hour},
	} {
		rule.WindowMinutes = c.window
		incident := &store.AlertIncident{ID: uuid.New(), Org: "org_a", FirstTriggeredAt: at.Add(-c.opened)}
		address, err := l.Incident(rule, incident, at)
		text, ok := strings.CutPrefix(address, "https://svc.example.com/share/chart/")
		text, png := strings.CutSuffix(text, ".png")
		if err != nil || !ok || !png {
			t.Fatalf("%s: %q %v", name, address, err)
		}
		got, err := open(l.Seals, kindAlert, text, at)
		if err != nil || got.At != at || at.Sub(got.Start) != c.want || got.Version != 2 || got.Things[0] != incident.ID ||
			got.Expires != at.Add(limits.ChartLifetime) {
			t.Errorf("%s: %+v %v", name, got, err)
		}
		if n := len(grid(got.Start, got.At)); n > limits.ChartPoints+1 || n < limits.ChartPoints/2 {
			t.Errorf("%s: %d points", name, n)
		}
	}
	if address, err := (&Links{}).Rule(rule, at); address != "" || err != nil {
		t.Errorf("without an address: %q %v", address, err)
	}
	if address, err := l.Issues("org_a", []*store.IssueRecord{{ErrorIssue: store.ErrorIssue{Kind: store.IssueKindAlert}}}, false,
		at); address != "" || err != nil {
		t.Errorf("an issue of an alert: %q %v", address, err)
	}
}

// TestOpenForged checks that a forged id is a miss like any other, and asks the store for nothing.
func TestOpenForged(t *testing.T) {
	c := New(Config{Seals: seals(t, 1, SealPurpose), Now: time.Now})
	if c.Sealed("nobody-knows-this-chart") {
		t.Error("a guess is taken for an id that the server made")
	}
	i := &id{Org: "org_a", Subject: ofRule, Things: []uuid.UUID{uuid.New()}, Expires: time.Now().Add(time.Hour)}
	for _, kind := range []string{kindAlert, kindChat} {
		if text, err := i.seal(c.cfg.Seals, kind); err != nil || !c.Sealed(text) {
			t.Errorf("an id of the kind %s is taken for a guess: %v", kind, err)
		}
	}
	for _, open := range []func(context.Context, string) (principal.OrgID, Read, error){c.OpenAlert, c.OpenChat} {
		if _, read, err := open(t.Context(), "nobody-knows-this-chart"); !errors.Is(err, store.ErrNotFound) || read != nil {
			t.Errorf("%v", err)
		}
	}
}
