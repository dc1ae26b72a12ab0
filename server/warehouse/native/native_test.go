package native_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/ClickHouse/ch-go/proto"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/svc-observability/svc/server/warehouse/native"
	"github.com/svc-observability/svc/server/warehouse/native/nativetest"
)

// table is a block with a column of every type, and its expected rows.
type table struct {
	native.Block
	text    *native.String
	low     *native.LowCardinality
	u8      *native.UInt8
	flag    *native.UInt8
	u64     *native.UInt64
	i32     *native.Int32
	f64     *native.Float64
	null    *native.NullableFloat64
	seconds *native.UInt32
	nanos   *native.Int64
	attrs   *native.Map
	numbers *native.Array[*native.UInt64]
	texts   *native.Array[*native.String]
	names   *native.Array[*native.LowCardinality]
	maps    *native.Array[*native.Map]
	want    []map[string]any
}

func newTable() *table {
	t := &table{
		text: native.NewString(), low: native.NewLowCardinality("fixed"), u8: native.NewUInt8(), flag: native.NewBool(), u64: native.NewUInt64(),
		i32: native.NewInt32(), f64: native.NewFloat64(), null: native.NewNullableFloat64(), seconds: native.NewDateTime(),
		nanos: native.NewDateTime64(),
		attrs: native.NewMap(), numbers: native.NewArray(native.NewUInt64()), texts: native.NewArray(native.NewString()),
		names: native.NewArray(native.NewLowCardinality()), maps: native.NewArray(native.NewMap()),
	}
	for i, c := range []native.Column{
		t.text, t.low, t.u8, t.flag, t.u64, t.i32, t.f64, t.null, t.seconds, t.nanos, t.attrs, t.numbers, t.texts, t.names, t.maps,
	} {
		t.Fields = append(t.Fields, native.Field{Name: fmt.Sprintf("c%d", i), Column: c})
	}
	return t
}

func addMap(m *native.Map, r *rand.Rand, distinct int) map[string]string {
	want := map[string]string{}
	m.BeginRow()
	for range r.IntN(6) {
		k, v := fmt.Sprintf("key.%d", r.IntN(distinct)), strings.Repeat("v", r.IntN(200))
		m.Key([]byte(k), 0)
		m.Values.Append([]byte(v))
		want[k] = v
	}
	m.EndRow()
	return want
}

// add appends random rows. distinct is the number of different values for the dictionaries.
func (t *table) add(r *rand.Rand, rows, distinct int) {
	for range rows {
		n := r.IntN(distinct)
		s := strings.Repeat("x", r.IntN(300))
		t.text.AppendString(s)
		low := fmt.Sprintf("value %d", n)
		if n%7 == 0 {
			low = "fixed"
			t.low.AppendID(0)
		} else {
			t.low.AppendString(low)
		}
		t.u8.Append(uint8(n))
		native.AppendBool(t.flag, n%2 == 0)
		t.u64.Append(uint64(n) << 40)
		t.i32.Append(int32(-n))
		t.f64.Append(float64(n) / 3)
		t.null.Append(float64(n), n%3 != 0)
		t.seconds.Append(uint32(n))
		t.nanos.Append(int64(n) * 1e9)
		want := map[string]any{
			"c0": s, "c1": low, "c2": uint8(n), "c3": n%2 == 0, "c4": uint64(n) << 40, "c5": int32(-n), "c6": float64(n) / 3,
			"c8": int64(n) * 1e9, "c9": int64(n) * 1e9,
		}
		want["c7"] = proto.Nullable[float64]{}
		if n%3 != 0 {
			want["c7"] = proto.NewNullable(float64(n))
		}
		want["c10"] = addMap(t.attrs, r, distinct)
		var numbers []uint64
		var texts, names []string
		var maps []map[string]string
		for range r.IntN(3) {
			m := r.IntN(distinct)
			t.numbers.Elements.Append(uint64(m))
			t.texts.Elements.AppendString(fmt.Sprint(m))
			t.names.Elements.AppendString(fmt.Sprint("n", m))
			numbers, texts, names = append(numbers, uint64(m)), append(texts, fmt.Sprint(m)), append(names, fmt.Sprint("n", m))
			maps = append(maps, addMap(t.maps.Elements, r, distinct))
		}
		t.numbers.EndRow()
		t.texts.EndRow()
		t.names.EndRow()
		t.maps.EndRow()
		want["c11"], want["c12"], want["c13"], want["c14"] = numbers, texts, names, maps
		t.want = append(t.want, want)
	}
}

