package integrations

import (
	"context"
	"errors"
	"strings"

	"github.com/google/uuid"

	"github.com/svc-observability/svc/server/chat"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/store"
)

// Reasons why a chat workspace cannot be used.
var (
	// ErrNoWorkspace means that the organization has no connected workspace with this id.
	ErrNoWorkspace = errors.New("the organization has no connected chat workspace with this id")
	// ErrNotSetUp means that the operator of this server has not set up the provider of the workspace, or no longer.
	ErrNotSetUp = errors.New("the provider of the chat workspace is not set up on this server")
	// ErrReconnect means that the provider refuses our access to the workspace.
	ErrReconnect = errors.New("the provider refuses access to the chat workspace")
)

// Workspace finds a connected chat workspace that can be used. The error is ErrNoWorkspace, ErrNotSetUp, ErrReconnect, or one
// of the store.
func (e *Engine) Workspace(ctx context.Context, org principal.OrgID, id uuid.UUID) (store.IntegrationConnection, error) {
	c, err := e.cfg.Store.GetIntegrationConnection(ctx, org, id)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return c, ErrNoWorkspace
	case err != nil:
		return c, err
	}
	if _, err := e.chatProvider(c); err != nil {
		return c, err
	}
	switch c.State {
	case store.IntegrationDisconnected, store.IntegrationReconnectNeeded:
		return c, ErrReconnect
	}
	return c, nil
}

// chatProvider is the provider of a chat workspace.
func (e *Engine) chatProvider(c store.IntegrationConnection) (ChatProvider, error) {
	setup, _ := e.Provider(c.Provider)
	if setup.Class != ClassChat {
		return nil, ErrNoWorkspace
	}
	provider, ok := setup.Provider.(ChatProvider)
	if !ok || provider.BaseURL() != c.BaseURL {
		return nil, ErrNotSetUp
	}
	return provider, nil
}

// Channel finds a channel of a workspace: in the server's copy, else at the provider. The error of an unknown channel is a problem
// NotFound.
func (e *Engine) Channel(ctx context.Context, c store.IntegrationConnection, id string) (store.ChatChannel, error) {
	found, err := e.cfg.Store.ChatChannelByID(ctx, c.Org, c.ID, id)
	if !errors.Is(err, store.ErrNotFound) {
		return found, err
	}
	provider, err := e.chatProvider(c)
	if err != nil {
		return store.ChatChannel{}, err
	}
	opened, err := e.Open(c)
	if err != nil {
		return store.ChatChannel{}, err
	}
	if found, err = provider.Channel(ctx, opened, id); err != nil {
		return store.ChatChannel{}, err
	}
	if err := e.cfg.Store.KeepChatChannel(ctx, c, found); err != nil && !errors.Is(err, store.ErrNotFound) {
		return store.ChatChannel{}, err
	}
	return found, nil
}

// Post implements chat.Poster. The end of a thing changes its first message, and an answer in its thread says so. A thread that is gone, or
// that is in another channel than the destination has now, is followed by a new message, which begins the next thread.
func (e *Engine) Post(ctx context.Context, p chat.Post) (string, error) {
	c, err := e.Workspace(ctx, p.Org, p.Workspace)
	if err != nil {
		return "", e.chatFailure(ctx, c, err)
	}
	provider, err := e.chatProvider(c)
	if err != nil {
		return "", e.chatFailure(ctx, c, err)
	}
	opened, err := e.Open(c)
	if err != nil {
		return "", e.chatFailure(ctx, c, err)
	}
	p.Message.Picture = e.picture(c, provider, p.Message.Picture)
	reference, err := post(ctx, provider, opened, p)
	if isPicture(err) {
		e.pictureFailed(ctx, c, err)
		p.Message.Picture = nil
		reference, err = post(ctx, provider, opened, p)
	} else if err == nil && p.Message.Picture != nil {
		e.trouble.over(c.ID)
	}
	if err != nil {
		return "", e.chatFailure(ctx, c, err)
	}
	return reference, nil
}

// post sends a message with everything that is a part of it.
func post(ctx context.Context, provider ChatProvider, c Connection, p chat.Post) (string, error) {
	thread := p.Thread
	answer := p.Message
	if thread != "" && p.Ends {
		err := provider.Change(ctx, c, thread, p.Message)
		switch {
		case IsKind(err, NotFound):
			thread = "" // a person has deleted the message: a new one has the news
		case isPicture(err):
			return "", err
		case IsKind(err, Invalid): // the answer in the thread says it
		case err != nil:
			return "", err
		default:
			answer.Picture = nil // the first message shows it
		}
	}
	if !strings.HasPrefix(thread, p.Channel+":") {
		thread = ""
	}
	reference, err := provider.Post(ctx, c, p.Channel, thread, answer)
	if thread != "" && IsKind(err, NotFound) {
		reference, err = provider.Post(ctx, c, p.Channel, "", p.Message)
	}
	return reference, err
}

// chatFailure is a problem in the words of a message. Only a workspace that a person has disconnected is lost to its destinations; another
// one comes back, so its messages wait. A refusal of our access makes the synchronization of the workspace due, which finds out whether a
// person has to connect it again.
func (e *Engine) chatFailure(ctx context.Context, c store.IntegrationConnection, err error) error {
	f := &chat.Failure{Text: "The workspace could not be read.", Cause: err}
	var p *Problem
	switch {
	case errors.Is(err, ErrNoWorkspace):
		f.Kind, f.Text = chat.Unauthorized, "The workspace of the destination is no longer connected."
	case errors.Is(err, ErrNotSetUp):
		f.Kind, f.Text, f.RetryAfter = chat.Waiting, "The operator of this server has not set up the provider of the workspace.", limits.ChatWait
	case errors.Is(err, ErrReconnect):
		f.Kind, f.RetryAfter = chat.Waiting, limits.ChatWait
		f.Text = "The provider refuses access to the workspace. An administrator connects it again."
	case errors.As(err, &p):
		f.Text, f.RetryAfter = p.Text, p.RetryAfter
		switch p.Kind {
		case RateLimited:
			f.Kind = chat.Throttled
		case NotFound:
			f.Kind = chat.Missing
		case Invalid:
			f.Kind = chat.Rejected
		case Unauthorized, Suspended, Gone, Forbidden:
			f.Kind, f.RetryAfter = chat.Waiting, limits.ChatWait
			e.Refused(ctx, c)
		case Upstream:
		}
	}
	return f
}
