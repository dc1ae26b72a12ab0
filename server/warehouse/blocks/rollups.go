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

func signalNames() []string { return []string{"traces", "logs", "metrics"} }

// Scope is a value of attribute_keys.Scope: what an attribute was on.
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

func scopeNames() []string { return []string{"resource", "span", "log", "metric", "event", "link"} }

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
	// ValueTypes is how many there are.
	ValueTypes = iota
)

func valueTypeNames() []string {
	return []string{"string", "int", "double", "bool", "bytes", "array", "kvlist"}
}

// AttributeKeys counts which attribute keys were used, by hour: the table attribute_keys.
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

// AppendFrom adds the counts of another.
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
	org, hour, key := native.NewLowCardinality(), native.NewDateTime(), native.NewLowCardinality()
	signal, scope := native.NewLowCardinality(signalNames()...), native.NewLowCardinality(scopeNames()...)
	typ, count := native.NewLowCardinality(valueTypeNames()...), native.NewUInt64()
	for _, i := range order {
		r := &a.rows[i]
		org.Append(a.texts.Key(r.org))
		hour.Append(r.hour)
		signal.AppendID(uint32(r.signal))
		scope.AppendID(uint32(r.scope))
		key.Append(a.texts.Key(r.key))
		typ.AppendID(uint32(r.typ))
		count.Append(r.count)
	}
	return &native.Block{Fields: []native.Field{
		{Name: "OrgId", Column: org},
		{Name: "Hour", Column: hour},
		{Name: "Signal", Column: signal},
		{Name: "Scope", Column: scope},
		{Name: "Key", Column: key},
		{Name: "ValueType", Column: typ},
		{Name: "UsageCount", Column: count},
	}}
}

func compareText(texts *native.LowCardinality, x, y uint32) int {
	if x == y {
		return 0
	}
	return slices.Compare(texts.Key(x), texts.Key(y))
}

// sorted returns the row numbers in order; rows keep their place, which later additions rely on.
func sorted[R any](rows []R, compare func(x, y *R) int) []int {
	order := make([]int, len(rows))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(x, y int) int { return compare(&rows[x], &rows[y]) })
	return order
}
