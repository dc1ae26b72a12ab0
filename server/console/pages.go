package console

import (
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/svc-observability/svc/server/limits"
)

// page is an answer with a part of a list.
type page interface {
	proto.Message
	GetHasMore() bool
	GetNextCursor() string
}

// collect reads as many pages as the flags --limit and --offset need. The answer is the first page, with the rows of the others. Its
// has_more and next_cursor are those of the last page.
func collect[P page, T proto.Message](q *Query, ask func(limit int32, cursor *string) (P, error), data func(P) *[]T) (P, error) {
	want := q.Limit
	if want == 0 {
		want = limits.DefaultPage
	}
	want += q.Offset
	var cursor *string
	if q.Cursor != "" {
		cursor = &q.Cursor
	}
	var first P
	for got, n := 0, 0; ; n++ {
		res, err := ask(int32(min(want-got, limits.LargestPage)), cursor)
		if err != nil {
			return first, q.client.failure(err)
		}
		got += len(*data(res))
		if n == 0 {
			first = res
		} else {
			*data(first) = append(*data(first), *data(res)...)
			endOf(first, res)
		}
		if got >= want || !res.GetHasMore() || res.GetNextCursor() == "" {
			break
		}
		next := res.GetNextCursor()
		cursor = &next
	}
	list := data(first)
	*list = (*list)[min(q.Offset, len(*list)):]
	return first, nil
}

// endOf makes a page end where another does.
func endOf(into, from proto.Message) {
	to, of := into.ProtoReflect(), from.ProtoReflect()
	for _, name := range []protoreflect.Name{"has_more", "next_cursor"} {
		field := to.Descriptor().Fields().ByName(name)
		if of.Has(field) {
			to.Set(field, of.Get(field))
		} else {
			to.Clear(field)
		}
	}
}
