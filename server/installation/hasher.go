package installation

import (
	"crypto/sha256"
	"path/filepath"

	"github.com/svc-observability/svc/server/auth"
	"github.com/svc-observability/svc/server/config"
)

// PepperFile is the path of the pepper: the key with which all secrets are hashed. The setting secret-key, if it is set, replaces
// the file.
func PepperFile(cfg config.Config) string { return filepath.Join(cfg.DataDir, "secrets", "pepper") }

// OpenHasher returns the hasher of secrets that the configuration names. It creates the pepper file if that is missing.
func OpenHasher(cfg config.Config) (*auth.Hasher, error) { return newHasher(cfg, auth.LoadPepper) }

// ReadHasher is OpenHasher, except that a missing pepper file is an error, fs.ErrNotExist.
func ReadHasher(cfg config.Config) (*auth.Hasher, error) { return newHasher(cfg, auth.ReadPepper) }

func newHasher(cfg config.Config, load func(path string) ([]byte, error)) (*auth.Hasher, error) {
	if text := cfg.SecretKey.Reveal(); text != "" {
		sum := sha256.Sum256([]byte(text))
		return auth.NewHasher(sum[:])
	}
	pepper, err := load(PepperFile(cfg))
	if err != nil {
		return nil, err
	}
	return auth.NewHasher(pepper)
}
