package store

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/svc-observability/svc/server/principal"
)

// NewIngestKey is a custom key to create.
type NewIngestKey struct {
	Name        string
	Description *string
	Disabled    bool
	Secret      Secret
	// Signals has at least one entry, each from Signals().
	Signals []string
	// RateLimit is greater than 0; nil means no limit.
	RateLimit          *float64
	ResourceAttributes []ResourceAttribute
	// ExpiresAt is in the future; nil means never.
	ExpiresAt *time.Time
	CreatedBy principal.UserID
}

// check validates the fields and converts them to the stored form.
func (in *NewIngestKey) check(now time.Time) error {
	edit := IngestKeyEdit{
		Name: Set(in.Name), Description: Set(in.Description), Signals: Set(in.Signals), RateLimit: Set(in.RateLimit),
		ResourceAttributes: Set(in.ResourceAttributes), ExpiresAt: Set(in.ExpiresAt),
	}
	if err := edit.check(now); err != nil {
		return err
	}
	in.Name, in.Description = edit.Name.Value, edit.Description.Value
	return nil
}

// IngestKeyEdit is a partial update of a custom key. The rules of NewIngestKey apply.
type IngestKeyEdit struct {
	Name        Patch[string]
	Description Patch[*string]
	Enabled     Patch[bool]
	Signals     Patch[[]string]
	RateLimit   Patch[*float64]
	// ResourceAttributes replaces the whole list.
	ResourceAttributes Patch[[]ResourceAttribute]
	ExpiresAt          Patch[*time.Time]
}

func (e *IngestKeyEdit) check(now time.Time) error {
	var c checker
	if e.Name.Set {
		c.name("name", &e.Name.Value)
	}
	if d := e.Description.Value; d != nil {
		text := strings.TrimSpace(*d)
		e.Description.Value = &text
		c.text("description", text, maxTextLength)
		if text == "" {
			e.Description.Value = nil
		}
	}
	if e.Signals.Set {
		c.signals("allowed_signals", e.Signals.Value)
	}
	if r := e.RateLimit.Value; r != nil && (!(*r > 0) || math.IsInf(*r, 1)) {
		c.fail("rate_limit_per_second", "must be greater than 0, or null for no limit")
	}
	c.resourceAttributes("resource_attributes", e.ResourceAttributes.Value)
	if at := e.ExpiresAt.Value; at != nil && !at.After(now) {
		c.fail("expires_at", "must be in the future, or null for never")
	}
	return c.err()
}

// apply writes the edit over the key. Disabling a disabled key keeps the first disabling time.
func (e *IngestKeyEdit) apply(key *IngestKey, now time.Time) {
	e.Name.apply(&key.Name)
	e.Description.apply(&key.Description)
	e.Signals.apply(&key.Signals)
	e.RateLimit.apply(&key.RateLimit)
	e.ResourceAttributes.apply(&key.ResourceAttributes)
	if e.ExpiresAt.Set {
		key.ExpiresAt = utcPtr(e.ExpiresAt.Value)
	}
	if e.Enabled.Set {
		switch {
		case e.Enabled.Value:
			key.DisabledAt = nil
		case key.DisabledAt == nil:
			key.DisabledAt = &now
		}
	}
}

func (c *checker) signals(field string, list []string) {
	if len(list) == 0 {
		c.fail(field, "must name at least one of %s", strings.Join(Signals(), ", "))
	}
	seen := map[string]bool{}
	for i, signal := range list {
		at := fmt.Sprintf("%s[%d]", field, i)
		c.signal(at, signal)
		if seen[signal] {
			c.fail(at, "%q appears twice", signal)
		}
		seen[signal] = true
	}
}

func (c *checker) resourceAttributes(field string, list []ResourceAttribute) {
	if len(list) > maxAttributes {
		c.fail(field, "has %d attributes; at most %d are allowed", len(list), maxAttributes)
		return
	}
	seen := map[string]bool{}
	for i, a := range list {
		at := fmt.Sprintf("%s[%d].", field, i)
		c.attributeKey(at+"key", a.Key, maxKeyLength)
		if seen[a.Key] && a.Key != "" {
			c.fail(at+"key", "%q appears twice", a.Key)
		}
		seen[a.Key] = true
		c.text(at+"value", a.Value, maxValueLength)
		if a.Mode != AttributeAlwaysSet && a.Mode != AttributeIfMissing {
			c.fail(at+"mode", "%q is not a mode; use %s or %s", a.Mode, AttributeAlwaysSet, AttributeIfMissing)
		}
	}
}
