package notify

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"github.com/svc-observability/svc/server/chat"
)

// Limits of a message to a chat, in UTF-16 code units. The package of a chat service cuts the message further if the service allows less.
const (
	chatTitle = chat.EmbedTitle
	chatBody  = chat.EmbedTotal
)

func (e *Event) chat() chat.Message {
	m := chat.Message{
		Title: cut(e.title(Chat, plain, plain), chatTitle), Body: cut(e.body(Chat, plain, plain), chatBody), Color: e.color(), URL: e.LinkURL,
		At: e.SentAt.UTC(),
	}
	for _, s := range e.Samples {
		if s.URL != "" {
			m.Links = append(m.Links, chat.Link{Text: "Trace " + s.TraceID, URL: s.URL})
		}
	}
	if e.PictureURL != "" {
		m.Picture = &chat.Picture{URL: e.PictureURL, Alt: "Chart: " + m.Title}
	}
	if e.ChatURL != "" {
		m.Links = append(m.Links, chat.Link{Text: "Ask about it", URL: e.ChatURL})
	}
	return m
}

func (s *Sender) sendChat(ctx context.Context, d *Destination, p Payload) Result {
	var m chat.Message
	workspace, err := uuid.Parse(d.Config.Workspace)
	if err = errors.Join(err, json.Unmarshal(p.Body, &m)); err != nil {
		return Result{Outcome: Unreadable, Problem: "The stored message or destination cannot be read."}
	}
	if s.cfg.Chats == nil {
		return Result{Outcome: Rejected, Problem: "This server has no chat connector."}
	}
	reference, err := s.cfg.Chats.Post(ctx, chat.Post{
		Org: d.Org, Workspace: workspace, Channel: d.Config.ChannelID, Message: m, Thread: p.Thread, Ends: p.EventType == Resolve,
	})
	if err == nil {
		return Result{Reference: reference, Answer: fmt.Sprintf("Sent to #%s.", d.Config.ChannelName)}
	}
	r := Result{Outcome: Failed, Problem: "The message could not be sent."}
	var f *chat.Failure
	if errors.As(err, &f) {
		r.Problem, r.RetryAfter = f.Text, f.RetryAfter
		//exhaustive:enforce
		switch f.Kind {
		case chat.Failed:
		case chat.Throttled:
			r.Outcome = Throttled
		case chat.Unauthorized:
			r.Outcome = Unauthorized
		case chat.Missing:
			r.Outcome = Missing
		case chat.Waiting:
			r.Outcome = Waiting
		case chat.Rejected:
			r.Outcome = Rejected
		}
	}
	return r
}
