// Package blocks holds the rows of telemetry tables on their way to the warehouse. A Set has one block of typed columns for each
// table that ingest fills. A request fills a small Set. The batcher merges many of them into a large one and posts each table in
// Native format.
//
// Each table is described by one struct (see native.Make). Tests compare the structs with the migrations and with a migrated
// engine. Materialized views fill more tables (service_minutes, trace_roots), which have no block here. Both ingest and a view
// fill product_events.
package blocks

import (
	"io"
	"iter"
	"strings"
	"sync"

	"github.com/svc-observability/svc/server/warehouse/native"
)

// Set is the rows of one or many requests. The zero value is empty and ready. A table is created on its first use. A set is not
// safe for concurrent use.
type Set struct {
	// Scratch belongs to the code that fills the set. It keeps memory there between requests.
	Scratch any
	purpose Purpose
	pool    *Pool

	spans      lazy[Spans]
	logs       lazy[Logs]
	gauge      lazy[Gauge]
	sum        lazy[Sum]
	histogram  lazy[Histogram]
	expo       lazy[ExponentialHistogram]
	summary    lazy[Summary]
	replays    lazy[SessionReplays]
	chunks     lazy[SessionReplayEvents]
	timeline   lazy[SessionEvents]
	product    lazy[ProductEvents]
	catalog    MetricCatalog
	attributes AttributeKeys
	errors     ErrorSums
}

const itemTables = 11

// items lists the tables that hold items (not rollups), in the order in which they are inserted.
func (s *Set) items() [itemTables]table {
	return [itemTables]table{
		&s.spans, &s.logs, &s.gauge, &s.sum, &s.histogram, &s.expo, &s.summary, &s.replays, &s.chunks, &s.timeline, &s.product,
	}
}

// Spans is the table spans.
func (s *Set) Spans() *Spans { return s.spans.get() }

// Logs is the table logs.
func (s *Set) Logs() *Logs { return s.logs.get() }

// Gauge is the table metrics_gauge.
func (s *Set) Gauge() *Gauge { return s.gauge.get() }

// Sum is the table metrics_sum.
func (s *Set) Sum() *Sum { return s.sum.get() }

// Histogram is the table metrics_histogram.
func (s *Set) Histogram() *Histogram { return s.histogram.get() }

// ExponentialHistogram is the table metrics_exponential_histogram.
func (s *Set) ExponentialHistogram() *ExponentialHistogram { return s.expo.get() }

// Summary is the table metrics_summary.
func (s *Set) Summary() *Summary { return s.summary.get() }

// SessionReplays is the table session_replays.
func (s *Set) SessionReplays() *SessionReplays { return s.replays.get() }

// SessionReplayEvents is the table session_replay_events.
func (s *Set) SessionReplayEvents() *SessionReplayEvents { return s.chunks.get() }

// SessionEvents is the table session_events.
func (s *Set) SessionEvents() *SessionEvents { return s.timeline.get() }

// ProductEvents is the table product_events.
func (s *Set) ProductEvents() *ProductEvents { return s.product.get() }

// MetricCatalog is the table metric_catalog.
func (s *Set) MetricCatalog() *MetricCatalog { return &s.catalog }

// AttributeKeys is the table attribute_keys.
func (s *Set) AttributeKeys() *AttributeKeys { return &s.attributes }

// ErrorSums has the errors of the rows by group.
func (s *Set) ErrorSums() *ErrorSums { return &s.errors }

// Schema lists the tables of a set with their columns, without rows.
func Schema() []*native.Block {
	var s Set
	var all []*native.Block
	for _, t := range s.items() {
		all = append(all, t.make())
	}
	return append(all, s.catalog.block(), s.attributes.block())
}

// table is a table of a Set that holds items.
type table interface {
	// made returns the block of the table, or nil if the table was never used.
	made() *native.Block
	// make returns the block of the table and creates the table if needed.
	make() *native.Block
}

// lazy is a table that is created on its first use. T describes it for native.Make.
type lazy[T any] struct {
	rows  *T
	block *native.Block
}

