package app

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestBeat: a monitor that answers is fine. Errors name its host, and never its path, which is a secret.
func TestBeat(t *testing.T) {
	status, requests := http.StatusOK, 0
	monitor := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if requests++; r.URL.Path != "/beat/s3cret" {
			t.Errorf("the path is %s", r.URL.Path)
		}
		w.WriteHeader(status)
	}))
	url := monitor.URL + "/beat/s3cret"
	if err := beat(t.Context(), http.DefaultClient, url); err != nil || requests != 1 {
		t.Errorf("%v after %d requests", err, requests)
	}
	status = http.StatusNotFound
	refused := beat(t.Context(), http.DefaultClient, url)
	monitor.Close()
	silent := beat(t.Context(), http.DefaultClient, url)
	for name, err := range map[string]error{"refused": refused, "silent": silent} {
		if err == nil || strings.Contains(err.Error(), "s3cret") || !strings.Contains(err.Error(), "127.0.0.1") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
