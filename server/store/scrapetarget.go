package store

import (
	"context"
	"encoding/json"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"time"

	entsql "entgo.io/ent/dialect/sql"
	"github.com/google/uuid"

	"github.com/svc-observability/svc/ent"
	"github.com/svc-observability/svc/ent/scrapetarget"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/principal"
)

// Types of scrape targets, and the ways in which their requests authenticate.
const (
	ScrapePrometheus  = "prometheus"
	ScrapePlanetscale = "planetscale"

	ScrapeAuthNone   = "none"
	ScrapeAuthBearer = "bearer"
	ScrapeAuthBasic  = "basic"
	ScrapeAuthToken  = "token"
)

// check brings a target into the stored form and judges it.
func (t *ScrapeTarget) check(c *checker) {
	c.name("name", &t.Name)
	t.ServiceName = trimmed(t.ServiceName)
	t.OrganizationName = trimmed(t.OrganizationName)
	t.LabelsJSON = trimmed(t.LabelsJSON)
	t.IncludeBranches, t.ExcludeBranches = list(t.IncludeBranches), list(t.ExcludeBranches)
	if t.ServiceName != nil {
		c.line("service_name", *t.ServiceName, maxNameLength)
	}
	choice(c, "target_type", t.TargetType, []string{ScrapePrometheus, ScrapePlanetscale})
	choice(c, "auth_type", t.AuthType, []string{ScrapeAuthNone, ScrapeAuthBearer, ScrapeAuthBasic, ScrapeAuthToken})
	t.checkURL(c)
	seconds := time.Duration(t.ScrapeIntervalSeconds) * time.Second
	if seconds < limits.LeastScrapeInterval || seconds > limits.LargestScrapeInterval {
		c.fail("scrape_interval_seconds", "must be from %d to %d", limits.LeastScrapeInterval/time.Second,
			limits.LargestScrapeInterval/time.Second)
	}
	if t.LabelsJSON != nil {
		checkLabels(c, *t.LabelsJSON)
	}
	for field, branches := range map[string][]string{"include_branches": t.IncludeBranches, "exclude_branches": t.ExcludeBranches} {
		if len(branches) > limits.ScrapeBranches {
			c.fail(field, "has %d entries; at most %d are allowed", len(branches), limits.ScrapeBranches)
		}
		for _, branch := range branches {
			c.line(field, branch, limits.ScrapeBranch)
		}
	}
	if t.OrganizationName != nil {
		c.line("organization", *t.OrganizationName, maxNameLength)
	}
	switch {
	case t.AuthType == ScrapeAuthNone:
		t.Credentials = nil
	case len(t.Credentials) == 0:
		c.fail("auth_credentials", "must be given for the auth_type %s", t.AuthType)
	}
}

func trimmed(text *string) *string {
	if text == nil {
		return nil
	}
	return nonZero(strings.TrimSpace(*text))
}

// list is the stored form of a list, where an empty one is nil.
func list(all []string) []string {
	if len(all) == 0 {
		return nil
	}
	return all
}

func (t *ScrapeTarget) checkURL(c *checker) {
	t.URL = strings.TrimSpace(t.URL)
	if t.TargetType == ScrapePlanetscale {
		return
	}
	c.line("url", t.URL, limits.ScrapeURL)
	u, err := url.Parse(t.URL)
	switch {
	case t.URL == "":
		c.fail("url", "must not be empty")
	case err != nil:
		c.fail("url", "is not a URL")
	case u.Scheme != "http" && u.Scheme != "https":
		c.fail("url", "must begin with https:// or http://")
	case u.Hostname() == "":
		c.fail("url", "has no host")
	case u.User != nil:
		c.fail("url", "must not hold a user name or password; use auth_type basic")
	case u.Fragment != "":
		c.fail("url", "must not have a fragment (#%s)", u.Fragment)
	}
}

