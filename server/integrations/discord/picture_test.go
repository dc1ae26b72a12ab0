package discord_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/svc-observability/svc/server/chat"
	"github.com/svc-observability/svc/server/integrations"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/store"
)

func (s *oneGuild) RecordPictureFailure(_ context.Context, _ principal.OrgID, _ uuid.UUID, at time.Time) error {
	s.row.PictureFailedAt = &at
	return nil
}

// TestPicture: the embed shows the picture. A picture that Discord refuses costs no message, and the next ones have none; a refusal of
// something else takes the picture from the one message only.
func TestPicture(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	rows := &oneGuild{row: store.IntegrationConnection{
		ID: uuid.New(), Org: "org_a", Provider: "discord", BaseURL: b.discord.URL, ExternalID: b.guild.ID, State: store.IntegrationConnected,
		Settings: json.RawMessage("{}"),
	}}
	now := time.Now()
	engine := integrations.New(integrations.Config{
		Store: rows, Logger: slog.New(slog.DiscardHandler), Now: func() time.Time { return now }, BaseURL: "https://svc.example.com",
		Setups: []integrations.Setup{{ID: "discord", Name: "Discord", Class: integrations.ClassChat, Provider: b.app}},
	})
	const picture = "https://svc.example.com/share/chart/x.png"
	at := time.Unix(1700000000, 0).UTC()
	post := func(thread string, ends bool) string {
		t.Helper()
		at = at.Add(time.Second)
		reference, err := engine.Post(t.Context(), chat.Post{
			Org: "org_a", Workspace: rows.row.ID, Channel: b.channel.ID, Thread: thread, Ends: ends,
			Message: chat.Message{Title: "disk full", Body: "97%", At: at, Picture: &chat.Picture{URL: picture, Alt: "Chart"}},
		})
		if err != nil {
			t.Fatal(err)
		}
		return reference
	}
	want := func(shown string) {
		t.Helper()
		var got []string
		for _, m := range b.discord.Messages(b.channel) {
			text := "-"
			if len(m.Embeds) == 1 && m.Embeds[0].Description == "97%" {
				text = "form"
				if m.Embeds[0].Image.URL == picture {
					text = "picture"
				}
			}
			got = append(got, text)
		}
		if strings.Join(got, " ") != shown {
			t.Errorf("the channel has %q, want %q", got, shown)
		}
	}
	first := post("", false)
	post(first, true)
	want("picture form") // the first message shows the end

	once := func(fault string) {
		n := 0
		b.discord.Fault(func(route string) string {
			if route == "post" || route == "edit" {
				if n++; n == 1 {
					return fault
				}
			}
			return ""
		})
	}
	once("50035")
	post("", false)
	want("picture form form")
	if rows.row.PictureFailedAt != nil {
		t.Error("a refusal of the form counts as one of the picture")
	}
	once("image")
	post("", false)
	want("picture form form form")
	post("", false)
	want("picture form form form form")
	now = now.Add(limits.ChartTrouble)
	once("image")
	post(first, true) // the change of the first message is refused
	want("form form form form form form")
	if rows.row.PictureFailedAt == nil {
		t.Error("the refusals of an hour are not remembered")
	}
}
