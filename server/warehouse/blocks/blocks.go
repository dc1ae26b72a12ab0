// Package blocks holds the rows of telemetry tables on their way to the warehouse: a Set has one block of typed columns for each
// table that ingest fills, in the columns of warehouse/migrations/*.sql. A request fills a small Set; the batcher
// merges many of them into a large one and posts each table in Native format.
//
// The tables that materialized views feed (service_minutes, trace_roots) have no block here; product_events has one, and a view besides.
package blocks

import (
	"io"
	"iter"
	"strings"
	"sync"

	"github.com/svc-observability/svc/server/warehouse/native"
)

// Set is the rows of one or many requests. The zero value is empty and ready; tables are made when first asked for.
// It is not safe for concurrent use.
type Set struct {
	// Scratch belongs to whoever fills the set: memory worth keeping with a pooled set between requests.
	Scratch any
	purpose Purpose

	spans      *Spans
	logs       *Logs
	gauge      *Gauge
	sum        *Sum
	histogram  *Histogram
	expo       *ExponentialHistogram
	summary    *Summary
	replays    *SessionReplays
	chunks     *SessionReplayEvents
	timeline   *SessionEvents
	product    *ProductEvents
	catalog    MetricCatalog
	attributes AttributeKeys
}

// Spans is the table spans.
func (s *Set) Spans() *Spans {
	if s.spans == nil {
		s.spans = newSpans()
	}
	return s.spans
}

// Logs is the table logs.
func (s *Set) Logs() *Logs {
	if s.logs == nil {
		s.logs = newLogs()
	}
	return s.logs
}

// Gauge is the table metrics_gauge.
func (s *Set) Gauge() *Gauge {
	if s.gauge == nil {
		s.gauge = newGauge()
	}
	return s.gauge
}

// Sum is the table metrics_sum.
func (s *Set) Sum() *Sum {
	if s.sum == nil {
		s.sum = newSum()
	}
	return s.sum
}

// Histogram is the table metrics_histogram.
func (s *Set) Histogram() *Histogram {
	if s.histogram == nil {
		s.histogram = newHistogram()
	}
	return s.histogram
}

// ExponentialHistogram is the table metrics_exponential_histogram.
func (s *Set) ExponentialHistogram() *ExponentialHistogram {
	if s.expo == nil {
		s.expo = newExponentialHistogram()
	}
	return s.expo
}

// Summary is the table metrics_summary.
func (s *Set) Summary() *Summary {
	if s.summary == nil {
		s.summary = newSummary()
	}
	return s.summary
}

// SessionReplays is the table session_replays.
func (s *Set) SessionReplays() *SessionReplays {
	if s.replays == nil {
		s.replays = newSessionReplays()
	}
	return s.replays
}

// SessionReplayEvents is the table session_replay_events.
func (s *Set) SessionReplayEvents() *SessionReplayEvents {
	if s.chunks == nil {
		s.chunks = newSessionReplayEvents()
	}
	return s.chunks
}

// SessionEvents is the table session_events.
func (s *Set) SessionEvents() *SessionEvents {
	if s.timeline == nil {
		s.timeline = newSessionEvents()
	}
	return s.timeline
}

// ProductEvents is the table product_events.
func (s *Set) ProductEvents() *ProductEvents {
	if s.product == nil {
		s.product = newProductEvents()
	}
	return s.product
}

// MetricCatalog is the table metric_catalog.
func (s *Set) MetricCatalog() *MetricCatalog { return &s.catalog }

// AttributeKeys is the table attribute_keys.
func (s *Set) AttributeKeys() *AttributeKeys { return &s.attributes }

const rowTables = 11

// rowBlocks lists the blocks of the tables that hold items themselves; nil where the table was never asked for.
func (s *Set) rowBlocks() [rowTables]*native.Block {
	var b [rowTables]*native.Block
	if s.spans != nil {
		b[0] = &s.spans.Block
	}
	if s.logs != nil {
		b[1] = &s.logs.Block
	}
	if s.gauge != nil {
		b[2] = &s.gauge.Block
	}
	if s.sum != nil {
		b[3] = &s.sum.Block
	}
	if s.histogram != nil {
		b[4] = &s.histogram.Block
	}
	if s.expo != nil {
		b[5] = &s.expo.Block
	}
	if s.summary != nil {
		b[6] = &s.summary.Block
	}
	if s.replays != nil {
		b[7] = &s.replays.Block
	}
	if s.chunks != nil {
		b[8] = &s.chunks.Block
	}
	if s.timeline != nil {
		b[9] = &s.timeline.Block
	}
	if s.product != nil {
		b[10] = &s.product.Block
	}
	return b
}

// make makes the i-th table of rowBlocks.
func (s *Set) make(i int) *native.Block {
	switch i {
	case 0:
		return &s.Spans().Block
	case 1:
		return &s.Logs().Block
	case 2:
		return &s.Gauge().Block
	case 3:
		return &s.Sum().Block
	case 4:
		return &s.Histogram().Block
	case 5:
		return &s.ExponentialHistogram().Block
	case 6:
		return &s.Summary().Block
	case 7:
		return &s.SessionReplays().Block
	case 8:
		return &s.SessionReplayEvents().Block
	case 9:
		return &s.SessionEvents().Block
	default:
		return &s.ProductEvents().Block
	}
}

