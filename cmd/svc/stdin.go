package main

import (
	"fmt"
	"io"

	"github.com/svc-observability/svc/server/limits"
)

// readStdin reads the standard input to its end. It refuses more than most bytes, because a text without its end is another text.
func (c *cli) readStdin(most int64) (string, error) {
	text, err := io.ReadAll(io.LimitReader(c.stdin, most+1))
	if err != nil {
		return "", fmt.Errorf("read the standard input: %w", err)
	}
	if int64(len(text)) > most {
		return "", &usageError{fmt.Errorf("the standard input is longer than %s", limits.Size(most))}
	}
	return string(text), nil
}
