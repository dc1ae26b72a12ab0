package perses

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"

	"google.golang.org/protobuf/types/known/structpb"

	"github.com/svc-observability/svc/server/golden"
	"github.com/svc-observability/svc/server/wirejson"
)

func document(t *testing.T, text string) *structpb.Struct {
	t.Helper()
	var s structpb.Struct
	if err := wirejson.Unmarshal([]byte(text), &s); err != nil {
		t.Fatal(err)
	}
	return &s
}

func refuse(sql string) string {
	if !strings.HasPrefix(sql, "SELECT") {
		return "must be a SELECT"
	}
	return ""
}

// TestConvert converts a document with every kind of panel, and with everything that cannot be converted, and compares the result
// with the golden file.
func TestConvert(t *testing.T) {
	text, err := os.ReadFile("testdata/complete.json")
	if err != nil {
		t.Fatal(err)
	}
	doc := document(t, string(text))
	def, warnings, err := Convert(doc, refuse)
	if err != nil {
		t.Fatal(err)
	}
	dashboard, err := wirejson.Marshal(def)
	if err != nil {
		t.Fatal(err)
	}
	var got bytes.Buffer
	encoder := json.NewEncoder(&got)
	encoder.SetIndent("", " ")
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(map[string]any{"dashboard": json.RawMessage(dashboard), "warnings": warnings}); err != nil {
		t.Fatal(err)
	}
	golden.Compare(t, "complete.golden.json", got.String())

	// Each panel becomes a widget. Each panel that became a note instead of a drawing has a warning that names it.
	all := strings.Join(warnings, "\n")
	for key, panel := range object(doc.GetFields()).at("spec", "panels") {
		title := object(panel.GetStructValue().GetFields()).at("spec", "display").text("name")
		found := false
		for _, w := range def.GetWidgets() {
			if w.GetDisplay().GetTitle() != title {
				continue
			}
			found = true
			if w.GetVisualization() == "markdown" && key != "readme" && !strings.Contains(all, `"`+key+`"`) {
				t.Errorf("panel %q became a note without a warning", key)
			}
		}
		if !found {
			t.Errorf("panel %q was lost", key)
		}
	}
}

func TestLeast(t *testing.T) {
	def, warnings, err := Convert(document(t, `{"kind":"Dashboard","spec":{"panels":{"p":{}}}}`), refuse)
	if err != nil || def.GetName() != "Imported Perses Dashboard" || def.GetTimeRange().GetValue() != "12h" ||
		len(def.GetWidgets()) != 1 || len(warnings) != 4 {
		t.Errorf("%v: %v, %q", err, def, warnings)
	}
	named, _, err := Convert(document(t, `{"kind":"Dashboard","metadata":{"name":"m"},"spec":{"panels":{"p":{}},"duration":"1y"}}`), refuse)
	if err != nil || named.GetName() != "m" || named.GetTimeRange().GetValue() != "12h" {
		t.Errorf("%v: %v", err, named)
	}
	long, warnings, err := Convert(document(t, `{"kind":"Dashboard","spec":{"panels":{"p":{}},"duration":"60d"}}`), refuse)
	if err != nil || long.GetTimeRange().GetValue() != "31d" || !strings.Contains(strings.Join(warnings, "\n"), `"60d" is longer`) {
		t.Errorf("60 days: %v: %v, %q", err, long, warnings)
	}
}

func TestRefused(t *testing.T) {
	for text, path := range map[string]string{
		`{}`:                             "kind",
		`{"kind":"Folder"}`:              "kind",
		`{"kind":1}`:                     "kind",
		`{"kind":"Dashboard"}`:           "spec",
		`{"kind":"Dashboard","spec":[]}`: "spec",
		`{"kind":"Dashboard","spec":{}}`: "spec.panels",
		`{"kind":"Dashboard","spec":{"panels":{}}}`: "spec.panels",
	} {
		_, _, err := Convert(document(t, text), refuse)
		var bad *Error
		if !errors.As(err, &bad) || bad.Path != path {
			t.Errorf("%s: %v, want %s", text, err, path)
		}
	}
}

// FuzzConvert checks that conversion ends for every document, and loses no panel.
func FuzzConvert(f *testing.F) {
	text, err := os.ReadFile("testdata/complete.json")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(text))
	f.Add(`{"kind":"Dashboard","spec":{"panels":{"":null,"a":1},"layouts":[1,{"kind":"Grid","spec":{"items":[{"x":1e300,"y":-1,"width":-1e9,"content":{"$ref":"#/spec/panels/a"}}]}}]}}`)
	f.Fuzz(func(t *testing.T, text string) {
		var s structpb.Struct
		if wirejson.Unmarshal([]byte(text), &s) != nil {
			t.Skip("no JSON object")
		}
		def, _, err := Convert(&s, refuse)
		if err != nil {
			return
		}
		if n := len(object(s.GetFields()).at("spec", "panels")); len(def.GetWidgets()) < n {
			t.Errorf("%d widgets of %d panels", len(def.GetWidgets()), n)
		}
	})
}
