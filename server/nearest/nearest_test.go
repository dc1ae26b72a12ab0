package nearest_test

import (
	"testing"

	"github.com/svc-observability/svc/server/nearest"
)

func TestDistance(t *testing.T) {
	for _, tc := range []struct {
		a, b string
		want int
	}{
		{"", "", 0},
		{"", "abc", 3},
		{"abc", "", 3},
		{"abc", "abc", 0},
		{"abc", "abd", 1},
		{"abc", "ac", 1},
		{"kitten", "sitting", 3},
		{"flaw", "lawn", 2},
	} {
		if got := nearest.Distance(tc.a, tc.b); got != tc.want {
			t.Errorf("%q to %q: %d, want %d", tc.a, tc.b, got, tc.want)
		}
		if there, back := nearest.Distance(tc.a, tc.b), nearest.Distance(tc.b, tc.a); there != back {
			t.Errorf("%q to %q: %d there, %d back", tc.a, tc.b, there, back)
		}
	}
}

func TestName(t *testing.T) {
	if got := nearest.Name("pubic-url", []string{"api-addr", "public-url", "publish"}); got != "public-url" {
		t.Errorf("got %q", got)
	}
	if got := nearest.Name("a", []string{"bcd", "bce"}); got != "bcd" {
		t.Errorf("of equals, got %q", got)
	}
	if got := nearest.Name("a", nil); got != "" {
		t.Errorf("of nothing, got %q", got)
	}
}
