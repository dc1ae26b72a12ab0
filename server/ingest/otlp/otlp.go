// Package otlp turns OTLP requests into warehouse rows. Walk goes once over the protobuf wire format of an export request and
// fills the columns of a blocks.Set. It uses no message structs and no reflection, and allocates nothing per item. FromJSON turns
// OTLP JSON into the same wire format, so that all endpoints share the walk.
//
// The walk accepts and refuses exactly the bodies that proto.Unmarshal does. Its rows depend only on the body and the Stamp: a
// body read back from the durable queue gives the same rows in the same order.
package otlp

import (
	"errors"
	"fmt"

	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/warehouse/blocks"
)

// Signal is the kind of an export request.
type Signal uint8

// The signals.
const (
	Traces Signal = iota
	Logs
	Metrics
)

// String returns the signal's name in paths and metrics: traces, logs or metrics.
func (s Signal) String() string {
	//exhaustive:enforce
	switch s {
	case Traces:
		return "traces"
	case Logs:
		return "logs"
	case Metrics:
		return "metrics"
	default:
		return fmt.Sprintf("signal(%d)", uint8(s))
	}
}

// Key types, the values of the resource attribute svc_ingest_key_type.
const (
	KeyPublic    = "public"
	KeyPrivate   = "private"
	KeyCustom    = "custom"
	KeyConnector = "connector"
	KeyScrape    = "scrape"
)

// Origin has the properties that the key of a request and the policy of its organization give to the rows.
type Origin struct {
	Org principal.OrgID
	// KeyType is KeyPublic, KeyPrivate, KeyCustom, KeyConnector or KeyScrape.
	KeyType string
	// KeyID is the public id (ingk_…) of a custom key, or empty.
	KeyID string
	// Attributes are added to every resource, in this order. Each key must occur only once.
	Attributes []ResourceAttribute
	// Mappings, Sampling and NoProductEvents apply to traces.
	Mappings []Mapping
	Sampling Sampling
	// NoProductEvents says that the key may not send events. Spans that name an event then create no event.
	NoProductEvents bool
}

// Stamp is the server's knowledge about a request, which the walk writes into its rows. Senders cannot forge it: their resource
// attributes org_id and svc_* are removed.
type Stamp struct {
	Origin
	ReceivedUnixNano int64
	// Acknowledged says that the request was read back from the durable queue. It was answered earlier, maybe by an older version
	// of this program. Everything which that version accepted is stored, even if the rules for senders have become stricter.
	Acknowledged bool
	// MaxBytes bounds the columns of one request. A small body could otherwise fill the memory, for example with a huge resource
	// that is repeated on a million empty items. 0 means DefaultMaxBytes.
	MaxBytes int
}

// DefaultMaxBytes is the bound on one request's columns if the stamp sets none.
const DefaultMaxBytes = limits.IngestColumns

// ResourceAttribute is an attribute that the server adds to resources.
type ResourceAttribute struct {
	Key, Value string
	// IfMissing adds the attribute only to resources that lack the key. Otherwise the attribute replaces the sender's value.
	IfMissing bool
}

// Error is a fault of a request, with its place.
type Error struct {
	// Path is a field path, as in `resource_spans[0].scope_spans[0].spans[3].trace_id`. For JSON it uses the names of the body.
	Path   string
	Reason string
}

func (e *Error) Error() string {
	if e.Path == "" {
		return e.Reason
	}
	return e.Path + ": " + e.Reason
}

// ErrTooLarge means that a request's rows would need more memory than Stamp.MaxBytes. It maps to 413, not 400.
var ErrTooLarge = errors.New("the rows of the request need more memory than it may take")

// Walk appends the rows of an export request to set. On an error, which is an *Error or ErrTooLarge, the set is unchanged. Walk
// copies the bytes of body and does not keep it. Two goroutines must not walk into the same set.
func Walk(signal Signal, body []byte, stamp *Stamp, set *blocks.Set) (Result, error) {
	w, ok := set.Scratch.(*walker)
	if !ok {
		w = &walker{}
		set.Scratch = w
	}
	mark := set.Mark()
	w.begin(signal, body, stamp, set)
	var done bool
	//exhaustive:enforce
	switch signal {
	case Traces:
		done = w.traces(body)
	case Logs:
		done = w.logs(body)
	case Metrics:
		done = w.metrics(body)
	default:
		return Result{}, fmt.Errorf("%s: not an OTLP signal", signal)
	}
	if !done {
		set.Truncate(mark)
		err := w.failure()
		w.end()
		return Result{}, err
	}
	w.flushKeys()
	set.AttributeKeys().AppendFrom(&w.keys)
	set.MetricCatalog().AppendFrom(&w.catalog)
	set.ErrorSums().AppendFrom(&w.exception.sums)
	result := w.result()
	w.end()
	return result, nil
}

// failure explains why the walk stopped. The walk does not record the place of an error; the checker finds it.
func (w *walker) failure() error {
	if w.tooLarge {
		return ErrTooLarge
	}
	if err := check(w.signal, w.body); err != nil {
		return err
	}
	return &Error{Reason: "malformed OTLP " + w.signal.String() + " request"}
}
