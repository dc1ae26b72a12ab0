package ingest

import (
	"fmt"
	"io"

	"github.com/svc-observability/svc/server/ingest/pipeline"
	"github.com/svc-observability/svc/server/ingest/queue"
	"github.com/svc-observability/svc/server/warehouse/blocks"
)

// Batch gathers the rows of many queue records. It is the pipeline's Batch. Only one goroutine uses it at a time.
type Batch struct {
	set     blocks.Set
	decoder *Decoder
}

// NewBatch makes an empty batch. Batches share the decoder.
func NewBatch(d *Decoder) *Batch { return &Batch{decoder: d} }

// Decode adds the rows of a record from its header and payload.
func (b *Batch) Decode(header, payload []byte) error {
	return b.decoder.DecodeRecord(header, payload, &b.set)
}

// Add adds the rows that a set holds.
func (b *Batch) Add(attachment queue.Attachment) error {
	set, ok := attachment.(*blocks.Set)
	if !ok {
		return fmt.Errorf("ingest: attachment is a %T, not a block set", attachment)
	}
	b.set.AppendFrom(set)
	return nil
}

// Rows returns the number of items: spans, log records and data points.
func (b *Batch) Rows() int { return b.set.Rows() }

// Bytes returns the memory of the rows.
func (b *Batch) Bytes() int { return b.set.Bytes() }

// Reset drops every row.
func (b *Batch) Reset() { b.set.Reset() }

// ErrorSums returns the errors of the rows by group.
func (b *Batch) ErrorSums() []blocks.ErrorSum { return b.set.ErrorSums().Rows() }

// Tables returns the tables that have rows. They are valid until the batch changes.
func (b *Batch) Tables() []pipeline.Table {
	var all []pipeline.Table
	for t := range b.set.Tables() {
		all = append(all, batchTable{t})
	}
	return all
}

type batchTable struct{ table blocks.Table }

func (t batchTable) Name() string    { return t.table.Name }
func (t batchTable) Rows() int       { return t.table.Rows() }
func (t batchTable) Columns() string { return t.table.Columns }

func (t batchTable) WriteTo(w io.Writer) (int64, error) { return t.table.WriteTo(w) }
