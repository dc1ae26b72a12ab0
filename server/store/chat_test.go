package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/store/pgtest"
)

// chatBench is an organization with a member and a chat workspace, and the lease of the workspace's shard.
type chatBench struct {
	*Store

	t     *testing.T
	org   principal.OrgID
	admin principal.UserID
	of    IntegrationConnection
	fence Fence
}

func newChatBench(t *testing.T, s *Store) *chatBench {
	t.Helper()
	n := workNode(WorkIntegrations)
	if err := s.JoinWork(t.Context(), n); err != nil {
		t.Fatal(err)
	}
	made, err := s.CreateOrganization(t.Context(), NewOrganization{Name: "Chat", Admin: &NewUser{Email: "a@example.com"}})
	if err != nil {
		t.Fatal(err)
	}
	b := &chatBench{Store: s, t: t, org: made.Organization.ID}
	members, err := s.ListMembers(t.Context(), b.org, 0, 10)
	if err != nil || len(members) != 1 {
		t.Fatal(members, err)
	}
	b.admin = members[0].User
	b.of = b.connect(b.org)
	for _, held := range beat(t, s, n) {
		if held.Number == b.of.Shard {
			b.fence = held
		}
	}
	return b
}

func (b *chatBench) connect(org principal.OrgID) IntegrationConnection {
	b.t.Helper()
	c, err := b.ConnectIntegration(b.t.Context(), org, NewIntegration{
		Provider: "slack", BaseURL: "https://slack.example", ExternalID: "T1", Name: "Acme", ConnectedBy: b.admin,
		Settings: json.RawMessage("{}"),
		Seal:     func(uuid.UUID) []byte { return []byte("x") }, Same: func(json.RawMessage) bool { return false },
		Keep: func(before, _ json.RawMessage) (json.RawMessage, error) { return before, nil },
	})
	if err != nil {
		b.t.Fatal(err)
	}
	return c
}

func onBoth(t *testing.T, test func(*testing.T, *Store)) {
	t.Helper()
	t.Run("SQLite", func(t *testing.T) { test(t, openWork(t, Config{Path: t.TempDir() + "/a.db"})) })
	t.Run("PostgreSQL", func(t *testing.T) { test(t, openWork(t, Config{URL: pgtest.Start(t).NewDatabase(t)})) })
}

// TestChatChannelList: a list of several statements is stored, changed and emptied as a whole.
func TestChatChannelList(t *testing.T) {
	onBoth(t, func(t *testing.T, s *Store) {
		b := newChatBench(t, s)
		list := func(from, to int, name string) (out []ChatChannel) {
			for i := from; i < to; i++ {
				out = append(out, ChatChannel{ExternalID: fmt.Sprintf("C%05d", i), Name: name})
			}
			return out
		}
		for _, step := range []struct {
			from, to int
			name     string
		}{{0, 2*channelsAtOnce + 1, "a"}, {0, 10, "b"}, {5, 2*channelsAtOnce + 5, "b"}, {0, 0, ""}} {
			if err := s.SyncChatChannels(t.Context(), b.fence, b.of, list(step.from, step.to, step.name), time.Now()); err != nil {
				t.Fatal(err)
			}
			got, err := s.ListChatChannels(t.Context(), b.org, b.of.ID, step.name, 10_000)
			if err != nil || len(got) != step.to-step.from {
				t.Errorf("%d to %d: %d channels, %v", step.from, step.to, len(got), err)
			}
		}
	})
}

