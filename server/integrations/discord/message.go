package discord

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/svc-observability/svc/server/chat"
	"github.com/svc-observability/svc/server/integrations"
)

// Limits of Discord, in UTF-16 code units, which are never fewer than its characters.
const (
	contentText = 2000
	addressText = 2048
	nonceText   = 25
)

// replied is the type of a message that answers another one.
const replied = 19

// suppressEmbeds is the flag of a message whose links get no preview.
const suppressEmbeds = 1 << 2

// message is a message on its way.
type message struct {
	Content         string     `json:"content"`
	Embeds          []embed    `json:"embeds"`
	Flags           int        `json:"flags"`
	AllowedMentions mentions   `json:"allowed_mentions"`
	Nonce           string     `json:"nonce,omitempty"`
	EnforceNonce    bool       `json:"enforce_nonce,omitempty"`
	Reference       *reference `json:"message_reference,omitempty"`
}

type embed struct {
	Title       string     `json:"title,omitempty"`
	Description string     `json:"description,omitempty"`
	URL         string     `json:"url,omitempty"`
	Color       int        `json:"color"`
	Timestamp   *time.Time `json:"timestamp,omitempty"`
	Image       *image     `json:"image,omitempty"`
}

type image struct {
	URL string `json:"url"`
}

// mentions lists the people and roles that a message may notify. Our messages notify none.
type mentions struct {
	Parse       []string `json:"parse"`
	RepliedUser bool     `json:"replied_user"`
}

// reference is the message that is answered. If it is gone, the answer is a message like others.
type reference struct {
	MessageID       string `json:"message_id"`
	FailIfNotExists bool   `json:"fail_if_not_exists"`
}

// Post implements integrations.ChatProvider. A message that Discord refuses is sent once more as plain text. Discord takes a nonce once in
// some minutes and answers a repeat with the first message, so a try after a lost answer sends nothing twice.
func (a *App) Post(ctx context.Context, c integrations.Connection, channel, thread string, m chat.Message) (string, error) {
	if !isID(channel) {
		return "", notFound(nil)
	}
	var answered *reference
	if thread != "" {
		_, first, _ := strings.Cut(thread, ":")
		if !isID(first) {
			return "", integrations.NewProblem(integrations.Invalid, nil, "The first message of the thread cannot be found.")
		}
		answered = &reference{MessageID: first}
	}
	nonce, err := nonceOf(c, channel, thread, m)
	if err != nil {
		return "", err
	}
	var sent struct {
		ID        string
		Type      int
		Reference struct {
			MessageID string `json:"message_id"`
		} `json:"message_reference"`
	}
	silent := false // the bot may not answer, so the message only follows the first one
	try := func(out message) error {
		out.Nonce, out.EnforceNonce, out.Reference = nonce, true, answered
		err := a.do(ctx, http.MethodPost, out, &sent, "channels", channel, "messages")
		if answered != nil && has(err, unreadableHistory) {
			silent, answered, out.Reference = true, nil, nil
			err = a.do(ctx, http.MethodPost, out, &sent, "channels", channel, "messages")
		}
		return err
	}
	err = attempts(m, try)
	switch {
	case integrations.IsKind(err, integrations.NotFound):
		// Without the bot in the guild, no channel is there. That is not a fault of the destination.
		if _, left := a.guild(ctx, c.ExternalID); integrations.IsKind(left, integrations.Suspended) {
			return "", left
		}
		return "", err
	case err != nil:
		return "", err
	case !isID(sent.ID):
		return "", integrations.NewProblem(integrations.Upstream, nil, "Discord did not say which message it sent.")
	case silent, answered != nil && sent.Type == replied && sent.Reference.MessageID == answered.MessageID:
		return thread, nil
	}
	return channel + ":" + sent.ID, nil
}

// nonceOf is the same for each try of one message. Its time tells it from a later one with the same words.
func nonceOf(c integrations.Connection, channel, thread string, m chat.Message) (string, error) {
	text, err := json.Marshal([]any{c.ID, channel, thread, m})
	if err != nil {
		return "", fmt.Errorf("discord: %w", err)
	}
	sum := sha256.Sum256(text)
	return base64.RawURLEncoding.EncodeToString(sum[:])[:nonceText], nil
}

