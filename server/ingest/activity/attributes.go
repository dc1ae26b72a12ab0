package activity

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/svc-observability/svc/server/ingest/otlp"
	"github.com/svc-observability/svc/server/ingest/productevents"
	"github.com/svc-observability/svc/server/limits"
)

// Entries that a map may have.
const (
	maxTraits             = limits.SessionTraits
	maxAttributes         = productevents.MaxAttributes
	maxResourceAttributes = limits.SessionResourceAttributes
)

// attributes reads a map into at most limit entries, in the order of their keys. Values become texts: numbers and booleans as
// they are written, lists and objects as compact JSON.
func (r *reader) attributes(field string, limit int) []productevents.Attribute {
	v := r.value(field)
	if v == nil {
		return nil
	}
	var sent map[string]json.RawMessage
	if v[0] != '{' || json.Unmarshal(v, &sent) != nil {
		r.refuse(field, "must be an object")
		return nil
	}
	all := make([]productevents.Attribute, 0, len(sent))
	for _, key := range slices.Sorted(maps.Keys(sent)) {
		if value, ok := attributeText(sent[key]); ok {
			all = append(all, productevents.Attribute{Key: key, Value: value})
		}
	}
	out, cut, dropped := productevents.Limit(all, limit)
	for range cut {
		r.warnCut(field, "has a value longer than "+strconv.Itoa(productevents.MaxAttributeValue)+" bytes, which was cut", 1)
	}
	if dropped > 0 {
		text := "has more than " + strconv.Itoa(limit) + " entries, or keys that are empty or longer than " +
			strconv.Itoa(productevents.MaxAttributeKey) + " bytes, which were left out"
		r.warnCut(field, text, dropped)
	}
	return out
}

// attributeText returns a JSON value as text. For null, ok is false.
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

// resource overrides the sender's resource attributes with those that the server knows: the attributes of the key and the stamps.
// The server has already set the count of dropped entries.
func (r *reader) resource(sent []productevents.Attribute) []productevents.Attribute {
	out := slices.DeleteFunc(sent, func(a productevents.Attribute) bool {
		return a.Key == "org_id" || strings.HasPrefix(a.Key, "svc_") && a.Key != productevents.DroppedKey
	})
	for _, a := range r.stamp.Attributes {
		at := slices.IndexFunc(out, func(b productevents.Attribute) bool { return b.Key == a.Key })
		switch {
		case at < 0:
			out = append(out, productevents.Attribute{Key: a.Key, Value: a.Value})
		case !a.IfMissing:
			out[at].Value = a.Value
		}
	}
	out = append(
		out,
		productevents.Attribute{Key: "svc_org_id", Value: string(r.stamp.Org)},
		productevents.Attribute{Key: "svc_ingest_key_type", Value: r.stamp.KeyType},
		productevents.Attribute{Key: "svc_ingest_source", Value: "svc-ingest-gateway"},
	)
	if r.stamp.KeyID != "" {
		out = append(out, productevents.Attribute{Key: "svc_ingest_key_id", Value: r.stamp.KeyID})
	}
	return out
}

// service returns the service's name. The key's fixed value wins, then the field of the request, then the resource.
func (r *reader) service(sent string, resource []productevents.Attribute) string {
	const key = "service.name"
	always := slices.ContainsFunc(r.stamp.Attributes, func(a otlp.ResourceAttribute) bool { return a.Key == key && !a.IfMissing })
	if sent != "" && !always {
		return sent
	}
	for _, a := range resource {
		if a.Key == key {
			return productevents.Cut(a.Value, maxDimension)
		}
	}
	return ""
}
