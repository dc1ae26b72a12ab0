package mcp

import (
	"bytes"
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/principal"
)

// requestKey is the key of the HTTP request's context. It is kept because the SDK detaches a call from the cancellation of that
// context.
type requestKey struct{}

// stepUp has the scopes that a call needs beyond those of its program. The protocol writes them, and ServeHTTP answers with them:
// only an HTTP answer can tell a program to sign in again.
type stepUp struct{ scopes atomic.Pointer[string] }

type stepUpKey struct{}

// ServeHTTP checks the origin, credential, rate and form of a request, and then serves the protocol. At a path of Published it
// serves the document of that path instead.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if document := s.published[r.URL.Path]; document != nil {
		document.ServeHTTP(w, r)
		return
	}
	if !s.allowedOrigin(r) {
		fail(w, apierr.New(apierr.InsufficientPermissions, "Web pages of this origin may not use the MCP server."))
		return
	}
	share(w.Header(), r.Header.Get("Origin"))
	if r.Method == http.MethodOptions && r.Header.Get("Access-Control-Request-Method") != "" {
		preflight(w)
		return
	}
	result, ok := principal.ResultFrom(r.Context())
	switch {
	case ok && result.Err != nil:
		s.refuse(w, r, apierr.From(result.Err))
		return
	case !ok || result.Principal == nil:
		s.refuse(
			w,
			r,
			apierr.New(
				apierr.Unauthorized,
				"No credential was sent. Sign in with OAuth, or send an API key or an MCP key as `Authorization: Bearer <key>`.",
			),
		)
		return
	case result.Principal.Kind == principal.KindSession:
		s.refuse(
			w,
			r,
			apierr.New(apierr.InvalidCredentials, "A dashboard session cannot be used here. Sign in with OAuth, or use an API key or an MCP key."),
		)
		return
	}
	if s.cfg.Limiter != nil {
		if ok, _ := s.cfg.Limiter.Allow(rateKey(result.Principal), s.cfg.Now()); !ok {
			fail(w, apierr.New(apierr.RateLimit, "This credential made too many MCP requests: it may make "+limits.Number(limits.MCPRequests)+" in "+
				limits.Seconds(limits.MCPPeriod)+". Wait, then try again.", apierr.RetryAfter(limits.MCPPeriod)))
			return
		}
	}
	if r.Method != http.MethodPost {
		// There are no sessions to listen to or to end.
		w.Header().Set("Allow", http.MethodPost)
		fail(w, apierr.New(apierr.MethodNotAllowed, "The MCP server takes POST only. It has no sessions and no event stream."))
		return
	}
	if media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || media != "application/json" {
		fail(w, apierr.New(apierr.UnsupportedMediaType, "Send the request with Content-Type: application/json."))
		return
	}
	if !acceptsJSON(r.Header.Values("Accept")) {
		fail(w, apierr.New(apierr.NotAcceptable, "The server answers with application/json. Add application/json to the Accept header."))
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, s.cfg.MaxBodyBytes))
	if err != nil {
		var tooLarge *http.MaxBytesError
		if errors.As(err, &tooLarge) {
			fail(w, apierr.New(apierr.PayloadTooLarge, "An MCP request has at most "+limits.Size(s.cfg.MaxBodyBytes)+". Send less in one request."))
		} else {
			fail(w, apierr.New(apierr.InvalidRequest, "The connection ended before the body was complete. Send the request again."))
		}
		return
	}
	needs := &stepUp{}
	ctx := context.WithValue(principal.WithDoor(r.Context(), principal.DoorMCP), stepUpKey{}, needs)
	r = r.WithContext(context.WithValue(ctx, requestKey{}, r.Context()))
	r.Body = io.NopCloser(bytes.NewReader(body))
	// A client that can read JSON gets JSON. The SDK requires clients to name both forms, so they are added here.
	r.Header = r.Header.Clone()
	r.Header.Set("Accept", "application/json, text/event-stream")
	a := &protocolAnswer{ResponseWriter: w}
	s.stream.ServeHTTP(a, r)
	if scopes := needs.scopes.Load(); scopes != nil {
		w.Header().Del("Content-Length")
		w.Header().Set(
			"WWW-Authenticate",
			`Bearer error="insufficient_scope", scope="`+*scopes+`", resource_metadata="`+s.cfg.ResourceMetadata+`"`,
		)
		fail(w, apierr.New(apierr.InsufficientScope, "The tool needs scopes that the user did not allow when this program was connected. "+
			"Connect again with the scopes `"+*scopes+"`."))
		return
	}
	a.send(body)
}

// whileConnected ends the context of a call when its caller disconnects, so that its query ends too.
func whileConnected(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	request, ok := ctx.Value(requestKey{}).(context.Context)
	if !ok {
		return ctx, cancel
	}
	stop := context.AfterFunc(request, cancel)
	return ctx, func() { stop(); cancel() }
}

func rateKey(p *principal.Principal) string {
	if p.CredentialID != "" {
		return "mcp " + p.CredentialID
	}
	return "mcp " + string(p.Org) + " " + string(p.User)
}

func acceptsJSON(accept []string) bool {
	if len(accept) == 0 {
		return true
	}
	for _, part := range strings.Split(strings.Join(accept, ","), ",") {
		media, params, err := mime.ParseMediaType(strings.TrimSpace(part))
		if err != nil || params["q"] == "0" {
			continue
		}
		switch media {
		case "*/*", "application/*", "application/json":
			return true
		}
	}
	return false
}

// refuse answers a caller without a valid credential and says where to get one (RFC 9728 section 5.1, RFC 6750 section 3).
func (s *Server) refuse(w http.ResponseWriter, r *http.Request, e *apierr.Error) {
	if e.Detail().GetStatus() == http.StatusUnauthorized {
		challenge := `Bearer resource_metadata="` + s.cfg.ResourceMetadata + `", scope="*"`
		if len(r.Header.Values("Authorization")) > 0 {
			challenge += `, error="invalid_token"`
		}
		w.Header().Set("WWW-Authenticate", challenge)
	}
	fail(w, e)
}

// missingScope returns the scopes that a program must request to call a tool: the missing ones together with its own. The result is
// empty if the program may call the tool. Only a program that signed in can ask for more scopes (RFC 6750 section 3.1). With a key
// the call fails like any other.
func (s *Server) missingScope(p *principal.Principal, name string) string {
	if p.Kind != principal.KindOAuth || p.Scopes == nil || s.visible(p, name) {
		return ""
	}
	scopes := slices.Clone(p.Scopes)
	for _, m := range s.methods[name] {
		scopes = append(scopes, m.MissingScopes(p.Allows)...)
	}
	slices.Sort(scopes)
	return strings.Join(slices.Compact(scopes), " ")
}

// fail answers a failure that is not a protocol message.
func fail(w http.ResponseWriter, e *apierr.Error) {
	d := e.Detail()
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Cache-Control", "no-store")
	if d.GetRetryAfterSeconds() > 0 {
		h.Set("Retry-After", strconv.Itoa(int(d.GetRetryAfterSeconds())))
	}
	w.WriteHeader(int(d.GetStatus()))
	_, _ = w.Write(apierr.Envelope(d, false)) // an error means that the caller disconnected
}
