package ingest_test

import (
	"bytes"
	"errors"
	"math"
	"slices"
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
		{
			Origin: otlp.Origin{Org: "org_1", KeyType: "private"}, Signal: otlp.Logs, Encoding: ingest.EncodingGzip,
			ReceivedUnixNano: 1790000000000000000,
		},
		{
			Origin: otlp.Origin{
				Org:        "org_2",
				KeyType:    "custom",
				KeyID:      "ingk_7",
				Attributes: []otlp.ResourceAttribute{{Key: "team", Value: "checkout"}, {Key: "", Value: longText(300), IfMissing: true}},
			},
			Signal:           otlp.Metrics,
			Encoding:         ingest.EncodingZstd,
			ReceivedUnixNano: -1,
		},
		{Origin: otlp.Origin{Org: "org_1"}, Kind: activity.SessionReplays, Encoding: ingest.EncodingGzip},
		{Origin: otlp.Origin{Org: "org_1"}, Kind: activity.SessionEvents, Encoding: ingest.EncodingNone},
		{Origin: otlp.Origin{Org: "org_1"}, Kind: activity.ProductEvents, Encoding: ingest.EncodingZstd},
		{
			Origin:   otlp.Origin{Org: "org_1", Attributes: []otlp.ResourceAttribute{{Key: "team", Value: "checkout"}}},
			Kind:     activity.SessionReplayEvents,
			Encoding: ingest.EncodingNone,
			Chunk:    activity.Chunk{SessionID: "s", Seq: 1 << 31, IsCheckpoint: true, EventCount: 3, DurationMs: 1 << 31, ByteSize: 1 << 40},
		},
		{Origin: otlp.Origin{Org: "org_1", Sampling: otlp.Sampling{Ratio: 0.1}}, Signal: otlp.Traces, Encoding: ingest.EncodingGzip},
		{Origin: otlp.Origin{Org: "org_1", NoProductEvents: true}, Signal: otlp.Traces, Encoding: ingest.EncodingGzip},
		{
			Origin: otlp.Origin{
				Org:             "org_1",
				NoProductEvents: true,
				Attributes:      []otlp.ResourceAttribute{{Key: "team", Value: "checkout"}},
				Sampling:        otlp.Sampling{Ratio: 1e-9, KeepErrors: true, KeepSlowNano: 1 << 63},
				Mappings:        mappings(),
			},
			Signal:   otlp.Traces,
			Encoding: ingest.EncodingGzip,
		},
	}
}

