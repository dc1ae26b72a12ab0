package app

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/svc-observability/svc/server/auth"
	"github.com/svc-observability/svc/server/config"
	"github.com/svc-observability/svc/server/store"
)

// Bootstrap holds the addresses of the server. If the server has just created an organization, it also holds its credentials.
type Bootstrap struct {
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
func (b Bootstrap) Write(path string) error {
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

func (b Bootstrap) commit(f *os.File, path string) error {
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

// Addresses returns the addresses that the server listens on.
func (a *App) Addresses() Bootstrap {
	b := Bootstrap{IngestURL: a.ingestURL()}
	if a.cfg.Roles.Has(config.RoleAPI) {
		b.BaseURL = a.baseURL()
	}
	if a.listeners.otlp != nil {
		b.OTLPGRPCAddr = reachable(a.listeners.otlp.Addr())
	}
	return b
}

// FirstOrganization is the name of the organization that the first start creates. Its administrator can rename it.
const FirstOrganization = "Default"

// bootstrap creates an organization if the database has no organization, and writes the bootstrap file. The appearance of that
// file says that the server is up.
func (a *App) bootstrap(ctx context.Context) error {
	out := a.Addresses()
	var file *os.File
	if a.cfg.BootstrapFile != "" {
		var err error
		// The file comes before the secrets: the server must not make secrets that it cannot hand over.
		if file, err = reserve(a.cfg.BootstrapFile); err != nil {
			return err
		}
	}
	first, err := a.createFirst(ctx, &out)
	if file != nil {
		if err != nil {
			return errors.Join(err, file.Close(), os.Remove(file.Name()))
		}
		err = out.commit(file, a.cfg.BootstrapFile)
	}
	if first && a.opts.OnFirstStart != nil {
		// OnFirstStart runs even if the file failed, since the secrets exist nowhere else.
		err = errors.Join(err, a.opts.OnFirstStart(out))
	}
	return err
}

// createFirst creates the first organization of an empty database and adds its secrets to out.
func (a *App) createFirst(ctx context.Context, out *Bootstrap) (first bool, err error) {
	// Hashing a password is slow on purpose, so it happens only if the organization may be needed.
	if all, err := a.store.ListOrganizations(ctx); err != nil || len(all) > 0 {
		return false, err
	}
	in, secrets, err := newOrganization(ctx, FirstOrganization, "admin@localhost")
	if err != nil {
		return false, err
	}
	created, first, err := a.store.BootstrapOrganization(ctx, secrets.hash(in, a.hasher))
	if first {
		secrets.show(out, created)
	}
	return first, err
}

// CreateOrganization creates an organization with an administrator, an API key and the default ingest keys. It returns their
// secrets, which cannot be read again. An empty email stands for a made-up address that receives no mail.
func CreateOrganization(ctx context.Context, s *store.Store, hasher *auth.Hasher, name, email string) (Bootstrap, error) {
	in, secrets, err := newOrganization(ctx, name, email)
	if err != nil {
		return Bootstrap{}, err
	}
	created, err := s.CreateOrganization(ctx, secrets.hash(in, hasher))
	if err != nil {
		return Bootstrap{}, err
	}
	var out Bootstrap
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
	s := newSecrets{password: password, api: auth.NewSecret(auth.PrefixAPIKey), public: auth.NewSecret(auth.PrefixPublicKey), private: auth.NewSecret(auth.PrefixPrivateKey)}
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

func (s newSecrets) show(out *Bootstrap, created store.CreatedOrganization) {
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
