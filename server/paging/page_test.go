package paging

import (
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-observability/svc/server/apierr"
)

// walk reads a list page by page, as a caller does.
func walk(t *testing.T, limit int32, read func(Page) ([]int, *string)) (all []int, pages int) {
	t.Helper()
	var cursor *string
	for {
		page, err := NewPage(&limit, cursor)
		if err != nil {
			t.Fatal(err)
		}
		data, next := read(page)
		if len(data) > int(limit) {
			t.Fatalf("a page of %d has %d rows", limit, len(data))
		}
		all, pages = append(all, data...), pages+1
		if next == nil {
			return all, pages
		}
		cursor = next
	}
}

func TestPages(t *testing.T) {
	for _, tc := range []struct{ rows, limit, pages int }{
		{0, 1, 1},
		{1, 1, 1},
		{3, 1, 3},
		{4, 2, 2},
		{5, 2, 3},
		{100, 100, 1},
		{101, 100, 2},
	} {
		list := make([]int, tc.rows)
		for i := range list {
			list[i] = i
		}
		for name, read := range map[string]func(Page) ([]int, *string){
			"cut":  func(p Page) ([]int, *string) { return Cut(p, list[p.Offset:min(p.Offset+p.Want(), len(list))]) },
			"part": func(p Page) ([]int, *string) { return Part(p, list) },
		} {
			if all, pages := walk(t, int32(tc.limit), read); pages != tc.pages || !cmp.Equal(all, append([]int(nil), list...)) {
				t.Errorf("%s: %d rows by %d: %d pages with %v", name, tc.rows, tc.limit, pages, all)
			}
		}
	}
	if data, next := Part(Page{Offset: 9, Limit: 2}, []int{1, 2}); len(data) != 0 || next != nil {
		t.Errorf("behind the end: %v, %v", data, next)
	}
}

func TestCutAfter(t *testing.T) {
	data, next := CutAfter(2, []int{7, 8, 9}, strconv.Itoa)
	if !cmp.Equal(data, []int{7, 8}) || next == nil || *next != "8" {
		t.Errorf("%v, %v", data, next)
	}
	if data, next := CutAfter(3, []int{7, 8, 9}, strconv.Itoa); len(data) != 3 || next != nil {
		t.Errorf("%v, %v", data, next)
	}
}

func TestNewPageRefuses(t *testing.T) {
	_, err := NewPage(nil, new("ver_1"))
	wantError(t, err, apierr.ParameterInvalid)
	if p, err := NewPage(nil, nil); err != nil || p != (Page{Limit: DefaultLimit}) {
		t.Errorf("%v, %v", p, err)
	}
}
