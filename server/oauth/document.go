package oauth

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/maypok86/otter/v2"
	"golang.org/x/sync/singleflight"

	"github.com/svc-observability/svc/server/egress"
	"github.com/svc-observability/svc/server/limits"
)

// Bounds of client metadata documents (draft-ietf-oauth-client-id-metadata-document).
const (
	documentTimeout = 5 * time.Second
	documentKept    = 10 * time.Minute
	documentsKept   = 1000
)

// documents reads the metadata that a program publishes at the URL that is its client_id. Only the host of that URL vouches for
// the program.
type documents struct {
	guard *egress.Guard
	// allow counts the requests that other parties make us send.
	allow func(ctx context.Context) error
	http  *http.Client
	now   func() time.Time
	cache *otter.Cache[string, document]
	group singleflight.Group
}

type document struct {
	client Client
	readAt time.Time
}

func newDocuments(guard *egress.Guard, now func() time.Time, allow func(context.Context) error) *documents {
	if guard == nil {
		guard = egress.New()
	}
	return &documents{
		guard: guard, now: now, allow: allow, http: guard.Client(egress.Options{Timeout: documentTimeout}),
		cache: otter.Must(&otter.Options[string, document]{MaximumSize: documentsKept}),
	}
}

func (d *documents) client(ctx context.Context, id string) (Client, error) {
	u, err := d.guard.CheckURL(id, false)
	if err != nil {
		return Client{}, invalid("invalid_client", "client_id cannot be used: "+err.Error()+".")
	}
	if u.Path == "" || u.Path == "/" || strings.Contains(id, "#") || strings.Contains(u.EscapedPath(), "/./") ||
		strings.Contains(u.EscapedPath(), "/../") || len(id) > maxURI {
		return Client{}, invalid("invalid_client", "client_id must be an https:// URL with a path, and without a fragment or dot segments.")
	}
	if kept, ok := d.cache.GetIfPresent(id); ok && d.now().Sub(kept.readAt) < documentKept {
		return kept.client, nil
	}
	if err := d.allow(ctx); err != nil {
		return Client{}, err
	}
	// All waiting callers share one flight, so it must not end with the first of them.
	found, err, _ := d.group.Do(id, func() (any, error) { return d.read(context.WithoutCancel(ctx), id, u) })
	if err != nil {
		return Client{}, err
	}
	return found.(Client), nil
}

// unreadable is the error for every document that cannot be read, whatever the reason. Different errors would reveal which names
// lead to addresses of a private network, and which ports answer there.
func unreadable(u *url.URL) error {
	return invalid("invalid_client", fmt.Sprintf("The document at client_id could not be read from %s.", u.Host))
}

func (d *documents) read(ctx context.Context, id string, u *url.URL) (Client, error) {
	ctx, cancel := context.WithTimeout(ctx, documentTimeout)
	defer cancel()
	body, header, err := egress.Get(ctx, d.http, id, "application/json", limits.OAuthDocument)
	switch {
	case errors.Is(err, egress.ErrTooLarge):
		return Client{}, invalid("invalid_client", "The document at client_id is larger than "+limits.Size(limits.OAuthDocument)+".")
	case err != nil:
		return Client{}, unreadable(u)
	}
	if media, _, err := mime.ParseMediaType(header.Get("Content-Type")); err != nil || media != "application/json" &&
		!strings.HasSuffix(media, "+json") {
		return Client{}, invalid("invalid_client", "The document at client_id is not application/json.")
	}
	var m metadata
	if err := json.Unmarshal(body, &m); err != nil {
		return Client{}, invalid("invalid_client", "The document at client_id is not a JSON object of the expected form.")
	}
	if m.ClientID != id {
		return Client{}, invalid("invalid_client", "The client_id in the document must equal the address of the document.")
	}
	if err := m.check(); err != nil {
		var e *Error
		errors.As(err, &e)
		return Client{}, invalid("invalid_client", "The document at client_id is not valid: "+e.Description)
	}
	c := Client{ID: id, Name: m.ClientName, URI: m.ClientURI, Host: u.Host, RedirectURIs: m.RedirectURIs}
	d.cache.Set(id, document{client: c, readAt: d.now()})
	return c, nil
}