// checkLabels judges the labels of a target. The names that the server itself writes are reserved.
func checkLabels(c *checker, text string) {
	const field = "labels_json"
	c.text(field, text, limits.ScrapeLabelsText)
	var values map[string]any
	if err := json.Unmarshal([]byte(text), &values); err != nil || values == nil {
		c.fail(field, "is not a JSON object of strings")
		return
	}
	if len(values) > limits.ScrapeTargetLabels {
		c.fail(field, "has %d labels; at most %d are allowed", len(values), limits.ScrapeTargetLabels)
	}
	for name, value := range values {
		s, isText := value.(string)
		switch {
		case strings.TrimSpace(name) == "":
			c.fail(field, "has a label without a name")
		case name == "job", name == "instance", strings.HasPrefix(name, "svc_"), strings.HasPrefix(name, "__"):
			c.fail(field, "has the reserved label %s: job, instance, and names that begin with svc_ or __, are written by the server", name)
		case !isText:
			c.fail(field, "has the label %s, whose value is not a string", name)
		}
		c.line(field, name, limits.KeyAttributeKeyLength)
		c.line(field, s, limits.KeyAttributeValueLength)
	}
}

// CreateScrapeTarget creates a target. The caller chooses its id, because the sealed credentials are bound to it. It returns an
// *InvalidError if the input breaks a rule. It returns ErrConflict if the name is taken.
func (s *Store) CreateScrapeTarget(ctx context.Context, org principal.OrgID, in ScrapeTarget) (t ScrapeTarget, err error) {
	in.Org, in.Shard = org, ShardOf(WorkScrape, in.ID.String())
	in.LastScrapeAt, in.LastScrapeError, in.FailingSince = nil, nil, nil
	var c checker
	in.check(&c)
	if err := c.err(); err != nil {
		return ScrapeTarget{}, err
	}
	err = s.mutate(ctx, "create scrape target", func(tx *ent.Tx) (Change, error) {
		if t, err = s.insertScrapeTarget(ctx, tx, in); err != nil {
			return Change{}, err
		}
		return t.change(), s.audit(ctx, tx, org, t.event("created", nil, t.auditFields()))
	})
	if err != nil {
		return ScrapeTarget{}, err
	}
	return t, nil
}

// ListScrapeTargets returns targets, newest first, ties by id. Request one more than a page to learn whether there is another page.
func (s *Store) ListScrapeTargets(ctx context.Context, org principal.OrgID, offset, limit int) ([]ScrapeTarget, error) {
	rows, err := s.read.ScrapeTarget.Query().Where(scrapetarget.OrgID(string(org))).
		Order(scrapetarget.ByCreatedAt(entsql.OrderDesc()), scrapetarget.ByID(entsql.OrderDesc())).Offset(offset).Limit(limit).All(ctx)
	return collect("list scrape targets", toScrapeTarget, rows, err)
}

// ScrapeTargetsOfShards returns the enabled targets of shards, of all organizations, for the scraper.
func (s *Store) ScrapeTargetsOfShards(ctx context.Context, shards []int) ([]ScrapeTarget, error) {
	rows, err := s.read.ScrapeTarget.Query().Where(scrapetarget.ShardIn(shards...), scrapetarget.Enabled(true)).All(ctx)
	return collect("list the scrape targets of shards", toScrapeTarget, rows, err)
}

// CountScrapeTargets returns the number of enabled targets of an organization.
func (s *Store) CountScrapeTargets(ctx context.Context, org principal.OrgID) (int, error) {
	n, err := s.read.ScrapeTarget.Query().Where(scrapetarget.OrgID(string(org)), scrapetarget.Enabled(true)).Count(ctx)
	if err != nil {
		return 0, mapError("count scrape targets", err)
	}
	return n, nil
}

// FailingScrapeTargets returns the enabled targets whose scrapes have failed since before a time, longest first. Request one more than
// are shown to learn whether there are more.
func (s *Store) FailingScrapeTargets(ctx context.Context, org principal.OrgID, before time.Time, limit int) ([]ScrapeTarget, error) {
	rows, err := s.read.ScrapeTarget.Query().
		Where(scrapetarget.OrgID(string(org)), scrapetarget.Enabled(true), scrapetarget.FailingSinceLTE(utc(before))).
		Order(scrapetarget.ByFailingSince(), scrapetarget.ByID()).Limit(limit).All(ctx)
	return collect("list failing scrape targets", toScrapeTarget, rows, err)
}

