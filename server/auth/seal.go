package auth

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
	"errors"
	"fmt"
)

// sealVersion is the first byte of what is sealed, so that another cipher can follow.
const sealVersion = 1

// ErrUnsealable says that sealed text was made with another pepper, for another purpose or place, or was changed.
var ErrUnsealable = errors.New("auth: the sealed value cannot be opened: it was changed, or sealed with another secret key")

// Sealer encrypts what the store must keep and give back: an answer that is to be repeated, a share token that is to be shown
// again. It is safe for concurrent use.
type Sealer struct{ aead cipher.AEAD }

// Sealer returns the sealer of one purpose, `idempotency` for example. Its key is derived from the pepper (HKDF-SHA256): nodes of
// one deployment open each other's values, and no purpose opens another's.
func (h *Hasher) Sealer(purpose string) (*Sealer, error) {
	if purpose == "" {
		return nil, errors.New("auth: a sealer needs a purpose")
	}
	key, err := hkdf.Key(sha256.New, h.pepper, nil, "svc seal v1 "+purpose, 32)
	if err != nil {
		return nil, fmt.Errorf("auth: derive the key of %s: %w", purpose, err)
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

// Seal encrypts plain. place, usually organization and row, is not kept: Open must be given the same, so that what is copied to
// another row does not open there.
func (s *Sealer) Seal(plain []byte, place string) []byte {
	out := append(make([]byte, 0, 1+len(plain)+s.aead.Overhead()), sealVersion)
	return s.aead.Seal(out, nil, plain, []byte(place)) //nolint:gosec // G407: this AEAD makes the nonce, cipher.NewGCMWithRandomNonce
}

// Open decrypts what Seal made; the error is ErrUnsealable.
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
