package native

import (
	"fmt"
	"reflect"
	"strings"
)

// Make returns an empty table of the struct type T, and its Block, which T embeds with the tag `table:"name"`.
//
// T describes the table: each field with a tag `ch:"Name"` is a column, in the order of the fields, and Make gives it an empty
// column. Fields of an embedded struct count as fields of T. Two more tags add to the Go type of a column: `type` is the
// ClickHouse type, for numbers that stand for a time or a boolean, and `values` is a comma-separated list of the initial values
// of a LowCardinality.
//
// A description that Make cannot follow is a bug, and Make panics.
func Make[T any]() (*T, *Block) {
	t := new(T)
	b := &Block{}
	whole := describe(reflect.ValueOf(t).Elem(), b)
	if whole == nil || b.Name == "" {
		panic(fmt.Sprintf("native: %T embeds no Block with a tag `table`", t))
	}
	*whole = *b
	return t, whole
}

// describe makes the columns of a struct and adds them to b. It returns the Block that the struct embeds.
func describe(t reflect.Value, b *Block) (embedded *Block) {
	for i := range t.NumField() {
		field := t.Type().Field(i)
		if !field.IsExported() {
			panic(fmt.Sprintf("native: %s of %s is not exported", field.Name, t.Type()))
		}
		if whole, ok := t.Field(i).Addr().Interface().(*Block); ok {
			embedded, b.Name = whole, field.Tag.Get("table")
			continue
		}
		if field.Anonymous {
			describe(t.Field(i), b)
			continue
		}
		name := field.Tag.Get("ch")
		if name == "" {
			panic(fmt.Sprintf("native: %s of %s has no tag `ch`", field.Name, t.Type()))
		}
		column := newColumn(field.Type, field.Tag.Get("type"), field.Tag.Get("values"))
		t.Field(i).Set(reflect.ValueOf(column))
		b.Fields = append(b.Fields, Field{Name: name, Column: column})
	}
	return embedded
}

// newColumn makes an empty column of a pointer type.
func newColumn(pointer reflect.Type, typ, values string) Column {
	column, ok := reflect.New(pointer.Elem()).Interface().(Column)
	if !ok {
		panic(fmt.Sprintf("native: %s is not a column", pointer))
	}
	if c, ok := column.(interface{ declare(typ, values string) }); ok {
		c.declare(typ, values)
	}
	if typ != "" && column.Type() != typ {
		panic(fmt.Sprintf("native: %s is a column of %s, not of %s", pointer, column.Type(), typ))
	}
	return column
}

// declare gives a number its ClickHouse type, which must have the width of T.
func (c *Number[T]) declare(typ, _ string) {
	var known []string
	switch any(T(0)).(type) {
	case uint8:
		known = []string{"UInt8", "Bool"}
	case uint16:
		known = []string{"UInt16"}
	case uint32:
		known = []string{"UInt32", "DateTime('UTC')"}
	case uint64:
		known = []string{"UInt64"}
	case int32:
		known = []string{"Int32"}
	case int64:
		known = []string{"Int64", "DateTime64(9, 'UTC')"}
	case float64:
		known = []string{"Float64"}
	}
	for _, k := range known {
		if typ == k {
			c.typ = k
			return
		}
	}
	c.typ = known[0]
}

func (c *LowCardinality) declare(_, values string) {
	if values != "" {
		c.fixed = strings.Split(values, ",")
	}
	c.Reset()
}

// declare makes the elements. The type of the array, if given, determines the type of the elements.
func (c *Array[C]) declare(typ, values string) {
	elements := newColumn(reflect.TypeFor[C](), strings.TrimSuffix(strings.TrimPrefix(typ, "Array("), ")"), values)
	c.Elements = elements.(C)
}
