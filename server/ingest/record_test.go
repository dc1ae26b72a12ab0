package ingest_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-observability/svc/server/ingest"
	"github.com/svc-observability/svc/server/ingest/activity"
	"github.com/svc-observability/svc/server/ingest/otlp"
	"github.com/svc-observability/svc/server/warehouse/blocks"
)

func headers() []ingest.RecordHeader {
	return []ingest.RecordHeader{
		{Signal: otlp.Traces, Encoding: ingest.EncodingNone},
		{Signal: otlp.Logs, Encoding: ingest.EncodingGzip, Org: "org_1", KeyType: "private", ReceivedUnixNano: 1790000000000000000},
		{
			Signal: otlp.Metrics, Encoding: ingest.EncodingZstd, Org: "org_2", KeyType: "custom", KeyID: "ingk_7", ReceivedUnixNano: -1,
			Attributes: []otlp.ResourceAttribute{{Key: "team", Value: "checkout"}, {Key: "", Value: longText(300), IfMissing: true}},
		},
		{Kind: activity.SessionReplays, Encoding: ingest.EncodingGzip, Org: "org_1"},
		{Kind: activity.SessionEvents, Encoding: ingest.EncodingNone, Org: "org_1"},
		{Kind: activity.ProductEvents, Encoding: ingest.EncodingZstd, Org: "org_1"},
		{
			Kind: activity.SessionReplayEvents, Encoding: ingest.EncodingNone, Org: "org_1", Attributes: []otlp.ResourceAttribute{{Key: "team", Value: "checkout"}},
			Chunk: activity.Chunk{SessionID: "s", Seq: 1 << 31, IsCheckpoint: true, EventCount: 3, DurationMs: 1 << 31, ByteSize: 1 << 40},
		},
	}
}

func TestRecordHeaderRoundTrip(t *testing.T) {
	for _, want := range headers() {
		got, err := ingest.ParseRecordHeader(want.Append(nil))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
	}
}

