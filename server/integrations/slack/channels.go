package slack

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	api "github.com/slack-go/slack"

	"github.com/svc-observability/svc/server/integrations"
	"github.com/svc-observability/svc/server/store"
)

// channelPage is the size of a page: the largest that Slack takes. A workspace may make about 20 such requests in a minute.
const channelPage = 999

// longestPause is the longest pause for which the list of channels waits.
const longestPause = 40 * time.Second

// channels lists the channels to which the bot can write: public ones, and private ones that it is a member of.
func (a *App) channels(ctx context.Context, client *api.Client) ([]store.ChatChannel, error) {
	out, seen, pages := []store.ChatChannel{}, map[string]bool{}, map[string]bool{}
	for cursor := ""; ; {
		page, next, err := client.GetConversationsContext(ctx, &api.GetConversationsParameters{
			Cursor: cursor, Limit: channelPage, ExcludeArchived: true, Types: []string{"public_channel", "private_channel"},
		})
		var limited *api.RateLimitedError
		if errors.As(err, &limited) && limited.RetryAfter <= longestPause {
			select {
			case <-time.After(limited.RetryAfter):
				continue
			case <-ctx.Done():
			}
		}
		if err != nil {
			return nil, problem(err)
		}
		for _, c := range page {
			if seen[c.ID] || c.IsArchived || c.IsPrivate && !c.IsMember {
				continue
			}
			seen[c.ID] = true
			out = append(out, channel(c))
		}
		switch {
		case next == "":
			return out, nil
		case pages[next]:
			return nil, integrations.NewProblem(integrations.Upstream, nil, "Slack's list of channels has no end.")
		}
		cursor, pages[next] = next, true
	}
}

func channel(c api.Channel) store.ChatChannel {
	name := c.NameNormalized
	if name == "" {
		name = c.Name
	}
	if name == "" {
		name = c.ID
	}
	return store.ChatChannel{ExternalID: c.ID, Name: name, IsPrivate: c.IsPrivate, IsMember: c.IsMember}
}

// Channel implements integrations.ChatProvider.
func (a *App) Channel(ctx context.Context, c integrations.Connection, id string) (store.ChatChannel, error) {
	client, err := a.workspace(c)
	if err != nil {
		return store.ChatChannel{}, err
	}
	found, err := client.GetConversationInfoContext(ctx, &api.GetConversationInfoInput{ChannelID: id})
	switch {
	case err != nil:
		return store.ChatChannel{}, problem(err)
	case found.IsArchived:
		return store.ChatChannel{}, integrations.NewProblem(integrations.NotFound, nil, "The channel is archived.")
	case found.IsPrivate && !found.IsMember:
		return store.ChatChannel{}, notFound(nil)
	}
	return channel(*found), nil
}

func notFound(err error) error {
	return integrations.NewProblem(integrations.NotFound, err,
		"Slack knows no such channel, or the app is not in it. For a private channel, write /invite with the name of the app there.")
}

// namesPicture reports whether an answer is about the picture of a message: Slack could not download it, or does not take its block.
func namesPicture(said api.SlackErrorResponse) bool {
	texts := append([]string{said.Err}, said.ResponseMetadata.Messages...)
	for _, e := range said.Errors {
		if e.Message != nil {
			texts = append(texts, *e.Message)
		}
	}
	return slices.ContainsFunc(texts, func(text string) bool {
		return strings.Contains(text, "downloading image") || strings.Contains(text, "image_url") || strings.Contains(text, "alt_text")
	})
}

