package scrape

import (
	"hash/maphash"
	"maps"
	"net/url"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/common/model"
	"google.golang.org/protobuf/encoding/protowire"
)

// requestBytes is the size at which an export request ends and the next begins, so that no scrape exceeds the bounds of ingest.
const requestBytes = 1 << 20

// identity is the part of all points of a target, in OTLP. It is made once.
type identity struct {
	// resource is the field resource of a ResourceMetrics.
	resource []byte
	// labels are the attributes of all points; the number of the field depends on the kind of the point.
	labels   [][2]string
	reserved []string
}

func newIdentity(t *Target) *identity {
	host, port, instance := "", "", t.URL
	if u, err := url.Parse(t.URL); err == nil {
		host, port = u.Hostname(), u.Port()
		if port == "" {
			port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
		}
		instance = host + ":" + port
		if u.Hostname() != "" && u.Host[0] == '[' {
			instance = "[" + host + "]:" + port
		}
	}
	var attributes []byte
	for _, a := range [][2]string{
		{"service.name", t.Service}, {"service.instance.id", instance}, {"server.address", host}, {"server.port", port},
	} {
		attributes = appendKeyValue(attributes, attributesOf, a[0], a[1])
	}
	id := &identity{resource: appendBytes(nil, resourceResource, attributes), labels: [][2]string{{"instance", instance}, {"job", t.Name}}}
	for _, name := range slices.Sorted(maps.Keys(t.Labels)) {
		id.labels = append(id.labels, [2]string{name, t.Labels[name]})
	}
	for _, l := range id.labels {
		id.reserved = append(id.reserved, l[0])
	}
	return id
}

// converter turns expositions into export requests of OTLP. It is reused; only one goroutine uses it at a time.
type converter struct {
	reader  reader
	id      *identity
	started uint64
	// gone, if set, selects the series that are written as ended; no others are written.
	gone map[uint64]bool

	metrics, points []byte
	// packed is memory for compressing a page.
	packed   []byte
	requests [][]byte
	// series has the hashes of all points without an own time, in the order of the page.
	series []uint64
	counts map[uint64]int
}

var converters = sync.Pool{New: func() any {
	c := &converter{reader: reader{seed: seed, known: map[string]metadata{}}, counts: map[uint64]int{}}
	c.reader.family.byHash = map[uint64]int{}
	c.reader.emit = c.family
	return c
}}

// seed makes the hashes of series. They never leave the process.
var seed = maphash.MakeSeed()

// begin prepares the converter for a page of a target. gone is nil for the page of a scrape.
func (c *converter) begin(id *identity, started time.Time, gone map[uint64]bool) {
	c.id, c.gone, c.started = id, gone, uint64(started.UnixNano())
	c.reader.reserved, c.reader.started = id.reserved, started.UnixNano()
	c.metrics, c.requests, c.series = c.metrics[:0], nil, c.series[:0]
	clear(c.counts)
}

// family writes the metrics of a family.
func (c *converter) family(f *family) error {
	s := gauge
	switch f.kind {
	case model.MetricTypeCounter:
		s = counter
	case model.MetricTypeHistogram:
		s = histogram
	case model.MetricTypeSummary:
		s = summary
	}
	switch f.kind {
	case model.MetricTypeGaugeHistogram, model.MetricTypeInfo, model.MetricTypeCounter:
		// Each sample has its own name: _total, _info, _bucket.
		for first := 0; first < len(f.points); {
			name := f.points[first].name
			last := first + 1
			for last < len(f.points) && f.points[last].name == name {
				last++
			}
			c.metric(f, s, name, f.points[first:last])
			first = last
		}
	case model.MetricTypeHistogram:
		// A family can mix native and classic histograms.
		native := func(p point) bool { return p.native != nil }
		slices.SortStableFunc(f.points, func(x, y point) int {
			switch {
			case native(x) == native(y):
				return 0
			case native(x):
				return 1
			default:
				return -1
			}
		})
		i := slices.IndexFunc(f.points, native)
		if i < 0 {
			i = len(f.points)
		}
		c.metric(f, histogram, f.name, f.points[:i])
		c.metric(f, exponential, f.name, f.points[i:])
	default:
		c.metric(f, s, f.name, f.points)
	}
	if len(c.metrics) >= requestBytes {
		c.cut()
	}
	return nil
}

