package productevents

import (
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/warehouse/native"
)

// Attribute is an entry of a stored map.
type Attribute struct{ Key, Value string }

// Bounds of an entry, in bytes.
const (
	MaxAttributeKey   = limits.EventAttributeKey
	MaxAttributeValue = limits.EventAttributeValue
)

// DroppedKey marks a map that lost entries. Its value is their number. A cut value ends with an ellipsis.
const (
	DroppedKey = "svc_dropped_attributes_count"
	ellipsis   = "…"
)

// Limit applies the bounds of a map with the given number of entries. It keeps the first entries whose keys are neither empty nor
// too long, and cuts long values. It changes the list in place. It also counts the values that it cut and the entries that it
// dropped. The server reserves DroppedKey, so Limit removes a sender's entry of that key.
func Limit(all []Attribute, entries int) (kept []Attribute, cut, dropped int) {
	kept = all[:0]
	for _, a := range all {
		switch {
		case a.Key == DroppedKey:
			continue
		case a.Key == "" || len(a.Key) > MaxAttributeKey || len(kept) == entries:
			dropped++
			continue
		case len(a.Value) > MaxAttributeValue:
			cut++
			a.Value = Cut(a.Value, MaxAttributeValue-len(ellipsis)) + ellipsis
		}
		kept = append(kept, a)
	}
	if dropped > 0 {
		kept = append(kept, Attribute{DroppedKey, strconv.Itoa(dropped)})
	}
	return kept, cut, dropped
}

// AppendMap appends a row.
func AppendMap(c *native.Map, row []Attribute) {
	c.BeginRow()
	for _, a := range row {
		c.Key([]byte(a.Key), 0)
		c.Values.AppendString(a.Value)
	}
	c.EndRow()
}

// Cut shortens a text to at most limit bytes without splitting a character.
func Cut(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return s[:limit]
}

// SplitURL returns the host of a URL in lower case without its port, and the path. Both are empty if s is not a URL.
func SplitURL(s string) (host, path string) {
	u, err := url.Parse(s)
	if err != nil {
		return "", ""
	}
	return strings.ToLower(u.Hostname()), u.EscapedPath()
}
