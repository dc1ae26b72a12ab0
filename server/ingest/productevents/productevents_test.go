package productevents_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-observability/svc/server/ingest/productevents"
	"github.com/svc-observability/svc/server/warehouse/blocks"
	"github.com/svc-observability/svc/server/warehouse/native/nativetest"
)

func TestKind(t *testing.T) {
	for name, want := range map[string]string{
		"order": "custom", "$screen": "screen", strings.Repeat("n", 128): "custom",
		"": "", "$": "", "$pageview": "", "$screens": "", strings.Repeat("é", 65): "",
	} {
		kind, problem := productevents.Kind(name)
		if kind != want || (problem == "") != (want != "") {
			t.Errorf("%q: %q, %q", name, kind, problem)
		}
	}
}

func TestLimit(t *testing.T) {
	long := strings.Repeat("é", 513)
	kept, cut, dropped := productevents.Limit([]productevents.Attribute{
		{"", "1"}, {"a", long}, {"b", long[:1024]}, {strings.Repeat("k", 65), "2"}, {strings.Repeat("k", 64), ""}, {"z", "4"},
	}, 3)
	want := []productevents.Attribute{
		{"a", long[:1020] + "…"},
		{"b", long[:1024]},
		{strings.Repeat("k", 64), ""},
		{productevents.DroppedKey, "3"},
	}
	if diff := cmp.Diff(want, kept); diff != "" || cut != 1 || dropped != 3 {
		t.Errorf("%d cut, %d dropped, -want +got:\n%s", cut, dropped, diff)
	}
	kept, cut, dropped = productevents.Limit([]productevents.Attribute{{productevents.DroppedKey, "99"}, {"a", ""}}, 1)
	if diff := cmp.Diff([]productevents.Attribute{{"a", ""}}, kept); diff != "" || cut != 0 || dropped != 0 {
		t.Errorf("a forged count: %d cut, %d dropped, -want +got:\n%s", cut, dropped, diff)
	}
	kept, _, _ = productevents.Limit([]productevents.Attribute{{"", ""}, {productevents.DroppedKey, "99"}}, 1)
	if diff := cmp.Diff([]productevents.Attribute{{productevents.DroppedKey, "1"}}, kept); diff != "" {
		t.Errorf("a forged count beside the true one, -want +got:\n%s", diff)
	}
	if kept, cut, dropped = productevents.Limit(nil, 3); len(kept) != 0 || cut != 0 || dropped != 0 {
		t.Errorf("of nothing: %v, %d, %d", kept, cut, dropped)
	}
}

// TestPaths: a given path wins over the path of the URL. Paths and the host are bounded.
func TestPaths(t *testing.T) {
	var set blocks.Set
	table := set.ProductEvents()
	all := []productevents.Event{
		{URL: "https://User:pw@Shop.example.com:8443/a%20b?q#f"},
		{URL: "https://shop.example.com/a", PagePath: "/b"},
		{URL: "://"},
		{URL: "/only"},
		{URL: "https://" + strings.Repeat("h", 300) + "/" + strings.Repeat("p", 1200)},
	}
	for i := range all {
		all[i].Append(table)
		productevents.AppendMap(table.ResourceAttributes, nil)
	}
	want := [][2]string{
		{"shop.example.com", "/a%20b"},
		{"shop.example.com", "/b"},
		{"", ""},
		{"", "/only"},
		{strings.Repeat("h", 256), "/" + strings.Repeat("p", 1023)},
	}
	for i, row := range nativetest.Rows(t, &table.Block) {
		if got := [2]string{row["Host"].(string), row["PagePath"].(string)}; got != want[i] {
			t.Errorf("%s: %q, want %q", all[i].URL, got, want[i])
		}
	}
}
