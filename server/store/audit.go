package store

import (
	"cmp"
	"context"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	entsql "entgo.io/ent/dialect/sql"
	"github.com/google/uuid"

	"github.com/svc-observability/svc/ent"
	"github.com/svc-observability/svc/ent/auditlogentry"
	"github.com/svc-observability/svc/ent/predicate"
	"github.com/svc-observability/svc/ent/schema"
	"github.com/svc-observability/svc/ent/user"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/requestid"
)

// AuditEvent describes an entry of the audit log. The caller, the door and the address come from the context. A context without a
// caller belongs to the system (`svc admin`, a worker).
type AuditEvent struct {
	// Action is `<resource>.<verb>`, as in `api_key.created`.
	Action string
	// Denied is the reason of a refusal, empty for an allowed attempt.
	Denied string
	// ResourceID is the public id. It is empty for a resource that exists once in an organization.
	ResourceID   string
	AffectedUser principal.UserID
	// Before and After are the fields of the resource, without secrets, as the API names them. Fields that are equal in both are left out.
	Before, After map[string]any
	Metadata      map[string]any
}

// AuditLogEntry is a row of the audit log.
type AuditLogEntry struct {
	ID           uuid.UUID
	Action       string
	Outcome      string
	DenialReason *string
	ActorType    string
	ActorID      *string
	ActorName    *string
	AffectedUser *string
	Source       string
	ResourceType *string
	ResourceID   *string
	Changes      *AuditChanges
	Metadata     map[string]any
	RequestID    *string
	OriginIP     *string
	// OriginCountry is the ISO 3166-1 code of the country, if a trusted proxy named it.
	OriginCountry *string
	UserAgent     *string
	// ActorAvatarURL is the picture that a user has now.
	ActorAvatarURL *string
	OccurredAt     time.Time
	RecordedAt     time.Time
}

// AuditChanges are the fields that changed.
type AuditChanges = schema.AuditChanges

// Outcomes, actor types and sources of entries.
const (
	AuditAllowed = "allowed"
	AuditDenied  = "denied"

	ActorUser   = "user"
	ActorAPIKey = "api_key"
	ActorAgent  = "agent"
	ActorSystem = "system"

	SourceDashboard = "dashboard"
	SourceAPI       = "api"
	SourceMCP       = "mcp"
	SourceSystem    = "system"
)

// audit adds an entry in the transaction of the change itself, so that no change lacks its entry and no entry lacks its change.
func (s *Store) audit(ctx context.Context, tx *ent.Tx, org principal.OrgID, e AuditEvent) error {
	id, err := uuid.NewV7()
	if err != nil {
		return err
	}
	now := s.stamp()
	c := tx.AuditLogEntry.Create().SetID(id).SetOrgID(string(org)).SetAction(e.Action).SetOutcome(auditlogentry.OutcomeAllowed).
		SetOccurredAt(now).SetRecordedAt(now)
	if e.Denied != "" {
		c.SetOutcome(auditlogentry.OutcomeDenied).SetDenialReason(e.Denied)
	}
	if resource, _, ok := strings.Cut(e.Action, "."); ok {
		c.SetResourceType(resource)
	}
	optional(e.ResourceID, c.SetResourceID)
	optional(string(e.AffectedUser), c.SetAffectedUser)
	if changes := auditChanges(e.Before, e.After); changes != nil {
		c.SetChanges(changes).SetChanged("," + strings.Join(changes.Fields, ",") + ",")
	}
	by := actor(ctx)
	if metadata := withAgent(ctx, e.Metadata); len(metadata) > 0 {
		c.SetMetadata(metadata)
	}
	c.SetActorType(auditlogentry.ActorType(by.Type)).SetSource(auditlogentry.Source(by.Source))
	optional(by.ID, c.SetActorID)
	optional(by.Name, c.SetActorName)
	optional(by.RequestID, c.SetRequestID)
	optional(by.OriginIP, c.SetOriginIP)
	optional(by.UserAgent, c.SetUserAgent)
	optional(principal.OriginFrom(ctx).Country, c.SetOriginCountry)
	return c.Exec(ctx)
}

// withAgent adds the user for whom an agent acts, and the agent that the caller names. The caller's own facts come first.
func withAgent(ctx context.Context, metadata map[string]any) map[string]any {
	out := map[string]any{}
	if p, ok := principal.From(ctx); ok && p.Kind == principal.KindOAuth && p.Agent != "" {
		out["on_behalf_of"] = string(p.User)
	}
	if agent := principal.OriginFrom(ctx).Agent; agent != "" {
		out["agent_id"] = agent
	}
	maps.Copy(out, metadata)
	return out
}

func optional(v string, set func(string) *ent.AuditLogEntryCreate) {
	if v != "" {
		set(v)
	}
}

// AuditActor is the actor of a change, with the door and the address.
type AuditActor = schema.AuditActor

// actor returns the actor of the context.
func actor(ctx context.Context) AuditActor {
	origin := principal.OriginFrom(ctx)
	by := AuditActor{Type: ActorSystem, Source: SourceSystem, RequestID: requestid.From(ctx), OriginIP: origin.IP, UserAgent: origin.UserAgent}
	p, ok := principal.From(ctx)
	if !ok {
		return by
	}
	//exhaustive:enforce
	switch p.Kind {
	case principal.KindAPIKey, principal.KindMCPKey:
		by.Type, by.ID = ActorAPIKey, p.CredentialID
	case principal.KindOAuth:
		by.Type, by.ID = ActorAgent, cmp.Or(p.Agent, string(p.User))
	case principal.KindSession:
		by.Type, by.ID = ActorUser, string(p.User)
	}
	by.Name = cmp.Or(p.Name, p.Email)
	switch {
	case principal.DoorFrom(ctx) == principal.DoorMCP:
		by.Source = SourceMCP
	case p.Kind == principal.KindSession:
		by.Source = SourceDashboard
	default:
		by.Source = SourceAPI
	}
	return by
}

