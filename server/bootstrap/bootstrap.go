// Package bootstrap creates an organization with its first credentials, and writes the bootstrap file.
package bootstrap

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/svc-observability/svc/server/auth"
	"github.com/svc-observability/svc/server/store"
)

// File is the content of the bootstrap file: the addresses of the server and, after the creation of an organization, its credentials.
type File struct {
	BaseURL       string `json:"base_url,omitempty"`
	IngestURL     string `json:"ingest_url,omitempty"`
	OTLPGRPCAddr  string `json:"otlp_grpc_addr,omitempty"`
	OrgID         string `json:"org_id,omitempty"`
	APIKey        string `json:"api_key,omitempty"`
	PublicKey     string `json:"public_ingest_key,omitempty"`
	PrivateKey    string `json:"private_ingest_key,omitempty"`
	AdminEmail    string `json:"admin_email,omitempty"`
	AdminPassword string `json:"admin_password,omitempty"`
}

// Write stores it as JSON in a file that only this user can read.
func (b File) Write(path string) error {
	f, err := reserve(path)
	if err != nil {
		return err
	}
	return b.commit(f, path)
}

// reserve makes a new file beside path. The caller renames it to path later, so nobody reads half of a file, and its mode is
// right from the start. It also shows early whether the folder is writable.
func reserve(path string) (*os.File, error) {
	f, err := os.CreateTemp(filepath.Dir(path), ".bootstrap-*")
	if err != nil {
		return nil, fmt.Errorf("bootstrap file: %w", err)
	}
	return f, nil
}

func (b File) commit(f *os.File, path string) error {
	text, err := json.MarshalIndent(b, "", "  ")
	if err == nil {
		_, err = f.Write(append(text, '\n'))
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return fmt.Errorf("bootstrap file: %w", errors.Join(err, os.Remove(f.Name())))
	}
	return nil
}

// FirstOrganization is the name of the organization that the first start creates; its administrator can rename it.
const FirstOrganization = "Default"

// Config says how a server makes its first organization.
type Config struct {
	Store  *store.Store
	Hasher *auth.Hasher
	// Addresses are the addresses of the server.
	Addresses File
	// Path is the bootstrap file; empty for none.
	Path string
	// OnFirstStart gets the credentials of an organization that was created. It may be nil.
	OnFirstStart func(File) error
}

// Start creates the first organization in an empty database, and writes the bootstrap file: its appearance says that the server is up.
func Start(ctx context.Context, cfg Config) error {
	out := cfg.Addresses
	var file *os.File
	if cfg.Path != "" {
		var err error
		// Before anything is created: no secret may be made that cannot be written down.
		if file, err = reserve(cfg.Path); err != nil {
			return err
		}
	}
	first, err := createFirst(ctx, cfg.Store, cfg.Hasher, &out)
	if file != nil {
		if err != nil {
			return errors.Join(err, file.Close(), os.Remove(file.Name()))
		}
		if !first {
			err = keep(ctx, cfg, &out)
		}
		if err != nil {
			return errors.Join(err, file.Close(), os.Remove(file.Name()))
		}
		err = out.commit(file, cfg.Path)
	}
	if first && cfg.OnFirstStart != nil {
		// Called even when the file failed, since nothing else knows the secrets.
		err = errors.Join(err, cfg.OnFirstStart(out))
	}
	return err
}

// keep takes the credentials of an earlier start from its bootstrap file, because they may be written down nowhere else. Those of another
// database are left out.
func keep(ctx context.Context, cfg Config, out *File) error {
	var before File
	text, err := os.ReadFile(cfg.Path)
	if err != nil || json.Unmarshal(text, &before) != nil || before.OrgID == "" {
		return nil //nolint:nilerr // a file without credentials, or none
	}
	all, err := cfg.Store.ListOrganizations(ctx)
	if err != nil || !slices.ContainsFunc(all, func(o store.Organization) bool { return string(o.ID) == before.OrgID }) {
		return err
	}
	before.BaseURL, before.IngestURL, before.OTLPGRPCAddr = out.BaseURL, out.IngestURL, out.OTLPGRPCAddr
	*out = before
	return nil
}

// createFirst creates the first organization of an empty database and adds its secrets to out.
func createFirst(ctx context.Context, s *store.Store, hasher *auth.Hasher, out *File) (first bool, err error) {
	// Hashing a password is slow on purpose, so a database with organizations is answered before it.
	if all, err := s.ListOrganizations(ctx); err != nil || len(all) > 0 {
		return false, err
	}
	in, secrets, err := newOrganization(ctx, FirstOrganization, "admin@localhost")
	if err != nil {
		return false, err
	}
	created, first, err := s.BootstrapOrganization(ctx, secrets.hash(in, hasher))
	if first {
		secrets.show(out, created)
	}
	return first, err
}

// CreateOrganization creates an organization with an administrator, an API key and the default ingest keys, and returns their
// secrets, once. An empty email makes up an address that receives no mail.
func CreateOrganization(ctx context.Context, s *store.Store, hasher *auth.Hasher, name, email string) (File, error) {
	in, secrets, err := newOrganization(ctx, name, email)
	if err != nil {
		return File{}, err
	}
	created, err := s.CreateOrganization(ctx, secrets.hash(in, hasher))
	if err != nil {
		return File{}, err
	}
	var out File
	secrets.show(&out, created)
	return out, nil
}

// newSecrets are the secrets of a new organization, in clear text until they have been shown.
type newSecrets struct {
	password, api, public, private string
}

func newOrganization(ctx context.Context, name, email string) (store.NewOrganization, newSecrets, error) {
	password, err := randomText(18)
	if err != nil {
		return store.NewOrganization{}, newSecrets{}, err
	}
	if email == "" {
		suffix, err := randomText(6)
		if err != nil {
			return store.NewOrganization{}, newSecrets{}, err
		}
		email = "admin-" + suffix + "@localhost"
	}
	s := newSecrets{
		password: password,
		api:      auth.NewSecret(auth.PrefixAPIKey),
		public:   auth.NewSecret(auth.PrefixPublicKey),
		private:  auth.NewSecret(auth.PrefixPrivateKey),
	}
	hash, err := auth.HashPassword(ctx, password)
	if err != nil {
		return store.NewOrganization{}, newSecrets{}, err
	}
	return store.NewOrganization{
		Name: name, Admin: &store.NewUser{Email: email, Name: "Administrator", PasswordHash: hash},
	}, s, nil
}

func (s newSecrets) hash(in store.NewOrganization, h *auth.Hasher) store.NewOrganization {
	in.IngestKeys = &store.DefaultIngestKeys{Public: h.Secret(s.public), Private: h.Secret(s.private)}
	in.ApiKey = &store.NewApiKey{Name: "Bootstrap", Kind: store.ApiKeyStandard, Secret: h.Secret(s.api), CreatedByEmail: in.Admin.Email}
	return in
}

func (s newSecrets) show(out *File, created store.CreatedOrganization) {
	out.OrgID, out.AdminEmail, out.AdminPassword = string(created.Organization.ID), created.Admin.Email, s.password
	out.APIKey, out.PublicKey, out.PrivateKey = s.api, s.public, s.private
}

func randomText(n int) (string, error) {
	b := make([]byte, n)
	if _, err := rand.Read(b); err != nil {
		return "", err
	}
	return base64.RawURLEncoding.EncodeToString(b), nil
}
