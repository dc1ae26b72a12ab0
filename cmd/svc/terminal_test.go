package main

import (
	"bytes"
	"testing"
)

// TestTerminal: stored text reaches a terminal without control characters, also when they are split between two writes, and anything
// else unchanged.
func TestTerminal(t *testing.T) {
	for _, part := range []int{1, 2, 100} {
		var got bytes.Buffer
		w := &terminal{to: &got}
		text := []byte("a\tb\n\x1b]0;title\x07\x00\x7f c2 \u009b31m é ö \u200b 日本\r\n")
		for len(text) > 0 {
			n, err := w.Write(text[:min(part, len(text))])
			if err != nil {
				t.Fatal(err)
			}
			text = text[n:]
		}
		if want := "a\tb\n?]0;title??? c2 \xc2?31m é ö \u200b 日本?\n"; got.String() != want {
			t.Errorf("in parts of %d: %q, want %q", part, got.String(), want)
		}
	}
	var pipe bytes.Buffer
	if shown(&pipe) != &pipe {
		t.Error("a pipe is not the writer itself")
	}
}
