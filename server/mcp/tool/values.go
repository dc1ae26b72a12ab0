package tool

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
)

// read reads one value. nil means that the caller left it out.
func (p *param) read(v any, c *Call) (any, error) {
	text, isText := v.(string)
	if number, ok := v.(json.Number); ok {
		text = number.String()
	} else if isText {
		text = strings.TrimSpace(text)
	}
	if v == nil || isText && text == "" {
		return nil, nil
	}
	switch p.kind {
	case kindList:
		return p.readList(v, text, isText)
	case kindJSON:
		return p.readJSON(v, text, isText)
	}
	if text == "" && p.kind != kindFlag {
		return nil, fmt.Errorf("must be %s", p.expects())
	}
	switch p.kind {
	case kindTime:
		at, err := ParseTime(text, c.Now)
		if err != nil {
			return nil, err
		}
		return at, nil
	case kindInteger, kindNumber:
		return p.readNumber(text, c)
	case kindFlag:
		switch {
		case v == true || text == "1" || strings.EqualFold(text, "true"):
			return true, nil
		case v == false || text == "0" || strings.EqualFold(text, "false"):
			return false, nil
		}
		return nil, fmt.Errorf("must be %s", p.expects())
	default:
		return p.readText(text)
	}
}

func (p *param) readText(text string) (any, error) {
	if len(p.enum) > 0 {
		for _, e := range p.enum {
			if strings.EqualFold(e, text) {
				return e, nil
			}
		}
		return nil, fmt.Errorf("must be one of %s", strings.Join(p.enum, ", "))
	}
	if p.pattern != "" {
		if ok, err := regexp.MatchString(p.pattern, text); err != nil || !ok {
			return nil, fmt.Errorf("must be %s", p.expects())
		}
	}
	return text, nil
}

func (p *param) readList(v any, text string, isText bool) (any, error) {
	var given []any
	switch {
	case strings.HasPrefix(text, "[") && json.Unmarshal([]byte(text), &given) == nil:
	case isText:
		for _, part := range strings.Split(text, ",") {
			given = append(given, part)
		}
	default:
		var ok bool
		if given, ok = v.([]any); !ok {
			return nil, fmt.Errorf("must be %s", p.expects())
		}
	}
	var list []string
	for _, item := range given {
		s, ok := item.(string)
		if !ok {
			return nil, fmt.Errorf("must be %s", p.expects())
		}
		if s = strings.TrimSpace(s); s == "" {
			continue
		}
		one, err := p.readText(s)
		if err != nil {
			return nil, err
		}
		list = append(list, one.(string))
	}
	if len(list) == 0 {
		return nil, nil
	}
	return list, nil
}

func (p *param) readJSON(v any, text string, isText bool) (any, error) {
	raw := []byte(text)
	if isText && p.short != nil {
		if short, ok := p.short(text); ok {
			return short, nil
		}
	}
	if !isText {
		var err error
		if raw, err = json.Marshal(v); err != nil {
			return nil, fmt.Errorf("must be %s", p.expects())
		}
	}
	if raw = bytes.TrimSpace(raw); !json.Valid(raw) || raw[0] != '{' && (p.object || raw[0] != '[') {
		return nil, fmt.Errorf("must be %s", p.expects())
	}
	return json.RawMessage(raw), nil
}

func (p *param) readNumber(text string, c *Call) (any, error) {
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(f) || math.IsInf(f, 0) || p.kind == kindInteger && f != math.Trunc(f) {
		return nil, fmt.Errorf("must be %s", p.expects())
	}
	bounded := f
	if p.minimum != nil {
		bounded = max(bounded, *p.minimum)
	}
	if p.maximum != nil {
		bounded = min(bounded, *p.maximum)
	}
	if bounded != f {
		if !p.clamped {
			return nil, fmt.Errorf("must be %s", p.expects())
		}
		c.Note("%s was set to %v, the nearest value that is allowed.", p.name, bounded)
	}
	return bounded, nil
}

func (p *param) expects() string {
	text := map[kind]string{kindText: "text", kindTime: "a time", kindInteger: "a whole number", kindNumber: "a number", kindFlag: "true or false", kindList: "a list of texts", kindJSON: "JSON, an object or an array,"}[p.kind]
	if p.form != "" {
		text = p.form
	}
	switch {
	case p.minimum != nil && p.maximum != nil:
		text += fmt.Sprintf(" from %v to %v", *p.minimum, *p.maximum)
	case p.minimum != nil:
		text += fmt.Sprintf(" of at least %v", *p.minimum)
	case p.example != "" && p.form != "":
		text += ", such as " + p.example
	case p.example != "":
		text += " such as " + p.example
	}
	return text
}
