package auth

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestSecrets(t *testing.T) {
	seen := map[string]bool{}
	for range 100 {
		s := NewSecret(PrefixAPIKey)
		if seen[s] || kindOf(s) != kindAPIKey {
			t.Fatalf("secret %q", s)
		}
		seen[s] = true
		if p := KeyPrefix(s); len(p) != 15 || p != s[:12]+"..." {
			t.Fatalf("prefix %q of %q", p, s)
		}
	}
	for _, prefix := range []string{PrefixAPIKey, PrefixPublicKey, PrefixPrivateKey, PrefixCustomKey, PrefixSession, PrefixConnector} {
		if len(prefix) != prefixLength {
			t.Errorf("prefix %q has %d characters", prefix, len(prefix))
		}
	}
}

func TestHasher(t *testing.T) {
	pepper := bytes.Repeat([]byte{7}, PepperSize)
	h, err := NewHasher(pepper)
	if err != nil {
		t.Fatal(err)
	}
	mac := hmac.New(sha256.New, pepper)
	mac.Write([]byte("secret"))
	want := base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
	pepper[0] = 0 // the hasher keeps its own copy
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 100 {
				if got := h.Hash("secret"); got != want {
					t.Errorf("hash = %q, want %q", got, want)
				}
			}
		})
	}
	wg.Wait()
	other, err := NewHasher(bytes.Repeat([]byte{8}, PepperSize))
	if err != nil || other.Hash("secret") == want || other.Fingerprint() == h.Fingerprint() || len(h.Fingerprint()) != 8 {
		t.Errorf("another pepper gives the same: %v", err)
	}
	if _, err := NewHasher([]byte("short")); err == nil {
		t.Error("a short pepper was accepted")
	}
}

func TestLoadPepper(t *testing.T) {
	path := filepath.Join(t.TempDir(), "secrets", "pepper")
	var wg sync.WaitGroup
	got := make([][]byte, 8)
	for i := range got {
		wg.Go(func() {
			var err error
			if got[i], err = LoadPepper(path); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	for _, p := range got {
		if len(p) != PepperSize || !bytes.Equal(p, got[0]) {
			t.Fatal("processes that start together have different peppers")
		}
	}
	info, err := os.Stat(path)
	dir, derr := os.Stat(filepath.Dir(path))
	entries, eerr := os.ReadDir(filepath.Dir(path))
	if err != nil || derr != nil || eerr != nil || info.Mode().Perm() != 0o600 || dir.Mode().Perm() != 0o700 || len(entries) != 1 {
		t.Errorf("file %v, folder %v, %d files; %v %v %v", info.Mode(), dir.Mode(), len(entries), err, derr, eerr)
	}

	for name, tc := range map[string]struct {
		data []byte
		mode os.FileMode
		want string
	}{
		"short":    {[]byte("short"), 0o600, "5 bytes"},
		"empty":    {nil, 0o600, "0 bytes"},
		"readable": {got[0], 0o644, "chmod 600"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "pepper")
			if err := os.WriteFile(path, tc.data, tc.mode); err != nil {
				t.Fatal(err)
			}
			if _, err := LoadPepper(path); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error = %v, want %q", err, tc.want)
			}
			if data, err := os.ReadFile(path); err != nil || !bytes.Equal(data, tc.data) {
				t.Errorf("the file was changed: %v", err)
			}
		})
	}
}

func TestPasswords(t *testing.T) {
	ctx := t.Context()
	p := newPasswords(64, 1)
	phc, err := p.Hash(ctx, "pässwörd")
	if err != nil || !strings.HasPrefix(phc, "$argon2id$v=19$m=64,t=1,p=1$") {
		t.Fatalf("%q, %v", phc, err)
	}
	again, err := p.Hash(ctx, "pässwörd")
	if err != nil || again == phc {
		t.Errorf("no salt: %q, %v", again, err)
	}
	if _, err := p.Hash(ctx, strings.Repeat("x", MaxPasswordLength+1)); !errors.Is(err, ErrPasswordTooLong) {
		t.Errorf("long password: %v", err)
	}
	for name, tc := range map[string]struct {
		phc, password string
		ok            bool
		wantErr       error
	}{
		"good":              {phc, "pässwörd", true, nil},
		"wrong":             {phc, "password", false, nil},
		"no user":           {"", "", false, nil},
		"other parameters":  {mustHash(t, newPasswords(32, 2), "x"), "x", true, nil},
		"bcrypt":            {"$2a$10$abc", "x", false, errPHC},
		"cut":               {phc[:len(phc)-30], "x", false, errPHC},
		"huge memory":       {strings.Replace(phc, "m=64", "m=99999999", 1), "x", false, errPHC},
		"no passes":         {strings.Replace(phc, "t=1", "t=0", 1), "x", false, errPHC},
		"plain":             {"pässwörd", "pässwörd", false, errPHC},
		"damaged character": {phc[:len(phc)-2] + "!!", "pässwörd", false, errPHC},
	} {
		t.Run(name, func(t *testing.T) {
			ok, err := p.Verify(ctx, tc.phc, tc.password, Anybody)
			if ok != tc.ok || !errors.Is(err, tc.wantErr) {
				t.Errorf("%t, %v; want %t, %v", ok, err, tc.ok, tc.wantErr)
			}
		})
	}
	// The default settings have the stated cost, and checking the dummy costs the same.
	h, err := parsePHC(NewPasswords().dummy)
	if err != nil || h.memory != 64<<10 || h.time != 2 || h.threads != 1 {
		t.Errorf("default %+v, %v", h, err)
	}
}

func mustHash(t *testing.T, p *Passwords, password string) string {
	t.Helper()
	phc, err := p.Hash(t.Context(), password)
	if err != nil {
		t.Fatal(err)
	}
	return phc
}

// TestPasswordsWait checks that a check waits while every slot is taken, and gives up when its caller does.
func TestPasswordsWait(t *testing.T) {
	p := newPasswords(64, 1)
	for range cap(p.slots) {
		p.slots <- struct{}{}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if _, err := p.Verify(ctx, "", "x", Anybody); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error = %v, want the deadline", err)
	}
	<-p.slots
	if _, err := p.Verify(t.Context(), "", "x", Anybody); err != nil {
		t.Errorf("with a free slot: %v", err)
	}
}

// TestPasswordsBusy checks that only a fixed number of checks wait. Any further check fails at once.
func TestPasswordsBusy(t *testing.T) {
	p := newPasswords(64, 1)
	for range cap(p.slots) {
		p.slots <- struct{}{}
	}
	done := make(chan error, passwordQueue)
	for range passwordQueue {
		go func() {
			_, err := p.Verify(t.Context(), "", "x", Anybody)
			done <- err
		}()
	}
	for p.waiting[Anybody].Load() < passwordQueue {
		time.Sleep(time.Millisecond)
	}
	if _, err := p.Verify(t.Context(), "", "x", Anybody); !errors.Is(err, ErrPasswordsBusy) {
		t.Errorf("error = %v, want ErrPasswordsBusy", err)
	}
	familiar := make(chan error, 1)
	go func() {
		_, err := p.Verify(t.Context(), "", "x", Familiar)
		familiar <- err
	}()
	<-p.slots
	if err := <-familiar; err != nil {
		t.Errorf("from a familiar address, which has a room of its own: %v", err)
	}
	for range passwordQueue {
		if err := <-done; err != nil {
			t.Errorf("one that waited: %v", err)
		}
	}
	if n := p.waiting[Anybody].Load(); n != 0 {
		t.Errorf("%d still wait", n)
	}
}
