package idempotency_test

import (
	"bytes"
	"errors"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/auth"
	"github.com/svc-observability/svc/server/idempotency"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/store"
)

type fixture struct {
	*idempotency.Keys
	store *store.Store
	clock atomic.Int64
	org   principal.OrgID
	log   bytes.Buffer
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	f := &fixture{}
	f.clock.Store(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC).UnixMicro())
	var err error
	f.store, err = store.Open(t.Context(), store.Config{
		Path: filepath.Join(t.TempDir(), "svc.db"),
		Now:  func() time.Time { return time.UnixMicro(f.clock.Load()) },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.store.Close() })
	made, err := f.store.CreateOrganization(t.Context(), store.NewOrganization{Name: "A", Admin: &store.NewUser{Email: "a@example.com"}})
	if err != nil {
		t.Fatal(err)
	}
	f.org = made.Organization.ID
	hasher, err := auth.NewHasher(bytes.Repeat([]byte{1}, auth.PepperSize))
	if err != nil {
		t.Fatal(err)
	}
	sealer, err := hasher.Sealer("idempotency")
	if err != nil {
		t.Fatal(err)
	}
	f.Keys = idempotency.New(f.store, sealer, hasher.Hash, slog.New(slog.NewTextHandler(&f.log, nil)))
	return f
}

func (f *fixture) advance(d time.Duration) { f.clock.Add(d.Microseconds()) }

func (f *fixture) key(id string) *principal.Principal {
	return &principal.Principal{Org: f.org, Kind: principal.KindAPIKey, CredentialID: id}
}

func tagOf(err error) apierr.Tag {
	var e *apierr.Error
	if !errors.As(err, &e) {
		return 0
	}
	return e.Tag
}

func TestKeys(t *testing.T) {
	f := newFixture(t)
	ctx := t.Context()
	begin := func(caller, key, method, body string) (*idempotency.Attempt, error) {
		return f.Begin(ctx, f.key(caller), key, method, []byte(body))
	}
	first, err := begin("key_1", "k", "create", "body")
	if err != nil || first.Replayed {
		t.Fatalf("first: %+v, %v", first, err)
	}
	if _, err := begin("key_1", "k", "create", "body"); tagOf(err) != apierr.IdempotencyInProgress {
		t.Errorf("while the first is under way: %v", err)
	}
	if _, err := begin("key_1", "k", "create", "other"); tagOf(err) != apierr.IdempotencyKeyReused {
		t.Errorf("another body while the first is under way: %v", err)
	}
	first.Done(ctx, []byte("svc_ak_secret"))
	for range 2 {
		again, err := begin("key_1", "k", "create", "body")
		if err != nil || !again.Replayed || string(again.Replay) != "svc_ak_secret" {
			t.Errorf("replay: %+v, %v", again, err)
		}
	}
	for name, in := range map[string][2]string{
		"another body": {"create", "other"}, "another method": {"roll", "body"},
		"moved border": {"createb", "ody"},
	} {
		if _, err := begin("key_1", "k", in[0], in[1]); tagOf(err) != apierr.IdempotencyKeyReused {
			t.Errorf("%s: %v", name, err)
		}
	}
	if other, err := begin("key_2", "k", "create", "body"); err != nil || other.Replayed {
		t.Errorf("another caller: %+v, %v", other, err)
	}

	f.advance(idempotency.KeepFor - time.Second)
	if again, err := begin("key_1", "k", "create", "body"); err != nil || !again.Replayed {
		t.Errorf("after nearly a day: %+v, %v", again, err)
	}
	f.advance(time.Second)
	fresh, err := begin("key_1", "k", "create", "other")
	if err != nil || fresh.Replayed {
		t.Fatalf("after a day: %+v, %v", fresh, err)
	}
	fresh.Release(ctx)
	if again, err := begin("key_1", "k", "create", "body"); err != nil || again.Replayed {
		t.Errorf("after a failure: %+v, %v", again, err)
	}
	// Its process died.
	f.advance(idempotency.Lease)
	taken, err := begin("key_1", "k", "create", "body")
	if err != nil || taken.Replayed {
		t.Fatalf("after the lease: %+v, %v", taken, err)
	}
	f.advance(idempotency.Lease)
	next, err := begin("key_1", "k", "create", "body")
	if err != nil || next.Replayed {
		t.Fatalf("after the second lease: %+v, %v", next, err)
	}
	taken.Release(ctx) // too late: the key is another's now
	taken.Done(ctx, []byte("late"))
	if !strings.Contains(f.log.String(), "could not be kept") {
		t.Error("an answer was lost without a word")
	}
	if _, err := begin("key_1", "k", "create", "body"); tagOf(err) != apierr.IdempotencyInProgress {
		t.Errorf("a late end freed or ended another's claim: %v", err)
	}
	if _, err := f.Begin(ctx, &principal.Principal{Org: "org_gone", Kind: principal.KindAPIKey, CredentialID: "key_1"}, "k", "create",
		nil); tagOf(err) != apierr.OrganizationAccessDenied {
		t.Errorf("an organization that is gone: %v", err)
	}
	if err := f.store.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := begin("key_1", "l", "create", "body"); tagOf(err) != apierr.AuthorizationUnavailable {
		t.Errorf("without a database: %v", err)
	}
}

// TestSecretsAreSealed looks for the answer and the key in the database's files.
func TestSecretsAreSealed(t *testing.T) {
	f := newFixture(t)
	a, err := f.Begin(t.Context(), f.key("key_1"), "a-key-of-somebody", "create", []byte("request"))
	if err != nil {
		t.Fatal(err)
	}
	a.Done(t.Context(), []byte("svc_ak_secret"))
	row, first, err := f.store.ClaimIdempotencyKey(t.Context(), f.org,
		store.IdempotencyKey{Caller: "key_1", KeyHash: hashOf(t, "a-key-of-somebody"), RequestHash: "r"}, time.Minute)
	if err != nil || first || !row.Done {
		t.Fatalf("the row: %+v, %v, %v", row, first, err)
	}
	if bytes.Contains(row.Response, []byte("secret")) || strings.Contains(row.KeyHash+row.RequestHash, "somebody") {
		t.Errorf("kept in clear: %+v", row)
	}
}

func hashOf(t *testing.T, key string) string {
	t.Helper()
	hasher, err := auth.NewHasher(bytes.Repeat([]byte{1}, auth.PepperSize))
	if err != nil {
		t.Fatal(err)
	}
	return hasher.Hash("idempotency key\x00" + key)
}

func TestOneOfManyIsFirst(t *testing.T) {
	f := newFixture(t)
	var firsts, waits atomic.Int64
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			a, err := f.Begin(t.Context(), f.key("key_1"), "k", "create", nil)
			switch {
			case err == nil && !a.Replayed:
				firsts.Add(1)
			case tagOf(err) == apierr.IdempotencyInProgress:
				waits.Add(1)
			default:
				t.Errorf("%+v, %v", a, err)
			}
		})
	}
	wg.Wait()
	if firsts.Load() != 1 || waits.Load() != 19 {
		t.Errorf("%d first, %d told to wait", firsts.Load(), waits.Load())
	}
}

func TestCheck(t *testing.T) {
	for key, ok := range map[string]bool{
		"a": true, "0b8f4c1e-6a52": true, "two words": true, strings.Repeat("k", 255): true,
		"": false, strings.Repeat("k", 256): false, "tab\t": false, "é": false, "\x7f": false,
	} {
		if err := idempotency.Check(key); (err == nil) != ok {
			t.Errorf("%q: %v", key, err)
		}
	}
}
