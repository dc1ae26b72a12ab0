package browsersdk

import (
	"testing"
	"testing/fstest"
)

// TestBuilt checks that what the program embeds can be served whole, if it was built.
func TestBuilt(t *testing.T) {
	f, err := Built()
	if err != nil {
		t.Fatal(err)
	}
	if f == nil {
		t.Skip("the browser SDK is not built: make browser-sdk")
	}
	for _, name := range []string{"svc.js", "svc.iife.js", "replay.js", "vitals.js"} {
		file, problem := f.Find(f.version+"/"+name, "br")
		if problem != "" || !file.Exact || file.Encoding != "br" || len(file.Body) == 0 {
			t.Errorf("%s: %q, %d bytes as %q", name, problem, len(file.Body), file.Encoding)
		}
	}
}

func TestNewRefusesDamage(t *testing.T) {
	for name, files := range map[string]fstest.MapFS{
		"no JSON":        {"manifest.json": {Data: []byte("{")}},
		"a file missing": {"manifest.json": {Data: []byte(`{"version":"1.0.0","integrity":{"svc.js":"x"}}`)}},
	} {
		if _, err := New(files); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}
