package otlp

import (
	"cmp"
	"math"
	"strings"
	"unicode/utf8"
	"unsafe"

	"github.com/svc-observability/svc/server/errorgroup"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/warehouse/blocks"
	"github.com/svc-observability/svc/server/warehouse/native"
)

// Spans and log records with an error get the fingerprint of its group. It is made of the stored values, so it can be made again from a
// row. Rows without an error cost a few comparisons.

const (
	exceptionEvent   = "exception"
	exceptionType    = "exception.type"
	exceptionMessage = "exception.message"
	exceptionStack   = "exception.stacktrace"
	grpcStatus       = "rpc.grpc.status_code"
	newGRPCStatus    = "rpc.response.status_code"
)

// exception holds the attributes of the current item's exception. Columns grow while an item is read, so these are copies.
type exception struct {
	given               bool
	typ, message, stack []byte
	grpc, newGRPC       []byte
	group               errorgroup.Grouper
	logKeys             []bool
	// at is the time of the exception, 0 if it is not known.
	at uint64
	// sums are those of the request.
	sums                 blocks.ErrorSums
	take, takeGRPCStatus func(key, value []byte)
}

func (x *exception) begin() {
	x.logKeys = x.logKeys[:0]
	x.sums.Reset()
	if x.take == nil {
		x.take = func(key, value []byte) {
			switch string(key) {
			case exceptionType:
				x.typ = append(x.typ[:0], value...)
			case exceptionMessage:
				x.message = append(x.message[:0], value...)
			case exceptionStack:
				x.stack = append(x.stack[:0], value...)
			}
		}
		x.takeGRPCStatus = func(key, value []byte) {
			switch string(key) {
			case grpcStatus:
				x.grpc = append(x.grpc[:0], value...)
			case newGRPCStatus:
				x.newGRPC = append(x.newGRPC[:0], value...)
			}
		}
	}
}

func (x *exception) forget() {
	x.group.Forget()
	x.sums.Reset()
	if cap(x.typ)+cap(x.message)+cap(x.stack)+cap(x.grpc)+cap(x.newGRPC) > maxScratch {
		x.typ, x.message, x.stack, x.grpc, x.newGRPC = nil, nil, nil, nil, nil
	}
	if cap(x.logKeys) > maxScratch {
		x.logKeys = nil
	}
}

// read takes the exception from the row closed last.
func (x *exception) read(m *native.Map) {
	x.given = true
	x.typ, x.message, x.stack = x.typ[:0], x.message[:0], x.stack[:0]
	m.EachOfRow(x.take)
}

// errorColumns are the columns that the group of an error fills.
type errorColumns struct {
	fingerprint  *native.UInt64
	frame, label *native.String
	variant      *native.LowCardinality
}

func (c errorColumns) appendNone() {
	c.fingerprint.Append(0)
	c.frame.Append(nil)
	c.label.Append(nil)
	c.variant.AppendID(0)
}

func (c errorColumns) append(g errorgroup.Group) {
	c.fingerprint.Append(g.Hash)
	c.frame.AppendString(g.Frame)
	c.label.AppendString(g.Label)
	c.variant.AppendString(string(g.Variant))
}

// spanError fills the columns of the span's error. The attributes of the span are complete.
func (w *walker) spanError(t *blocks.Spans, failed bool, name, message []byte, httpStatus uint16, start int64, rate float64) bool {
	columns := errorColumns{t.ErrorFingerprint, t.ErrorFrame, t.ErrorLabel, t.ErrorVariant}
	x := &w.exception
	if !failed && !x.given {
		columns.appendNone()
		return true
	}
	e := errorgroup.Exception{StatusMessage: view(message), SpanName: view(name), HTTPStatus: httpStatus}
	if !x.given || len(x.typ)+len(x.message)+len(x.stack) == 0 {
		x.grpc, x.newGRPC = x.grpc[:0], x.newGRPC[:0]
		t.SpanAttributes.EachOfRow(x.takeGRPCStatus)
		if e.GRPCStatus = view(x.grpc); len(x.grpc) == 0 {
			e.GRPCStatus = view(x.newGRPC)
		}
	}
	g, ok := w.appendError(columns, &e)
	if failed {
		at := start + int64(t.DurationNano.Rows()[t.DurationNano.Len()-1])
		if x.given && x.at > 0 && x.at <= math.MaxInt64 {
			at = int64(x.at)
		}
		w.sumError(&e, g, at, rate)
	}
	return ok
}

// sumError adds the error to the sums of the request.
func (w *walker) sumError(e *errorgroup.Exception, g errorgroup.Group, at int64, rate float64) {
	x := &w.exception
	sum := blocks.ErrorSum{
		Org: string(w.org), Service: string(w.resource.service), Hash: g.Hash, Message: shortText(cmp.Or(e.Message, e.StatusMessage)), Count: 1,
		Weight: rate,
		First:  at, Last: at,
		Versions:     map[string]int64{string(w.resource.version): at},
		Environments: map[string]int64{string(w.resource.environment): at},
	}
	if !x.sums.Has(sum.Org, g.Hash) {
		sum.Type, sum.Label, sum.Frame = shortText(e.Type), strings.Clone(g.Label), strings.Clone(g.Frame)
		sum.Grouping = x.group.Explain(g.Variant).JSON()
	}
	x.sums.Add(&sum)
}

// sumText is the longest type and message of a sum, in bytes.
const sumText = limits.ErrorSumText

func shortText(text string) string {
	if len(text) > sumText {
		text = text[:sumText]
		for len(text) > 0 && !utf8.RuneStart(text[len(text)-1]) {
			text = text[:len(text)-1]
		}
		text = text[:max(len(text)-1, 0)]
	}
	return strings.ToValidUTF8(strings.Clone(text), "\uFFFD")
}

// logError fills the columns of the log record's error. The attributes of the record are complete.
func (w *walker) logError(t *blocks.Logs, eventName []byte, at int64) bool {
	columns := errorColumns{t.ErrorFingerprint, t.ErrorFrame, t.ErrorLabel, t.ErrorVariant}
	x := &w.exception
	x.given = false
	for _, id := range t.LogAttributes.RowKeys() {
		for int(id) >= len(x.logKeys) {
			x.logKeys = append(x.logKeys, string(t.LogAttributes.KeyName(uint32(len(x.logKeys)))) == exceptionType)
		}
		x.given = x.given || x.logKeys[id]
	}
	if !x.given {
		columns.appendNone()
		return true
	}
	x.read(t.LogAttributes)
	e := errorgroup.Exception{SpanName: view(eventName)}
	g, ok := w.appendError(columns, &e)
	w.sumError(&e, g, at, 1)
	return ok
}

func (w *walker) appendError(columns errorColumns, e *errorgroup.Exception) (errorgroup.Group, bool) {
	x := &w.exception
	e.Org, e.Service = view(w.org), view(w.resource.service)
	if x.given {
		e.Type, e.Message, e.Stack = view(x.typ), view(x.message), view(x.stack)
	}
	g := x.group.Of(e)
	columns.append(g)
	return g, w.grow(2 * (len(g.Frame) + len(g.Label)))
}

// view returns a text that shares the bytes. It is used only until the next item is read, and the columns copy it.
func view(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
