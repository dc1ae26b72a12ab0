package pack

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestSplit(t *testing.T) {
	for text, want := range map[string]string{
		`foo`:                      `[foo]`,
		"  foo \t bar\nbaz ":       `[foo bar baz]`,
		`"foo bar" baz`:            `[foo bar baz]`,
		`fmt.Println("x")`:         `[fmt.Println("x")]`,
		`"a \"b\" \\ \n"`:          `[a "b" \ \n]`,
		`/a b/`:                    `[/a b/]`,
		`/a\/b/ c`:                 `[/a/b/ c]`,
		`/\d+\s/`:                  `[/\d+\s/]`,
		`/v2/users`:                `[/v2/users]`,
		`/v2/users x`:              `[/v2/users x]`,
		`// TODO`:                  `[// TODO]`,
		`//`:                       `[//]`,
		`/`:                        `[/]`,
		`a/b/ c`:                   `[a/b/ c]`,
		`user: repo: "user:x" a:b`: `[user: repo: user:x a:b]`,
	} {
		terms, err := split(text)
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		var got []string
		for _, w := range terms {
			if w.expression {
				w.text = "/" + w.text + "/"
			}
			got = append(got, w.text)
		}
		if fmt.Sprint(got) != want {
			t.Errorf("%q becomes %v instead of %s", text, got, want)
		}
	}
}

func TestQueryErrors(t *testing.T) {
	for text, want := range map[string]string{
		"":                           "query: it is empty",
		" \n":                        "query: it is empty",
		"\xff":                       "query: it is not UTF-8",
		`é "open`:                    "query, character 3: the phrase is not closed",
		`"`:                          "query, character 1: the phrase is not closed",
		`""`:                         "query, character 1: the phrase is empty",
		"a\x00b":                     "query, character 1: control characters cannot be searched",
		"x repo:a/b":                 "query, character 3: `repo:` is not understood here: the parameter `repository` says where to search",
		"org:a":                      "query, character 1: `org:`",
		"user:a":                     "query, character 1: `user:`",
		"/(/":                        "query, character 1: the regular expression has an error: missing closing ): `(`",
		`/(?<=a)b/`:                  "query, character 1: the regular expression has an error: invalid named capture: `(?<=a)b`",
		`/(a)\1/`:                    "query, character 1: the regular expression has an error: invalid escape sequence: `\\1`",
		"/a*/":                       "matches the empty text",
		"/x|^$/":                     "matches the empty text",
		"/(ab{30}){30}b{900}c{300}/": "too large",
		`/x{1000}a/ b /y{1000}/`:     "query, character 14: the regular expression is too large: it has about 1000 steps",
		`/\pL{1000}\pN{999}ab/`:      "too large",
		strings.Repeat("é", 257):     "query: it has 257 characters; at most 256 are allowed",
		strings.Repeat("x ", 17):     "query, character 33: at most 16 terms are allowed",
	} {
		err := (Query{Text: text}).Check()
		var e *QueryError
		if !errors.As(err, &e) || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: %v", text, err)
		}
	}
	for path, want := range map[string]string{
		"../x": "path: `.` and `..`", "a/./b": "path: `.`", "a\x00": "path: it has characters", "\xff": "path: it has characters",
		"[a": "path: the [ has no ]",
		"{a": "path: the { has no }", "{a,{b}}": "path: braces cannot be nested", "[z-a]": "path: the characters between [ and ] are no set",
		strings.Repeat("x", 1025): "path: it is longer", strings.Repeat("*", 300): "path: a glob has at most 256",
	} {
		err := (Query{Text: "x", Path: path}).Check()
		var e *QueryError
		if !errors.As(err, &e) || !e.Path || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: %v", path, err)
		}
	}
}

