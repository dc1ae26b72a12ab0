package discordtest

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"unicode/utf16"
)

// sent is a message as it comes.
type sent struct {
	Content         string
	Embeds          []Embed
	AllowedMentions *struct{ Parse []string } `json:"allowed_mentions"`
	Nonce           string
	EnforceNonce    bool `json:"enforce_nonce"`
	Reference       *struct {
		MessageID       string `json:"message_id"`
		FailIfNotExists *bool  `json:"fail_if_not_exists"`
	} `json:"message_reference"`
}

func units(text string) int { return len(utf16.Encode([]rune(text))) }

// read reads a message and holds it against the limits of Discord. It returns the code of a refusal.
func read(r *http.Request) (m sent, code int) {
	if r.Header.Get("Content-Type") != "application/json" || json.NewDecoder(r.Body).Decode(&m) != nil {
		return m, 50109
	}
	if m.AllowedMentions == nil || m.AllowedMentions.Parse == nil || len(m.AllowedMentions.Parse) > 0 {
		return m, 50035 // Discord would take it, and could call people
	}
	if strings.TrimSpace(m.Content) == "" && len(m.Embeds) == 0 {
		return m, 50006
	}
	total := 0
	for _, e := range m.Embeds {
		if strings.TrimSpace(e.Title+e.Description) == "" || units(e.Title) > 256 || units(e.Description) > 4096 || len(e.Fields) > 25 ||
			units(e.Footer.Text) > 2048 || units(e.Author.Name) > 256 || e.Color < 0 || e.Color > 0xffffff || units(e.URL) > 2048 {
			return m, 50035
		}
		if u, err := url.Parse(e.URL); e.URL != "" && (err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http") {
			return m, 50035
		}
		if u, err := url.Parse(e.Image.URL); e.Image.URL != "" && (err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" ||
			units(e.Image.URL) > 2048) {
			return m, refusedImage
		}
		total += units(e.Title) + units(e.Description) + units(e.Footer.Text) + units(e.Author.Name)
		for _, f := range e.Fields {
			if f.Name == "" || f.Value == "" || units(f.Name) > 256 || units(f.Value) > 1024 {
				return m, 50035
			}
			total += units(f.Name) + units(f.Value)
		}
	}
	if units(m.Content) > 2000 || len(m.Embeds) > 10 || total > 6000 || units(m.Nonce) > 25 {
		return m, 50035
	}
	return m, 0
}

// refusedImage stands for code 50035 about the picture of an embed.
const refusedImage = 1_050_035

func (c *Channel) find(id string) *Message {
	for _, m := range c.Messages {
		if m.ID == id {
			return m
		}
	}
	return nil
}

func (m *Message) json(c *Channel) object {
	out := object{"id": m.ID, "channel_id": c.ID, "type": 0, "content": m.Content, "author": object{"id": bot}}
	if m.Answers != "" {
		out["type"], out["message_reference"] = 19, object{"type": 0, "message_id": m.Answers, "channel_id": c.ID}
	}
	return out
}

func (d *Discord) post(r *http.Request, g *Guild, c *Channel) reply {
	in, code := read(r)
	switch {
	case c.Type != 0 && c.Type != 5:
		return refuse(http.StatusBadRequest, 50008)
	case !g.may(c, Send), len(in.Embeds) > 0 && !g.may(c, EmbedLinks):
		return refuse(http.StatusForbidden, 50013)
	case code != 0:
		return refuse(http.StatusBadRequest, code)
	}
	m := &Message{ID: d.id(), Content: in.Content, Embeds: in.Embeds}
	if ref := in.Reference; ref != nil {
		switch {
		case !g.may(c, ReadHistory):
			return refuse(http.StatusBadRequest, 160002)
		case c.find(ref.MessageID) != nil:
			m.Answers = ref.MessageID
		case ref.FailIfNotExists == nil || *ref.FailIfNotExists:
			return refuse(http.StatusBadRequest, 50035)
		}
	}
	if first := d.nonces[c.ID+in.Nonce]; in.EnforceNonce && in.Nonce != "" && first != nil {
		return reply{http.StatusOK, first.json(c)}
	}
	d.nonces[c.ID+in.Nonce] = m
	c.Messages = append(c.Messages, m)
	return reply{http.StatusOK, m.json(c)}
}

func (d *Discord) edit(r *http.Request, _ *Guild, c *Channel) reply {
	m := c.find(r.PathValue("id"))
	if m == nil {
		return refuse(http.StatusNotFound, 10008)
	}
	in, code := read(r)
	if code != 0 {
		return refuse(http.StatusBadRequest, code)
	}
	m.Content, m.Embeds = in.Content, in.Embeds
	m.Edited++
	return reply{http.StatusOK, m.json(c)}
}
