package blocks

import (
	"cmp"
	"slices"

	"github.com/svc-observability/svc/server/warehouse/native"
)

// Signal is a value of attribute_keys.Signal.
type Signal uint8

// Signals.
const (
	Traces Signal = iota
	LogRecords
	Metrics
)

// Scope is a value of attribute_keys.Scope: the kind of item that had the attribute.
type Scope uint8

// Scopes.
const (
	OnResource Scope = iota
	OnSpan
	OnLog
	OnMetric
	OnEvent
	OnLink
)

// ValueType is a value of attribute_keys.ValueType.
type ValueType uint8

// Value types. An attribute without a value counts as a string, which is how it is stored.
const (
	StringValue ValueType = iota
	IntValue
	DoubleValue
	BoolValue
	BytesValue
	ArrayValue
	KvlistValue
	// ValueTypes is the number of value types.
	ValueTypes = iota
)

// attributeKeyRows are the columns of the table attribute_keys. The values are numbered like Signal, Scope and ValueType.
type attributeKeyRows struct {
	native.Block `table:"attribute_keys"`

	OrgID      *native.LowCardinality `ch:"OrgId"`
	Hour       *native.UInt32         `ch:"Hour" type:"DateTime('UTC')"`
	Signal     *native.LowCardinality `ch:"Signal" values:"traces,logs,metrics"`
	Scope      *native.LowCardinality `ch:"Scope" values:"resource,span,log,metric,event,link"`
	Key        *native.LowCardinality `ch:"Key"`
	ValueType  *native.LowCardinality `ch:"ValueType" values:"string,int,double,bool,bytes,array,kvlist"`
	UsageCount *native.UInt64         `ch:"UsageCount"`
}

// AttributeKeys counts the uses of attribute keys, by hour. It is the table attribute_keys.
type AttributeKeys struct {
	texts native.LowCardinality
	index map[attributeKey]int32
	rows  []attributeCount
}

type attributeKey struct {
	org, key, hour uint32
	signal         Signal
	scope          Scope
	typ            ValueType
}

type attributeCount struct {
	attributeKey
	count uint64
}

// Add counts uses of a key in an hour, given in seconds since 1970.
func (a *AttributeKeys) Add(org []byte, hour uint32, signal Signal, scope Scope, key []byte, typ ValueType, uses uint64) {
	k := attributeKey{a.texts.Intern(org), a.texts.Intern(key), hour, signal, scope, typ}
	if i, ok := a.index[k]; ok {
		a.rows[i].count += uses
		return
	}
	if a.index == nil {
		a.index = make(map[attributeKey]int32)
	}
	a.index[k] = int32(len(a.rows))
	a.rows = append(a.rows, attributeCount{k, uses})
}

// AppendFrom adds the counts of another table.
func (a *AttributeKeys) AppendFrom(other *AttributeKeys) {
	for i := range other.rows {
		r := &other.rows[i]
		a.Add(other.texts.Key(r.org), r.hour, r.signal, r.scope, other.texts.Key(r.key), r.typ, r.count)
	}
}

// Reset forgets all counts.
func (a *AttributeKeys) Reset() {
	a.texts.Reset()
	a.index, a.rows = resetIndex(a.index, a.rows)
}

const (
	attributeCountSize = 64
	catalogEntrySize   = 128
	keepRollup         = 1 << 12
)

func resetIndex[K comparable, R any](index map[K]int32, rows []R) (map[K]int32, []R) {
	if cap(rows) > keepRollup {
		return nil, nil
	}
	clear(index)
	return index, rows[:0]
}

func (a *AttributeKeys) bytes() int { return attributeCountSize*len(a.rows) + a.texts.Bytes() }

func (a *AttributeKeys) block() *native.Block {
	order := sorted(a.rows, func(x, y *attributeCount) int {
		return cmp.Or(
			compareText(&a.texts, x.org, y.org), cmp.Compare(x.hour, y.hour), cmp.Compare(x.signal, y.signal),
			cmp.Compare(x.scope, y.scope), compareText(&a.texts, x.key, y.key), cmp.Compare(x.typ, y.typ))
	})
	t, block := native.Make[attributeKeyRows]()
	for _, i := range order {
		r := &a.rows[i]
		t.OrgID.Append(a.texts.Key(r.org))
		t.Hour.Append(r.hour)
		t.Signal.AppendID(uint32(r.signal))
		t.Scope.AppendID(uint32(r.scope))
		t.Key.Append(a.texts.Key(r.key))
		t.ValueType.AppendID(uint32(r.typ))
		t.UsageCount.Append(r.count)
	}
	return block
}

func compareText(texts *native.LowCardinality, x, y uint32) int {
	if x == y {
		return 0
	}
	return slices.Compare(texts.Key(x), texts.Key(y))
}

// sorted returns the row numbers in sorted order. It does not move the rows, because later additions rely on their positions.
func sorted[R any](rows []R, compare func(x, y *R) int) []int {
	order := make([]int, len(rows))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(x, y int) int { return compare(&rows[x], &rows[y]) })
	return order
}
