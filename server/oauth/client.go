package oauth

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/svc-observability/svc/server/auth"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/store"
)

const (
	maxName      = limits.ClientName
	maxRedirects = limits.ClientAddresses
)

// Client is a program that asks for access. Only Host is proven; the program states the other fields itself.
type Client struct {
	ID, Name, URI string
	// Host is the host that published the metadata of the program and so vouches for it. It is empty for a program that
	// registered itself.
	Host         string
	RedirectURIs []string
}

// metadata is the description that a program gives of itself (RFC 7591 section 2). As that section says, fields that we do not use are
// ignored.
type metadata struct {
	ClientID     string   `json:"client_id"`
	ClientName   string   `json:"client_name"`
	ClientURI    string   `json:"client_uri"`
	RedirectURIs []string `json:"redirect_uris"`
}

func (m *metadata) check() error {
	m.ClientName = strings.TrimSpace(m.ClientName)
	switch {
	case !utf8.ValidString(m.ClientName) || utf8.RuneCountInString(m.ClientName) > maxName || strings.ContainsFunc(m.ClientName, hidden):
		return invalid("invalid_client_metadata", fmt.Sprintf("client_name must be text of at most %d characters in one line.", maxName))
	case len(m.RedirectURIs) == 0:
		return invalid("invalid_redirect_uri", "redirect_uris is required: at least one address to which the browser is sent back.")
	case len(m.RedirectURIs) > maxRedirects:
		return invalid(
			"invalid_redirect_uri",
			fmt.Sprintf("redirect_uris has %d addresses; at most %d are allowed.", len(m.RedirectURIs), maxRedirects),
		)
	}
	for i, uri := range m.RedirectURIs {
		if reason := checkRedirect(uri); reason != "" {
			return invalid("invalid_redirect_uri", fmt.Sprintf("redirect_uris[%d] cannot be used: %s.", i, reason))
		}
	}
	if m.ClientURI != "" {
		if u, err := url.Parse(m.ClientURI); err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" ||
			len(m.ClientURI) > maxURI {
			return invalid("invalid_client_metadata", "client_uri must be the URL of a web page.")
		}
	}
	return nil
}

// hidden reports whether a character is invisible. Such characters could make a name look like another one on the page where
// people decide.
func hidden(r rune) bool {
	return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Zl, r) || unicode.Is(unicode.Zp, r) ||
		unicode.Is(unicode.Co, r)
}

// register is dynamic registration (RFC 7591). Every client is a public client, whatever the request says.
func (s *Server) register(w http.ResponseWriter, r *http.Request) {
	if media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || media != "application/json" {
		fail(w, invalid("invalid_client_metadata", "Send the metadata as application/json."))
		return
	}
	text, err := io.ReadAll(http.MaxBytesReader(w, r.Body, limits.OAuthDocument))
	if err != nil {
		fail(w, invalid("invalid_client_metadata", "The metadata is larger than "+limits.Size(limits.OAuthDocument)+", or was cut off."))
		return
	}
	var m metadata
	if err := json.Unmarshal(text, &m); err != nil {
		fail(
			w,
			invalid(
				"invalid_client_metadata",
				"The metadata is not a JSON object of the expected form: client_name and client_uri are strings, redirect_uris is a list of strings.",
			),
		)
		return
	}
	if err := m.check(); err != nil {
		s.failure(w, r, err)
		return
	}
	c, err := s.cfg.Store.CreateOAuthClient(r.Context(), store.OAuthClient{
		ID: "mcpc_" + auth.NewOAuthSecret()[:27], Name: m.ClientName, URI: m.ClientURI, RedirectURIs: m.RedirectURIs,
	}, maxClients)
	if errors.Is(err, store.ErrConflict) {
		w.Header().Set("Retry-After", "3600")
		fail(w, &Error{
			Status: http.StatusServiceUnavailable, Code: "temporarily_unavailable",
			Description: "No more programs can be registered at the moment. Publish a client metadata document instead.",
		})
		return
	}
	if err != nil {
		s.failure(w, r, err)
		return
	}
	answer := map[string]any{
		"client_id": c.ID, "client_id_issued_at": c.CreatedAt.Unix(), "redirect_uris": c.RedirectURIs,
		"grant_types": []string{"authorization_code", "refresh_token"}, "response_types": []string{"code"}, "token_endpoint_auth_method": "none",
	}
	if c.Name != "" {
		answer["client_name"] = c.Name
	}
	if c.URI != "" {
		answer["client_uri"] = c.URI
	}
	write(w, http.StatusCreated, answer)
}

// errUnknownClient means that no program has this client_id.
var errUnknownClient = errors.New("oauth: unknown client")

// client finds a program by its registration, or by the document that its client_id names.
func (s *Server) client(ctx context.Context, id string) (Client, error) {
	if strings.HasPrefix(id, "https://") || strings.HasPrefix(id, "http://") {
		return s.documents.client(ctx, id)
	}
	c, err := s.cfg.Store.OAuthClientByID(ctx, id)
	if errors.Is(err, store.ErrNotFound) {
		return Client{}, errUnknownClient
	}
	if err != nil {
		return Client{}, err
	}
	return Client{ID: c.ID, Name: c.Name, URI: c.URI, RedirectURIs: c.RedirectURIs}, nil
}