func rowTableName(i int) string {
	return [rowTables]string{
		"spans", "logs", "metrics_gauge", "metrics_sum", "metrics_histogram", "metrics_exponential_histogram", "metrics_summary",
		"session_replays", "session_replay_events", "session_events", "product_events",
	}[i]
}

// Rows is the number of items: spans, log records, data points, sessions, chunks and events. Rollup rows do not count.
func (s *Set) Rows() int {
	n := 0
	for _, b := range s.rowBlocks() {
		if b != nil {
			n += b.Rows()
		}
	}
	return n
}

// Bytes is the memory that the rows take up.
func (s *Set) Bytes() int {
	n := s.catalog.bytes() + s.attributes.bytes()
	for _, b := range s.rowBlocks() {
		if b != nil {
			n += b.Bytes()
		}
	}
	return n
}

// Reset drops every row and keeps memory for the next ones.
func (s *Set) Reset() {
	for _, b := range s.rowBlocks() {
		if b != nil {
			b.Reset()
		}
	}
	s.catalog.Reset()
	s.attributes.Reset()
}

// AppendFrom appends all rows of another set, which stays as it is. The result depends only on the order of the calls.
func (s *Set) AppendFrom(other *Set) {
	mine := s.rowBlocks()
	for i, b := range other.rowBlocks() {
		if b == nil || b.Rows() == 0 {
			continue
		}
		if mine[i] == nil {
			mine[i] = s.make(i)
		}
		mine[i].AppendFrom(b)
	}
	s.catalog.AppendFrom(&other.catalog)
	s.attributes.AppendFrom(&other.attributes)
}

// Mark is a position that Truncate goes back to.
type Mark struct{ rows [rowTables]int }

// Mark returns the present position in the item tables; rollups are not covered.
func (s *Set) Mark() Mark {
	var m Mark
	for i, b := range s.rowBlocks() {
		if b != nil {
			m.rows[i] = b.Rows()
		}
	}
	return m
}

// Truncate drops the items added since the mark, also a row that is only half there.
func (s *Set) Truncate(m Mark) {
	for i, b := range s.rowBlocks() {
		if b != nil {
			b.Truncate(m.rows[i])
		}
	}
}

// Table is one table's rows, ready to insert.
type Table struct {
	Name string
	// Columns is the column list of the insert, as in "(`A`,`B`)".
	Columns string
	block   *native.Block
}

// Rows is the number of rows.
func (t Table) Rows() int { return t.block.Rows() }

// Bytes is the memory that the rows take up.
func (t Table) Bytes() int { return t.block.Bytes() }

// WriteTo writes the rows in Native format, revision 0.
func (t Table) WriteTo(w io.Writer) (int64, error) { return t.block.WriteTo(w) }

// Tables yields the tables that have rows, always in the same order. Rollup rows come sorted, so the same requests merged in the
// same order give the same bytes. A table is valid until the set changes.
func (s *Set) Tables() iter.Seq[Table] {
	return func(yield func(Table) bool) {
		for i, b := range s.rowBlocks() {
			if b != nil && b.Rows() > 0 && !yield(newTable(rowTableName(i), b)) {
				return
			}
		}
		if len(s.catalog.rows) > 0 && !yield(newTable("metric_catalog", s.catalog.block())) {
			return
		}
		if len(s.attributes.rows) > 0 {
			yield(newTable("attribute_keys", s.attributes.block()))
		}
	}
}

func newTable(name string, b *native.Block) Table {
	var columns strings.Builder
	for i := range b.Fields {
		sep := ",`"
		if i == 0 {
			sep = "(`"
		}
		columns.WriteString(sep)
		columns.WriteString(b.Fields[i].Name)
		columns.WriteByte('`')
	}
	columns.WriteByte(')')
	return Table{Name: name, Columns: columns.String(), block: b}
}

// Purpose groups the requests that fill the same tables: they share sets, which so hold memory for those tables and no others.
type Purpose uint8

// Purposes.
const (
	ForTraces Purpose = iota
	ForLogs
	ForMetrics
	ForSessions
	purposes
)

// Pool keeps sets between requests. The zero value is ready. It is safe for concurrent use.
type Pool struct{ sets [purposes]sync.Pool }

// maxPooled is the size from which a set is left to the garbage collector, so that one huge request does not hold memory for good.
const maxPooled = 16 << 20

// Get returns an empty set.
func (p *Pool) Get(purpose Purpose) *Set {
	if s, ok := p.sets[purpose].Get().(*Set); ok {
		return s
	}
	return &Set{purpose: purpose}
}

// Put takes back a set that nobody uses any more.
func (p *Pool) Put(s *Set) {
	if s == nil || s.Bytes() > maxPooled {
		return
	}
	s.Reset()
	p.sets[s.purpose].Put(s)
}
