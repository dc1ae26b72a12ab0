package auth

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/publicid"
	"github.com/svc-observability/svc/server/store"
)

func (f *fixture) connector(t testing.TB, org principal.OrgID, zone string) (store.LogpushConnector, string) {
	t.Helper()
	secret := NewSecret(PrefixConnector)
	c, err := f.CreateLogpushConnector(t.Context(), org, store.NewLogpushConnector{
		Name: zone, ZoneName: zone, Secret: f.hasher.Secret(secret), CreatedBy: f.admin.ID,
	})
	if err != nil {
		t.Fatal(err)
	}
	return c, secret
}

func (f *fixture) logpush(t testing.TB, st LogpushStore) *LogpushAuthenticator {
	t.Helper()
	a := NewLogpush(LogpushConfig{Store: st, Hasher: f.hasher, Now: f.now})
	t.Cleanup(a.Close)
	return a
}

func cfp(id uuid.UUID) string { return publicid.Encode(publicid.LogpushConnector, id) }

func TestLogpushLookup(t *testing.T) {
	f := newFixture(t)
	ctx := t.Context()
	a := f.logpush(t, f.Store)
	other := f.newOrg(t, "other")
	one, oneSecret := f.connector(t, f.org, "one.example")
	two, twoSecret := f.connector(t, f.org, "two.example")
	foreign, foreignSecret := f.connector(t, other, "one.example")
	public, _, _ := f.defaultKeys(t)
	for range 2 { // From the database, and from the cache.
		for _, c := range []struct {
			row    store.LogpushConnector
			secret string
		}{{one, oneSecret}, {two, twoSecret}, {foreign, foreignSecret}} {
			got, err := a.Lookup(ctx, cfp(c.row.ID), c.secret)
			want := LogpushConnector{Org: c.row.Org, ID: cfp(c.row.ID), ServiceName: "cloudflare/" + c.row.ZoneName, ZoneName: c.row.ZoneName}
			if d := cmp.Diff(want, got); d != "" || err != nil {
				t.Errorf("%v (-want +got):\n%s", err, d)
			}
		}
		said := ""
		for name, c := range map[string][2]string{
			"unknown id":                       {cfp(uuid.New()), oneSecret},
			"unknown secret":                   {cfp(one.ID), NewSecret(PrefixConnector)},
			"secret of another":                {cfp(one.ID), twoSecret},
			"secret of another organization":   {cfp(one.ID), foreignSecret},
			"id of another organization":       {cfp(foreign.ID), oneSecret},
			"id of another kind":               {publicid.Encode(publicid.IngestKey, one.ID), oneSecret},
			"no id":                            {"", oneSecret},
			"raw id":                           {one.ID.String(), oneSecret},
			"secret cut":                       {cfp(one.ID), oneSecret[:49]},
			"secret longer":                    {cfp(one.ID), oneSecret + "A"},
			"ingest key":                       {cfp(one.ID), public},
			"hash for the secret":              {cfp(one.ID), f.hasher.Hash(oneSecret)},
			"empty":                            {cfp(one.ID), ""},
			"the same secret, another prefix":  {cfp(one.ID), PrefixPrivateKey + oneSecret[prefixLength:]},
			"the same secret, other character": {cfp(one.ID), oneSecret[:20] + flip(oneSecret[20]) + oneSecret[21:]},
		} {
			got, err := a.Lookup(ctx, c[0], c[1])
			if !errors.Is(err, ErrUnknownConnector) || got != (LogpushConnector{}) {
				t.Fatalf("%s: %+v %v", name, got, err)
			}
			if said == "" {
				said = err.Error()
			}
			if err.Error() != said || strings.Contains(said, "svc_cf_") {
				t.Errorf("%s: %q, others %q", name, err, said)
			}
		}
	}
}

