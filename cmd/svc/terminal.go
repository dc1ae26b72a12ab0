package main

import (
	"io"
	"os"

	"golang.org/x/term"
)

// shown returns the writer for text that senders of telemetry chose. On a terminal, it shows control characters as question marks, so
// that no stored text can move the cursor, change the title or write to the keyboard. A file or a pipe gets every byte.
func shown(w io.Writer) io.Writer {
	if f, ok := w.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		return &terminal{to: f}
	}
	return w
}

type terminal struct {
	to     io.Writer
	latin1 bool // the last byte was the first of U+0080 to U+00BF, whose lower half controls terminals as well
}

func (t *terminal) Write(p []byte) (int, error) {
	out := make([]byte, len(p))
	for i, c := range p {
		control := c < ' ' && c != '\n' && c != '\t' || c == 0x7f || t.latin1 && c < 0xa0 && c >= 0x80
		t.latin1 = c == 0xc2
		if out[i] = c; control {
			out[i] = '?'
		}
	}
	return t.to.Write(out)
}

// columns is the width of a terminal; 0 for a file or a pipe.
func columns(w io.Writer) int {
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return 0
	}
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil || width <= 0 {
		return 80
	}
	return width
}
