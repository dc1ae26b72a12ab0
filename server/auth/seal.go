package auth

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
	"errors"
	"fmt"
)

// sealVersion is the first byte of a sealed value, so that another cipher can follow.
const sealVersion = 1

// ErrUnsealable means that the sealed text was made with another pepper, or for another purpose or place, or that it was changed.
var ErrUnsealable = errors.New("auth: the sealed value cannot be opened: it was changed, or sealed with another secret key")

// Sealer encrypts values that the store must be able to give back: an answer that will be repeated, or a share token that will be
// shown again. It is safe for concurrent use.
type Sealer struct{ aead cipher.AEAD }

// Sealer returns the sealer for one purpose, for example `idempotency`. Its key is derived from the pepper (HKDF-SHA256). So
// nodes of one deployment open each other's values, and a sealer of one purpose cannot open the values of another.
func (h *Hasher) Sealer(purpose string) (*Sealer, error) {
	if purpose == "" {
		return nil, errors.New("auth: a sealer needs a purpose")
	}
	key, err := h.derive("svc seal v1 ", purpose)
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, fmt.Errorf("auth: key of %s: %w", purpose, err)
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		return nil, fmt.Errorf("auth: key of %s: %w", purpose, err)
	}
	return &Sealer{aead}, nil
}

// Key returns a key of 32 bytes for one purpose, derived from the pepper (HKDF-SHA256). It differs from the keys of other purposes and
// of sealers. All nodes of one deployment get the same key.
func (h *Hasher) Key(purpose string) ([]byte, error) { return h.derive("svc key v1 ", purpose) }

func (h *Hasher) derive(use, purpose string) ([]byte, error) {
	key, err := hkdf.Key(sha256.New, h.pepper, nil, use+purpose, 32)
	if err != nil {
		return nil, fmt.Errorf("auth: derive the key of %s: %w", purpose, err)
	}
	return key, nil
}

// Seal encrypts plain. The place is usually organization and row; it is not stored. Open needs the same place, so a value that is
// copied to another row does not open there.
func (s *Sealer) Seal(plain []byte, place string) []byte {
	out := append(make([]byte, 0, 1+len(plain)+s.aead.Overhead()), sealVersion)
	return s.aead.Seal(out, nil, plain, []byte(place)) //nolint:gosec // G407: this AEAD makes the nonce, cipher.NewGCMWithRandomNonce
}

// Open decrypts a value of Seal. The error is ErrUnsealable.
func (s *Sealer) Open(sealed []byte, place string) ([]byte, error) {
	if len(sealed) == 0 || sealed[0] != sealVersion {
		return nil, ErrUnsealable
	}
	plain, err := s.aead.Open(nil, nil, sealed[1:], []byte(place))
	if err != nil {
		return nil, ErrUnsealable
	}
	return plain, nil
}
