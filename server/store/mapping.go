package store

import (
	"context"
	"strings"
	"time"

	"entgo.io/ent/dialect"
	"github.com/google/uuid"
	"github.com/svc-observability/svc/ent"
	"github.com/svc-observability/svc/ent/attributemapping"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/publicid"
)

// MappingSource says which attributes a mapping reads.
type MappingSource string

// Sources of mappings.
const (
	MappingFromSpan     MappingSource = "span"
	MappingFromResource MappingSource = "resource"
)

// MappingOperation says what becomes of the source.
type MappingOperation string

// Operations of mappings. A move from a resource acts as a copy: other spans share the resource.
const (
	MappingCopy MappingOperation = "copy"
	MappingMove MappingOperation = "move"
)

// AttributeMapping copies or moves an attribute of spans while they are ingested.
type AttributeMapping struct {
	ID     uuid.UUID
	Org    principal.OrgID
	Name   string
	Source MappingSource
	// SourceKey and TargetKey are without white space around them. The target is always an attribute of the span.
	SourceKey string
	TargetKey string
	Operation MappingOperation
	Enabled   bool
	CreatedAt time.Time
	UpdatedAt time.Time
}

// NewAttributeMapping is a mapping to create.
type NewAttributeMapping struct {
	Name      string
	Source    MappingSource
	SourceKey string
	TargetKey string
	Operation MappingOperation
	Disabled  bool
}

// AttributeMappingEdit is a partial update.
type AttributeMappingEdit struct {
	Name      Patch[string]
	Source    Patch[MappingSource]
	SourceKey Patch[string]
	TargetKey Patch[string]
	Operation Patch[MappingOperation]
	Enabled   Patch[bool]
}

// check judges the mapping as a whole, since some rules are about two fields, and brings it into the stored form.
func (m *AttributeMapping) check() error {
	var c checker
	c.name("name", &m.Name)
	if m.Source != MappingFromSpan && m.Source != MappingFromResource {
		c.fail("source_context", "%q is not a source; use %s or %s", m.Source, MappingFromSpan, MappingFromResource)
	}
	m.SourceKey, m.TargetKey = strings.TrimSpace(m.SourceKey), strings.TrimSpace(m.TargetKey)
	if m.SourceKey == "" {
		c.fail("source_key", "must not be empty")
	}
	c.line("source_key", m.SourceKey, limits.MappingKeyLength)
	c.attributeKey("target_key", m.TargetKey, limits.MappingKeyLength)
	if m.Source == MappingFromSpan && m.SourceKey != "" && m.SourceKey == m.TargetKey {
		c.fail("target_key", "must differ from source_key when source_context is span")
	}
	if m.Operation != MappingCopy && m.Operation != MappingMove {
		c.fail("operation", "%q is not an operation; use %s or %s", m.Operation, MappingMove, MappingCopy)
	}
	return c.err()
}

// CreateAttributeMapping creates a mapping, which runs after those that exist. ErrInvalid: see InvalidError.
func (s *Store) CreateAttributeMapping(ctx context.Context, org principal.OrgID, in NewAttributeMapping) (AttributeMapping, error) {
	m := AttributeMapping{
		Org: org, Name: in.Name, Source: in.Source, SourceKey: in.SourceKey, TargetKey: in.TargetKey, Operation: in.Operation, Enabled: !in.Disabled,
	}
	if err := m.check(); err != nil {
		return AttributeMapping{}, err
	}
	err := s.mutate(ctx, "create attribute mapping", func(tx *ent.Tx) (_ Change, err error) {
		if m.ID, err = uuid.NewV7(); err != nil {
			return Change{}, err
		}
		now := s.stamp()
		row, err := tx.AttributeMapping.Create().SetID(m.ID).SetOrgID(string(org)).SetName(m.Name).
			SetSourceContext(attributemapping.SourceContext(m.Source)).SetSourceKey(m.SourceKey).SetTargetKey(m.TargetKey).
			SetOperation(attributemapping.Operation(m.Operation)).SetEnabled(m.Enabled).SetCreatedAt(now).SetUpdatedAt(now).Save(ctx)
		if err != nil {
			return Change{}, err
		}
		m = toAttributeMapping(row)
		return Change{Subject: SubjectIngestPolicy, Org: org}, s.audit(ctx, tx, org, m.event("created", nil, m.auditFields()))
	})
	if err != nil {
		return AttributeMapping{}, err
	}
	return m, nil
}

