package discord

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"strings"
	"time"

	"github.com/svc-observability/svc/server/integrations"
)

// do makes a request to the API as the bot. The parts of the path are ids or words of ours.
func (a *App) do(ctx context.Context, method string, body, into any, path ...string) error {
	var text io.Reader
	if body != nil {
		plain, err := json.Marshal(body)
		if err != nil {
			return fmt.Errorf("discord: %w", err)
		}
		text = bytes.NewReader(plain)
	}
	r, err := http.NewRequestWithContext(ctx, method, a.Base.JoinPath(append([]string{"api", "v10"}, path...)...).String(), text)
	if err != nil {
		return fmt.Errorf("discord: %w", err)
	}
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	r.Header.Set("Authorization", "Bot "+a.cfg.BotToken)
	return a.caller.Do(r, into)
}

// code is an error code of the API.
type code int

func (c code) Error() string { return fmt.Sprintf("code %d of Discord", int(c)) }

// Codes that are not only sorted.
const unreadableHistory code = 160002

// has reports whether an error comes from a code of the API.
func has(err error, want code) bool {
	var got code
	return errors.As(err, &got) && got == want
}

// isID reports whether a text is an id of Discord, so that it can be a part of a path.
func isID(text string) bool {
	return len(text) >= 15 && len(text) <= 20 && strings.Trim(text, "0123456789") == ""
}

func notFound(err error) *integrations.Problem {
	return integrations.NewProblem(integrations.NotFound, err, "Discord knows no such channel, or the app may not write there. "+
		"Its permissions in the channel must allow View Channel, Send Messages and Embed Links.")
}

// problem sorts an answer that is not a success. Nil: the status says enough.
func problem(status int, body []byte) *integrations.Problem {
	var said struct {
		Code       int
		Error      string
		RetryAfter float64 `json:"retry_after"`
		Errors     json.RawMessage
	}
	if json.Unmarshal(body, &said) != nil {
		// a page of the network in front of the API says nothing about the guild
		if status == http.StatusForbidden || status == http.StatusNotFound {
			return integrations.NewProblem(integrations.Upstream, nil, "Discord failed (status %d).", status)
		}
		return nil
	}
	err := code(said.Code)
	switch {
	case status == http.StatusTooManyRequests && said.RetryAfter > 0:
		p := integrations.NewProblem(integrations.RateLimited, err, "Discord asks for a pause.")
		p.RetryAfter = max(time.Second, time.Duration(math.Ceil(min(said.RetryAfter, 3600)*1000))*time.Millisecond)
		return p
	case status == http.StatusTooManyRequests, status >= 500:
		return nil
	case said.Error == "invalid_client":
		return integrations.NewProblem(integrations.Unauthorized, nil,
			"Discord does not know this server: the operator's settings discord-application-id and discord-client-secret "+
				"are not those of the application.")
	case said.Error != "":
		return integrations.NewProblem(integrations.Invalid, nil, "Discord did not accept the code. It may be too old; start again.")
	case status == http.StatusUnauthorized:
		return integrations.NewProblem(integrations.Unauthorized, err,
			"Discord refuses the bot: the operator's setting discord-bot-token is not, or no longer, that of the application.")
	}
	switch said.Code {
	case 10004, 10007: // guild, member
		return gone(err)
	case 10008, 50005: // message, message of another author
		return integrations.NewProblem(integrations.NotFound, err, "The message is no longer there.")
	case 10003, 50001, 50008, 50013, 50024: // channel, access, no text channel, permission, type of the channel
		return notFound(err)
	case 0:
		return nil
	}
	if status == http.StatusForbidden {
		return integrations.NewProblem(integrations.Forbidden, err, "Discord does not allow the request (code %d).", said.Code)
	}
	p := integrations.NewProblem(integrations.Invalid, err, "Discord does not take the message (code %d).", said.Code)
	p.Picture = ofPicture(said.Errors)
	return p
}

// ofPicture reports whether the places of a form that are refused have the picture of an embed among them.
func ofPicture(places json.RawMessage) bool {
	var form struct {
		Embeds map[string]struct{ Image json.RawMessage }
	}
	if json.Unmarshal(places, &form) != nil {
		return false
	}
	for _, e := range form.Embeds {
		if e.Image != nil {
			return true
		}
	}
	return false
}

// gone says that a person has to add the bot again.
func gone(err error) *integrations.Problem {
	return integrations.NewProblem(integrations.Suspended, err,
		"The app was removed from the server at Discord, or the operator's setting discord-bot-token is that of another application.")
}
