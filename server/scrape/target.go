package scrape

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/principal"
)

// Target is an endpoint to scrape. It does not change; an edited target is another value.
type Target struct {
	ID  uuid.UUID
	Org principal.OrgID
	// Name is the value of the attribute job.
	Name string
	// Service is the value of the resource attribute service.name.
	Service  string
	URL      string
	Interval time.Duration
	// Labels are attributes of every point.
	Labels map[string]string
	// Authorization is the value of the request's header, or empty.
	Authorization string
	// Problem says why the target cannot be scraped, for example that its credentials cannot be decrypted. It is empty for most.
	Problem string
}

// Timeout is the time that one scrape may take.
func (t *Target) Timeout() time.Duration { return min(limits.ScrapeTimeout, t.Interval-time.Second) }

// host is the key of the bound on scrapes of one host.
func (t *Target) host() string {
	u, err := url.Parse(t.URL)
	if err != nil {
		return t.URL
	}
	return strings.ToLower(u.Host)
}

// phase is the target's place in its interval. It follows from the id, so a restart or another node keeps it.
func phase(id uuid.UUID, interval time.Duration) time.Duration {
	h := fnv.New64a()
	_, _ = h.Write(id[:]) // it never fails
	return time.Duration(h.Sum64() % uint64(interval))
}

// next is the first time of the target's grid after now.
func next(now time.Time, id uuid.UUID, interval time.Duration) time.Time {
	since := now.UnixNano() - int64(phase(id, interval))
	return time.Unix(0, since-since%int64(interval)+int64(interval)+int64(phase(id, interval)))
}

// Credentials are the secrets of a target, as `auth_credentials` holds them.
type Credentials struct {
	Token       string `json:"token,omitempty"`
	Username    string `json:"username,omitempty"`
	Password    string `json:"password,omitempty"`
	TokenID     string `json:"token_id,omitempty"`
	TokenSecret string `json:"token_secret,omitempty"`
}

// ParseCredentials reads the text of `auth_credentials`. The error is safe to show: it holds no part of the text.
func ParseCredentials(authType, text string) (Credentials, error) {
	var all map[string]any
	if err := json.Unmarshal([]byte(text), &all); err != nil {
		return Credentials{}, errors.New("is not a JSON object")
	}
	var c Credentials
	fields := map[string]map[string]*string{
		AuthBearer: {"token": &c.Token},
		AuthBasic:  {"username": &c.Username, "password": &c.Password},
		AuthToken:  {"token_id": &c.TokenID, "token_secret": &c.TokenSecret},
	}[authType]
	if fields == nil {
		return Credentials{}, errors.New("must be left out for the auth_type none")
	}
	for name, value := range all {
		to, known := fields[name]
		s, isText := value.(string)
		switch {
		case !known:
			return Credentials{}, fmt.Errorf("has a field that the auth_type %s does not know; it takes %s", authType, names(fields))
		case !isText:
			return Credentials{}, fmt.Errorf("must have a text as %s", name)
		case strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f }):
			return Credentials{}, fmt.Errorf("has a control character in %s", name)
		}
		*to = s
	}
	for name, to := range fields {
		if *to == "" && name != "password" {
			return Credentials{}, fmt.Errorf("lacks %s; the auth_type %s takes %s", name, authType, names(fields))
		}
	}
	if authType == AuthBasic && strings.Contains(c.Username, ":") {
		return Credentials{}, errors.New("has a colon in username, which basic authentication does not allow")
	}
	return c, nil
}

func names[V any](fields map[string]V) string {
	var all []string
	for name := range fields {
		all = append(all, name)
	}
	slices.Sort(all)
	return strings.Join(all, " and ")
}

// The ways to authenticate.
const (
	AuthNone   = "none"
	AuthBearer = "bearer"
	AuthBasic  = "basic"
	AuthToken  = "token"
)

// Labels reads the text of `labels_json`. Texts of the store have passed the same rules when they were written.
func Labels(text *string) (map[string]string, error) {
	if text == nil || *text == "" {
		return nil, nil
	}
	var all map[string]string
	if err := json.Unmarshal([]byte(*text), &all); err != nil {
		return nil, fmt.Errorf("labels_json: %w", err)
	}
	return all, nil
}
