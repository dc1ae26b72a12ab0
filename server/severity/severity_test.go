package severity_test

import (
	"slices"
	"testing"

	"github.com/svc-observability/svc/server/severity"
)

func TestSeverities(t *testing.T) {
	for number, want := range map[uint32]string{
		0: "", 1: "TRACE", 4: "TRACE", 5: "DEBUG", 9: "INFO", 13: "WARN", 20: "ERROR", 21: "FATAL",
		24: "FATAL", 25: "", 1 << 31: "",
	} {
		if got := severity.Text(number); got != want {
			t.Errorf("text of %d: %q, want %q", number, got, want)
		}
	}
	for text, want := range map[string]int{
		"": 0, "error": 0, "WARNING": 0, "TRACE": 1, "DEBUG": 5, "INFO": 9, "WARN": 13, "ERROR": 17,
		"FATAL": 21,
	} {
		if got := severity.Number(text); got != want {
			t.Errorf("number of %q: %d, want %d", text, got, want)
		}
	}
	for number, want := range map[int][]string{17: {"ERROR", "FATAL"}, 18: {"FATAL"}, 22: nil} {
		if got := severity.From(number); !slices.Equal(got, want) {
			t.Errorf("from %d: %v, want %v", number, got, want)
		}
	}
	if n := len(severity.From(0)); n != 6 {
		t.Errorf("%d texts", n)
	}
}
