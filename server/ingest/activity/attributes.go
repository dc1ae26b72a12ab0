package activity

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/svc-observability/svc/server/ingest/otlp"
	"github.com/svc-observability/svc/server/warehouse/native"
)

// attribute is an entry of a map, as stored.
type attribute struct{ key, value string }

// Bounds of a map.
const (
	maxTraits             = 24
	maxAttributes         = 32
	maxResourceAttributes = 64
	maxAttributeKey       = 64
	maxAttributeValue     = 1024
)

// droppedKey marks a map that had to lose entries; its value is their number. A value that had to be cut ends with ellipsis.
const (
	droppedKey = "svc_dropped_attributes_count"
	ellipsis   = "…"
)

// attributes reads a map into at most limit entries, in the order of their keys. Values become texts: numbers and booleans as they
// are written, lists and objects as compact JSON.
func (r *reader) attributes(field string, limit int) []attribute {
	v := r.value(field)
	if v == nil {
		return nil
	}
	var sent map[string]json.RawMessage
	if v[0] != '{' || json.Unmarshal(v, &sent) != nil {
		r.refuse(field, "must be an object")
		return nil
	}
	out := make([]attribute, 0, min(len(sent), limit)+1)
	dropped := 0
	for _, key := range slices.Sorted(maps.Keys(sent)) {
		value, ok := attributeText(sent[key])
		switch {
		case !ok:
		case key == "" || len(key) > maxAttributeKey || len(out) == limit:
			dropped++
		case len(value) > maxAttributeValue:
			r.warn(field, "has a value longer than "+strconv.Itoa(maxAttributeValue)+" bytes, which was cut")
			out = append(out, attribute{key, cut(value, maxAttributeValue-len(ellipsis)) + ellipsis})
		default:
			out = append(out, attribute{key, value})
		}
	}
	if dropped > 0 {
		r.warn(field, "has more than "+strconv.Itoa(limit)+" entries, or keys that are empty or longer than "+strconv.Itoa(maxAttributeKey)+" bytes, which were left out")
		out = append(out, attribute{droppedKey, strconv.Itoa(dropped)})
	}
	return out
}

// attributeText is a JSON value as text; not ok when it is null.
func attributeText(v json.RawMessage) (text string, ok bool) {
	switch v[0] {
	case '"':
		var s string
		err := json.Unmarshal(v, &s)
		return s, err == nil
	case 'n':
		return "", false // null
	case '{', '[':
		var b bytes.Buffer
		if json.Compact(&b, v) != nil {
			return "", false
		}
		return b.String(), true
	default:
		return string(v), true
	}
}

// resource is what the server knows of the sender, put over what it says of itself: the key's own attributes and the stamps.
func (r *reader) resource(sent []attribute) []attribute {
	out := slices.DeleteFunc(sent, func(a attribute) bool {
		return a.key == "org_id" || strings.HasPrefix(a.key, "svc_") && a.key != droppedKey
	})
	for _, a := range r.stamp.Attributes {
		at := slices.IndexFunc(out, func(b attribute) bool { return b.key == a.Key })
		switch {
		case at < 0:
			out = append(out, attribute{a.Key, a.Value})
		case !a.IfMissing:
			out[at].value = a.Value
		}
	}
	out = append(
		out, attribute{"svc_org_id", string(r.stamp.Org)}, attribute{"svc_ingest_key_type", r.stamp.KeyType},
		attribute{"svc_ingest_source", "svc-ingest-gateway"},
	)
	if r.stamp.KeyID != "" {
		out = append(out, attribute{"svc_ingest_key_id", r.stamp.KeyID})
	}
	return out
}

// service is the service's name: what the key always sets, else what was sent as field, else what the resource says.
func (r *reader) service(sent string, resource []attribute) string {
	const key = "service.name"
	always := slices.ContainsFunc(r.stamp.Attributes, func(a otlp.ResourceAttribute) bool { return a.Key == key && !a.IfMissing })
	if sent != "" && !always {
		return sent
	}
	for _, a := range resource {
		if a.key == key {
			return cut(a.value, maxDimension)
		}
	}
	return ""
}

func appendMap(c *native.Map, row []attribute) {
	c.BeginRow()
	for _, a := range row {
		c.Key([]byte(a.key), 0)
		c.Values.AppendString(a.value)
	}
	c.EndRow()
}
