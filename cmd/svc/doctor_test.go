package main

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/svc-observability/svc/server/config"
)

// TestCheckHosts: the doctor pings each host of the warehouse and names those that do not answer.
func TestCheckHosts(t *testing.T) {
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/ping" {
			t.Errorf("the doctor asks for %s", r.URL.Path)
		}
		_, _ = io.WriteString(w, "Ok.\n")
	}))
	defer up.Close()
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = closed.Close()
	alive, dead := up.Listener.Addr().String(), closed.Addr().String()
	for name, tc := range map[string]struct {
		hosts []string
		want  finding
	}{
		"none":       {nil, skip("the embedded engine is used")},
		"answers":    {[]string{alive}, ok("%s answers", alive)},
		"one of two": {[]string{dead, alive}, warn("%s answers; %s does not answer: ", alive, dead)},
		"silent":     {[]string{dead}, fail("%s does not answer: ", dead)},
	} {
		var cfg config.Config
		if tc.hosts != nil {
			cfg.WarehouseURL = config.DSN("clickhouse://svc:hidden@" + strings.Join(tc.hosts, ",") + "/svc?cluster=main")
		}
		got := checkHosts(t.Context(), cfg, false)
		if got.Verdict != tc.want.Verdict || !strings.HasPrefix(got.Message, tc.want.Message) || strings.Contains(got.Message, "hidden") {
			t.Errorf("%s: %+v, want %+v", name, got, tc.want)
		}
	}
}
