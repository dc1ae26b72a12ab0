package definition

import (
	"testing"

	"github.com/svc-observability/svc/server/services/dashboards/templates"
)

// TestTemplatesAreValid checks that each template builds a definition that a caller could store, with and without its parameters,
// and that no widgets overlap.
func TestTemplatesAreValid(t *testing.T) {
	for _, template := range templates.All() {
		values := map[string]string{}
		for _, p := range template.Parameters {
			values[p.Key] = p.Placeholder
		}
		for _, given := range []map[string]string{nil, values} {
			def := template.Build(given)
			Normalize(def)
			if _, err := Check(def); err != nil {
				t.Errorf("%s with %v: %v", template.Slug, given, err)
			}
			taken := map[[2]int]string{}
			for _, w := range def.GetWidgets() {
				l := w.GetLayout()
				for x := int(l.GetX()); x < int(l.GetX()+l.GetW()); x++ {
					for y := int(l.GetY()); y < int(l.GetY()+l.GetH()); y++ {
						if other := taken[[2]int{x, y}]; other != "" {
							t.Fatalf("%s: %s stands on %s", template.Slug, w.GetId(), other)
						}
						taken[[2]int{x, y}] = w.GetId()
					}
				}
			}
		}
	}
}