// problem sorts an error of the API client; nil for nil.
func problem(err error) error {
	if err == nil {
		return nil
	}
	var known *integrations.Problem
	var limited *api.RateLimitedError
	var status api.StatusCodeError
	var said api.SlackErrorResponse
	var pause *strconv.NumError
	code := ""
	switch {
	case errors.As(err, &known):
		return known
	case errors.As(err, &limited):
		p := integrations.NewProblem(integrations.RateLimited, err, "Slack asks for a pause.")
		p.RetryAfter = max(time.Second, limited.RetryAfter)
		return p
	case errors.As(err, &pause): // the client could not read Retry-After, which it reads of an answer 429 alone
		code = "ratelimited"
	case errors.As(err, &status):
		if status.Code == http.StatusTooManyRequests {
			code = "ratelimited"
		}
		if status.Code == http.StatusUnauthorized || status.Code == http.StatusForbidden {
			return integrations.NewProblem(integrations.Unauthorized, err, "Slack refused the credentials of the app.")
		}
	case errors.As(err, &said):
		code = said.Err
	}
	is := func(codes ...string) bool { return slices.Contains(codes, code) }
	switch {
	case is("token_revoked", "account_inactive", "team_access_not_granted", "app_not_installed", "team_not_found"):
		return integrations.NewProblem(integrations.Suspended, err,
			"The app was removed from the workspace, or its access was withdrawn, at Slack.")
	case is("invalid_refresh_token", "invalid_grant", "token_expired"):
		return integrations.NewProblem(integrations.Unauthorized, err, "The token of the workspace has ended.")
	case is("invalid_auth", "not_authed", "no_permission", "org_login_required", "access_denied", "ekm_access_denied",
		"not_allowed_token_type", "accesslimited", "user_is_restricted", "enterprise_is_restricted", "two_factor_setup_required"):
		return integrations.NewProblem(integrations.Unauthorized, err, "Slack refused the credentials of the app.")
	case is("missing_scope"):
		return integrations.NewProblem(integrations.Forbidden, err, "The app lacks a permission in the workspace. Connect the workspace again.")
	case is("invalid_client_id", "bad_client_secret"):
		return integrations.NewProblem(integrations.Unauthorized, err,
			"Slack does not know this server: the operator's settings slack-client-id and slack-client-secret are not those of the app.")
	case is("invalid_team_for_non_distributed_app"):
		return integrations.NewProblem(integrations.Invalid, err,
			"The app can be installed in its own workspace only. The operator of this server activates its public distribution at Slack, under "+
				"Manage Distribution.")
	case is("invalid_code", "code_already_used", "bad_redirect_uri", "oauth_authorization_url_mismatch", "invalid_grant_type"):
		return integrations.NewProblem(integrations.Invalid, err, "Slack did not accept the code. It may be too old; start again.")
	case is("cannot_reply_to_message", "restricted_action_thread_locked"):
		return integrations.NewProblem(integrations.NotFound, err, "The thread takes no answer.")
	case is("channel_not_found", "not_in_channel", "is_inactive", "channel_type_not_supported", "method_not_supported_for_channel_type") ||
		strings.HasPrefix(code, "restricted_action"):
		return notFound(err)
	case is("is_archived"):
		return integrations.NewProblem(integrations.NotFound, err, "The channel is archived.")
	case is("message_not_found", "thread_not_found", "cant_update_message", "edit_window_closed", "message_not_owned_by_app"):
		return integrations.NewProblem(integrations.NotFound, err, "The message is no longer there.")
	case is("msg_too_long", "msg_blocks_too_long", "no_text", "too_many_attachments", "as_user_not_supported", "block_mismatch",
		"attachment_payload_limit_exceeded", "metadata_too_large") ||
		strings.HasPrefix(code, "invalid_"), namesPicture(said):
		p := integrations.NewProblem(integrations.Invalid, err, "Slack does not take the message (%s).", plainCode(code))
		p.Picture = namesPicture(said)
		return p
	case is("ratelimited", "rate_limited", "message_limit_exceeded"):
		p := integrations.NewProblem(integrations.RateLimited, err, "Slack asks for a pause.")
		p.RetryAfter = time.Minute
		return p
	}
	return integrations.NewProblem(integrations.Upstream, err, "Slack failed or did not answer in time.")
}

// plainCode keeps a word of Slack that looks like one of its codes.
func plainCode(code string) string {
	if len(code) > 60 || strings.Trim(code, "abcdefghijklmnopqrstuvwxyz_") != "" {
		return "an unknown reason"
	}
	return code
}
