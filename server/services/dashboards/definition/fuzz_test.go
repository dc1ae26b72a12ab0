package definition

import (
	"testing"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/wirejson"
)

// FuzzDefinition: a definition that can be saved is read from the store as the same definition, and can be saved again.
func FuzzDefinition(f *testing.F) {
	f.Add([]byte(everything))
	f.Add([]byte(`{"name":"a","widgets":[{"id":"w","title":"t","source":"sql","sql":"SELECT 1"}],"variables":[{"name":"v"}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		_, _ = Read(data) // what older releases stored
		def := &svcv2.DashboardDefinition{}
		if wirejson.Unmarshal(data, def) != nil {
			return
		}
		Normalize(def)
		text, err := Check(def)
		if err != nil {
			return
		}
		stored, err := Read(text)
		if err != nil {
			t.Fatalf("%s is saved and cannot be read: %v", text, err)
		}
		Normalize(stored)
		if again, err := Check(stored); err != nil || string(again) != string(text) {
			t.Fatalf("%s is saved, and then %s: %v", text, again, err)
		}
	})
}
