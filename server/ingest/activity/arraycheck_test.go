package activity_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/svc-observability/svc/server/ingest/activity"
)

func checkArray(s string, part int) error {
	var a activity.ArrayCheck
	for len(s) > 0 {
		n := min(part, len(s))
		if err := a.Next([]byte(s[:n])); err != nil {
			return err
		}
		s = s[n:]
	}
	return a.End()
}

func arrays() []string {
	nested := func(n int) string { return `[{"a":` + strings.Repeat("[", n) + strings.Repeat("]", n) + `}]` }
	return []string{
		`[]`, ` [ ] `, `[{}]`, "\t[{},\r\n{}]\n", `[{"type":4,"data":{"href":"https://a/","n":[1,-0,0.5,1e9,1E+2,-12.50e-03,true,false,null,"",[],{}]}}]`,
		`[{"a\"\\\/\b\f\n\r\té😀":"ü"}]`, nested(9_000),
		``, ` `, `[`, `]`, `{}`, `null`, `"a"`, `[garbage]`, `[1]`, `["a"]`, `[[]]`, `[null]`, `[{}`, `[{},]`, `[{} {}]`, `[,{}]`, `[{}]]`,
		`[{}] x`, `[{}][]`,
		`[{"a"}]`, `[{"a":}]`, `[{"a":1,}]`, `[{a:1}]`, `[{"a":1]`, `[{"a":[1}]`, `[{"a":01}]`, `[{"a":1.}]`, `[{"a":.5}]`, `[{"a":1e}]`,
		`[{"a":1e+}]`,
		`[{"a":+1}]`, `[{"a":-}]`, `[{"a":--1}]`, `[{"a":1.2.3}]`, `[{"a":tru}]`, `[{"a":nulL}]`, `[{"a":"\x"}]`, `[{"a":"\u12g4"}]`,
		"[{\"a\":\"\n\"}]",
		`[{"a":"b}]`, `[{"a" 1}]`, `[{"a":1 2}]`, `[{"a":1-2}]`, `[{1:2}]`, `[{,}]`, `[{"a":'b'}]`, nested(20_000), `[{"a":-a}]`, `[{"a":1e5e5}]`,
		"[{\"a\":\"é€😀\"}]", "[{\"é€😀\":\"😀\"}]", "[{\"a\":\"\xff\"}]", "[{\"\xff\":1}]", "[{\"a\":\"\xc3\"}]", "[{\"a\":\"\xe2\x82\"}]",
		"[{\"a\":\"\xf0\x9f\x98\"}]",
		"[{\"a\":\"\xf0\x9f\x98x\"}]", "[{\"a\":\"\xc0\x80\"}]", "[{\"a\":\"\xed\xa0\x80\"}]", "[{\"a\":\"\xf4\x90\x80\x80\"}]",
		"[{\"a\":\"\x80\"}]", "[{\"a\":1}]\xc3",
	}
}

// wellFormed is the verdict of encoding/json, which accepts texts that are not UTF-8.
func wellFormed(s string) bool {
	var events []map[string]json.RawMessage
	if !utf8.ValidString(s) || json.Unmarshal([]byte(s), &events) != nil || events == nil {
		return false
	}
	for _, e := range events {
		if e == nil { // null
			return false
		}
	}
	return true
}

func TestArrayCheck(t *testing.T) {
	good := 0
	for _, s := range arrays() {
		want := wellFormed(s)
		if want {
			good++
		}
		for _, part := range []int{1, 2, 3, 7, 11, 1 << 20} {
			if err := checkArray(s, part); (err == nil) != want {
				t.Errorf("%.60q in parts of %d: %v, well-formed is %v", s, part, err, want)
			}
		}
	}
	if good != 9 {
		t.Errorf("%d good ones", good)
	}
}

func FuzzArrayCheck(f *testing.F) {
	for _, s := range arrays() {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if len(s) > 9_000 {
			return // nested more deeply than encoding/json or we go
		}
		if err := checkArray(s, 3); (err == nil) != wellFormed(s) {
			t.Errorf("%q: %v", s, err)
		}
	})
}

func BenchmarkArrayCheck(b *testing.B) {
	event := `{"type":3,"data":{"source":2,"type":1,"id":1234,"x":17.5,"y":900},"timestamp":1763700000123},` +
		`{"type":2,"data":{"node":{"type":2,"tagName":"div","attributes":{"class":"flex items-center justify-between"},"childNodes":[]}},"timestamp":1763700000123},`
	body := []byte("[" + strings.TrimSuffix(strings.Repeat(event, 10_000), ",") + "]")
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		var a activity.ArrayCheck
		if a.Next(body) != nil || a.End() != nil {
			b.Fatal("refused")
		}
	}
}
