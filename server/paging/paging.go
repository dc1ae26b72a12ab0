// Package paging reads page sizes and cursors, and writes cursors. A malformed one gives an *apierr.Error that names the parameter.
package paging

import (
	"encoding/base64"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/limits"
)

// DefaultLimit is the page size of every list.
const DefaultLimit = limits.DefaultPage

// maxCursorLength bounds the cost of reading a cursor. Its longest part is a service name.
const maxCursorLength = 4096

// Limit returns the page size of a request, or DefaultLimit. The contract bounds the limit of every request, and the rpc chain has
// checked it.
func Limit(limit *int32) int {
	if limit == nil {
		return DefaultLimit
	}
	return int(*limit)
}

const offsetPrefix = "off_"

// FormatOffset writes the cursor of a list that is paged by position.
func FormatOffset(offset int) string {
	return offsetPrefix + strconv.FormatInt(int64(offset), 36)
}

// ParseOffset reads a cursor of FormatOffset; nil means the first page.
func ParseOffset(cursor *string) (int, error) {
	if cursor == nil {
		return 0, nil
	}
	digits, ok := strings.CutPrefix(*cursor, offsetPrefix)
	n, err := strconv.ParseInt(digits, 36, 32)
	// Comparing with FormatOffset refuses other spellings of the number, such as a sign or leading zeros.
	if !ok || err != nil || FormatOffset(int(n)) != *cursor || n < 0 {
		return 0, errCursor()
	}
	return int(n), nil
}

func errCursor() *apierr.Error {
	return apierr.New(apierr.ParameterInvalid, "cursor did not come from this list. Pass next_cursor of the previous page, or leave it out.",
		apierr.Param("cursor"))
}

func formatKey(prefix string, parts ...string) string {
	text, err := json.Marshal(parts)
	if err != nil {
		panic(err) // a list of strings always marshals
	}
	return prefix + base64.RawURLEncoding.EncodeToString(text)
}

func parseKey(prefix, cursor string, parts int) ([]string, error) {
	body, ok := strings.CutPrefix(cursor, prefix)
	if !ok || len(cursor) > maxCursorLength {
		return nil, errKeyset()
	}
	text, err := base64.RawURLEncoding.Strict().DecodeString(body)
	if err != nil {
		return nil, errKeyset()
	}
	var key []string
	if json.Unmarshal(text, &key) != nil || len(key) != parts {
		return nil, errKeyset()
	}
	return key, nil
}

func errKeyset() *apierr.Error {
	return apierr.New(apierr.CursorInvalid, "cursor did not come from this search. Pass next_cursor of the previous page, or leave it out.",
		apierr.Param("cursor"))
}

func errSort(sort string) *apierr.Error {
	return apierr.New(apierr.CursorSortMismatch,
		"cursor belongs to a list that is sorted by "+sort+". Ask for that order, or begin with the first page.", apierr.Param("cursor"))
}
