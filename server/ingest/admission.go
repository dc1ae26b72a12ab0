package ingest

import (
	"container/list"
	"context"
	"errors"
	"strconv"
	"sync"
	"time"

	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/ingest/otlp"
	"github.com/svc-observability/svc/server/principal"
)

// share is a group of keys with places and memory of its own: the public keys of an organization, or its other keys. Everybody
// can read a public key in the pages that use it, so requests with it must not take the places of the other keys.
type share struct {
	org    principal.OrgID
	public bool
}

func (k *Key) share() share { return share{k.Org, k.KeyType == otlp.KeyPublic} }

// flow is the share's name in a fair queue. No organization's id has a space.
func (s share) flow() string {
	if s.public {
		return string(s.org) + " public"
	}
	return string(s.org)
}

// slowBody is how long a request may read its body before a new request can take its place.
const slowBody = 5 * time.Second

// inFlight counts the requests of each share in two groups: requests whose body is being read, and requests whose body is
// complete. Each group may fill the whole limit, so slow bodies take no place from complete ones.
type inFlight struct {
	limit int
	mu    sync.Mutex
	of    map[share]*atWork
}

type atWork struct {
	reading list.List // of *reader, oldest first
	open    int
}

// reader is a request whose body is being read.
type reader struct {
	share   share
	of      *atWork
	place   *list.Element // nil when the request has lost its place
	started time.Time
	// end makes the read of the body fail.
	end func()
}

// read counts a request whose body is about to be read. If the share has no place, a request that has been reading for slowBody
// loses its own.
func (f *inFlight) read(s share, end func()) (*reader, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	of := f.of[s]
	if of == nil {
		of = &atWork{}
		f.of[s] = of
	}
	if of.open >= f.limit {
		return nil, false
	}
	if of.reading.Len() >= f.limit {
		oldest, _ := of.reading.Front().Value.(*reader)
		if time.Since(oldest.started) < slowBody {
			return nil, false
		}
		of.reading.Remove(oldest.place)
		oldest.place = nil
		oldest.end()
	}
	r := &reader{share: s, of: of, started: time.Now(), end: end}
	r.place = of.reading.PushBack(r)
	return r, true
}

// enter moves a request whose body is now complete to the second group.
func (f *inFlight) enter(r *reader) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if r.of.open >= f.limit {
		return false
	}
	f.drop(r)
	r.of.open++
	return true
}

// drop forgets that the request reads. The caller holds the lock.
func (f *inFlight) drop(r *reader) {
	if r.place != nil {
		r.of.reading.Remove(r.place)
		r.place = nil
	}
}

// leave ends a request, whether its body was complete or not.
func (f *inFlight) leave(r *reader, entered bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.drop(r)
	if entered {
		r.of.open--
	}
	if r.of.open == 0 && r.of.reading.Len() == 0 && f.of[r.share] == r.of {
		delete(f.of, r.share)
	}
}

// admission is the place of a request among those of its share.
type admission struct {
	g       *Gateway
	reader  *reader
	entered bool
}

// admit counts the request among those of its share whose body is being read. The caller calls enter when the body is complete,
// and leave at the end.
func (g *Gateway) admit(ctx context.Context, s share) (*admission, *apierr.Error) {
	r, ok := g.inFlight.read(s, endOfBody(ctx))
	if !ok {
		return nil, g.crowded()
	}
	return &admission{g: g, reader: r}, nil
}

// enter counts the request among those whose body is complete.
func (p *admission) enter() *apierr.Error {
	if p.entered = p.g.inFlight.enter(p.reader); !p.entered {
		return p.g.crowded()
	}
	return nil
}

func (p *admission) leave() { p.g.inFlight.leave(p.reader, p.entered) }

func (g *Gateway) crowded() *apierr.Error {
	g.metrics.inFlightLimited.Inc()
	return apierr.New(apierr.IngestRateLimited,
		"More than "+strconv.Itoa(g.limits.InFlight)+" requests of this organization are in flight. Wait for answers before you send more.")
}

type bodyEndKey struct{}

// endOfBody returns the function that makes the read of the request's body fail.
func endOfBody(ctx context.Context) func() {
	if end, ok := ctx.Value(bodyEndKey{}).(func()); ok {
		return end
	}
	return func() {}
}

// interrupted is the answer to a request whose context ended, by the time limit or because the sender closed the connection.
func (g *Gateway) interrupted(ctx context.Context) *apierr.Error {
	cause := context.Cause(ctx)
	if errors.Is(cause, context.Canceled) {
		return apierr.New(apierr.IngestRequestTimeout, "The sender closed the request before it was stored.", apierr.Cause(cause))
	}
	return g.timedOut(cause)
}

func (g *Gateway) timedOut(cause error) *apierr.Error {
	return apierr.New(
		apierr.IngestRequestTimeout,
		"The request took longer than "+g.limits.Request.String()+". Send it again, in smaller batches if the connection is slow.",
		apierr.Cause(cause),
	)
}