// ListAttributeMappings returns the mappings in the order in which they run, which is that of their creation.
func (s *Store) ListAttributeMappings(ctx context.Context, org principal.OrgID) ([]AttributeMapping, error) {
	rows, err := s.read.AttributeMapping.Query().Where(attributemapping.OrgID(string(org))).
		Order(attributemapping.ByCreatedAt(), attributemapping.ByID()).All(ctx)
	if err != nil {
		return nil, mapError("list attribute mappings", err)
	}
	out := make([]AttributeMapping, len(rows))
	for i, row := range rows {
		out[i] = toAttributeMapping(row)
	}
	return out, nil
}

// GetAttributeMapping returns one mapping.
func (s *Store) GetAttributeMapping(ctx context.Context, org principal.OrgID, id uuid.UUID) (AttributeMapping, error) {
	row, err := s.read.AttributeMapping.Query().Where(attributemapping.ID(id), attributemapping.OrgID(string(org))).Only(ctx)
	if err != nil {
		return AttributeMapping{}, mapError("get attribute mapping", err)
	}
	return toAttributeMapping(row), nil
}

// EditAttributeMapping changes what is set in the edit. ErrInvalid: the mapping that results breaks a rule.
func (s *Store) EditAttributeMapping(ctx context.Context, org principal.OrgID, id uuid.UUID, edit AttributeMappingEdit) (m AttributeMapping, err error) {
	err = s.mutate(ctx, "edit attribute mapping", func(tx *ent.Tx) (Change, error) {
		row, err := s.lockAttributeMapping(ctx, tx, org, id)
		if err != nil {
			return Change{}, err
		}
		old := toAttributeMapping(row)
		m = old
		edit.Name.apply(&m.Name)
		edit.Source.apply(&m.Source)
		edit.SourceKey.apply(&m.SourceKey)
		edit.TargetKey.apply(&m.TargetKey)
		edit.Operation.apply(&m.Operation)
		edit.Enabled.apply(&m.Enabled)
		if err := m.check(); err != nil {
			return Change{}, err
		}
		if m == old {
			return Change{}, nil
		}
		row, err = row.Update().SetName(m.Name).SetSourceContext(attributemapping.SourceContext(m.Source)).SetSourceKey(m.SourceKey).
			SetTargetKey(m.TargetKey).SetOperation(attributemapping.Operation(m.Operation)).SetEnabled(m.Enabled).SetUpdatedAt(s.stamp()).Save(ctx)
		if err != nil {
			return Change{}, err
		}
		m = toAttributeMapping(row)
		return Change{Subject: SubjectIngestPolicy, Org: org}, s.audit(ctx, tx, org, m.event("updated", old.auditFields(), m.auditFields()))
	})
	if err != nil {
		return AttributeMapping{}, err
	}
	return m, nil
}

// DeleteAttributeMapping deletes a mapping. Spans that it has changed stay as they are.
func (s *Store) DeleteAttributeMapping(ctx context.Context, org principal.OrgID, id uuid.UUID) error {
	return s.mutate(ctx, "delete attribute mapping", func(tx *ent.Tx) (Change, error) {
		row, err := s.lockAttributeMapping(ctx, tx, org, id)
		if err != nil {
			return Change{}, err
		}
		m := toAttributeMapping(row)
		if err := s.audit(ctx, tx, org, m.event("deleted", m.auditFields(), nil)); err != nil {
			return Change{}, err
		}
		return Change{Subject: SubjectIngestPolicy, Org: org}, tx.AttributeMapping.DeleteOne(row).Exec(ctx)
	})
}

func (s *Store) lockAttributeMapping(ctx context.Context, tx *ent.Tx, org principal.OrgID, id uuid.UUID) (*ent.AttributeMapping, error) {
	q := tx.AttributeMapping.Query().Where(attributemapping.ID(id), attributemapping.OrgID(string(org)))
	if s.dialect == dialect.Postgres {
		q.ForUpdate()
	}
	return q.Only(ctx)
}

func (m *AttributeMapping) event(verb string, before, after map[string]any) AuditEvent {
	return AuditEvent{Action: "attribute_mapping." + verb, ResourceID: publicid.Encode(publicid.AttributeMapping, m.ID), Before: before, After: after}
}

func (m *AttributeMapping) auditFields() map[string]any {
	return map[string]any{
		"name": m.Name, "source_context": string(m.Source), "source_key": m.SourceKey, "target_key": m.TargetKey,
		"operation": string(m.Operation), "enabled": m.Enabled,
	}
}

func toAttributeMapping(row *ent.AttributeMapping) AttributeMapping {
	return AttributeMapping{
		ID: row.ID, Org: principal.OrgID(row.OrgID), Name: row.Name, Source: MappingSource(row.SourceContext), SourceKey: row.SourceKey,
		TargetKey: row.TargetKey, Operation: MappingOperation(row.Operation), Enabled: row.Enabled,
		CreatedAt: utc(row.CreatedAt), UpdatedAt: utc(row.UpdatedAt),
	}
}
