package limits

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
	"testing"
	"time"
)

// TestTable checks that each exported constant is in the table exactly once, and that each sentence contains its value.
func TestTable(t *testing.T) {
	listed := map[string]bool{"Day": true}
	for _, g := range Table() {
		for _, l := range g.Limits {
			if listed[l.Name] {
				t.Errorf("%s is in the table twice", l.Name)
			}
			listed[l.Name] = true
			if l.Period > 0 {
				listed[strings.TrimSuffix(l.Name, "Requests")+"Period"] = true
			}
			if l.Value <= 0 {
				t.Errorf("%s is %d", l.Name, l.Value)
			}
			value := l.Text()
			if unit, one := strings.CutPrefix(value, "1 "); one && !strings.Contains(l.About, value) {
				value = "very " + unit
			}
			if strings.Contains(l.About, "very 1 ") {
				t.Errorf("%s says %q: leave out the number of one period", l.Name, l.About)
			}
			if !strings.Contains(l.About, value) || strings.Contains(l.About, "%!") || !strings.HasSuffix(l.About, ".") {
				t.Errorf("%s: %q", l.Name, l.About)
			}
		}
	}
	for _, name := range constants(t) {
		if !listed[name] {
			t.Errorf("%s is not in the table", name)
		}
		delete(listed, name)
	}
	for name := range listed {
		t.Errorf("%s is in the table and is no constant", name)
	}
}

// constants returns the exported constants of the package, units left out.
func constants(t *testing.T) (names []string) {
	t.Helper()
	files, err := parser.ParseDir(token.NewFileSet(), ".", nil, 0) //nolint:staticcheck // one folder, no build tags
	if err != nil {
		t.Fatal(err)
	}
	units := map[string]bool{"Duration": true, "Bytes": true, "Characters": true, "Count": true}
	for _, f := range files["limits"].Files {
		for _, d := range f.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok || g.Tok != token.CONST {
				continue
			}
			for _, s := range g.Specs {
				for _, name := range s.(*ast.ValueSpec).Names {
					if name.IsExported() && !units[name.Name] {
						names = append(names, name.Name)
					}
				}
			}
		}
	}
	return names
}

func TestText(t *testing.T) {
	for want, got := range map[string]string{
		"7 days": Lasts(7 * Day), "24 hours": Lasts(24 * time.Hour), "1 minute": Lasts(time.Minute), "90 seconds": Lasts(90 * time.Second),
		"36 hours": Lasts(36 * time.Hour), "500 milliseconds": Lasts(500 * time.Millisecond), "1 day": Days(Day),
		"60 seconds": Seconds(time.Minute),
		"20 MiB":     Size(20 << 20), "1,000 bytes": Size(1000), "1 KiB": Size(1024), "1,025 bytes": Size(1025), "16 GiB": Size(int64(16) << 30),
		"999": Number(999), "10,000": Number(10_000), "500,000,000": Number(500_000_000), "-1,000": Number(-1000), "-100": Number(-100),
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