func TestSmartCase(t *testing.T) {
	p := packed(t, archiveOf(t, archived{name: "top/a", text: "needle\nNeedle\nNEEDLE\n\nBÄR bär\n"}), Limits{})
	for text, want := range map[string]int{
		"needle": 3, "Needle": 1, `"needle"`: 3, "NEEDLE": 1, `/n\w{5}/`: 3, `/\S{6}/`: 3, `/N\w{5}/`: 2, `/\x4E/`: 3,
		`/(?P<Name>n)eedle/`: 3, `/(?i)NEEDLE/`: 3,
		`/\pLeedle/`: 3, "bär": 1, "ä": 1, "Ä": 1, "Ö": 0, "bÄr": 0,
	} {
		r, err := p.Search(t.Context(), Query{Text: text})
		if err != nil || r.Lines != want {
			t.Errorf("%s: %d lines instead of %d, %v", text, r.Lines, want, err)
		}
	}
}

func TestPathFilter(t *testing.T) {
	files := map[string]string{}
	for _, path := range []string{"main.go", "a/b/c.go", "a/b/c.ts", "a/b.go", "ab/c.go", "a/b/[x].go", "docs/ü.md", `we\ird.go`} {
		files[path] = "needle\n"
	}
	p := packed(t, archiveOf(t, tree(files)...), Limits{})
	for path, want := range map[string][]string{
		"":                nil,
		"a":               {"a/b.go", "a/b/[x].go", "a/b/c.go", "a/b/c.ts"},
		"/a/b/":           {"a/b/[x].go", "a/b/c.go", "a/b/c.ts"},
		"./a/b.go":        {"a/b.go"},
		"*.ts":            {"a/b/c.ts"},
		"**/*.ts":         {"a/b/c.ts"},
		"a/*.go":          {"a/b.go"},
		"a/**/*.go":       {"a/b.go", "a/b/[x].go", "a/b/c.go"},
		"a/**":            {"a/b.go", "a/b/[x].go", "a/b/c.go", "a/b/c.ts"},
		"a/b/*/":          {},
		"**/b/":           {"a/b/[x].go", "a/b/c.go", "a/b/c.ts"},
		"?.go":            {"a/b.go", "a/b/c.go", "ab/c.go"},
		"[a-b].go":        {"a/b.go"},
		"[!b].{go,ts}":    {"a/b/c.go", "a/b/c.ts", "ab/c.go"},
		`a/b/\[x\].*`:     {"a/b/[x].go"},
		`*\\*`:            {`we\ird.go`},
		"docs/?.md":       {"docs/ü.md"},
		"nothing/at/all":  {},
		"(a|b).go{,x}":    {},
		"m*n.go":          {"main.go"},
		"/main.go":        {"main.go"},
		"/{main,other}.*": {"main.go"},
	} {
		r, err := p.Search(t.Context(), Query{Text: "needle", Path: path})
		if err != nil {
			t.Errorf("%q: %v", path, err)
			continue
		}
		var got []string
		for _, f := range r.Files {
			got = append(got, f.Path)
		}
		slices.Sort(got)
		if path == "" {
			if len(got) != len(files) {
				t.Errorf("all: %q", got)
			}
			continue
		}
		if !slices.Equal(got, want) || r.Total != len(want) {
			t.Errorf("%q: %q instead of %q (of %d)", path, got, want, r.Total)
		}
	}
}

