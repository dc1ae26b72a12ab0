package auth

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/publicid"
	"github.com/svc-observability/svc/server/store"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// faultyStore is a real store that counts its lookups and can make them fail.
type faultyStore struct {
	*store.Store
	down    atomic.Bool
	lookups atomic.Int64
	// policies counts the lookups of policies.
	policies atomic.Int64
	// beforeAnswer runs between reading a key and answering.
	beforeAnswer atomic.Pointer[func()]
}

var errDown = errors.Join(store.ErrUnavailable, errors.New("connection refused"))

func (f *faultyStore) lookup() error {
	f.lookups.Add(1)
	if f.down.Load() {
		return errDown
	}
	return nil
}

func (f *faultyStore) ApiKeyByHash(ctx context.Context, hash string) (store.ApiKey, error) {
	if err := f.lookup(); err != nil {
		return store.ApiKey{}, err
	}
	key, err := f.Store.ApiKeyByHash(ctx, hash)
	if fn := f.beforeAnswer.Load(); fn != nil {
		(*fn)()
	}
	return key, err
}

func (f *faultyStore) SessionByHash(ctx context.Context, hash string) (store.SessionIdentity, error) {
	if err := f.lookup(); err != nil {
		return store.SessionIdentity{}, err
	}
	return f.Store.SessionByHash(ctx, hash)
}

func (f *faultyStore) IngestKeyByHash(ctx context.Context, hash string) (store.IngestKey, error) {
	if err := f.lookup(); err != nil {
		return store.IngestKey{}, err
	}
	return f.Store.IngestKeyByHash(ctx, hash)
}

func (f *faultyStore) IngestPolicy(ctx context.Context, org principal.OrgID) (store.IngestPolicy, error) {
	f.policies.Add(1)
	if f.down.Load() {
		return store.IngestPolicy{}, errDown
	}
	return f.Store.IngestPolicy(ctx, org)
}

// fixture is an organization with its administrator. Its clock stands still.
type fixture struct {
	*faultyStore
	hasher *Hasher
	auth   *Authenticator
	ingest *IngestAuthenticator
	clock  atomic.Int64
	org    principal.OrgID
	admin  store.User
}

func (f *fixture) now() time.Time          { return time.UnixMicro(f.clock.Load()) }
func (f *fixture) advance(d time.Duration) { f.clock.Add(d.Microseconds()) }

func newFixture(t testing.TB) *fixture {
	t.Helper()
	f := &fixture{}
	f.clock.Store(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC).UnixMicro())
	st, err := store.Open(t.Context(), store.Config{Path: filepath.Join(t.TempDir(), "svc.db"), Now: f.now})
	if err != nil {
		t.Fatal(err)
	}
	f.faultyStore = &faultyStore{Store: st}
	if f.hasher, err = NewHasher([]byte(strings.Repeat("p", PepperSize))); err != nil {
		t.Fatal(err)
	}
	f.auth = New(Config{Store: f.faultyStore, Hasher: f.hasher, Now: f.now, Logger: slog.New(slog.DiscardHandler)})
	f.ingest = NewIngest(IngestConfig{Store: f.faultyStore, Hasher: f.hasher, Now: f.now})
	t.Cleanup(func() {
		f.auth.Close()
		f.ingest.Close()
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	})
	out, err := f.CreateOrganization(t.Context(), store.NewOrganization{Name: "one", Admin: &store.NewUser{Email: "a@example.com"}})
	if err != nil {
		t.Fatal(err)
	}
	f.org, f.admin = out.Organization.ID, out.Admin
	return f
}

func (f *fixture) newOrg(t testing.TB, name string) principal.OrgID {
	t.Helper()
	out, err := f.CreateOrganization(t.Context(), store.NewOrganization{Name: name, Admin: &store.NewUser{Email: name + "@example.com"}})
	if err != nil {
		t.Fatal(err)
	}
	return out.Organization.ID
}

func (f *fixture) apiKey(t testing.TB, change func(*store.NewApiKey)) (secret string, key store.ApiKey) {
	t.Helper()
	secret = NewSecret(PrefixAPIKey)
	in := store.NewApiKey{
		Name: "n", Kind: store.ApiKeyStandard, Secret: f.hasher.Secret(secret), CreatedBy: f.admin.ID, CreatedByEmail: f.admin.Email,
	}
	if change != nil {
		change(&in)
	}
	key, _, err := f.CreateApiKey(t.Context(), f.org, in)
	if err != nil {
		t.Fatal(err)
	}
	return secret, key
}

