package discord_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/svc-observability/svc/server/chat"
	"github.com/svc-observability/svc/server/integrations"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/store"
)

// oneGuild is the store of an organization with one guild.
type oneGuild struct {
	integrations.Store

	row store.IntegrationConnection
	due int
}

func (s *oneGuild) GetIntegrationConnection(_ context.Context, org principal.OrgID, id uuid.UUID) (store.IntegrationConnection, error) {
	if org != s.row.Org || id != s.row.ID {
		return store.IntegrationConnection{}, store.ErrNotFound
	}
	return s.row, nil
}

func (s *oneGuild) MakeIntegrationDue(context.Context, principal.OrgID, uuid.UUID) error {
	s.due++
	return nil
}

// TestIncident: the messages of an incident through the engine. A person who deletes the first one gets a new one; a guild without the bot
// waits.
func TestIncident(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	rows := &oneGuild{row: store.IntegrationConnection{
		ID: uuid.New(), Org: "org_a", Provider: "discord", BaseURL: b.discord.URL, ExternalID: b.guild.ID, State: store.IntegrationConnected,
		Settings: json.RawMessage("{}"),
	}}
	engine := integrations.New(integrations.Config{
		Store: rows, Logger: slog.New(slog.DiscardHandler), Now: time.Now,
		Setups: []integrations.Setup{{ID: "discord", Name: "Discord", Class: integrations.ClassChat, Provider: b.app}},
	})
	at := time.Unix(1700000000, 0).UTC()
	post := func(thread, title string, ends bool) (string, error) {
		at = at.Add(time.Second)
		return engine.Post(t.Context(), chat.Post{
			Org: "org_a", Workspace: rows.row.ID, Channel: b.channel.ID, Thread: thread, Ends: ends, Message: chat.Message{Title: title, At: at},
		})
	}
	first, err := post("", "begins", false)
	if err != nil {
		t.Fatal(err)
	}
	again, err := post(first, "goes on", false)
	ended, failed := post(first, "ends", true)
	got := b.discord.Messages(b.channel)
	if err != nil || failed != nil || again != first || ended != first || len(got) != 3 {
		t.Fatalf("%q %v, %q %v: %+v", again, err, ended, failed, got)
	}
	if got[0].Edited != 1 || got[0].Embeds[0].Title != "ends" || got[1].Answers != got[0].ID || got[2].Answers != got[0].ID {
		t.Errorf("the incident: %+v", got)
	}
	b.discord.Change(func() { b.channel.Messages = nil })
	anew, err := post(first, "ends after a deletion", true)
	if got := b.discord.Messages(b.channel); err != nil || anew == first || len(got) != 1 || got[0].Answers != "" {
		t.Errorf("the end of a deleted message: %q %v %+v", anew, err, got)
	}
	b.discord.Kick(b.guild)
	_, err = post(first, "nobody hears it", false)
	var f *chat.Failure
	if !errors.As(err, &f) || f.Kind != chat.Waiting || f.RetryAfter != limits.ChatWait || rows.due != 1 {
		t.Errorf("a guild without the bot: %v, due %d times", err, rows.due)
	}
}
