package warehouse_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/svc-observability/svc/server/warehouse"
)

// fakeServer answers inserts as ClickHouse does, with a code or with success, and keeps the settings of the last one.
type fakeServer struct {
	code int
	got  url.Values
}

func (f *fakeServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.got = r.URL.Query()
	if f.code != 0 {
		w.Header().Set("X-ClickHouse-Exception-Code", fmt.Sprint(f.code))
		w.WriteHeader(http.StatusInternalServerError)
		_, _ = fmt.Fprintf(w, "Code: %d. DB::Exception: no quorum", f.code)
	}
}

// TestQuorum sends inserts to a fake server. It does not show that replicas get the rows: that needs real servers.
func TestQuorum(t *testing.T) {
	f := &fakeServer{}
	server := httptest.NewServer(f)
	defer server.Close()
	for query, want := range map[string]string{"?cluster=main": "auto", "?cluster=main&quorum=3": "3", "?cluster=main&quorum=0": "0", "": ""} {
		w, err := warehouse.Open(t.Context(), warehouse.Config{URL: server.URL + "/svc" + query})
		if err != nil {
			t.Fatal(err)
		}
		for _, code := range []int{285, 286, 319, 0} {
			f.code = code
			err := w.Insert(t.Context(), "spans", "OrgId", strings.NewReader("rows"), "log/1-2/spans")
			var e *warehouse.Error
			if code == 0 {
				if err != nil {
					t.Error(err)
				}
			} else if !errors.As(err, &e) || e.Code != code || !e.Retryable() || e.Suspect() {
				t.Errorf("code %d: got %v; it must be repeated for as long as it lasts", code, err)
			}
			if f.got.Get("insert_quorum") != want || f.got.Get("insert_deduplication_token") != "log/1-2/spans" ||
				want != "" && f.got.Get("insert_quorum_parallel") != "1" {
				t.Errorf("%q: settings %v, want the quorum %q and the token", query, f.got, want)
			}
		}
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	}
}