func TestRank(t *testing.T) {
	p := packed(t, archiveOf(t, tree(map[string]string{
		"server/queue/queue.go":      "package queue\n\n// Append stores.\nfunc (l *Log) Append(x int) error {\n",
		"server/app/app.go":          "package app\n\n\tx.Append(1)\n",
		"server/deep/er/and/er.go":   "package er\n\n\tx.Append(1)\n",
		"server/queue/queue_test.go": "package queue\n\nfunc (f fake) Append(x int) error {\n",
		"vendor/log/log.go":          "package log\n\nfunc (l *Log) Append(x int) error {\n",
		"server/other/appended.go":   "package other\n\n\tx.Appended(1)\n",
		"server/gen/api.pb.go":       "package gen\n\n\tx.Append(1)\n",
	})...), Limits{})
	r, err := p.Search(t.Context(), Query{Text: "Append"})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range r.Files {
		got = append(got, f.Path)
	}
	want := []string{
		"server/queue/queue.go", "server/queue/queue_test.go", "server/other/appended.go", "server/app/app.go", "server/deep/er/and/er.go",
		"vendor/log/log.go", "server/gen/api.pb.go",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	if m := r.Files[0].Matches; len(m) != 2 || !m[1].Definition || m[0].Definition || m[1].Line != 4 || m[1].Column != 15 {
		t.Errorf("%+v", m)
	}
}

func TestDefinition(t *testing.T) {
	for line, want := range map[string]bool{
		"func Needle() {":                            true,
		"func (s *Server) Needle(x int) error {":     true,
		"type Needle struct {":                       true,
		"\tNeedle = 5":                               true,
		"class Needle(Base):":                        true,
		"  def needle(self):":                        true,
		"pub fn needle<T>(x: T) {":                   true,
		"    public static List<X> needle(int a) {":  true,
		"int *needle(void) {":                        true,
		"  needle(a, b) {":                           true,
		"CREATE TABLE needle (":                      true,
		"#define NEEDLE 5":                           true,
		"export const needle = 5;":                   true,
		"message Needle {":                           true,
		"\treturn needle(x)":                         false,
		"\tif needle(x) {":                           false,
		"\tfor _, x := range needle(y) {":            false,
		"\tx := s.Needle(y)":                         false,
		"// the needle of functions":                 false,
		"describe('needle', () => {":                 false,
		"\tif a == needle {":                         false,
		"\tneedle == 5":                              false,
		"needle(() => {":                             false,
		"x.y(needle(z), func() {":                    false,
		strings.Repeat(" ", 500) + "func Needle() {": false,
		"\tneedle(t, &tls.Config{":                   false,
		"// func Needle() {":                         false,
		"\tdefer needle(func() {":                    false,
	} {
		at := strings.Index(strings.ToLower(line), "needle")
		if got := definition([]byte(line), at, at+6); got != want {
			t.Errorf("%q: %v", line, got)
		}
	}
	if line := "type Needle struct {"; !definition([]byte(line), 0, len(line)) {
		t.Error("a match that has the keyword")
	}
}

func TestSnippets(t *testing.T) {
	long := strings.Repeat("ü", 5000) + "needle" + strings.Repeat("x", 5000)
	p := packed(t, archiveOf(t, tree(map[string]string{
		"a": "1\r\n2\r\n3\r\nneedle one\r\n5\r\n6\r\n7\r\n8",
		"b": "needle two",
		"c": long + "\n" + strings.Repeat("y", 3000) + "\n",
		"d": "\xff\xfe needle \xff\n",
	})...), Limits{})
	r, err := p.Search(t.Context(), Query{Text: "needle"})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]Match{}
	for _, f := range r.Files {
		got[f.Path] = f.Matches[0]
	}
	if m := got["a"]; m.Line != 4 || m.Column != 1 || m.Length != 6 || m.Text != "needle one" ||
		fmt.Sprint(m.Before, m.After) != "[1 2 3] [5 6 7]" {
		t.Errorf("%+v", m)
	}
	if m := got["b"]; m.Line != 1 || m.Before != nil || m.After != nil || m.First != 1 {
		t.Errorf("%+v", m)
	}
	m := got["c"]
	runes := []rune(m.Text)
	if m.Column != 5001 || len(runes) != lineCharacters || string(runes[m.Column-m.First:][:m.Length]) != "needle" ||
		len(m.After[0]) != lineCharacters {
		t.Errorf("%d, %d, %d, %q", m.Column, m.First, len(runes), m.Text[:20])
	}
	if m := got["d"]; m.Column != 4 || m.Text != "\uFFFD\uFFFD needle \uFFFD" {
		t.Errorf("%+v", m)
	}
}

