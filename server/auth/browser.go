package auth

import (
	"context"
	"mime"
	"net/http"
	"net/url"
	"strings"

	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/principal"
)

// HeaderUI is sent by the scripts of our own application. A page of another origin cannot send it without a preflight, and no preflight is
// answered with a permission.
const HeaderUI = "X-Svc-Ui"

// CookieName returns the full name of a cookie. With https, the name has a prefix that keeps other hosts and paths from setting the
// cookie.
func CookieName(secure bool, name string) string {
	if secure {
		return "__Host-svc_" + name
	}
	return "svc_" + name
}

// Browser decides whether the session cookie of a request is a credential. It is one only if the request proves that a script of our
// own origin sent it: browsers attach cookies to requests that other pages cause.
type Browser struct {
	scheme string
	origin string
	cookie string
	paths  func(path string) bool
}

// NewBrowser returns the rule for a server that people reach at base. Only requests to the named paths may have a cookie as their
// credential.
func NewBrowser(base *url.URL, paths func(path string) bool) *Browser {
	return &Browser{
		scheme: base.Scheme,
		origin: strings.ToLower(base.Scheme + "://" + base.Host),
		cookie: CookieName(base.Scheme == "https", "session"),
		paths:  paths,
	}
}

// cookieKey is the key of a cookieCredential in a context.
type cookieKey struct{}

// cookieCredential is the cookie of a request: the token, or the reason why it is not taken.
type cookieCredential struct {
	token string
	err   error
}

// Middleware finds the cookie and leaves it in the context for Authenticate. The headers stay as they are, so a cookie never passes for
// a header that the caller sent. It stands around Authenticator.Middleware.
func (b *Browser) Middleware(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if len(r.Header["Authorization"]) > 0 || !b.paths(r.URL.Path) {
			next.ServeHTTP(w, r)
			return
		}
		cookies := r.CookiesNamed(b.cookie)
		if len(cookies) == 0 {
			next.ServeHTTP(w, r)
			return
		}
		c := cookieCredential{token: cookies[0].Value, err: b.Proof(r)}
		if c.err == nil && len(cookies) > 1 {
			c.err = apierr.New(apierr.InvalidCredentials, "The request has several session cookies. Sign in again.")
		}
		if c.err == nil && kindOf(c.token) != kindSession {
			c.err = apierr.New(apierr.InvalidCredentials, "The cookie does not hold a session. Sign in again.")
		}
		w.Header().Set("Cache-Control", "no-store")
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), cookieKey{}, c)))
	})
}

// Proof checks that a script of our own origin sent the request. The error names the part that is missing.
func (b *Browser) Proof(r *http.Request) error {
	refuse := func(reason string) error {
		return apierr.New(apierr.Unauthorized,
			"The session cookie is not a credential of this request: "+reason+
				" Send an API key or a session token as `Authorization: Bearer <token>`.")
	}
	if r.Method != http.MethodPost {
		return refuse("the method is not POST.")
	}
	if kinds := r.Header["Content-Type"]; len(kinds) != 1 || !isJSON(kinds[0]) {
		return refuse("the content type is not application/json.")
	}
	if marks := r.Header[HeaderUI]; len(marks) != 1 || marks[0] != "1" {
		return refuse("the header " + HeaderUI + " is missing.")
	}
	if sites := r.Header["Sec-Fetch-Site"]; len(sites) > 1 || len(sites) == 1 && sites[0] != "same-origin" {
		return refuse("another site caused it.")
	}
	if origins := r.Header["Origin"]; len(origins) != 1 || !b.ours(origins[0], r.Host) {
		return refuse("its Origin is not this server.")
	}
	return nil
}

// ours reports whether an origin is the public one, or the host that the request was sent to. A server may have several names. The scheme
// is always that of the public address: a page over http must not act on a session of https.
func (b *Browser) ours(origin, host string) bool {
	origin = strings.ToLower(origin)
	return origin == b.origin || host != "" && origin == b.scheme+"://"+strings.ToLower(host)
}

func isJSON(contentType string) bool {
	kind, _, err := mime.ParseMediaType(contentType)
	return err == nil && kind == "application/json"
}

// cookie authenticates the cookie of a request. It returns a nil error and a nil principal if the request has none.
func (a *Authenticator) cookie(ctx context.Context, h http.Header) (*principal.Principal, error) {
	c, ok := ctx.Value(cookieKey{}).(cookieCredential)
	switch {
	case !ok:
		return nil, nil
	case c.err != nil:
		return nil, c.err
	}
	org, err := chosenOrganization(h)
	if err != nil {
		return nil, err
	}
	return a.session(ctx, c.token, org)
}
