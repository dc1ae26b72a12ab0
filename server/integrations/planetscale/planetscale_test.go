package planetscale

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestReconnected: a new login keeps the organization that was selected. The service token for metrics is gone with the old credentials.
func TestReconnected(t *testing.T) {
	for name, c := range map[string]struct{ before, now, want Account }{
		"several organizations": {
			Account{Organization: "acme", Metrics: MetricsOAuth},
			Account{Metrics: MetricsMissing},
			Account{Organization: "acme", Metrics: MetricsOAuth},
		},
		"service token": {
			Account{Organization: "acme", Metrics: MetricsToken},
			Account{Metrics: MetricsMissing},
			Account{Organization: "acme", Metrics: MetricsMissing},
		},
		"another organization": {
			Account{Organization: "acme", Metrics: MetricsOAuth},
			Account{Organization: "umbrella", Metrics: MetricsMissing},
			Account{Organization: "umbrella", Metrics: MetricsMissing},
		},
	} {
		before, err := c.before.JSON()
		if err != nil {
			t.Fatal(err)
		}
		now, err := c.now.JSON()
		if err != nil {
			t.Fatal(err)
		}
		text, err := (&App{}).Reconnected(before, now)
		if err != nil {
			t.Fatal(err)
		}
		got, err := ReadAccount(text)
		if d := cmp.Diff(c.want, got); err != nil || d != "" {
			t.Errorf("%s: %v (-want +got):\n%s", name, err, d)
		}
	}
}

// TestAdmits: a branch is scraped if it fits the patterns.
func TestAdmits(t *testing.T) {
	for name, c := range map[string]struct {
		branch           string
		include, exclude []string
		want             bool
	}{
		"no patterns":          {"main", nil, nil, true},
		"included":             {"release-1", []string{"main", "release-*"}, nil, true},
		"not included":         {"next", []string{"main"}, nil, false},
		"excluded":             {"preview-1", nil, []string{"preview-*"}, false},
		"exclusion goes first": {"main", []string{"*"}, []string{"main"}, false},
	} {
		if got := Admits(c.branch, c.include, c.exclude); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