// Change implements integrations.ChatProvider. A form that Discord refuses is sent once more as plain text.
func (a *App) Change(ctx context.Context, _ integrations.Connection, reference string, m chat.Message) error {
	channel, id, _ := strings.Cut(reference, ":")
	if !isID(channel) || !isID(id) {
		return integrations.NewProblem(integrations.NotFound, nil, "The message is no longer there.")
	}
	return attempts(m, func(out message) error {
		return a.do(ctx, http.MethodPatch, out, nil, "channels", channel, "messages", id)
	})
}

// attempts sends a message in its form. If Discord refuses the form, it is sent without its picture, and then as plain text. A refusal that
// names the picture goes to the caller, who sends it again.
func attempts(m chat.Message, send func(message) error) error {
	err := send(form(m))
	if m.Picture != nil && integrations.IsKind(err, integrations.Invalid) {
		if refused, ok := errors.AsType[*integrations.Problem](err); ok && refused.Picture {
			return err
		}
		m.Picture = nil
		err = send(form(m))
	}
	if integrations.IsKind(err, integrations.Invalid) {
		err = send(plain(m))
	}
	return err
}

// escapes keep a text from calling people and from being formatted.
var escapes = strings.NewReplacer(
	`\`, `\\`, `*`, `\*`, `_`, `\_`, `~`, `\~`, "`", "\\`", `|`, `\|`, `<`, `\<`, `>`, `\>`, `[`, `\[`, `]`, `\]`, `#`, `\#`,
	"@everyone", "@\u200beveryone", "@here", "@\u200bhere",
)

// form gives a message its form: an embed with a bar of its color.
func form(m chat.Message) message {
	e := embed{Title: cut(escapes.Replace(strings.ReplaceAll(m.Title, "\n", " ")), chat.EmbedTitle), Color: m.Color}
	if units(m.URL) <= addressText {
		e.URL = m.URL
	}
	if !m.At.IsZero() {
		e.Timestamp = &m.At
	}
	if p := m.Picture; p != nil && units(p.URL) <= addressText {
		e.Image = &image{p.URL}
	}
	var links []string
	for _, l := range m.Links {
		links = append(links, "["+escapes.Replace(l.Text)+"]("+addresses.Replace(l.URL)+")")
	}
	room, tail := min(chat.EmbedText, chat.EmbedTotal-units(e.Title)), ""
	if len(links) > 0 {
		tail = "\n" + strings.Join(links, " · ")
	}
	if units(tail) > room/2 {
		tail = ""
	}
	e.Description = strings.TrimSpace(cut(escapes.Replace(m.Body), room-units(tail)) + tail)
	return message{Embeds: []embed{e}, AllowedMentions: mentions{Parse: []string{}}}
}

// addresses keep the address of a link from the end of the link.
var addresses = strings.NewReplacer("(", "%28", ")", "%29", " ", "%20")

// plain is the message as text alone.
func plain(m chat.Message) message {
	address := ""
	if m.URL != "" && units(m.URL) < contentText/2 {
		address = "\n" + m.URL
	}
	text := cut(escapes.Replace(m.Title+"\n"+m.Body), contentText-units(address)) + address
	return message{Content: text, Embeds: []embed{}, Flags: suppressEmbeds, AllowedMentions: mentions{Parse: []string{}}}
}

// units counts UTF-16 code units.
func units(text string) (n int) {
	for _, r := range text {
		n++
		if r > 0xffff {
			n++
		}
	}
	return n
}

// cut shortens an escaped text to a number of units and marks the cut.
func cut(text string, most int) string {
	text = strings.ToValidUTF8(text, "\ufffd")
	if units(text) <= most {
		return text
	}
	left, end := most-1, 0
	for i, r := range text {
		if left -= units(string(r)); left < 0 {
			break
		}
		end = i + utf8.RuneLen(r)
	}
	text = text[:end]
	if slashes := len(text) - len(strings.TrimRight(text, `\`)); slashes%2 == 1 {
		text = text[:len(text)-1] // its character was cut off
	}
	return strings.TrimRight(text, " \n") + "…"
}
