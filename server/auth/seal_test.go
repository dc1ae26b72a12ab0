package auth

import (
	"bytes"
	"errors"
	"testing"
)

func TestSealer(t *testing.T) {
	sealer := func(pepper byte, purpose string) *Sealer {
		t.Helper()
		h, err := NewHasher(bytes.Repeat([]byte{pepper}, PepperSize))
		if err != nil {
			t.Fatal(err)
		}
		s, err := h.Sealer(purpose)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	const place = "org_1 share_1"
	plain := []byte("svc_ak_secret")
	sealed := sealer(1, "test").Seal(plain, place)
	if got, err := sealer(1, "test").Open(sealed, place); err != nil || !bytes.Equal(got, plain) {
		t.Fatalf("another node opens %q, %v", got, err)
	}
	if bytes.Contains(sealed, plain[:6]) {
		t.Error("the sealed value shows the plain one")
	}
	if bytes.Equal(sealed, sealer(1, "test").Seal(plain, place)) {
		t.Error("sealing twice gives the same value")
	}
	if empty, err := sealer(1, "test").Open(sealer(1, "test").Seal(nil, ""), ""); err != nil || len(empty) != 0 {
		t.Errorf("an empty value opens as %q, %v", empty, err)
	}
	for name, open := range map[string]func() ([]byte, error){
		"another pepper":  func() ([]byte, error) { return sealer(2, "test").Open(sealed, place) },
		"another purpose": func() ([]byte, error) { return sealer(1, "tests").Open(sealed, place) },
		"another place":   func() ([]byte, error) { return sealer(1, "test").Open(sealed, "org_1 share_2") },
		"cut off":         func() ([]byte, error) { return sealer(1, "test").Open(sealed[:10], place) },
		"nothing":         func() ([]byte, error) { return sealer(1, "test").Open(nil, place) },
		"another version": func() ([]byte, error) { return sealer(1, "test").Open(append([]byte{2}, sealed[1:]...), place) },
	} {
		if got, err := open(); !errors.Is(err, ErrUnsealable) || got != nil {
			t.Errorf("%s: opened as %q, %v", name, got, err)
		}
	}
	for i := range sealed {
		changed := bytes.Clone(sealed)
		changed[i] ^= 1
		if _, err := sealer(1, "test").Open(changed, place); !errors.Is(err, ErrUnsealable) {
			t.Errorf("opened with byte %d changed: %v", i, err)
		}
	}
	h, err := NewHasher(bytes.Repeat([]byte{1}, PepperSize))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.Sealer(""); err == nil {
		t.Error("a sealer without a purpose")
	}
}
