package notify

import (
	"context"
	"encoding/json"
	"math"
	"strings"
	"time"

	"github.com/svc-observability/svc/server/chat"
)

type discordMessage struct {
	Embeds          []discordEmbed  `json:"embeds"`
	AllowedMentions discordMentions `json:"allowed_mentions"`
}

// discordMentions without names: no text of a rule wakes a whole server.
type discordMentions struct {
	Parse []string `json:"parse"`
}

type discordEmbed struct {
	Title       string    `json:"title"`
	Description string    `json:"description,omitempty"`
	URL         string    `json:"url,omitempty"`
	Color       int       `json:"color"`
	Timestamp   time.Time `json:"timestamp"`
}

// markdown escapes the characters that Discord formats by. Values get it, the text of a template does not.
var markdownEscapes = strings.NewReplacer(
	`\`, `\\`, `*`, `\*`, `_`, `\_`, `~`, `\~`, "`", "\\`", `|`, `\|`, `>`, `\>`, `[`, `\[`, `]`, `\]`, `#`, `\#`,
)

func markdown(text string) string { return markdownEscapes.Replace(text) }

func (e *Event) discord() discordMessage {
	embed := discordEmbed{
		Title: cut(e.title(Discord, markdown, plain), chat.EmbedTitle), URL: e.LinkURL, Color: e.color(), Timestamp: e.SentAt.UTC(),
	}
	var links []string
	for _, s := range e.Samples {
		if s.URL != "" {
			links = append(links, "[Trace "+s.TraceID+"]("+s.URL+")")
		}
	}
	if e.ChatURL != "" {
		links = append(links, "[Ask about it]("+e.ChatURL+")")
	}
	tail := ""
	if len(links) > 0 {
		tail = "\n" + strings.Join(links, " · ")
	}
	room := min(chat.EmbedText, chat.EmbedTotal-units(embed.Title))
	if units(tail) > room/2 {
		tail = ""
	}
	embed.Description = cut(e.body(Discord, markdown, plain), room-units(tail)) + tail
	return discordMessage{Embeds: []discordEmbed{embed}, AllowedMentions: discordMentions{Parse: []string{}}}
}

func (s *Sender) sendDiscord(ctx context.Context, d *Destination, p Payload) Result {
	a, err := s.post(ctx, d.Secrets.WebhookURL+"?wait=true", nil, p.Body, true)
	if err != nil {
		return failed(err, d.Secrets)
	}
	r := a.result(d.Secrets, s.cfg.Now())
	var said struct {
		ID         string  `json:"id"`
		RetryAfter float64 `json:"retry_after"`
	}
	if json.Unmarshal(a.body, &said) == nil {
		r.Reference = d.Secrets.strike(said.ID)
		if said.RetryAfter > 0 {
			r.RetryAfter = max(r.RetryAfter, time.Duration(math.Min(said.RetryAfter, 86_400)*float64(time.Second)))
		}
	}
	return r
}