// TestBounds ends searches by each bound, and says so.
func TestBounds(t *testing.T) {
	files := map[string]string{"vendor/a.txt": strings.Repeat("vendored needle\n", 60_000)}
	for i := range 30 {
		files[fmt.Sprintf("f%02d.txt", i)] = strings.Repeat("a needle in a line\n", 10_000)
	}
	p := packed(t, archiveOf(t, tree(files)...), Limits{})
	all := Query{Text: "needle", Matches: 200_000, Time: time.Hour}
	r, err := p.Search(t.Context(), all)
	if err != nil || !r.Truncated || r.Reason != MatchesBound || r.Lines != 200_000 || r.Matched != 20 ||
		len(r.Files) != 20 || len(r.Files[0].Matches) != 5 {
		t.Errorf("matches: %v, %+v", err, r.Reason)
	}
	for _, f := range r.Files {
		if f.Vendored {
			t.Error("vendored code was searched before other code")
		}
	}
	q := Query{Text: "in needle", Bytes: 3 << 20, Time: time.Hour}
	if r, err = p.Search(t.Context(), q); err != nil || r.Reason != BytesBound || r.Bytes > 3<<20 || r.Bytes < 1<<20 ||
		r.Searched == 0 || r.Searched >= r.Total {
		t.Errorf("bytes: %v, %+v", err, r)
	}
	q = Query{Text: `/(n|m)(e|f)(e|d)+(l|k)+e.*[xy]/`, Time: time.Nanosecond}
	if r, err = p.Search(t.Context(), q); err != nil || r.Reason != TimeBound || r.Searched >= r.Total+1 {
		t.Errorf("time: %v, %+v", err, r)
	}
	q = Query{Text: `needle`, Files: 3, PerFile: 1, NoContext: true, Path: "f0*"}
	if r, err = p.Search(t.Context(), q); err != nil || r.Truncated || len(r.Files) != 3 || r.Matched != 10 || len(r.Files[0].Matches) != 1 ||
		r.Files[0].Lines != 10_000 || r.Files[0].Matches[0].Before != nil {
		t.Errorf("files: %v, %+v", err, r)
	}
}

// TestSlowExpressions keeps the time of a search near its bound, whatever the expression and the text.
func TestSlowExpressions(t *testing.T) {
	files := map[string]string{
		"long":  strings.Repeat("aé", 300_000),
		"lines": strings.Repeat(strings.Repeat("aé", 100)+"\n", 3000),
	}
	for i := range 20 { // without a bound, some of the searches take a minute
		files[fmt.Sprintf("wide%02d", i)] = strings.Repeat(strings.Repeat("aé", longLine/3)+"\n", 50)
	}
	p := packed(t, archiveOf(t, tree(files)...), Limits{})
	for _, text := range []string{
		`/(a|é){300}b/`, `/(.*a){20}b/`, `/(\pL+\pL+)+\d/`, `/(?:(?:a?é?){20}){9}c/`,
	} {
		start := time.Now()
		r, err := p.Search(t.Context(), Query{Text: text, Time: 100 * time.Millisecond})
		if took := time.Since(start); err != nil || took > slack*250*time.Millisecond {
			t.Errorf("%s took %v: %v", text, took, err)
		}
		if !r.Truncated && r.LongLines == 0 {
			t.Errorf("%s saw the whole of a line of 900,000 bytes", text)
		}
	}
}

// TestLongContext bounds the answer for files that have long lines only.
func TestLongContext(t *testing.T) {
	p := packed(t, archiveOf(t, archived{name: "top/a", text: strings.Repeat("needle "+strings.Repeat("日", 3000)+"\n", 100)}), Limits{})
	r, err := p.Search(t.Context(), Query{Text: "needle", PerFile: maxPerFile, Context: maxContext})
	if err != nil || len(r.Files) != 1 || len(r.Files[0].Matches) != maxPerFile {
		t.Fatalf("%v", err)
	}
	size, without := 0, 0
	for _, m := range r.Files[0].Matches {
		if len([]rune(m.Text)) != lineCharacters {
			t.Errorf("%d characters", len([]rune(m.Text)))
		}
		for _, line := range append(m.Before, m.After...) {
			size += len(line)
		}
		if m.Before == nil && m.After == nil {
			without++
		}
	}
	if size > contextBytes+2*maxContext*3*lineCharacters || without < maxPerFile/2 {
		t.Errorf("%d bytes; %d lines without context", size, without)
	}
}