// EditScrapeTarget calls change with the newest state of a target and stores the result. The target stays locked meanwhile. An
// error of change ends the edit, and the returned error wraps it. It returns ErrInvalid if the result breaks a rule, or an integration owns
// the target. It returns ErrConflict if the name is taken.
func (s *Store) EditScrapeTarget(
	ctx context.Context, org principal.OrgID, id uuid.UUID, by principal.UserID, change func(*ScrapeTarget) error,
) (t ScrapeTarget, err error) {
	err = s.mutate(ctx, "edit scrape target", func(tx *ent.Tx) (Change, error) {
		row, err := s.lockScrapeTarget(ctx, tx, org, id)
		if err != nil {
			return Change{}, err
		}
		old := toScrapeTarget(row)
		if err := old.unmanaged(); err != nil {
			return Change{}, err
		}
		t = old
		if err := change(&t); err != nil {
			return Change{}, err
		}
		var c checker
		t.check(&c)
		if err := c.err(); err != nil {
			return Change{}, err
		}
		if reflect.DeepEqual(t, old) {
			return Change{}, nil
		}
		u := row.Update().SetUpdatedAt(s.stamp()).SetUpdatedBy(string(by)).SetName(t.Name).SetURL(t.URL).
			SetScrapeIntervalSeconds(t.ScrapeIntervalSeconds).SetAuthType(t.AuthType).SetEnabled(t.Enabled)
		u.SetIncludeBranches(t.IncludeBranches).SetExcludeBranches(t.ExcludeBranches)
		if t.IncludeBranches == nil {
			u.ClearIncludeBranches()
		}
		if t.ExcludeBranches == nil {
			u.ClearExcludeBranches()
		}
		setOr(t.ServiceName, u.SetServiceName, u.ClearServiceName)
		setOr(t.OrganizationName, u.SetOrganizationName, u.ClearOrganizationName)
		setOr(t.LabelsJSON, u.SetLabelsJSON, u.ClearLabelsJSON)
		u.SetCredentials(t.Credentials)
		if t.Credentials == nil {
			u.ClearCredentials()
		}
		if !t.Enabled || t.URL != old.URL {
			u.ClearFailingSince() // the next scrape of the new address decides anew
		}
		if row, err = u.Save(ctx); err != nil {
			return Change{}, err
		}
		t = toScrapeTarget(row)
		e := t.event("updated", old.auditFields(), t.auditFields())
		if !slices.Equal(t.Credentials, old.Credentials) && t.Credentials != nil {
			e.Metadata = map[string]any{"credentials_replaced": true}
		}
		return t.change(), s.audit(ctx, tx, org, e)
	})
	if err != nil {
		return ScrapeTarget{}, err
	}
	return t, nil
}

// DeleteScrapeTarget deletes a target. The metrics that it delivered stay. It returns ErrInvalid if an integration owns the target.
func (s *Store) DeleteScrapeTarget(ctx context.Context, org principal.OrgID, id uuid.UUID) error {
	return s.mutate(ctx, "delete scrape target", func(tx *ent.Tx) (Change, error) {
		row, err := s.lockScrapeTarget(ctx, tx, org, id)
		if err != nil {
			return Change{}, err
		}
		t := toScrapeTarget(row)
		if err := t.unmanaged(); err != nil {
			return Change{}, err
		}
		if err := s.audit(ctx, tx, org, t.event("deleted", t.auditFields(), nil)); err != nil {
			return Change{}, err
		}
		return t.change(), tx.ScrapeTarget.DeleteOne(row).Exec(ctx)
	})
}

// unmanaged refuses a change of a target that an integration owns.
func (t *ScrapeTarget) unmanaged() error {
	if t.ManagedBy == "" {
		return nil
	}
	return &InvalidError{Violations: []Violation{{
		Field: "managed_by", Reason: "is " + t.ManagedBy + ": the integration owns this target, so it cannot be changed or deleted here",
	}}}
}

func (t *ScrapeTarget) change() Change { return Change{Subject: SubjectScrapeTarget, Org: t.Org} }

func (t *ScrapeTarget) auditFields() map[string]any {
	fields := map[string]any{
		"name": t.Name, "service_name": t.ServiceName, "url": t.URL, "target_type": t.TargetType, "organization": t.OrganizationName,
		"include_branches": t.IncludeBranches, "exclude_branches": t.ExcludeBranches,
		"scrape_interval_seconds": t.ScrapeIntervalSeconds, "labels_json": t.LabelsJSON,
		"auth_type": t.AuthType, "has_credentials": len(t.Credentials) > 0, "enabled": t.Enabled,
	}
	return fields
}