// metric writes points of one name and kind.
func (c *converter) metric(f *family, s shape, name string, points []point) {
	c.points = c.points[:0]
	for i := range points {
		p := &points[i]
		if !p.has {
			continue // a time of creation without a sample
		}
		nanos := c.started
		if p.millis > 0 {
			nanos = uint64(p.millis) * 1_000_000
		} else if c.gone == nil {
			c.series = append(c.series, p.hash)
			c.counts[p.hash] = p.samples
		}
		if c.gone != nil && (p.millis > 0 || !c.gone[p.hash]) {
			continue
		}
		c.point(s, p, f.attributes[p.from:p.to], nanos)
		if len(c.points) >= requestBytes {
			c.flush(f, s, name)
			c.cut()
		}
	}
	c.flush(f, s, name)
}

func (c *converter) flush(f *family, s shape, name string) {
	if len(c.points) == 0 {
		return
	}
	c.metrics = s.appendMetric(c.metrics, name, f.help, f.unit, c.points)
	c.points = c.points[:0]
}

// point writes a point with the attributes of the target and its own, which are encoded for the kind of a number.
func (c *converter) point(s shape, p *point, own []byte, nanos uint64) {
	c.points = protowire.AppendTag(c.points, dataPoints, protowire.BytesType)
	c.points = nested(c.points, func(b []byte) []byte {
		b = s.appendPoint(b, p, nanos, c.gone != nil)
		field := s.attributes()
		for _, l := range c.id.labels {
			b = appendKeyValue(b, field, l[0], l[1])
		}
		if field == numberAttributes {
			return append(b, own...)
		}
		for len(own) > 0 {
			_, _, tag := protowire.ConsumeTag(own)
			one, n := protowire.ConsumeBytes(own[tag:])
			b = appendBytes(b, field, one)
			own = own[tag+n:]
		}
		return b
	})
}

// nested appends a message with its length before it. The message is usually short, so its length takes two bytes; a longer one is moved.
func nested(b []byte, write func([]byte) []byte) []byte {
	from := len(b)
	b = write(append(b, 0, 0))
	size := len(b) - from - 2
	need := protowire.SizeVarint(uint64(size))
	switch {
	case need == 1:
		b = append(b[:from+1], b[from+2:]...)
	case need > 2:
		b = slices.Insert(b, from, make([]byte, need-2)...)
	}
	protowire.AppendVarint(b[:from:from+need], uint64(size))
	return b
}

// cut ends an export request.
func (c *converter) cut() {
	if len(c.metrics) == 0 {
		return
	}
	scope := appendBytes(nil, scopeScope, appendText(nil, scopeName, "svc/scrape"))
	size := len(scope) + len(c.metrics)
	resource := len(c.id.resource) + protowire.SizeTag(resourceScopes) + protowire.SizeBytes(size)
	b := make([]byte, 0, resource+16)
	b = protowire.AppendVarint(protowire.AppendTag(b, requestResources, protowire.BytesType), uint64(resource))
	b = append(b, c.id.resource...)
	b = protowire.AppendVarint(protowire.AppendTag(b, resourceScopes, protowire.BytesType), uint64(size))
	b = append(append(b, scope...), c.metrics...)
	c.requests = append(c.requests, b)
	c.metrics = c.metrics[:0]
}

// own adds a series that the server writes about the scrape itself.
func (c *converter) own(name, help, unit string, value float64) {
	c.points = c.points[:0]
	c.point(gauge, &point{value: value}, nil, c.started)
	c.metrics = gauge.appendMetric(c.metrics, name, help, unit, c.points)
	c.points = c.points[:0]
}

// ownSeries are the series that the server writes about scrapes.
func ownSeries() []string {
	return []string{
		"up", "scrape_duration_seconds", "scrape_samples_scraped", "scrape_samples_post_metric_relabeling", "scrape_series_added",
		"scrape_timeout_seconds",
	}
}

// endOwn ends the series of own.
func (c *converter) endOwn() {
	c.gone = map[uint64]bool{}
	for _, name := range ownSeries() {
		c.own(name, "", "", 0)
	}
	c.gone = nil
}