// TestWebhookPause: deliveries with a pause make the next reading due a pause after the last one; the pause of an account that fails stays.
func TestWebhookPause(t *testing.T) {
	onBoth(t, func(t *testing.T, s *Store) {
		b := newChatBench(t, s)
		now := time.Now().UTC().Truncate(time.Second)
		ago := func(d time.Duration) *time.Time { return new(now.Add(-d)) }
		n := 0
		for name, c := range map[string]struct {
			pause            time.Duration
			read, fails, due *time.Time
			least, most      time.Duration
		}{
			"never read":    {pause: time.Minute, due: ago(-time.Hour), least: 0, most: 10 * time.Second},
			"read long ago": {pause: time.Minute, read: ago(time.Hour), due: ago(-time.Hour), least: 0, most: 10 * time.Second},
			"read just now": {
				pause: time.Minute, read: ago(20 * time.Second), due: ago(-time.Hour), least: 40 * time.Second,
				most: 40 * time.Second,
			},
			"read just now, without": {read: ago(20 * time.Second), due: ago(-time.Hour), least: 0, most: 10 * time.Second},
			"fails, tried in 30 seconds": {
				pause: time.Minute, fails: ago(time.Hour), due: ago(-30 * time.Second), least: 30 * time.Second,
				most: 30 * time.Second,
			},
			"fails, tried in 15 minutes": {
				pause: time.Minute, fails: ago(time.Hour), due: ago(-15 * time.Minute), least: 59 * time.Second,
				most: 70 * time.Second,
			},
			"fails, and is tried already": {pause: time.Minute, fails: ago(time.Hour), due: ago(time.Second), least: 0, most: 10 * time.Second},
		} {
			row, err := s.GetIntegrationConnection(t.Context(), b.org, b.of.ID)
			if err != nil {
				t.Fatal(err)
			}
			after := row
			after.LastSyncAt, after.FailingSince, after.SyncDueAt = c.read, c.fails, c.due
			if err := s.RecordIntegration(t.Context(), b.fence, row, after); err != nil {
				t.Fatal(err)
			}
			n++
			got, err := s.ReceiveWebhook(t.Context(), NewWebhookDelivery{
				Provider: "slack", BaseURL: "https://slack.example", DeliveryID: fmt.Sprint(n), Account: "T1", Sync: true, Pause: c.pause,
			})
			if err != nil || got != 1 {
				t.Fatal(got, err)
			}
			if row, err = s.GetIntegrationConnection(t.Context(), b.org, b.of.ID); err != nil {
				t.Fatal(err)
			}
			if due := row.SyncDueAt.Sub(now); due < c.least || due > c.most {
				t.Errorf("%s: due in %s", name, due)
			}
		}
	})
}

// TestIdentityEnds: an identity ends with its workspace and with the membership, and those of others stay.
func TestIdentityEnds(t *testing.T) {
	onBoth(t, func(t *testing.T, s *Store) {
		b := newChatBench(t, s)
		other, err := s.CreateOrganization(t.Context(), NewOrganization{Name: "Other", Admin: &NewUser{Email: "b@example.com"}})
		if err != nil {
			t.Fatal(err)
		}
		theirs := other.Organization.ID
		if err := s.CreateMembership(t.Context(), theirs, b.admin, principal.RoleMember); err != nil {
			t.Fatal(err)
		}
		b.connect(theirs)
		link := func(org principal.OrgID, account string) {
			t.Helper()
			if _, err := s.LinkIntegrationIdentity(t.Context(), org, IntegrationIdentity{
				User: b.admin, Provider: "slack", ExternalAccount: account, ExternalUserID: "U1",
			}); err != nil {
				t.Fatal(err)
			}
		}
		want := func(what string, org principal.OrgID, there bool) {
			t.Helper()
			_, err := s.IntegrationIdentityOf(t.Context(), org, b.admin, "slack")
			if there && err != nil || !there && !errors.Is(err, ErrNotFound) {
				t.Errorf("%s: %v", what, err)
			}
		}
		link(b.org, "T1")
		link(theirs, "T1")
		if err := s.DisconnectIntegration(t.Context(), b.org, b.of.ID); err != nil {
			t.Fatal(err)
		}
		want("after the end of the workspace", b.org, false)
		want("of the other organization", theirs, true)
		b.of = b.connect(b.org)
		link(b.org, "T2")
		if err := s.DisconnectIntegration(t.Context(), b.org, b.of.ID); err != nil {
			t.Fatal(err)
		}
		want("of another workspace", b.org, true)
		if err := s.DeleteMembership(t.Context(), theirs, b.admin); err != nil {
			t.Fatal(err)
		}
		want("after the end of the membership", theirs, false)
		want("of the membership that stays", b.org, true)
	})
}