func (f *fixture) session(t testing.TB, user principal.UserID, org principal.OrgID) (token string, s store.Session) {
	t.Helper()
	token = NewSecret(PrefixSession)
	s, err := f.CreateSession(t.Context(), store.NewSession{
		User: user, Org: org, TokenHash: f.hasher.Hash(token), ExpiresAt: f.now().Add(time.Hour),
	})
	if err != nil {
		t.Fatal(err)
	}
	return token, s
}

// header builds headers from pairs and keeps several values of one name.
func header(pairs ...string) http.Header {
	h := http.Header{}
	for i := 0; i < len(pairs); i += 2 {
		h.Add(pairs[i], pairs[i+1])
	}
	return h
}

func bearerHeader(token string, more ...string) http.Header {
	return header(append([]string{"authorization", "Bearer " + token}, more...)...)
}

// wantTag checks a refusal. Tag 0 means that no refusal is expected.
func wantTag(t *testing.T, r principal.Result, tag apierr.Tag) {
	t.Helper()
	if (r.Err == nil) != (r.Principal != nil) {
		t.Fatalf("result = %+v: exactly one half is to be set", r)
	}
	var e *apierr.Error
	switch {
	case tag == 0 && r.Err != nil:
		t.Errorf("refused: %v", r.Err)
	case tag != 0 && (!errors.As(r.Err, &e) || e.Tag != tag):
		t.Errorf("error = %v, want %s", r.Err, apierr.Spec(tag).GetTag())
	}
}

func TestCredentialHeaders(t *testing.T) {
	f := newFixture(t)
	secret, _ := f.apiKey(t, nil)
	ingest := NewSecret(PrefixPrivateKey)
	for name, tc := range map[string]struct {
		header http.Header
		want   apierr.Tag
	}{
		"good":               {bearerHeader(secret), 0},
		"lower case":         {header("Authorization", "bearer "+secret), 0},
		"upper case":         {header("Authorization", "BEARER "+secret), 0},
		"spaces":             {header("Authorization", "Bearer   "+secret+" "), 0},
		"none":               {header(), apierr.Unauthorized},
		"other header":       {header("X-Api-Key", secret), apierr.Unauthorized},
		"empty":              {header("Authorization", ""), apierr.InvalidCredentials},
		"scheme only":        {header("Authorization", "Bearer"), apierr.InvalidCredentials},
		"no token":           {header("Authorization", "Bearer  "), apierr.InvalidCredentials},
		"no scheme":          {header("Authorization", secret), apierr.InvalidCredentials},
		"basic":              {header("Authorization", "Basic "+secret), apierr.InvalidCredentials},
		"two headers":        {header("Authorization", "Bearer "+secret, "Authorization", "Bearer "+secret), apierr.InvalidCredentials},
		"two in one":         {header("Authorization", "Bearer "+secret+", Bearer "+secret), apierr.InvalidCredentials},
		"unknown key":        {bearerHeader(NewSecret(PrefixAPIKey)), apierr.InvalidCredentials},
		"unknown session":    {bearerHeader(NewSecret(PrefixSession)), apierr.InvalidCredentials},
		"unknown prefix":     {bearerHeader(NewSecret("svc_zz_")), apierr.InvalidCredentials},
		"cut key":            {bearerHeader(secret[:len(secret)-1]), apierr.InvalidCredentials},
		"longer key":         {bearerHeader(secret + "A"), apierr.InvalidCredentials},
		"odd character":      {bearerHeader(secret[:len(secret)-1] + "!"), apierr.InvalidCredentials},
		"changed character":  {bearerHeader(secret[:20] + flip(secret[20]) + secret[21:]), apierr.InvalidCredentials},
		"ingest key":         {bearerHeader(ingest), apierr.InvalidCredentials},
		"ingest test key":    {bearerHeader("SVC_TEST"), apierr.InvalidCredentials},
		"connector":          {bearerHeader(NewSecret(PrefixConnector)), apierr.InvalidCredentials},
		"own organization":   {bearerHeader(secret, "x-svc-org-id", string(f.org)), 0},
		"other organization": {bearerHeader(secret, "x-svc-org-id", "org_other"), apierr.OrganizationAccessDenied},
		"empty organization": {bearerHeader(secret, "x-svc-org-id", ""), apierr.OrganizationAccessDenied},
		"two organizations":  {bearerHeader(secret, "x-svc-org-id", string(f.org), "x-svc-org-id", "org_other"), apierr.OrganizationAccessDenied},
	} {
		t.Run(name, func(t *testing.T) {
			wantTag(t, f.auth.Authenticate(t.Context(), tc.header), tc.want)
		})
	}
}

func flip(c byte) string {
	if c == 'A' {
		return "B"
	}
	return "A"
}

