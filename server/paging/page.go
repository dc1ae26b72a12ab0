package paging

// Page is a part of a list that is paged by position.
type Page struct{ Offset, Limit int }

// NewPage reads the limit and the cursor of a request.
func NewPage(limit *int32, cursor *string) (Page, error) {
	offset, err := ParseOffset(cursor)
	return Page{Offset: offset, Limit: Limit(limit)}, err
}

// Want is how many rows to read from Offset: one more than the page holds, to learn whether another page follows.
func (p Page) Want() int { return p.Limit + 1 }

// Cut takes the page out of the Want rows that were read, and returns the cursor of the next page; nil after the last page.
func Cut[T any](p Page, rows []T) (data []T, next *string) {
	return CutAfter(p.Limit, rows, func(T) string { return FormatOffset(p.Offset + p.Limit) })
}

// Part is Cut for a list whose rows were all read.
func Part[T any](p Page, all []T) (data []T, next *string) {
	return Cut(p, all[min(p.Offset, len(all)):])
}

// CutAfter is Cut for a list whose cursor is the place of the last row of a page.
func CutAfter[T any](limit int, rows []T, cursor func(last T) string) (data []T, next *string) {
	if len(rows) <= limit {
		return rows, nil
	}
	place := cursor(rows[limit-1])
	return rows[:limit], &place
}