func (l *lazy[T]) get() *T {
	if l.rows == nil {
		l.make()
	}
	return l.rows
}

func (l *lazy[T]) made() *native.Block { return l.block }

func (l *lazy[T]) make() *native.Block {
	if l.rows == nil {
		l.rows, l.block = native.Make[T]()
	}
	return l.block
}

// Rows is the number of items: spans, log records, data points, sessions, chunks and events. Rollup rows do not count.
func (s *Set) Rows() int {
	n := 0
	for _, t := range s.items() {
		if b := t.made(); b != nil {
			n += b.Rows()
		}
	}
	return n
}

// Bytes is the memory that the rows take up.
func (s *Set) Bytes() int {
	n := s.catalog.bytes() + s.attributes.bytes() + s.errors.bytes()
	for _, t := range s.items() {
		if b := t.made(); b != nil {
			n += b.Bytes()
		}
	}
	return n
}

// Reset drops every row and keeps the memory for later rows.
func (s *Set) Reset() {
	for _, t := range s.items() {
		if b := t.made(); b != nil {
			b.Reset()
		}
	}
	s.catalog.Reset()
	s.attributes.Reset()
	s.errors.Reset()
}

// AppendFrom appends all rows of another set, which stays unchanged. The result depends only on the order of the calls.
func (s *Set) AppendFrom(other *Set) {
	mine := s.items()
	for i, t := range other.items() {
		if b := t.made(); b != nil && b.Rows() > 0 {
			mine[i].make().AppendFrom(b)
		}
	}
	s.catalog.AppendFrom(&other.catalog)
	s.attributes.AppendFrom(&other.attributes)
	s.errors.AppendFrom(&other.errors)
}

// Mark is a position that Truncate goes back to.
type Mark struct{ rows [itemTables]int }

// Mark returns the current position in the item tables. It does not cover rollups.
func (s *Set) Mark() Mark {
	var m Mark
	for i, t := range s.items() {
		if b := t.made(); b != nil {
			m.rows[i] = b.Rows()
		}
	}
	return m
}

// Truncate drops the items added since the mark, including an incomplete row.
func (s *Set) Truncate(m Mark) {
	for i, t := range s.items() {
		if b := t.made(); b != nil {
			b.Truncate(m.rows[i])
		}
	}
}

// Table is one table's rows, ready to insert.
type Table struct {
	Name string
	// Columns is the column list of the insert, as in "`A`,`B`".
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
		for _, t := range s.items() {
			if b := t.made(); b != nil && b.Rows() > 0 && !yield(newTable(b)) {
				return
			}
		}
		if len(s.catalog.rows) > 0 && !yield(newTable(s.catalog.block())) {
			return
		}
		if len(s.attributes.rows) > 0 {
			yield(newTable(s.attributes.block()))
		}
	}
}

func newTable(b *native.Block) Table {
	columns := make([]string, len(b.Fields))
	for i := range b.Fields {
		columns[i] = "`" + b.Fields[i].Name + "`"
	}
	return Table{Name: b.Name, Columns: strings.Join(columns, ","), block: b}
}

// Purpose groups the requests that fill the same tables. They share sets, so that a set holds memory only for those tables.
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

// maxPooled is the size above which a set is left to the garbage collector, so that one huge request does not keep memory
// forever.
const maxPooled = 16 << 20

// Get returns an empty set.
func (p *Pool) Get(purpose Purpose) *Set {
	if s, ok := p.sets[purpose].Get().(*Set); ok {
		return s
	}
	return &Set{purpose: purpose, pool: p}
}

// Put returns a set to the pool. The caller must not use the set any more.
func (p *Pool) Put(s *Set) {
	if s == nil || s.Bytes() > maxPooled {
		return
	}
	s.Reset()
	p.sets[s.purpose].Put(s)
}

// Release returns a set to its pool, if it came from one. The caller must not use the set any more.
func (s *Set) Release() {
	if s.pool != nil {
		s.pool.Put(s)
	}
}