func TestApiKeyPrincipal(t *testing.T) {
	f := newFixture(t)
	for name, tc := range map[string]struct {
		change func(*store.NewApiKey)
		kind   principal.Kind
		scopes []string
	}{
		"full access": {nil, principal.KindAPIKey, nil},
		"scopes":      {func(k *store.NewApiKey) { k.Scopes = []string{"logs:read"} }, principal.KindAPIKey, []string{"logs:read"}},
		"no scope":    {func(k *store.NewApiKey) { k.Scopes = []string{} }, principal.KindAPIKey, []string{}},
		"mcp":         {func(k *store.NewApiKey) { k.Kind = store.ApiKeyMCP }, principal.KindMCPKey, nil},
	} {
		t.Run(name, func(t *testing.T) {
			secret, key := f.apiKey(t, tc.change)
			for range 2 { // from the database, then from memory
				want := &principal.Principal{
					Org: f.org, User: f.admin.ID, Email: "a@example.com", Kind: tc.kind, Name: key.Name,
					CredentialID: publicid.Encode("key", key.ID), Role: principal.RoleRoot, Scopes: tc.scopes,
				}
				r := f.auth.Authenticate(t.Context(), bearerHeader(secret))
				if diff := cmp.Diff(want, r.Principal); r.Err != nil || diff != "" {
					t.Errorf("%v (-want +got):\n%s", r.Err, diff)
				}
			}
		})
	}
}

func TestApiKeyEnds(t *testing.T) {
	f := newFixture(t)
	ctx := t.Context()
	expires := f.now().Add(time.Minute)
	expiring, _ := f.apiKey(t, func(k *store.NewApiKey) { k.ExpiresAt = &expires })
	revoked, revokedKey := f.apiKey(t, nil)
	rolled, rolledKey := f.apiKey(t, nil)
	for _, secret := range []string{expiring, revoked, rolled} {
		wantTag(t, f.auth.Authenticate(ctx, bearerHeader(secret)), 0)
	}

	// In this process, changes take effect with the next call, although the clock stands still.
	if _, _, err := f.RevokeApiKey(ctx, f.org, revokedKey.ID); err != nil {
		t.Fatal(err)
	}
	wantTag(t, f.auth.Authenticate(ctx, bearerHeader(revoked)), apierr.InvalidCredentials)
	fresh := NewSecret(PrefixAPIKey)
	if _, _, err := f.RollApiKey(ctx, f.org, rolledKey.ID, store.RollParams{Secret: f.hasher.Secret(fresh)}); err != nil {
		t.Fatal(err)
	}
	wantTag(t, f.auth.Authenticate(ctx, bearerHeader(rolled)), apierr.InvalidCredentials)
	wantTag(t, f.auth.Authenticate(ctx, bearerHeader(fresh)), 0)

	// Expiry needs no lookup.
	f.advance(time.Minute - time.Microsecond)
	wantTag(t, f.auth.Authenticate(ctx, bearerHeader(expiring)), 0)
	f.advance(time.Microsecond)
	wantTag(t, f.auth.Authenticate(ctx, bearerHeader(expiring)), apierr.InvalidCredentials)
}

// TestApiKeyOtherProcess checks that a change by another process is seen within apiKeyTTL.
func TestApiKeyOtherProcess(t *testing.T) {
	f := newFixture(t)
	ctx := t.Context()
	secret, key := f.apiKey(t, nil)
	wantTag(t, f.auth.Authenticate(ctx, bearerHeader(secret)), 0)
	f.auth.unsubscribe() // as if the change were made elsewhere
	if _, _, err := f.RevokeApiKey(ctx, f.org, key.ID); err != nil {
		t.Fatal(err)
	}
	wantTag(t, f.auth.Authenticate(ctx, bearerHeader(secret)), 0)
	f.advance(apiKeyTTL)
	wantTag(t, f.auth.Authenticate(ctx, bearerHeader(secret)), apierr.InvalidCredentials)
}

// TestRevokeDuringLookup checks that a lookup that read the key before it was revoked has no effect on later calls.
func TestRevokeDuringLookup(t *testing.T) {
	f := newFixture(t)
	ctx := t.Context()
	secret, key := f.apiKey(t, nil)
	read, answer := make(chan struct{}), make(chan struct{})
	hook := func() { close(read); <-answer }
	f.beforeAnswer.Store(&hook)
	early := make(chan principal.Result, 1)
	go func() { early <- f.auth.Authenticate(ctx, bearerHeader(secret)) }()
	<-read
	f.beforeAnswer.Store(nil)
	if _, _, err := f.RevokeApiKey(ctx, f.org, key.ID); err != nil {
		t.Fatal(err)
	}
	// This call must neither join the old lookup nor find its answer later.
	wantTag(t, f.auth.Authenticate(ctx, bearerHeader(secret)), apierr.InvalidCredentials)
	close(answer)
	wantTag(t, <-early, 0) // it began before the revocation
	wantTag(t, f.auth.Authenticate(ctx, bearerHeader(secret)), apierr.InvalidCredentials)
}

