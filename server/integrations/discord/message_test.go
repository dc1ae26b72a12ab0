package discord_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/svc-observability/svc/server/chat"
	"github.com/svc-observability/svc/server/integrations"
	"github.com/svc-observability/svc/server/integrations/discord/discordtest"
)

// TestThreads: an answer has the reference of the first message; the answer to a deleted one begins anew; where the bot may not read the
// history, it comes without the sign of an answer.
func TestThreads(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	first := b.post("", chat.Message{Title: "one"})
	sent := b.discord.Messages(b.channel)
	if first != b.channel.ID+":"+sent[0].ID {
		t.Errorf("the reference %q", first)
	}
	if got := b.post(first, chat.Message{Title: "two"}); got != first || b.discord.Messages(b.channel)[1].Answers != sent[0].ID {
		t.Errorf("the answer has the reference %q: %+v", got, b.discord.Messages(b.channel))
	}
	b.discord.Change(func() { b.channel.Overwrites = []discordtest.Overwrite{{Of: "role", Deny: discordtest.ReadHistory}} })
	if got := b.post(first, chat.Message{Title: "silent"}); got != first || b.discord.Messages(b.channel)[2].Answers != "" {
		t.Errorf("without the history: %q", got)
	}
	b.discord.Change(func() { b.channel.Overwrites, b.channel.Messages = nil, nil })
	anew := b.post(first, chat.Message{Title: "three"})
	if got := b.discord.Messages(b.channel); anew == first || len(got) != 1 || anew != b.channel.ID+":"+got[0].ID {
		t.Errorf("the answer to a deleted message: %q, %v", anew, got)
	}
	if err := b.app.Change(t.Context(), b.of, first, chat.Message{Title: "four"}); !integrations.IsKind(err, integrations.NotFound) {
		t.Errorf("the change of a deleted message: %v", err)
	}
	if _, err := b.app.Post(t.Context(), b.of, b.channel.ID, b.channel.ID, chat.Message{Title: "x"}); !integrations.IsKind(err,
		integrations.Invalid) {
		t.Errorf("a thread without a message: %v", err)
	}
}

// TestRepeat: a try after a lost answer sends nothing twice; a later message with the same words is another one.
func TestRepeat(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	m := chat.Message{Title: "disk full", At: time.Unix(1700000000, 0).UTC()}
	b.discord.Lose(1)
	if _, err := b.app.Post(t.Context(), b.of, b.channel.ID, "", m); !integrations.IsKind(err, integrations.Upstream) {
		t.Errorf("a lost answer: %v", err)
	}
	first := b.post("", m)
	if got := b.discord.Messages(b.channel); len(got) != 1 || first != b.channel.ID+":"+got[0].ID {
		t.Errorf("the try after it: %q %v", first, got)
	}
	b.discord.Lose(1)
	if _, err := b.app.Post(t.Context(), b.of, b.channel.ID, first, m); !integrations.IsKind(err, integrations.Upstream) {
		t.Errorf("a lost answer in the thread: %v", err)
	}
	if got := b.post(first, m); got != first || len(b.discord.Messages(b.channel)) != 2 {
		t.Errorf("the try after it: %q %v", got, b.discord.Messages(b.channel))
	}
	m.At = m.At.Add(time.Second)
	b.post("", m)
	b.of.ID = uuid.New() // another organization that shares the guild
	b.post("", m)
	if got := b.discord.Messages(b.channel); len(got) != 4 {
		t.Errorf("%d messages", len(got))
	}
}

// TestForms: what the fields of a message become, and what is left of them where Discord refuses the form.
func TestForms(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	m := chat.Message{
		Title: "Disk *full*\n@everyone", Body: "see <@&1> and [all is well](https://evil.example) @here", URL: "https://s.example/i", Color: 0xff,
		At: time.Unix(1700000000, 0).UTC(), Links: []chat.Link{{Text: "Trace [1]", URL: "https://s.example/t?a=(1)&b=2"}},
	}
	reference := b.post("", m)
	e := b.discord.Messages(b.channel)[0].Embeds[0]
	if e.Title != "Disk \\*full\\* @\u200beveryone" || e.URL != m.URL || e.Color != 0xff || !e.Timestamp.Equal(m.At) {
		t.Errorf("the title: %+v", e)
	}
	if e.Description != "see \\<@&1\\> and \\[all is well\\](https://evil.example) @\u200bhere\n[Trace "+
		"\\[1\\]](https://s.example/t?a=%281%29&b=2)" {
		t.Errorf("the description: %s", e.Description)
	}
	const text = "Disk \\*full\\*\n@\u200beveryone\nsee \\<@&1\\> and \\[all is well\\](https://evil.example) @\u200bhere\nhttps://s.example/i"
	b.once("edit", "50035")
	if err := b.app.Change(t.Context(), b.of, reference, m); err != nil {
		t.Fatal(err)
	}
	if got := b.discord.Messages(b.channel)[0]; got.Content != text || len(got.Embeds) != 0 || got.Edited != 1 {
		t.Errorf("the change as plain text: %+v", got)
	}
	if err := b.app.Change(t.Context(), b.of, reference, m); err != nil {
		t.Fatal(err)
	}
	if got := b.discord.Messages(b.channel)[0]; got.Content != "" || len(got.Embeds) != 1 {
		t.Errorf("the form again: %+v", got)
	}
	b.once("post", "50035")
	m.URL = "mailto:a@example.com" // an address that Discord does not take either
	b.post("", m)
	if got := b.discord.Messages(b.channel)[1]; len(got.Embeds) != 0 || !strings.HasSuffix(got.Content, m.URL) {
		t.Errorf("plain text: %+v", got)
	}
}

// TestLimits: texts of any length and of characters that take an escape or two units fit, and lose as little as possible.
func TestLimits(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for name, text := range map[string]string{
		"plain": "x", "escaped": "*", "escapes": `\`, "wide": "\U0001f525", "mentions": "@everyone", "lines": "a\n", "bad": "\xff",
		"mixed": `\*x` + "\U0001f525",
	} {
		for _, n := range []int{1, 255, 256, 257, 2001, 4095, 4096, 4097, 9000} {
			long := strings.Repeat(text, n)
			m := chat.Message{Title: long, Body: long, URL: "https://s.example/i", At: time.Now()}
			for range 30 {
				m.Links = append(m.Links, chat.Link{Text: "Trace", URL: "https://s.example/t"})
			}
			b.discord.Fault(nil)
			b.post("", m)
			all := b.discord.Messages(b.channel)
			got := all[len(all)-1]
			if len(got.Embeds) != 1 || n > 4097 && name != "bad" && len([]rune(got.Embeds[0].Description)) < 1800 {
				t.Errorf("%d of %s: %d embeds, %q", n, name, len(got.Embeds), got.Content)
			}
			if title := strings.TrimSuffix(got.Embeds[0].Title, "…"); (len(title)-len(strings.TrimRight(title, `\`)))%2 == 1 {
				t.Errorf("%d of %s: the title ends in a half escape: %q", n, name, title)
			}
			b.once("post", "50035")
			m.At = m.At.Add(time.Second) // another message
			b.post("", m)
			all = b.discord.Messages(b.channel)
			if got := all[len(all)-1]; got.Content == "" || !strings.HasSuffix(got.Content, m.URL) {
				t.Errorf("%d of %s as text: %q", n, name, got.Content)
			}
		}
	}
}
