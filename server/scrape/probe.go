package scrape

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/svc-observability/svc/server/egress"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/store"
)

// Sealer encrypts the credentials of targets.
type Sealer interface {
	Seal(plain []byte, place string) []byte
	Open(sealed []byte, place string) ([]byte, error)
}

// Vault seals the credentials of targets, each for its own row.
type Vault struct{ Sealer Sealer }

func place(org principal.OrgID, id uuid.UUID) string { return string(org) + " " + id.String() }

// Seal encrypts the credentials of a target.
func (v Vault) Seal(org principal.OrgID, id uuid.UUID, c Credentials) ([]byte, error) {
	text, err := json.Marshal(c)
	if err != nil {
		return nil, fmt.Errorf("scrape: credentials: %w", err)
	}
	return v.Sealer.Seal(text, place(org, id)), nil
}

// ErrCredentials reports stored credentials that cannot be opened: they were sealed under another secret key.
var ErrCredentials = errors.New("the stored credentials cannot be decrypted; they were stored under another secret key. Set them again")

// Target makes a target from its row. The error is ErrCredentials, or says which setting cannot be read.
func (v Vault) Target(row store.ScrapeTarget) (Target, error) {
	t := Target{
		ID: row.ID, Org: row.Org, Name: row.Name, Service: row.Name, URL: row.URL,
		Interval: time.Duration(row.ScrapeIntervalSeconds) * time.Second,
	}
	if row.ServiceName != nil {
		t.Service = *row.ServiceName
	}
	var err error
	if t.Labels, err = Labels(row.LabelsJSON); err != nil {
		return t, err
	}
	if row.AuthType == AuthNone {
		return t, nil
	}
	text, err := v.Sealer.Open(row.Credentials, place(row.Org, row.ID))
	if err != nil {
		return t, ErrCredentials
	}
	var c Credentials
	if err := json.Unmarshal(text, &c); err != nil {
		return t, ErrCredentials
	}
	switch row.AuthType {
	case AuthBearer:
		t.Authorization = "Bearer " + c.Token
	case AuthBasic:
		t.Authorization = "Basic " + base64.StdEncoding.EncodeToString([]byte(c.Username+":"+c.Password))
	case AuthToken:
		t.Authorization = "token " + c.TokenID + ":" + c.TokenSecret
	}
	return t, nil
}

// Prober scrapes targets once, without storing anything. It is safe for concurrent use.
type Prober struct {
	guard   *egress.Guard
	fetcher *fetcher
}

// NewProber makes a prober.
func NewProber(guard *egress.Guard) *Prober { return &Prober{guard, newFetcher()} }

// Probe fetches the target and reads the answer. The error is written for the owner of the target.
func (p *Prober) Probe(ctx context.Context, t Target) error {
	ctx, cancel := context.WithTimeout(ctx, limits.ScrapeTimeout)
	defer cancel()
	t.Interval = limits.LargestScrapeInterval // so the whole time is for the probe
	client := newClient(p.guard, limits.ScrapeTimeout, 0)
	page, done, err := p.fetcher.fetch(ctx, client, &t)
	if err != nil {
		return err
	}
	defer done()
	c := converters.Get().(*converter)
	defer converters.Put(c)
	c.begin(newIdentity(&t), time.Now(), nil)
	return c.reader.read(page)
}
