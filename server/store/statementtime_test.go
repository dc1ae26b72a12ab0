package store_test

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/url"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/store"
	"github.com/svc-observability/svc/server/store/pgtest"
)

// TestCallerWaits lets two transactions wait for a lock. That of a request ends within its bound, with an error that does not look like
// the end of the request itself. That of background work waits until it has the lock.
func TestCallerWaits(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s := open(t, store.Config{URL: pgtest.Start(t).NewDatabase(t)})
	made, err := s.CreateOrganization(ctx, store.NewOrganization{Name: "o", Admin: &store.NewUser{Email: "a@example.com"}})
	if err != nil {
		t.Fatal(err)
	}
	d, _, err := s.CreateDashboard(ctx, made.Organization.ID, made.Admin.ID, store.DashboardChange{
		Name: "d", Definition: json.RawMessage("{}"),
		Kind: "created", Action: "created",
	})
	if err != nil {
		t.Fatal(err)
	}
	lock := func(ctx context.Context, held func()) error {
		return s.TxForTest(ctx, made.Organization.ID, d.ID, d.ID, held)
	}
	held, release := make(chan struct{}), make(chan struct{})
	holder, worker := make(chan error, 1), make(chan error, 1)
	go func() { holder <- lock(ctx, func() { close(held); <-release }) }()
	<-held
	go func() { worker <- lock(ctx, func() {}) }()
	began := time.Now()
	err = lock(store.CallerWaits(ctx), func() {})
	took := time.Since(began)
	if !errors.Is(err, store.ErrUnavailable) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a request: %v", err)
	}
	if took < limits.DatabaseAnswer || took > limits.DatabaseAnswer+5*time.Second {
		t.Errorf("the request waited %s", took)
	}
	select {
	case err := <-worker:
		t.Errorf("background work did not wait for the lock: %v", err)
	default:
	}
	close(release)
	if err := errors.Join(<-holder, <-worker); err != nil {
		t.Error(err)
	}
	if _, err := s.GetDashboard(store.CallerWaits(ctx), made.Organization.ID, d.ID); err != nil {
		t.Errorf("a request after that: %v", err)
	}
	if _, err := s.GetDashboard(store.CallerWaits(ctx), made.Organization.ID, uuid.New()); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("an unknown row: %v", err)
	}
}

// TestHostsShareTheTime opens a connection for a request while the first host of the URL accepts connections and never answers.
func TestHostsShareTheTime(t *testing.T) {
	t.Parallel()
	database, err := url.Parse(pgtest.Start(t).NewDatabase(t))
	if err != nil {
		t.Fatal(err)
	}
	silent, err := net.Listen("tcp", "127.0.0.1:0") // it accepts, and says nothing
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = silent.Close() })
	database.Host = silent.Addr().String() + "," + database.Host
	s := open(t, store.Config{URL: database.String()})
	began := time.Now()
	err = store.FreshConnectionForTest(store.CallerWaits(t.Context()), s)
	if took := time.Since(began); err != nil || took < time.Second {
		t.Errorf("after %s: %v", took, err)
	}
}

// TestPatientDeletion deletes an organization for a request while a lock holds the deletion up for longer than a statement may take.
func TestPatientDeletion(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s := open(t, store.Config{URL: pgtest.Start(t).NewDatabase(t)})
	made, err := s.CreateOrganization(ctx, store.NewOrganization{Name: "o", Admin: &store.NewUser{Email: "a@example.com"}})
	if err != nil {
		t.Fatal(err)
	}
	d, _, err := s.CreateDashboard(ctx, made.Organization.ID, made.Admin.ID, store.DashboardChange{
		Name: "d", Definition: json.RawMessage("{}"),
		Kind: "created", Action: "created",
	})
	if err != nil {
		t.Fatal(err)
	}
	held, release, holder := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	go func() {
		holder <- s.TxForTest(ctx, made.Organization.ID, d.ID, d.ID, func() { close(held); <-release })
	}()
	<-held
	time.AfterFunc(limits.DatabaseAnswer+time.Second, func() { close(release) })
	if err := s.DeleteOrganization(store.CallerWaits(ctx), made.Organization.ID); err != nil {
		t.Error(err)
	}
	if err := <-holder; err != nil {
		t.Error(err)
	}
}