// auditChanges keeps the fields whose values differ. It is nil if all are equal.
func auditChanges(before, after map[string]any) *AuditChanges {
	out := AuditChanges{Before: map[string]any{}, After: map[string]any{}}
	names := slices.Collect(maps.Keys(before))
	for name := range after {
		if _, known := before[name]; !known {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		old, now := before[name], after[name]
		if reflect.DeepEqual(old, now) {
			continue
		}
		out.Fields = append(out.Fields, name)
		if before != nil {
			out.Before[name] = old
		}
		if after != nil {
			out.After[name] = now
		}
	}
	if len(out.Fields) == 0 {
		return nil
	}
	return &out
}

// RecordAudit adds an entry for an event that changes no row: a refused request, or a read that is audited.
func (s *Store) RecordAudit(ctx context.Context, org principal.OrgID, e AuditEvent) error {
	return s.tx(ctx, "record audit entry", func(tx *ent.Tx) error { return s.audit(ctx, tx, org, e) })
}

// AuditFilter narrows a list of entries. Empty fields do not filter.
type AuditFilter struct {
	ActorType, ActorID, AffectedUser, Action, Outcome string
	ResourceType, ResourceID, RequestID               string
	// Changed is the name of a field that must be among the changes.
	Changed string
	// Since and Until are both inclusive.
	Since, Until *time.Time
}

func (f AuditFilter) predicates() []predicate.AuditLogEntry {
	var all []predicate.AuditLogEntry
	equal := func(v string, p func(string) predicate.AuditLogEntry) {
		if v != "" {
			all = append(all, p(v))
		}
	}
	equal(f.ActorType, func(v string) predicate.AuditLogEntry {
		return auditlogentry.ActorTypeEQ(auditlogentry.ActorType(v))
	})
	equal(f.ActorID, auditlogentry.ActorID)
	equal(f.AffectedUser, auditlogentry.AffectedUser)
	equal(f.Action, auditlogentry.Action)
	equal(f.Outcome, func(v string) predicate.AuditLogEntry { return auditlogentry.OutcomeEQ(auditlogentry.Outcome(v)) })
	equal(f.ResourceType, auditlogentry.ResourceType)
	equal(f.ResourceID, auditlogentry.ResourceID)
	equal(f.RequestID, auditlogentry.RequestID)
	equal(f.Changed, func(v string) predicate.AuditLogEntry { return auditlogentry.ChangedContains("," + v + ",") })
	if f.Since != nil {
		all = append(all, auditlogentry.OccurredAtGTE(utc(*f.Since)))
	}
	if f.Until != nil {
		all = append(all, auditlogentry.OccurredAtLTE(utc(*f.Until)))
	}
	return all
}

// ListAuditLogEntries returns entries, newest first, ties by id. Request one more than a page to learn whether there is another
// page.
func (s *Store) ListAuditLogEntries(ctx context.Context, org principal.OrgID, f AuditFilter, offset, limit int) ([]AuditLogEntry, error) {
	rows, err := s.read.AuditLogEntry.Query().Where(append(f.predicates(), auditlogentry.OrgID(string(org)))...).
		Order(auditlogentry.ByOccurredAt(entsql.OrderDesc()), auditlogentry.ByID(entsql.OrderDesc())).
		Offset(offset).Limit(limit).All(ctx)
	if err != nil {
		return nil, mapError("list audit log entries", err)
	}
	avatars, err := s.avatars(ctx, rows)
	if err != nil {
		return nil, mapError("list audit log entries", err)
	}
	out := make([]AuditLogEntry, len(rows))
	for i, r := range rows {
		out[i] = AuditLogEntry{
			ID: r.ID, Action: r.Action, Outcome: string(r.Outcome), DenialReason: r.DenialReason,
			ActorType: string(r.ActorType), ActorID: r.ActorID, ActorName: r.ActorName, AffectedUser: r.AffectedUser,
			Source: string(r.Source), ResourceType: r.ResourceType, ResourceID: r.ResourceID, Changes: r.Changes, Metadata: r.Metadata,
			RequestID: r.RequestID, OriginIP: r.OriginIP, OriginCountry: r.OriginCountry, UserAgent: r.UserAgent, OccurredAt: utc(r.OccurredAt),
			RecordedAt: utc(r.RecordedAt),
		}
		if url, ok := avatars[out[i].user()]; ok {
			out[i].ActorAvatarURL = &url
		}
	}
	return out, nil
}

// user is the id of a user who acted, and empty for other actors.
func (e *AuditLogEntry) user() string {
	if e.ActorType != ActorUser || e.ActorID == nil {
		return ""
	}
	return *e.ActorID
}

// avatars returns the pictures of the users who acted.
func (s *Store) avatars(ctx context.Context, rows []*ent.AuditLogEntry) (map[string]string, error) {
	ids := map[string]bool{}
	for _, r := range rows {
		if r.ActorType == auditlogentry.ActorTypeUser && r.ActorID != nil {
			ids[*r.ActorID] = true
		}
	}
	if len(ids) == 0 {
		return nil, nil
	}
	users, err := s.read.User.Query().Where(user.IDIn(slices.Collect(maps.Keys(ids))...), user.AvatarURLNotNil()).
		Select(user.FieldID, user.FieldAvatarURL).All(ctx)
	if err != nil {
		return nil, err
	}
	out := map[string]string{}
	for _, u := range users {
		out[u.ID] = *u.AvatarURL
	}
	return out, nil
}