func TestDatabaseDown(t *testing.T) {
	f := newFixture(t)
	ctx := t.Context()
	secret, _ := f.apiKey(t, nil)
	token, _ := f.session(t, f.admin.ID, "")
	f.down.Store(true)
	wantTag(t, f.auth.Authenticate(ctx, bearerHeader(secret)), apierr.ApiKeyLookupPersistence)
	wantTag(t, f.auth.Authenticate(ctx, bearerHeader(token)), apierr.AuthorizationUnavailable)
	r := f.auth.Authenticate(ctx, bearerHeader(secret))
	if e := apierr.From(r.Err); strings.Contains(e.Message, "refused") || !errors.Is(r.Err, errDown) {
		t.Errorf("message %q is to hide the cause, which is to be kept: %v", e.Message, r.Err)
	}
	f.down.Store(false)
	wantTag(t, f.auth.Authenticate(ctx, bearerHeader(secret)), 0)
	f.down.Store(true)
	wantTag(t, f.auth.Authenticate(ctx, bearerHeader(secret)), 0) // now from the cache
	f.advance(apiKeyTTL)
	wantTag(t, f.auth.Authenticate(ctx, bearerHeader(secret)), apierr.ApiKeyLookupPersistence)
}

func TestLastUsed(t *testing.T) {
	f := newFixture(t)
	secret, key := f.apiKey(t, nil)
	token, _ := f.session(t, f.admin.ID, "")
	start := f.now()
	for _, at := range []time.Duration{0, time.Second, 30 * time.Second, 61 * time.Second, 62 * time.Second} {
		f.advance(start.Add(at).Sub(f.now()))
		wantTag(t, f.auth.Authenticate(t.Context(), bearerHeader(secret)), 0)
		wantTag(t, f.auth.Authenticate(t.Context(), bearerHeader(token)), 0)
		want := start
		if at > time.Minute {
			want = start.Add(61 * time.Second)
		}
		deadline := time.Now().Add(5 * time.Second)
		for {
			got, err := f.GetApiKey(t.Context(), f.org, key.ID)
			s, serr := f.Store.SessionByHash(t.Context(), f.hasher.Hash(token))
			if err != nil || serr != nil {
				t.Fatal(err, serr)
			}
			if got.LastUsedAt != nil && got.LastUsedAt.Equal(want) && s.LastSeenAt.Equal(want) {
				break
			}
			if time.Now().After(deadline) {
				t.Fatalf("at +%s: key last used %v, session last seen %v, want %s", at, got.LastUsedAt, s.LastSeenAt, want)
			}
			time.Sleep(time.Millisecond)
		}
	}
	if n := len(f.auth.touches.queue); n != 0 {
		t.Errorf("%d uses wait to be recorded", n)
	}
}

func TestMiddleware(t *testing.T) {
	f := newFixture(t)
	secret, _ := f.apiKey(t, nil)
	for name, tc := range map[string]struct {
		header http.Header
		want   apierr.Tag
	}{
		"known":     {bearerHeader(secret), 0},
		"anonymous": {header(), apierr.Unauthorized},
		"unknown":   {bearerHeader(NewSecret(PrefixAPIKey)), apierr.InvalidCredentials},
	} {
		t.Run(name, func(t *testing.T) {
			called := false
			h := f.auth.Middleware(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				called = true
				result, ok := principal.ResultFrom(r.Context())
				if !ok {
					t.Error("no result in the context")
				}
				wantTag(t, result, tc.want)
				w.WriteHeader(http.StatusTeapot)
			}))
			w := httptest.NewRecorder()
			r := httptest.NewRequest(http.MethodGet, "/v2/api_keys", nil)
			r.Header = tc.header
			h.ServeHTTP(w, r)
			if !called || w.Code != http.StatusTeapot {
				t.Errorf("the middleware answered itself: %d", w.Code)
			}
		})
	}
}

func BenchmarkAuthenticate(b *testing.B) {
	f := newFixture(b)
	secret, _ := f.apiKey(b, nil)
	h := bearerHeader(secret)
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if r := f.auth.Authenticate(context.Background(), h); r.Err != nil {
				b.Fatal(r.Err)
			}
		}
	})
}
