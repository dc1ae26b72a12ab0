package services

import (
	"slices"
	"testing"

	"github.com/svc-observability/svc/server/mcp/tool"
)

func TestCommitsOfBothKeysAreListedOnce(t *testing.T) {
	got := mergeCounts([]tool.NameCount{{Name: "a", Count: 9}, {Name: "b", Count: 5}, {Name: "a", Count: 7}, {Name: "c", Count: 6}})
	if want := []tool.NameCount{{Name: "a", Count: 9}, {Name: "c", Count: 6}, {Name: "b", Count: 5}}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
