package warehouse_test

import (
	"strings"
	"testing"

	"github.com/svc-observability/svc/server/warehouse/warehousetest"
)

// TestHostsOfPages: the product event that the view makes of a navigation has the host of its URL, also one without a dot.
func TestHostsOfPages(t *testing.T) {
	t.Parallel()
	e := warehousetest.NewEngine(t)
	want := map[string]string{
		"https://Shop.example:8443/a?b=http://c.d/": "shop.example", "http://localhost:3000/a": "localhost", "http://Intranet/a@b:c": "intranet",
		"http://127.0.0.1:5/": "127.0.0.1",
		"http://[::1]:80/a":   "::1", "https://ada:pw@Shop.example/a": "shop.example", "https://ada@localhost?c@d": "localhost", "/only/path": "",
		"file:///home/a": "", "about:blank": "", "": "",
	}
	var rows []string
	for url := range want {
		rows = append(rows, "('org_one', 's', now64(9), 'navigation', '"+url+"')")
	}
	if err := e.Exec(t.Context(), "INSERT INTO session_events (OrgId, SessionId, Timestamp, Type, Url) VALUES "+
		strings.Join(rows, ", ")); err != nil {
		t.Fatal(err)
	}
	got := strings.Split(strings.TrimSuffix(raw(t, e.Warehouse, "SELECT Url, Host FROM product_events"), "\n"), "\n")
	if len(got) != len(want) {
		t.Errorf("%d events, want %d", len(got), len(want))
	}
	for _, line := range got {
		if url, host, _ := strings.Cut(line, "\t"); host != want[url] {
			t.Errorf("%q: host %q, want %q", url, host, want[url])
		}
	}
}
