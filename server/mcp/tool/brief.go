package tool

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/wording"
)

// These are the values of the argument detail.
const (
	Brief = "brief"
	Full  = "full"
)

// briefText is the longest text of a brief result, in characters. No text of an answer shows more of a value.
const briefText = limits.BriefText

// Structured is the result of an answer as JSON, with the address of its page. In brief, it is cut to the rows and fields in the text:
// without the fields that have the tag detail:"full", with long texts cut, and with times in milliseconds. The tag detail:"whole" keeps a
// text.
func (a *Answer) Structured() (json.RawMessage, error) {
	data, err := json.Marshal(a.Data)
	if err != nil {
		return nil, fmt.Errorf("encode the result: %w", err)
	}
	if !a.full {
		if data, err = cut(data, reflect.TypeOf(a.Data)); err != nil {
			return nil, fmt.Errorf("cut the result: %w", err)
		}
	}
	if a.Text.URL == "" || !bytes.HasPrefix(data, []byte("{")) {
		return data, nil
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(data, &fields); err != nil {
		return nil, fmt.Errorf("read the result: %w", err)
	}
	if _, own := fields["url"]; own { // the address of a pull request or of a scrape target; the text has the page
		return data, nil
	}
	address, err := json.Marshal(a.Text.URL)
	if err != nil {
		return nil, fmt.Errorf("encode the address: %w", err)
	}
	head := append([]byte(`{"url":`), address...)
	if rest := data[1:]; !bytes.Equal(rest, []byte("}")) {
		return append(append(head, ','), rest...), nil
	}
	return append(head, '}'), nil
}

// cut makes the JSON of a value of a type brief.
func cut(data []byte, t reflect.Type) (json.RawMessage, error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	c := cutter{dec: dec}
	if err := c.value(t, false); err != nil {
		return nil, err
	}
	return c.out.Bytes(), nil
}

// cutter copies JSON. It keeps the order of fields.
type cutter struct {
	dec *json.Decoder
	out bytes.Buffer
}

func (c *cutter) value(t reflect.Type, whole bool) error {
	token, err := c.dec.Token()
	if err != nil {
		return err
	}
	switch v := token.(type) {
	case json.Delim:
		if v == '{' {
			return c.object(t, whole)
		}
		return c.array(t, whole)
	case string:
		if !whole {
			v = wording.Clip(milliseconds(v), briefText)
		}
		return c.write(v)
	}
	return c.write(token)
}

func (c *cutter) write(v any) error {
	text, err := json.Marshal(v)
	c.out.Write(text)
	return err
}

func (c *cutter) object(t reflect.Type, whole bool) error {
	c.out.WriteByte('{')
	first := true
	for c.dec.More() {
		token, err := c.dec.Token()
		if err != nil {
			return err
		}
		name, ok := token.(string)
		if !ok {
			return fmt.Errorf("%v is not the name of a field", token)
		}
		field, tag := fieldNamed(t, name)
		if tag == Full {
			var skipped json.RawMessage
			if err := c.dec.Decode(&skipped); err != nil {
				return err
			}
			continue
		}
		if !first {
			c.out.WriteByte(',')
		}
		first = false
		if err := c.write(name); err != nil {
			return err
		}
		c.out.WriteByte(':')
		if err := c.value(field, whole || tag == "whole"); err != nil {
			return err
		}
	}
	_, err := c.dec.Token()
	c.out.WriteByte('}')
	return err
}

func (c *cutter) array(t reflect.Type, whole bool) error {
	c.out.WriteByte('[')
	for n := 0; c.dec.More(); n++ {
		if n > 0 {
			c.out.WriteByte(',')
		}
		if err := c.value(elementOf(t), whole); err != nil {
			return err
		}
	}
	_, err := c.dec.Token()
	c.out.WriteByte(']')
	return err
}

// fieldNamed returns the type of a field of an object, and its tag detail. The type is nil if it is not known.
func fieldNamed(t reflect.Type, name string) (field reflect.Type, tag string) {
	if t = pointed(t); t == nil {
		return nil, ""
	}
	switch t.Kind() {
	case reflect.Map:
		return t.Elem(), ""
	case reflect.Struct:
		for _, f := range reflect.VisibleFields(t) {
			if own, _, _ := strings.Cut(f.Tag.Get("json"), ","); own == name {
				return f.Type, f.Tag.Get("detail")
			}
		}
	}
	return nil, ""
}

func elementOf(t reflect.Type) reflect.Type {
	if t = pointed(t); t != nil && (t.Kind() == reflect.Slice || t.Kind() == reflect.Array) {
		return t.Elem()
	}
	return nil
}

func pointed(t reflect.Type) reflect.Type {
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t
}

// hasDetail reports whether results of a type have fields that only a full result has.
func hasDetail(t reflect.Type, seen map[reflect.Type]bool) bool {
	t = pointed(t)
	if t == nil || seen[t] {
		return false
	}
	seen[t] = true
	switch t.Kind() {
	case reflect.Slice, reflect.Array, reflect.Map:
		return hasDetail(t.Elem(), seen)
	case reflect.Struct:
		for _, f := range reflect.VisibleFields(t) {
			if f.Tag.Get("detail") == Full || hasDetail(f.Type, seen) {
				return true
			}
		}
	}
	return false
}