// TestRecordHeaderStoredForm pins the bytes: logs on disk outlive the program that wrote them.
func TestRecordHeaderStoredForm(t *testing.T) {
	h := ingest.RecordHeader{
		Signal: otlp.Logs, Encoding: ingest.EncodingGzip, Org: "o", KeyType: "kt", KeyID: "id", ReceivedUnixNano: 0x0102,
		Attributes: []otlp.ResourceAttribute{{Key: "k", Value: "v", IfMissing: true}},
	}
	want := []byte{1, 2, 2, 2, 1, 0, 0, 0, 0, 0, 0, 1, 'o', 2, 'k', 't', 2, 'i', 'd', 1, 1, 1, 'k', 1, 'v'}
	if diff := cmp.Diff(want, h.Append(nil)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	for kind, signal := range map[activity.Kind]byte{activity.SessionReplays: 4, activity.SessionEvents: 6, activity.ProductEvents: 7} {
		h = ingest.RecordHeader{Kind: kind, Encoding: ingest.EncodingNone, Org: "o"}
		if diff := cmp.Diff([]byte{1, signal, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 'o', 0, 0, 0}, h.Append(nil)); diff != "" {
			t.Errorf("%d: -want +got:\n%s", signal, diff)
		}
	}
	h = ingest.RecordHeader{
		Kind: activity.SessionReplayEvents, Encoding: ingest.EncodingNone, Org: "o",
		Chunk: activity.Chunk{SessionID: "s", Seq: 2, IsCheckpoint: true, EventCount: 3, DurationMs: 4, ByteSize: 300},
	}
	if diff := cmp.Diff([]byte{1, 5, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 'o', 0, 0, 0, 1, 1, 's', 2, 3, 4, 0xac, 2}, h.Append(nil)); diff != "" {
		t.Errorf("chunk: -want +got:\n%s", diff)
	}
}

func TestRecordHeaderRefusals(t *testing.T) {
	for _, h := range headers() {
		whole := h.Append(nil)
		for n := range whole {
			if _, err := ingest.ParseRecordHeader(whole[:n]); err == nil {
				t.Errorf("a header cut to %d of %d bytes was accepted", n, len(whole))
			}
		}
	}
	good := headers()[2].Append(nil)
	change := func(at int, b byte) []byte {
		c := bytes.Clone(good)
		c[at] = b
		return c
	}
	for name, c := range map[string]struct {
		header []byte
		want   string
	}{
		"newer version":    {change(0, 2), "version 2"},
		"unknown signal":   {change(1, 9), "signal 9"},
		"unknown encoding": {change(2, 0), "encoding 0"},
		"left over":        {append(bytes.Clone(good), 0), "1 bytes are left over"},
	} {
		if _, err := ingest.ParseRecordHeader(c.header); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// FuzzParseRecordHeader: no input panics, and what is accepted has exactly one form.
func FuzzParseRecordHeader(f *testing.F) {
	for _, h := range headers() {
		f.Add(h.Append(nil))
	}
	f.Add([]byte{1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1})
	f.Fuzz(func(t *testing.T, b []byte) {
		h, err := ingest.ParseRecordHeader(b)
		if err != nil {
			return
		}
		if again := h.Append(nil); !bytes.Equal(again, b) {
			t.Errorf("%x reads as %+v, which is written as %x", b, h, again)
		}
	})
}

func TestDecodeRecordRefusesDamage(t *testing.T) {
	d, err := ingest.NewDecoder()
	if err != nil {
		t.Fatal(err)
	}
	trace := wire(t, spans(2))
	zipped := gzipped(t, trace)
	head := func(e ingest.Encoding) []byte {
		h := ingest.RecordHeader{Signal: otlp.Traces, Encoding: e, Org: org, ReceivedUnixNano: 1790000000000000000}
		return h.Append(nil)
	}
	// The set holds other records' rows and rollups: they stay, and nothing joins them.
	batch := ingest.NewBatch(d)
	metrics := ingest.RecordHeader{Signal: otlp.Metrics, Encoding: ingest.EncodingNone, Org: org, ReceivedUnixNano: nowNano(), Attributes: []otlp.ResourceAttribute{{Key: "team", Value: "checkout"}}}
	if err := errors.Join(batch.Add(head(ingest.EncodingNone), trace, nil), batch.Add(metrics.Append(nil), wire(t, points()), nil)); err != nil {
		t.Fatal(err)
	}
	before := native(t, batch)
	if len(before) < 3 { // spans, data points, metric_catalog
		t.Fatalf("only %d tables, no rollups", len(before))
	}
	for name, c := range map[string]struct{ header, payload []byte }{
		"cut off within its last span":  {head(ingest.EncodingNone), trace[:len(trace)-3]},
		"cut off within its last point": {metrics.Append(nil), wire(t, points())[:len(wire(t, points()))-3]},
		"bytes behind the last span":    {head(ingest.EncodingNone), append(bytes.Clone(trace), 0x0a, 0x7f)},
		"no header":                     {nil, trace},
		"not protobuf":                  {head(ingest.EncodingNone), []byte("nonsense")},
		"truncated gzip":                {head(ingest.EncodingGzip), zipped[:len(zipped)-3]},
		"empty gzip":                    {head(ingest.EncodingGzip), nil},
		"not zstd":                      {head(ingest.EncodingZstd), trace},
	} {
		if err := batch.Add(c.header, c.payload, nil); err == nil {
			t.Errorf("%s was accepted", name)
		}
		if diff := cmp.Diff(before, native(t, batch)); diff != "" {
			t.Fatalf("%s changed the tables:\n%s", name, diff)
		}
	}
}

// TestBatchIsTheSameEitherWay: a record gives the same tables from its attachment and from its bytes.
func TestBatchIsTheSameEitherWay(t *testing.T) {
	d, err := ingest.NewDecoder()
	if err != nil {
		t.Fatal(err)
	}
	attached, decoded := ingest.NewBatch(d), ingest.NewBatch(d)
	for i, signal := range []otlp.Signal{otlp.Traces, otlp.Logs, otlp.Metrics} {
		body := [][]byte{wire(t, spans(3)), wire(t, logRecords()), wire(t, points())}[i]
		h := ingest.RecordHeader{
			Signal: signal, Encoding: ingest.EncodingNone, Org: org, KeyType: otlp.KeyCustom, KeyID: "ingk_1", ReceivedUnixNano: nowNano(),
			Attributes: []otlp.ResourceAttribute{{Key: "team", Value: "checkout"}},
		}
		var set blocks.Set
		stamp := otlp.Stamp{Org: h.Org, KeyType: h.KeyType, KeyID: h.KeyID, ReceivedUnixNano: h.ReceivedUnixNano, Attributes: h.Attributes}
		if _, err := otlp.Walk(signal, body, &stamp, &set); err != nil {
			t.Fatal(err)
		}
		if err := attached.Add(nil, nil, &set); err != nil {
			t.Fatal(err)
		}
		if err := decoded.Add(h.Append(nil), body, nil); err != nil {
			t.Fatal(err)
		}
	}
	if attached.Rows() != 5 {
		t.Errorf("%d rows, want 5", attached.Rows())
	}
	if diff := cmp.Diff(native(t, attached), native(t, decoded)); diff != "" {
		t.Errorf("-attached +decoded:\n%s", diff)
	}
	attached.Reset()
	if attached.Rows() != 0 || len(attached.Tables()) != 0 {
		t.Error("Reset left rows")
	}
	if err := attached.Add(nil, nil, "text"); err == nil {
		t.Error("an attachment of another type was accepted")
	}
}

func native(t *testing.T, b *ingest.Batch) map[string]string {
	t.Helper()
	tables := map[string]string{}
	for _, table := range b.Tables() {
		var out bytes.Buffer
		if _, err := table.WriteTo(&out); err != nil {
			t.Fatal(err)
		}
		tables[table.Name()+table.Columns()] = out.String()
	}
	return tables
}
