package tool

import (
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/svc-observability/svc/server/wording"
)

// read decodes one value for the field of the parameter. It returns nil if the caller left the value out.
func (p *param) read(raw json.RawMessage, c *Call) (any, error) {
	var text string
	isText := raw[0] == '"'
	switch {
	case isText:
		if err := json.Unmarshal(raw, &text); err != nil {
			return nil, fmt.Errorf("must be %s", p.expects())
		}
		text = strings.TrimSpace(text)
	case raw[0] == '-' || raw[0] >= '0' && raw[0] <= '9':
		text = string(raw)
	}
	if isText && text == "" || string(raw) == "null" {
		return nil, nil
	}
	//exhaustive:enforce
	switch p.kind {
	case kindList:
		return p.readList(raw, text, isText)
	case kindJSON:
		return p.readJSON(raw, text, isText)
	case kindFlag:
		return p.readFlag(raw, text)
	case kindText, kindTime, kindInteger, kindNumber:
		if text == "" {
			return nil, fmt.Errorf("must be %s", p.expects())
		}
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
	default:
		return p.readText(text)
	}
}

func (p *param) readFlag(raw json.RawMessage, text string) (any, error) {
	switch {
	case string(raw) == "true" || text == "1" || strings.EqualFold(text, "true"):
		return true, nil
	case string(raw) == "false" || text == "0" || strings.EqualFold(text, "false"):
		return false, nil
	}
	return nil, fmt.Errorf("must be %s", p.expects())
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

func (p *param) readList(raw json.RawMessage, text string, isText bool) (any, error) {
	var given []any
	switch {
	case isText && strings.HasPrefix(text, "[") && json.Unmarshal([]byte(text), &given) == nil:
	case isText:
		for _, part := range strings.Split(text, ",") {
			given = append(given, part)
		}
	case json.Unmarshal(raw, &given) != nil:
		return nil, fmt.Errorf("must be %s", p.expects())
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

func (p *param) readJSON(raw json.RawMessage, text string, isText bool) (any, error) {
	if isText {
		if p.short != nil {
			if short, ok := p.short(text); ok {
				return short, nil
			}
		}
		if raw = json.RawMessage(text); !json.Valid(raw) {
			return nil, fmt.Errorf("must be %s", p.expects())
		}
	}
	if raw[0] != '{' && (p.object || raw[0] != '[') {
		return nil, fmt.Errorf("must be %s", p.expects())
	}
	return raw, nil
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
		c.Note("%s was set to %s, the nearest allowed value.", p.name, wording.Number(bounded))
	}
	return bounded, nil
}

func (p *param) expects() string {
	text := map[kind]string{
		kindText: "text", kindTime: "a time", kindInteger: "a whole number", kindNumber: "a number", kindFlag: "true or false",
		kindList: "a list of texts",
		kindJSON: "JSON, an object or an array,",
	}[p.kind]
	if p.form != "" {
		text = p.form
	}
	switch {
	case p.minimum != nil && p.maximum != nil:
		text += " from " + wording.Number(*p.minimum) + " to " + wording.Number(*p.maximum)
	case p.minimum != nil:
		text += " of at least " + wording.Number(*p.minimum)
	case p.example != "" && p.form != "":
		text += ", such as " + p.example
	case p.example != "":
		text += " such as " + p.example
	}
	return text
}
