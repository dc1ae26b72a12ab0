package ingest

import (
	"context"
	"runtime/debug"

	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/limits"
)

// decodePermit is the right to decompress and walk one body. The permit holds a decoder slot, or the place of the queue for large
// bodies.
type decodePermit struct {
	g     *Gateway
	share share
	slot  bool
	large bool
	// grown is set if the body took so much memory that the process must return it to the system before the next large body.
	grown bool
}

// acquireDecoder waits for a permit, which the caller must release, even after an error. expected is the size of the body after
// decompression, as far as it is known.
func (g *Gateway) acquireDecoder(ctx context.Context, of share, sent, expected int) (*decodePermit, *apierr.Error) {
	if fail := g.early(ctx, of, sent); fail != nil {
		return nil, fail
	}
	p := &decodePermit{g: g, share: of}
	if expected >= largeFrom {
		return p, p.promote(ctx, expected)
	}
	if fail := g.decoderSlot(ctx, of, sent); fail != nil {
		return p, fail
	}
	p.slot = true
	return p, nil
}

// promote moves a body that is large, or turns out to be, from its slot to the queue for large bodies, and waits there.
func (p *decodePermit) promote(ctx context.Context, cost int) *apierr.Error {
	if p.large {
		return nil
	}
	p.releaseSlot()
	w, full := p.g.large.ask(p.share, cost)
	if full {
		p.g.metrics.largeLimited.Inc()
		return apierr.New(
			apierr.IngestRateLimited,
			"Too many large requests are waiting. Nothing was stored; send the request again later, or send "+
				"smaller ones: requests of less than "+limits.Size(largeFrom)+" after decompression do not wait here.",
		)
	}
	if w != nil {
		select {
		case <-w.granted:
		case <-ctx.Done():
			p.g.large.withdraw(w)
			return p.g.interrupted(ctx)
		}
	}
	p.large = true
	return nil
}

// bound returns limit for a body that was promoted, and at most small for others.
func (p *decodePermit) bound(small, limit int) int {
	if p.large {
		return limit
	}
	return min(small, limit)
}

func (p *decodePermit) releaseSlot() {
	if p.slot {
		p.slot = false
		p.g.decoders.leave(p.share)
	}
}

// release returns the permit. Nothing may refer to the memory of the body any more.
func (p *decodePermit) release() {
	if p == nil {
		return
	}
	p.releaseSlot()
	if !p.large {
		return
	}
	p.large = false
	defer p.g.large.leave()
	if p.grown {
		// The garbage of several such requests would be gigabytes. The call takes some ten milliseconds, once for seconds of
		// work.
		debug.FreeOSMemory()
	}
}
