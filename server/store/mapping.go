package store

import (
	"strings"

	"github.com/svc-observability/svc/server/limits"
)

// check converts an attribute mapping to the stored form and checks the rules about its meaning. A move from a resource acts as a
// copy, because other spans share the resource.
func (r *AttributeMapping) check(c *checker) {
	c.name("name", &r.Name)
	r.SourceKey, r.TargetKey = strings.TrimSpace(r.SourceKey), strings.TrimSpace(r.TargetKey)
	if r.SourceKey == "" {
		c.fail("source_key", "must not be empty")
	}
	c.line("source_key", r.SourceKey, limits.MappingKeyLength)
	c.attributeKey("target_key", r.TargetKey, limits.MappingKeyLength)
	if r.SourceContext == AttributeMappingSourceContextSpan && r.SourceKey != "" && r.SourceKey == r.TargetKey {
		c.fail("target_key", "must differ from source_key when source_context is span")
	}
}
