// Package nativetest reads Native blocks back for tests, with a decoder that shares no code with package native.
package nativetest

import (
	"bytes"
	"errors"
	"io"
	"reflect"
	"testing"
	"time"

	"github.com/ClickHouse/ch-go/proto"
)

// Rows decodes one block of revision 0 into rows by column name. Values are text, numbers, bool, proto.Nullable, map[string]string
// and slices of those; times are nanoseconds since 1970.
func Rows(tb testing.TB, block io.WriterTo) []map[string]any {
	tb.Helper()
	var buf bytes.Buffer
	n, err := block.WriteTo(&buf)
	if err != nil {
		tb.Fatal(err)
	}
	if n != int64(buf.Len()) {
		tb.Fatalf("WriteTo said %d bytes and wrote %d", n, buf.Len())
	}
	var results collector
	var b proto.Block
	r := proto.NewReader(&buf)
	if err := b.DecodeRawBlock(r, 0, &results); err != nil {
		tb.Fatalf("decode: %v", err)
	}
	if _, err := r.ReadByte(); !errors.Is(err, io.EOF) {
		tb.Fatalf("bytes after the block: %v", err)
	}
	rows := make([]map[string]any, b.Rows)
	for i := range rows {
		rows[i] = make(map[string]any, len(results.columns))
	}
	for _, c := range results.columns {
		data := any(c.Data)
		if auto, ok := data.(*proto.ColAuto); ok {
			data = auto.Data
		}
		row := reflect.ValueOf(data).MethodByName("Row")
		for i := range rows {
			rows[i][c.Name] = plain(row.Call([]reflect.Value{reflect.ValueOf(i)})[0].Interface())
		}
	}
	return rows
}

func plain(v any) any {
	switch v := v.(type) {
	case time.Time:
		return v.UnixNano()
	case []time.Time:
		out := make([]int64, len(v))
		for i := range v {
			out[i] = v[i].UnixNano()
		}
		return out
	default:
		return v
	}
}

// collector is a proto.Result that makes columns for the names and types in the block.
type collector struct {
	columns proto.Results
}

func (c *collector) DecodeResult(r *proto.Reader, _ int, b proto.Block) error {
	for range b.Columns {
		name, err := r.Str()
		if err != nil {
			return err
		}
		typ, err := r.Str()
		if err != nil {
			return err
		}
		data, err := column(proto.ColumnType(typ))
		if err != nil {
			return err
		}
		c.columns = append(c.columns, proto.ResultColumn{Name: name, Data: data})
		if b.Rows == 0 {
			continue
		}
		if s, ok := data.(proto.StateDecoder); ok {
			if err := s.DecodeState(r); err != nil {
				return err
			}
		}
		if err := data.DecodeColumn(r, b.Rows); err != nil {
			return err
		}
	}
	return nil
}

func column(typ proto.ColumnType) (proto.ColResult, error) {
	switch typ {
	case "LowCardinality(String)":
		return new(proto.ColStr).LowCardinality(), nil
	case "Array(LowCardinality(String))":
		return proto.NewArray(new(proto.ColStr).LowCardinality()), nil
	case "Map(LowCardinality(String), String)":
		return newMap(), nil
	case "Array(Map(LowCardinality(String), String))":
		return proto.NewArray[map[string]string](newMap()), nil
	}
	auto := &proto.ColAuto{}
	return auto, auto.Infer(typ)
}

func newMap() *proto.ColMap[string, string] {
	return proto.NewMap[string, string](new(proto.ColStr).LowCardinality(), new(proto.ColStr))
}
