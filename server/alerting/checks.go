package alerting

import (
	"encoding/json"
	"fmt"

	"github.com/klauspost/compress/zstd"
)

// packChecks compresses the checks of a minute for the relational database, where they wait until they are in the warehouse.
func packChecks(checks []Check) ([]byte, error) {
	text, err := json.Marshal(checks)
	if err != nil {
		return nil, fmt.Errorf("alerting: checks: %w", err)
	}
	w, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1))
	if err != nil {
		return nil, fmt.Errorf("alerting: checks: %w", err)
	}
	defer func() { _ = w.Close() }()
	return w.EncodeAll(text, nil), nil
}

// UnpackChecks is the reverse of the compression.
func UnpackChecks(rows []byte) ([]Check, error) {
	r, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(64<<20))
	if err != nil {
		return nil, fmt.Errorf("alerting: checks: %w", err)
	}
	defer r.Close()
	text, err := r.DecodeAll(rows, nil)
	if err != nil {
		return nil, fmt.Errorf("alerting: checks: %w", err)
	}
	var out []Check
	if err := json.Unmarshal(text, &out); err != nil {
		return nil, fmt.Errorf("alerting: checks: %w", err)
	}
	return out, nil
}