func mappings() []otlp.Mapping {
	return []otlp.Mapping{
		{Source: "a", Target: "b"},
		{Source: "b", Target: "http.route", Move: true},
		{Context: otlp.ResourceContext, Source: "k8s.pod.name", Target: "pod"},
		{Context: otlp.ResourceContext, Source: longText(200), Target: "", Move: true},
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

// TestRecordHeaderStoredForm pins the bytes, because logs on disk outlive the program that wrote them.
func TestRecordHeaderStoredForm(t *testing.T) {
	h := ingest.RecordHeader{
		Origin: otlp.Origin{
			Org:        "o",
			KeyType:    "kt",
			KeyID:      "id",
			Attributes: []otlp.ResourceAttribute{{Key: "k", Value: "v", IfMissing: true}},
		},
		Signal:           otlp.Logs,
		Encoding:         ingest.EncodingGzip,
		ReceivedUnixNano: 0x0102,
	}
	want := []byte{1, 2, 2, 2, 1, 0, 0, 0, 0, 0, 0, 1, 'o', 2, 'k', 't', 2, 'i', 'd', 1, 1, 1, 'k', 1, 'v'}
	if diff := cmp.Diff(want, h.Append(nil)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	for kind, signal := range map[activity.Kind]byte{activity.SessionReplays: 4, activity.SessionEvents: 6, activity.ProductEvents: 7} {
		h = ingest.RecordHeader{Origin: otlp.Origin{Org: "o"}, Kind: kind, Encoding: ingest.EncodingNone}
		if diff := cmp.Diff([]byte{1, signal, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 'o', 0, 0, 0}, h.Append(nil)); diff != "" {
			t.Errorf("%d: -want +got:\n%s", signal, diff)
		}
	}
	h = ingest.RecordHeader{
		Origin:   otlp.Origin{Org: "o"},
		Kind:     activity.SessionReplayEvents,
		Encoding: ingest.EncodingNone,
		Chunk:    activity.Chunk{SessionID: "s", Seq: 2, IsCheckpoint: true, EventCount: 3, DurationMs: 4, ByteSize: 300},
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
		"newer version":    {change(0, 3), "version 3"},
		"version 0":        {change(0, 0), "version 0"},
		"no policies":      {append(change(0, 2), 0), "ends too early"},
		"metrics sampled":  {append(change(0, 2), 16), "ends too early"},
		"unknown signal":   {change(1, 9), "signal 9"},
		"unknown encoding": {change(2, 0), "encoding 0"},
		"left over":        {append(bytes.Clone(good), 0), "1 bytes are left over"},
	} {
		if _, err := ingest.ParseRecordHeader(c.header); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// TestRecordHeaderPolicies pins the stored form of policies. Policies that make no difference are not stored.
func TestRecordHeaderPolicies(t *testing.T) {
	base := ingest.RecordHeader{Origin: otlp.Origin{Org: "o"}, Signal: otlp.Traces, Encoding: ingest.EncodingNone}
	rest := []byte{1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 'o', 0, 0, 0}
	v1, v2 := slices.Concat([]byte{1}, rest), slices.Clip(slices.Concat([]byte{2}, rest))
	with := func(change func(*ingest.RecordHeader)) ingest.RecordHeader { h := base; change(&h); return h }
	for name, c := range map[string]struct {
		header ingest.RecordHeader
		want   []byte
	}{
		"none": {base, v1},
		"all": {with(func(h *ingest.RecordHeader) {
			h.Sampling = otlp.Sampling{Ratio: 0.5, KeepErrors: true, KeepSlowNano: 300}
			h.Mappings = []otlp.Mapping{{Source: "a", Target: "b"}, {Context: otlp.ResourceContext, Source: "c", Target: "d", Move: true}}
			h.NoProductEvents = true
		}), append(v2, 31, 0, 0, 0, 0, 0, 0, 0xe0, 0x3f, 0xac, 2, 2, 0, 1, 'a', 1, 'b', 3, 1, 'c', 1, 'd')},
		"ratio only":   {with(func(h *ingest.RecordHeader) { h.Sampling.Ratio = 0.5 }), append(v2, 1, 0, 0, 0, 0, 0, 0, 0xe0, 0x3f)},
		"a ratio of 1": {with(func(h *ingest.RecordHeader) { h.Sampling = otlp.Sampling{Ratio: 1, KeepErrors: true, KeepSlowNano: 5} }), v1},
		"no ratio":     {with(func(h *ingest.RecordHeader) { h.Sampling = otlp.Sampling{KeepErrors: true} }), v1},
		"not a ratio":  {with(func(h *ingest.RecordHeader) { h.Sampling = otlp.Sampling{Ratio: math.NaN()} }), v1},
		"logs have no sampling": {
			ingest.RecordHeader{
				Origin: otlp.Origin{Org: "o", Sampling: otlp.Sampling{Ratio: 0.5}, Mappings: mappings()}, Signal: otlp.Logs,
				Encoding: ingest.EncodingNone,
			},
			append([]byte{1, 2}, rest[1:]...),
		},
	} {
		if diff := cmp.Diff(c.want, c.header.Append(nil)); diff != "" {
			t.Errorf("%s: -want +got:\n%s", name, diff)
		}
	}
	for name, bad := range map[string][]byte{
		"no flags": append(v2, 0), "unknown flag": append(v2, 32), "keep errors alone": append(v2, 2), "keep slow alone": append(v2, 4, 1),
		"a ratio of 1": append(v2, 1, 0, 0, 0, 0, 0, 0, 0xf0, 0x3f), "no mappings": append(v2, 8, 0),
		"unknown mapping flag": append(v2, 8, 1, 4, 0, 0),
		"slow by 0":            append(v2, 5, 0, 0, 0, 0, 0, 0, 0xe0, 0x3f, 0), "too many mappings": append(v2, 8, 0xff, 0xff, 3, 0, 0, 0),
	} {
		if h, err := ingest.ParseRecordHeader(bytes.Clone(bad)); err == nil {
			t.Errorf("%s reads as %+v", name, h)
		}
	}
}

// FuzzParseRecordHeader: no input causes a panic, and each accepted header has exactly one form.
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
		h := ingest.RecordHeader{Origin: otlp.Origin{Org: org}, Signal: otlp.Traces, Encoding: e, ReceivedUnixNano: 1790000000000000000}
		return h.Append(nil)
	}
	// The set holds the rows and rollups of other records. They must stay unchanged.
	batch := ingest.NewBatch(d)
	metrics := ingest.RecordHeader{
		Origin: otlp.Origin{Org: org, Attributes: []otlp.ResourceAttribute{{Key: "team", Value: "checkout"}}},
		Signal: otlp.Metrics, Encoding: ingest.EncodingNone, ReceivedUnixNano: nowNano(),
	}
	if err := errors.Join(batch.Decode(head(ingest.EncodingNone), trace), batch.Decode(metrics.Append(nil), wire(t, points()))); err != nil {
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
		if err := batch.Decode(c.header, c.payload); err == nil {
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
			Origin: otlp.Origin{
				Org:        org,
				KeyType:    otlp.KeyCustom,
				KeyID:      "ingk_1",
				Attributes: []otlp.ResourceAttribute{{Key: "team", Value: "checkout"}},
				Mappings: []otlp.Mapping{
					{Source: "http.route", Target: "route", Move: true},
					{Context: otlp.ResourceContext, Source: "service.name", Target: "http.route"},
				},
				Sampling: otlp.Sampling{Ratio: 0.5, KeepErrors: true, KeepSlowNano: 1},
			},
			Signal:           signal,
			Encoding:         ingest.EncodingNone,
			ReceivedUnixNano: nowNano(),
		}
		var set blocks.Set
		stamp := otlp.Stamp{Origin: h.Origin, ReceivedUnixNano: h.ReceivedUnixNano}
		if _, err := otlp.Walk(signal, body, &stamp, &set); err != nil {
			t.Fatal(err)
		}
		if err := attached.Add(&set); err != nil {
			t.Fatal(err)
		}
		if err := decoded.Decode(h.Append(nil), body); err != nil {
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
	if err := attached.Add(otherAttachment{}); err == nil {
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

type otherAttachment struct{}

func (otherAttachment) Bytes() int { return 0 }
func (otherAttachment) Release()   {}