func (t *table) check(tb testing.TB) {
	tb.Helper()
	if d := cmp.Diff(t.want, nativetest.Rows(tb, t), cmpopts.EquateEmpty()); d != "" {
		tb.Errorf("rows differ: %.2000s", d)
	}
}

func TestBlock(t *testing.T) {
	for _, c := range []struct {
		name           string
		rows, distinct int
	}{{"empty", 0, 1}, {"one", 1, 1}, {"byte wide", 700, 100}, {"two bytes wide", 800, 20000}} {
		t.Run(c.name, func(t *testing.T) {
			b := newTable()
			b.add(rand.New(rand.NewPCG(1, 2)), c.rows, c.distinct)
			if b.Rows() != c.rows {
				t.Errorf("Rows = %d", b.Rows())
			}
			b.check(t)
		})
	}
}

func TestDictionaryWidths(t *testing.T) {
	for _, n := range []int{255, 256, 257, 65536, 65537} {
		c := native.NewLowCardinality()
		want := make([]map[string]any, n)
		for i := range n {
			c.AppendString(fmt.Sprint(i))
			want[i] = map[string]any{"c": fmt.Sprint(i)}
		}
		b := &native.Block{Fields: []native.Field{{Name: "c", Column: c}}}
		if d := cmp.Diff(want, nativetest.Rows(t, b)); d != "" {
			t.Errorf("%d values: %.500s", n, d)
		}
		b.Reset()
		c.AppendString("again")
		if d := cmp.Diff([]map[string]any{{"c": "again"}}, nativetest.Rows(t, b)); d != "" {
			t.Error(d)
		}
	}
}

func TestMergeAndTruncate(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	all, one := newTable(), newTable()
	for range 60 {
		one.Reset()
		one.want = nil
		one.add(r, r.IntN(20), 1+r.IntN(300))
		all.AppendFrom(&one.Block)
		all.want = append(all.want, one.want...)
		if r.IntN(4) == 0 {
			n := r.IntN(len(all.want) + 1)
			all.Truncate(n)
			all.want = all.want[:n]
		}
		all.add(r, r.IntN(3), 50)
	}
	all.check(t)
	all.Truncate(0)
	all.want = nil
	all.add(r, 10, 5)
	all.check(t)
}

func TestMapLastEntryWins(t *testing.T) {
	m := native.NewMap()
	var want []map[string]any
	for row := range 4 {
		m.BeginRow()
		for i, k := range []string{"a", "b", "a", "c", "b", "a"} {
			m.Key([]byte(k), uint8(i))
			m.Values.AppendString(fmt.Sprint(k, row, i))
		}
		if !m.EndRow() {
			t.Error("EndRow did not report dropped entries")
		}
		if d := cmp.Diff([]uint8{3, 4, 5}, m.RowTags()); d != "" {
			t.Error(d)
		}
		want = append(want, map[string]any{
			"m": map[string]string{"a": fmt.Sprint("a", row, 5), "b": fmt.Sprint("b", row, 4), "c": fmt.Sprint("c", row, 3)},
		})
	}
	m.Repeat(m.LastRow())
	want = append(want, want[3])
	mark := m.Mark()
	m.BeginRow()
	m.Key([]byte("gone"), 0)
	m.Values.AppendString("x")
	m.Rollback(mark)
	b := &native.Block{Fields: []native.Field{{Name: "m", Column: m}}}
	if d := cmp.Diff(want, nativetest.Rows(t, b)); d != "" {
		t.Error(d)
	}
}

