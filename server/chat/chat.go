// Package chat describes messages to channels of chat services. A message is plain text: the package of a service escapes it, cuts it at
// the service's limits and gives it a form.
package chat

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/svc-observability/svc/server/principal"
)

// Bounds of an embed of Discord, in UTF-16 code units, which are never fewer than its characters. Webhooks and the app of Discord have the
// same embeds. Package notify cuts the messages to all chats to them.
const (
	EmbedTitle = 256
	EmbedText  = 4096
	EmbedTotal = 6000
)

// Message is a message about one thing.
type Message struct {
	Title string `json:"title"`
	// Body has lines of text.
	Body string `json:"body,omitempty"`
	// Color is 24 bits of red, green and blue.
	Color int `json:"color"`
	// URL is the page that shows the thing; it may be empty.
	URL   string `json:"url,omitempty"`
	Links []Link `json:"links,omitempty"`
	// Picture is a picture that the service fetches from us; nil without one.
	Picture *Picture  `json:"picture,omitempty"`
	At      time.Time `json:"at"`
}

// Picture is an address of ours, with a text for those who do not see the picture.
type Picture struct {
	URL string `json:"url"`
	Alt string `json:"alt"`
}

// Link is a page with a text.
type Link struct {
	Text string `json:"text"`
	URL  string `json:"url"`
}

// Post is a message on its way to a channel.
type Post struct {
	Org       principal.OrgID
	Workspace uuid.UUID
	// Channel is the channel's id at the service.
	Channel string
	Message Message
	// Thread is the reference of the first message about the same thing; empty for the first.
	Thread string
	// Ends says that the thing is over: the first message is changed to say so.
	Ends bool
}

// Poster sends messages.
type Poster interface {
	// Post sends a message and returns its reference: that of the thread, if the message is a part of one. The error is a *Failure.
	Post(ctx context.Context, p Post) (reference string, err error)
}

// Kind is the kind of a Failure.
type Kind int

// Kinds of failures.
const (
	// Failed: a later try may succeed.
	Failed Kind = iota
	// Throttled: the service wants fewer messages.
	Throttled
	// Unauthorized: the organization no longer has the workspace.
	Unauthorized
	// Missing: the channel does not exist, or the app may not write to it.
	Missing
	// Rejected: the service refuses the message.
	Rejected
	// Waiting: the workspace waits for a person, who gives us access again. A later try may succeed.
	Waiting
)

// Failure is a message that was not sent. Its text is for people and holds no secret.
type Failure struct {
	Kind       Kind
	Text       string
	RetryAfter time.Duration
	Cause      error
}

func (f *Failure) Error() string { return f.Text }

// Unwrap returns the cause.
func (f *Failure) Unwrap() error { return f.Cause }
