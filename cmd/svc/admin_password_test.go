package main

import (
	"bytes"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/svc-observability/svc/server/auth"
	"github.com/svc-observability/svc/server/bootstrap"
	"github.com/svc-observability/svc/server/config"
	"github.com/svc-observability/svc/server/installation"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/store"
)

// TestAdminSetPassword: a lost password is replaced, and every session of the user ends.
func TestAdminSetPassword(t *testing.T) {
	o := newOperator(t)
	s, hasher, err := installation.OpenStore(t.Context(), config.Config{DataDir: o.dir})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	user, err := s.UserByEmail(t.Context(), o.org.AdminEmail)
	if err != nil {
		t.Fatal(err)
	}
	hash := hasher.Hash("a session")
	if _, err := s.CreateSession(t.Context(), store.NewSession{
		User: user.ID, TokenHash: hash,
		ExpiresAt: time.Now().Add(time.Hour),
	}); err != nil {
		t.Fatal(err)
	}
	var made changedPassword
	o.decode(&made, "user", "set-password", strings.ToUpper(o.org.AdminEmail))
	if made.UserID != user.ID || made.SessionsEnded != 1 || made.Password == "" {
		t.Errorf("%+v", made)
	}
	if session, err := s.SessionByHash(t.Context(), hash); err != nil || session.RevokedAt == nil {
		t.Errorf("the session: %+v, %v", session, err)
	}
	check := func(password string, want bool) {
		t.Helper()
		user, err := s.UserByEmail(t.Context(), o.org.AdminEmail)
		if err != nil {
			t.Fatal(err)
		}
		if ok, err := auth.NewPasswords().Verify(t.Context(), user.PasswordHash, password, auth.Anybody); err != nil || ok != want {
			t.Errorf("%q: %t, %v; want %t", password, ok, err, want)
		}
	}
	check(made.Password, true)
	check(o.org.AdminPassword, false)
	var out, errs bytes.Buffer
	in, typed, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = in.Close() }()
	if _, err := typed.WriteString("given by hand\n"); err != nil {
		t.Fatal(err)
	}
	_ = typed.Close()
	c := &cli{stdin: in, stdout: &out, stderr: &errs}
	code := c.run(t.Context(), []string{"admin", "user", "set-password", o.org.AdminEmail, "--password-stdin", "--data-dir", o.dir})
	if code != 0 || !strings.Contains(out.String(), o.org.AdminEmail) || strings.Contains(out.String(), "given by hand") {
		t.Errorf("%d %q %q", code, out.String(), errs.String())
	}
	check("given by hand", true)
	o.fails(exitFailure, "there is no user", "user", "set-password", "nobody@example.com")
}

// TestAdminOrgList: the list has existing organizations, and deleted ones with the actor who deleted them.
func TestAdminOrgList(t *testing.T) {
	o := newOperator(t)
	var second bootstrap.File
	o.decode(&second, "org", "create", "Second")
	s, err := installation.OpenDatabase(t.Context(), config.Config{DataDir: o.dir})
	if err != nil {
		t.Fatal(err)
	}
	err = s.DeleteOrganization(t.Context(), principal.OrgID(second.OrgID))
	if cerr := s.Close(); err != nil || cerr != nil {
		t.Fatal(err, cerr)
	}
	var there, gone []listedOrganization
	o.decode(&there, "org", "list")
	o.decode(&gone, "org", "list", "--deleted")
	if len(there) != 1 || string(there[0].OrgID) != o.org.OrgID || there[0].CreatedAt == nil {
		t.Errorf("there are %+v", there)
	}
	if len(gone) != 1 || string(gone[0].OrgID) != second.OrgID || gone[0].Name != "Second" || gone[0].DeletedBy == nil ||
		gone[0].DeletedBy.Type != store.ActorSystem {
		t.Errorf("there were %+v", gone)
	}
	o.shows([]string{"Second", "by the owner of the data folder"}, "org", "list", "--deleted")
}
