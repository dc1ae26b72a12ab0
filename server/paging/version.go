package paging

import (
	"strconv"
	"strings"
)

const versionPrefix = "ver_"

// FormatVersion writes the cursor of a history. It continues below the last version of a page.
func FormatVersion(number int) string {
	return versionPrefix + strconv.FormatInt(int64(number), 36)
}

// ParseVersion reads a cursor of FormatVersion; 0 means the first page.
func ParseVersion(cursor *string) (int, error) {
	if cursor == nil {
		return 0, nil
	}
	digits, ok := strings.CutPrefix(*cursor, versionPrefix)
	n, err := strconv.ParseInt(digits, 36, 32)
	if !ok || err != nil || FormatVersion(int(n)) != *cursor || n <= 0 {
		return 0, errCursor()
	}
	return int(n), nil
}