func TestLogpushChanges(t *testing.T) {
	f := newFixture(t)
	ctx := t.Context()
	a := f.logpush(t, f.Store)
	c, secret := f.connector(t, f.org, "shop.example")
	check := func(secret string, want error, says string) {
		t.Helper()
		if _, err := a.Lookup(ctx, cfp(c.ID), secret); !errors.Is(err, want) || err != nil && !strings.Contains(err.Error(), says) {
			t.Errorf("lookup: %v, want %v %q", err, want, says)
		}
	}
	check(secret, nil, "")
	if _, err := f.SetLogpushConnectorDisabled(ctx, f.org, c.ID, true); err != nil {
		t.Fatal(err)
	}
	check(secret, ErrUnknownConnector, "it is disabled")
	check(NewSecret(PrefixConnector), ErrUnknownConnector, "no connector has this id and this secret")
	if _, err := f.SetLogpushConnectorDisabled(ctx, f.org, c.ID, false); err != nil {
		t.Fatal(err)
	}
	check(secret, nil, "")
	fresh := NewSecret(PrefixConnector)
	check(fresh, ErrUnknownConnector, "") // this lookup comes too early; the failure is not remembered
	if _, err := f.RollLogpushConnector(ctx, f.org, c.ID, f.hasher.Secret(fresh)); err != nil {
		t.Fatal(err)
	}
	check(secret, ErrUnknownConnector, "")
	check(fresh, nil, "")

	// A change by another process counts within the minute that the contract allows.
	a.unsubscribe()
	if err := f.DeleteLogpushConnector(ctx, f.org, c.ID); err != nil {
		t.Fatal(err)
	}
	check(fresh, nil, "")
	f.advance(ingestKeyTTL)
	check(fresh, ErrUnknownConnector, "")
}

func (f *faultyStore) LogpushConnectorByHash(ctx context.Context, id uuid.UUID, hash string) (store.LogpushConnector, error) {
	if err := f.lookup(); err != nil {
		return store.LogpushConnector{}, err
	}
	return f.Store.LogpushConnectorByHash(ctx, id, hash)
}

// touchedStore records the deliveries that are written.
type touchedStore struct {
	*store.Store
	touches chan string
}

func (s *touchedStore) TouchLogpushConnector(ctx context.Context, org principal.OrgID, id uuid.UUID, at time.Time, problem string) error {
	s.touches <- problem
	return s.Store.TouchLogpushConnector(ctx, org, id, at, problem)
}

func TestLogpushOutage(t *testing.T) {
	f := newFixture(t)
	ctx := t.Context()
	a := f.logpush(t, f.faultyStore)
	known, knownSecret := f.connector(t, f.org, "known.example")
	fresh, freshSecret := f.connector(t, f.org, "fresh.example")
	if _, err := a.Lookup(ctx, cfp(known.ID), knownSecret); err != nil {
		t.Fatal(err)
	}
	f.down.Store(true)
	f.advance(time.Hour)
	if _, err := a.Lookup(ctx, cfp(known.ID), knownSecret); err != nil {
		t.Errorf("known: %v", err)
	}
	for name, c := range map[string][2]string{
		"never seen": {cfp(fresh.ID), freshSecret}, "known id, other secret": {cfp(known.ID), freshSecret},
		"unknown": {cfp(uuid.New()), NewSecret(PrefixConnector)},
	} {
		if _, err := a.Lookup(ctx, c[0], c[1]); !errors.Is(err, ErrLookupUnavailable) || errors.Is(err, ErrUnknownConnector) {
			t.Errorf("%s: %v", name, err)
		}
	}
	f.advance(ingestMaxStale)
	if _, err := a.Lookup(ctx, cfp(known.ID), knownSecret); !errors.Is(err, ErrLookupUnavailable) {
		t.Errorf("known, a day later: %v", err)
	}
}

func TestLogpushDelivered(t *testing.T) {
	f := newFixture(t)
	ctx := t.Context()
	st := &touchedStore{Store: f.Store, touches: make(chan string, 100)}
	a := NewLogpush(LogpushConfig{Store: st, Hasher: f.hasher, Now: f.now})
	row, secret := f.connector(t, f.org, "shop.example")
	c, err := a.Lookup(ctx, cfp(row.ID), secret)
	if err != nil {
		t.Fatal(err)
	}
	a.Delivered(LogpushConnector{ID: "cfp_none"}, "")
	for _, step := range []struct {
		wait    time.Duration
		problem string
	}{
		{0, ""},
		{time.Second, ""},
		{time.Millisecond, "bad"},
		{time.Millisecond, ""},
		{time.Second, "bad"},
		{10 * time.Second, "bad"},
		{time.Second, ""},
		{time.Minute, ""},
	} {
		f.advance(step.wait)
		a.Delivered(c, step.problem)
	}
	last := f.now().UTC()
	a.Close() // Writes what is queued.
	close(st.touches)
	var got []string
	for problem := range st.touches {
		got = append(got, problem)
	}
	if d := cmp.Diff([]string{"", "bad", "", ""}, got); d != "" {
		t.Errorf("recorded (-want +got):\n%s", d)
	}
	stored, err := f.GetLogpushConnector(ctx, f.org, row.ID)
	if err != nil || stored.LastError != nil || stored.LastReceivedAt == nil || !stored.LastReceivedAt.Equal(last.Truncate(time.Microsecond)) {
		t.Errorf("stored %+v %v, want %s", stored, err, last)
	}
}