// TestMapRemove: a removed key disappears with all its entries, can be added again, and does not affect the next row.
func TestMapRemove(t *testing.T) {
	m := native.NewMap()
	add := func(key, value string) uint32 {
		id := m.Key([]byte(key), uint8(len(value)))
		m.Values.AppendString(value)
		return id
	}
	m.BeginRow()
	a, b := add("a", "1"), add("b", "22")
	add("a", "333")
	if !m.Has(a) || !m.Has(b) || m.Has(b+1) {
		t.Error("Has is wrong about an open row")
	}
	m.Remove(a)
	if m.Has(a) || !m.Has(b) {
		t.Error("Has is wrong after Remove")
	}
	add("c", "4444")
	if !m.EndRow() || !cmp.Equal(m.RowTags(), []uint8{2, 4}) {
		t.Errorf("tags %v", m.RowTags())
	}
	m.BeginRow()
	if m.Has(b) {
		t.Error("a key of the row before")
	}
	add("a", "1")
	m.Remove(a)
	add("a", "22")
	if !m.Has(a) || !m.EndRow() {
		t.Error("a key that came again after Remove")
	}
	m.BeginRow()
	add("a", "1")
	m.Remove(a)
	m.EndRow()
	mark := m.Mark()
	m.BeginRow()
	add("a", "1")
	m.Remove(a)
	m.Rollback(mark)
	m.BeginRow()
	add("a", "last")
	if m.EndRow() {
		t.Error("an even row lost entries")
	}
	want := []map[string]any{
		{"m": map[string]string{"b": "22", "c": "4444"}},
		{"m": map[string]string{"a": "22"}},
		{"m": map[string]string{}},
		{"m": map[string]string{"a": "last"}},
	}
	if d := cmp.Diff(want, nativetest.Rows(t, &native.Block{Fields: []native.Field{{Name: "m", Column: m}}})); d != "" {
		t.Error(d)
	}
	// Repeated removals from a row take memory once.
	if n := testing.AllocsPerRun(100, func() {
		m.Reset()
		m.BeginRow()
		m.Remove(m.Key([]byte("a"), 0))
		m.Values.Append(nil)
		m.EndRow()
	}); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestColumnsDoNotKeepMemory(t *testing.T) {
	in := []byte("value")
	low, text, m := native.NewLowCardinality(), native.NewString(), native.NewMap()
	low.Append(in)
	text.Append(in)
	m.BeginRow()
	m.Key(in, 0)
	m.Values.Append(in)
	m.EndRow()
	copy(in, "?????")
	b := &native.Block{Fields: []native.Field{{Name: "l", Column: low}, {Name: "t", Column: text}, {Name: "m", Column: m}}}
	want := []map[string]any{{"l": "value", "t": "value", "m": map[string]string{"value": "value"}}}
	if d := cmp.Diff(want, nativetest.Rows(t, b)); d != "" {
		t.Error(d)
	}
}

type brokenWriter struct{ left int }

func (w *brokenWriter) Write(p []byte) (int, error) {
	if w.left -= len(p); w.left < 0 {
		return 0, errors.New("disk full")
	}
	return len(p), nil
}

func TestWriteErrors(t *testing.T) {
	b := newTable()
	b.add(rand.New(rand.NewPCG(5, 6)), 2000, 100)
	var whole bytes.Buffer
	if _, err := b.WriteTo(&whole); err != nil {
		t.Fatal(err)
	}
	for left := 0; left < whole.Len(); left += whole.Len() / 7 {
		if _, err := b.WriteTo(&brokenWriter{left}); err == nil {
			t.Errorf("no error with room for %d bytes", left)
		}
	}
	b.u8.Append(1)
	if _, err := b.WriteTo(io.Discard); err == nil {
		t.Error("a block with uneven columns was written")
	}
}

func TestAppendHexAndInt(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for size := range 20 {
		id := make([]byte, size)
		for range 200 {
			for i := range id {
				id[i] = byte(random.Uint32())
			}
			c := native.NewString()
			c.AppendHex(id)
			if got, want := string(c.Last(2*size)), hex.EncodeToString(id); got != want || c.Len() != 1 || c.Bytes() != 1+2*size {
				t.Fatalf("%x is written %q", id, got)
			}
		}
	}
	for _, v := range []int64{0, 7, -1, 443, math.MaxInt64, math.MinInt64} {
		c := native.NewString()
		want := strconv.FormatInt(v, 10)
		if got := string(c.AppendInt(v)); got != want || c.Bytes() != 1+len(want) || c.Len() != 1 {
			t.Errorf("%d is written %q", v, got)
		}
	}
}

func TestSteadyStateAllocatesNothing(t *testing.T) {
	b := newTable()
	fill := func() {
		b.Reset()
		for i := range 200 {
			b.text.AppendHex([]byte{1, 2, byte(i)})
			b.low.Append([]byte("abc"))
			b.attrs.BeginRow()
			b.attrs.Key([]byte("key"), 1)
			b.attrs.Values.Append([]byte("value"))
			b.attrs.EndRow()
		}
	}
	fill()
	if n := testing.AllocsPerRun(20, fill); n > 0 {
		t.Errorf("%v allocations", n)
	}
}
