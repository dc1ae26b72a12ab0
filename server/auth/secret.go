package auth

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"hash"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/svc-observability/svc/server/store"
)

// Prefixes of secrets. All have the same length.
const (
	PrefixAPIKey     = "svc_ak_"
	PrefixPublicKey  = "svc_pk_"
	PrefixPrivateKey = "svc_sk_"
	PrefixCustomKey  = "svc_ik_"
	PrefixSession    = "svc_st_"
	PrefixConnector  = "svc_cf_"
	// PrefixDevice begins the device code of a command-line login. It is not a credential for calls either.
	PrefixDevice = "svc_dc_"
	// PrefixInvitation begins the token in the link of an invitation. It is not a credential for calls.
	PrefixInvitation = "svc_iv_"

	// IngestKeyPrefixes names the prefixes of ingest keys in messages.
	IngestKeyPrefixes = PrefixPublicKey + ", " + PrefixPrivateKey + " or " + PrefixCustomKey

	prefixLength = 7
	// secretLength is 32 bytes as base64url text.
	secretLength = 43
	shownLength  = 12
)

// PepperSize is the length of the pepper in bytes. The pepper is the key with which all secrets are hashed.
const PepperSize = 32

// NewSecret returns prefix and 256 random bits as text.
func NewSecret(prefix string) string {
	var b [32]byte
	_, _ = rand.Read(b[:]) // never fails: the program ends instead
	return prefix + base64.RawURLEncoding.EncodeToString(b[:])
}

// NewIngestKey makes the secret of an ingest key, as text and as it is stored.
func (h *Hasher) NewIngestKey(kind store.IngestKeyKind) (text string, stored store.Secret) {
	prefix := PrefixCustomKey
	switch kind {
	case store.IngestKeyPublic:
		prefix = PrefixPublicKey
	case store.IngestKeyPrivate:
		prefix = PrefixPrivateKey
	case store.IngestKeyCustom:
	}
	text = NewSecret(prefix)
	return text, h.Secret(text)
}

// KeyPrefix is the part of a secret that may be stored and shown.
func KeyPrefix(secret string) string { return secret[:min(shownLength, len(secret))] + "..." }

// Hasher computes the keyed hashes under which secrets are stored. It is safe for concurrent use.
type Hasher struct {
	pepper []byte
	pool   sync.Pool
}

// NewHasher returns a Hasher for a pepper of PepperSize bytes. A server finds a stored credential only with the pepper of its
// hash.
func NewHasher(pepper []byte) (*Hasher, error) {
	if len(pepper) != PepperSize {
		return nil, fmt.Errorf("auth: the pepper has %d bytes, not %d", len(pepper), PepperSize)
	}
	key := append([]byte(nil), pepper...)
	return &Hasher{pepper: key, pool: sync.Pool{New: func() any { return hmac.New(sha256.New, key) }}}, nil
}

// Hash is HMAC-SHA256 as base64url text.
func (h *Hasher) Hash(secret string) string {
	mac := h.pool.Get().(hash.Hash)
	defer h.pool.Put(mac)
	mac.Reset()
	mac.Write([]byte(secret))
	var sum [sha256.Size]byte
	return base64.RawURLEncoding.EncodeToString(mac.Sum(sum[:0]))
}

// Secret returns the form in which the store keeps a secret.
func (h *Hasher) Secret(secret string) store.Secret {
	s := store.Secret{Hash: h.Hash(secret), Prefix: KeyPrefix(secret)}
	if strings.HasPrefix(secret, PrefixPublicKey) {
		s.Public = secret
	}
	return s
}

// Fingerprint returns a short name of the pepper for logs and checks. It does not reveal the pepper. All nodes of an installation
// must have the same fingerprint: otherwise a key that one node made is unknown to the others.
func (h *Hasher) Fingerprint() string { return h.Hash("pepper fingerprint")[:8] }

func equalHash(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }

// LoadPepper reads the pepper file. If the file is missing, it creates it and its folder. Processes that start together get the
// same pepper. A file that other users can read is refused.
func LoadPepper(path string) ([]byte, error) {
	pepper, err := ReadPepper(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return pepper, err
	}
	if err := createPepper(path); err != nil {
		return nil, fmt.Errorf("auth: create the pepper: %w", err)
	}
	return ReadPepper(path)
}

// ReadPepper reads the pepper file. The error is fs.ErrNotExist if the file is missing.
func ReadPepper(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("auth: read the pepper: %w", err)
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 {
		return nil, fmt.Errorf("auth: the pepper %s can be read by other users (mode %#o): run chmod 600 on it", path, mode)
	}
	pepper, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("auth: read the pepper: %w", err)
	}
	if len(pepper) != PepperSize {
		return nil, fmt.Errorf("auth: the pepper %s has %d bytes, not %d: restore it from a backup; with a new one, no existing key works",
			path, len(pepper), PepperSize)
	}
	return pepper, nil
}

// createPepper writes the whole file under another name and then links it. The link fails if another process was faster. So
// nobody reads half of a pepper, and nobody replaces one.
func createPepper(path string) (err error) {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, ".pepper-*") // mode 0600
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.Remove(f.Name())) }()
	pepper := make([]byte, PepperSize)
	_, _ = rand.Read(pepper)
	_, werr := f.Write(pepper)
	if err := errors.Join(werr, f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Link(f.Name(), path); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	// Keys that are issued soon depend on this file, so its name must reach the disk first.
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
