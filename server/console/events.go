package console

import (
	"bufio"
	"bytes"
	"fmt"
	"io"

	"github.com/svc-observability/svc/server/limits"
)

// events reads a stream of server-sent events, and passes on the data of each. Lines that begin with a colon keep the stream alive.
func events(r io.Reader, data func([]byte) error) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, limits.GRPCMessage)
	var kept []byte
	some := false
	for lines.Scan() {
		line := lines.Bytes()
		if len(line) == 0 {
			if some && len(bytes.TrimSpace(kept)) > 0 {
				if err := data(kept); err != nil {
					return err
				}
			}
			kept, some = nil, false
			continue
		}
		name, value, _ := bytes.Cut(line, []byte(":"))
		if string(name) != "data" {
			continue
		}
		if some {
			kept = append(kept, '\n')
		}
		kept, some = append(kept, bytes.TrimPrefix(value, []byte(" "))...), true
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("read the stream of events: %w", err)
	}
	return nil
}
