package pipeline

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/svc-observability/svc/server/ingest/queue"
)

// span names records of the log: those in [from, to) that pick takes.
type span struct {
	from, to queue.Position
	pick     pick
}

// part returns the records of the span in a smaller range.
func (s span) part(from, to queue.Position) span { return span{from: from, to: to, pick: s.pick} }

// pick says which records of a range belong to a span. A lane's span has the records of Owner. A span of the main cursor has all
// records but those of the owners in Skip.
type pick struct {
	Owner string   `json:"owner,omitempty"`
	Skip  []string `json:"skip,omitempty"`
}

func (k pick) takes(owner []byte) bool {
	if k.Owner != "" {
		return string(owner) == k.Owner
	}
	return !slices.ContainsFunc(k.Skip, func(o string) bool { return o == string(owner) })
}

// mark is the part of a token that stands for the pick. It is empty for all records, as in the tokens of older versions.
func (k pick) mark() string {
	if k.Owner == "" && len(k.Skip) == 0 {
		return ""
	}
	h := sha256.New()
	_, _ = fmt.Fprintf(h, "%q %q", k.Owner, k.Skip) // a hash never fails
	return ":" + hex.EncodeToString(h.Sum(nil)[:8])
}

// token names the records of a span for deduplication in one table. The same rows have the same token, and any other rows have
// another one.
func (p *Pipeline) token(table string, s span) string {
	return fmt.Sprintf("%s/%d-%d%s/%s", p.log.ID(), s.from.Seq, s.to.Seq, s.pick.mark(), table)
}

// each calls f for every readable record of the span.
func (p *Pipeline) each(s span, f func(queue.Committed) error) (err error) {
	reader := p.log.Reader(s.from)
	defer func() { err = errors.Join(err, reader.Close()) }()
	for {
		r, err := reader.Next()
		if errors.Is(err, io.EOF) || err == nil && !r.Position.Before(s.to) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read records %s to %s: %w", s.from, s.to, err)
		}
		if !s.pick.takes(p.log.Owner(r.Header)) {
			continue
		}
		if err := f(r); err != nil {
			return err
		}
	}
}
