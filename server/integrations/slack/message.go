package slack

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	api "github.com/slack-go/slack"

	"github.com/svc-observability/svc/server/chat"
	"github.com/svc-observability/svc/server/integrations"
)

// Limits of Slack, in characters: a section of a message, and the sections that one message of ours has.
const (
	sectionText = 3000
	sections    = 5
	topText     = 3000
	pictureURL  = 3000
	pictureText = 2000
)

// escapes are the three characters by which Slack formats links and mentions.
var escapes = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

// Post implements integrations.ChatProvider. A message that Slack refuses is sent once more as plain text.
func (a *App) Post(ctx context.Context, c integrations.Connection, channel, thread string, m chat.Message) (string, error) {
	client, err := a.workspace(c)
	if err != nil {
		return "", err
	}
	var in []api.MsgOption
	if thread != "" {
		_, stamp, ok := strings.Cut(thread, ":")
		if !ok {
			return "", integrations.NewProblem(integrations.Invalid, nil, "The first message of the thread cannot be found.")
		}
		in = append(in, api.MsgOptionTS(stamp))
	}
	var stamp string
	var sent api.Message
	err = attempts(m, func(options []api.MsgOption) (err error) {
		_, stamp, sent, err = client.PostMessageWithResponseContext(ctx, channel, append(slices.Clone(in), options...)...)
		return err
	})
	switch {
	case err != nil:
		return "", err
	case stamp == "":
		return "", integrations.NewProblem(integrations.Upstream, nil, "Slack did not say which message it sent.")
	case thread != "" && sent.ThreadTimestamp != "" && channel+":"+sent.ThreadTimestamp == thread:
		return thread, nil
	}
	// Slack posts the answer to a deleted message at the top of the channel: a new thread begins.
	return channel + ":" + stamp, nil
}

// Change implements integrations.ChatProvider. A form that Slack refuses is sent once more as plain text.
func (a *App) Change(ctx context.Context, c integrations.Connection, reference string, m chat.Message) error {
	client, err := a.workspace(c)
	if err != nil {
		return err
	}
	channel, stamp, ok := strings.Cut(reference, ":")
	if !ok {
		return integrations.NewProblem(integrations.NotFound, nil, "The message is no longer there.")
	}
	return attempts(m, func(options []api.MsgOption) error {
		_, _, _, err := client.UpdateMessageContext(ctx, channel, stamp, options...)
		return err
	})
}

// attempts sends a message in its form. If Slack refuses the form, it is sent without its picture, and then as plain text. A refusal that
// names the picture goes to the caller, who sends it again.
func attempts(m chat.Message, send func([]api.MsgOption) error) error {
	err := problem(send(form(m)))
	if m.Picture != nil && integrations.IsKind(err, integrations.Invalid) {
		if refused, ok := errors.AsType[*integrations.Problem](err); ok && refused.Picture {
			return err
		}
		m.Picture = nil
		err = problem(send(form(m)))
	}
	if integrations.IsKind(err, integrations.Invalid) {
		err = problem(send(plain(m)))
	}
	return err
}

// form gives a message its form: the title as a link, and the rest behind a bar of its color.
func form(m chat.Message) []api.MsgOption {
	title := cut(escapes.Replace(titles.Replace(m.Title)), topText/2)
	if m.URL != "" && len(m.URL) < topText/2 {
		title = link(m.URL, title)
	}
	title = "*" + title + "*"
	var blocks []api.Block
	for _, text := range split(escapes.Replace(m.Body)) {
		blocks = append(blocks, api.NewSectionBlock(api.NewTextBlockObject(api.MarkdownType, text, false, true), nil, nil))
	}
	if p := m.Picture; p != nil && len(p.URL) <= pictureURL {
		blocks = append(blocks, api.NewImageBlock(p.URL, cut(p.Alt, pictureText), "", nil))
	}
	var links []string
	for _, l := range m.Links {
		links = append(links, link(l.URL, escapes.Replace(l.Text)))
	}
	if line := strings.Join(links, " · "); line != "" && utf8.RuneCountInString(line) <= sectionText {
		blocks = append(blocks, api.NewContextBlock("", api.NewTextBlockObject(api.MarkdownType, line, false, true)))
	}
	out := []api.MsgOption{api.MsgOptionText(title, false), api.MsgOptionDisableLinkUnfurl(), api.MsgOptionDisableMediaUnfurl()}
	if len(blocks) == 0 {
		return append(out, noAttachments())
	}
	return append(out, api.MsgOptionAttachments(api.Attachment{
		Color: fmt.Sprintf("#%06x", m.Color), Fallback: cut(escapes.Replace(m.Title+"\n"+m.Body), topText), Blocks: api.Blocks{BlockSet: blocks},
	}))
}

// titles keeps a title from the end of its own line, and from the end of its bold letters.
var titles = strings.NewReplacer("\n", " ", "*", "∗")

// link is an address with an escaped text.
func link(to, text string) string {
	return "<" + strings.ReplaceAll(escapes.Replace(to), "|", "%7C") + "|" + text + ">"
}

// noAttachments is an empty list: Slack keeps the attachments of a changed message that names none.
func noAttachments() api.MsgOption { return api.MsgOptionAttachments([]api.Attachment{}...) }

// plain is the message as text alone.
func plain(m chat.Message) []api.MsgOption {
	address := ""
	if m.URL != "" && len(m.URL) < topText/2 {
		address = "\n" + escapes.Replace(m.URL)
	}
	return []api.MsgOption{
		api.MsgOptionText(cut(escapes.Replace(m.Title+"\n"+m.Body), topText-utf8.RuneCountInString(address))+address, false),
		api.MsgOptionDisableLinkUnfurl(), api.MsgOptionDisableMediaUnfurl(), api.MsgOptionDisableMarkdown(), noAttachments(),
	}
}

// split cuts an escaped text into sections, at ends of lines where that is possible. The rest is left out.
func split(text string) []string {
	var out []string
	for text = strings.TrimSpace(text); text != "" && len(out) < sections; {
		if utf8.RuneCountInString(text) <= sectionText {
			return append(out, text)
		}
		if len(out) == sections-1 {
			return append(out, cut(text, sectionText))
		}
		head := whole(text, sectionText)
		if at := strings.LastIndexByte(head, '\n'); at > len(head)/2 {
			head = head[:at]
		}
		out, text = append(out, head), strings.TrimSpace(text[len(head):])
	}
	return out
}

// cut shortens an escaped text to a number of characters and marks the cut.
func cut(text string, most int) string {
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	return strings.TrimRight(whole(text, most-1), " \n") + "…"
}

// whole is the start of an escaped text without a part of an entity at its end.
func whole(text string, most int) string {
	n := 0
	for i := range text {
		if n == most {
			text = text[:i]
			break
		}
		n++
	}
	if at := strings.LastIndexByte(text, '&'); at >= 0 && !strings.Contains(text[at:], ";") {
		text = text[:at]
	}
	return text
}
