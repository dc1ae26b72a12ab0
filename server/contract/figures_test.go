package contract

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/svc-observability/svc/server/limits"
)

// figureText matches a figure with a unit of time or size, and a largest number of things.
var figureText = regexp.MustCompile(`(?i)\b(?:at most |up to )?((?:` + number + `)(?:(?:, \d+)* (?:or|to|and) (?:` + number + `))?)[\s-]` +
	`(days?|hours?|minutes?|seconds?|KiB|MiB|GiB|bytes|characters|million)\b|\b(?:at most|up to) (` + number + `) [a-z]+`)

const (
	number = `\d[\d,]*\d|\d|two|` + words
	words  = `three|four|five|six|seven|eight|nine|ten|twelve|twenty|thirty`
)

var (
	// countText matches any other number. "Two" is a number after "at most" and its like only.
	countText = regexp.MustCompile(`(?i)\b(?:at most|at least|up to|more than|fewer than|less than) (two)\b|(?:^|[^\w.,-])(\d+(?:[.,]\d+)*|` +
		words + `)\b`)
	// noFigures matches numbers that are part of a name, a percentile or a form: code, an RFC, a status, a number of digits.
	noFigures = regexp.MustCompile("`[^`]*`" + `|\bRFC \d+(?:,? section [\d.]+)?|\bISO [\d-]+|\d+ (?:hexadecimal digits|letters and digits|bits)|` +
		`since 1970|(?:status of|answer is) \d{3}|\b9[059] %`)
	numeral = regexp.MustCompile(`(?i)` + number)
	numbers = map[string]int64{
		"two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10, "twelve": 12, "twenty": 20,
		"thirty": 30,
	}
	seconds = map[string]time.Duration{"day": limits.Day, "hour": time.Hour, "minute": time.Minute, "second": time.Second}
	sizes   = map[string]int64{"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "byte": 1}
)

// figuresOf returns the figures of a comment, written as package limits writes them. A number of things is the number alone.
func figuresOf(text string) (list []string) {
	for _, m := range figureText.FindAllStringSubmatch(text, -1) {
		unit := strings.TrimSuffix(m[2], "s")
		// In "1, 7 or 31 days" each number is a figure. A comma between digits separates thousands.
		for _, n := range numeral.FindAllString(cmp.Or(m[1], m[3]), -1) {
			v, ok := numbers[strings.ToLower(n)]
			if !ok {
				v, _ = strconv.ParseInt(strings.ReplaceAll(n, ",", ""), 10, 64)
			}
			switch {
			case seconds[unit] > 0:
				list = append(list, limits.Lasts(time.Duration(v)*seconds[unit]))
			case sizes[unit] > 0:
				list = append(list, limits.Size(v*sizes[unit]))
			case unit == "million":
				list = append(list, limits.Number(v*1_000_000))
			case unit == "character":
				list = append(list, limits.Number(v)+" characters")
			default:
				list = append(list, limits.Number(v))
			}
		}
	}
	return list
}

// countsOf returns the numbers of a comment that are no figures of figuresOf. One and none are no limits.
func countsOf(text string) (list []string) {
	for _, m := range countText.FindAllStringSubmatch(figureText.ReplaceAllString(text, ";"), -1) {
		switch n := figure(m[1] + m[2]); {
		case n == float64(int64(n)) && n > 1:
			list = append(list, limits.Number(int64(n)))
		case n != 0 && n != 1:
			list = append(list, m[2])
		}
	}
	return list
}

// ruled returns the fields that requests can have, and the numbers of their rules. TestBounds compares the rules with limits.
func ruled(c *Contract) map[string][]string {
	out := map[string][]string{}
	for _, f := range requestFields(c) {
		path := strings.TrimPrefix(string(f.FullName()), "svc.v2.")
		out[path] = nil
		eachBound(Rules(f), upperRules+lowerRules, "", func(_, _ string, n float64) { out[path] = append(out[path], limits.Number(int64(n))) })
	}
	return out
}

// comments returns the comments of each message, field, enum, value, service, method and file of the contract, by its name in package
// svc.v2. The name of a file ends in .proto.
func comments(c *Contract) map[string]string {
	out := map[string]string{}
	add := func(d protoreflect.Descriptor) {
		at := d.ParentFile().SourceLocations().ByDescriptor(d)
		out[strings.TrimPrefix(string(d.FullName()), "svc.v2.")] = plain(at)
	}
	enum := func(e protoreflect.EnumDescriptor) {
		add(e)
		for i := range e.Values().Len() {
			add(e.Values().Get(i))
		}
	}
	var message func(protoreflect.MessageDescriptor)
	message = func(m protoreflect.MessageDescriptor) {
		add(m)
		for i := range m.Fields().Len() {
			add(m.Fields().Get(i))
		}
		for i := range m.Oneofs().Len() {
			add(m.Oneofs().Get(i))
		}
		for i := range m.Enums().Len() {
			enum(m.Enums().Get(i))
		}
		for i := range m.Messages().Len() {
			message(m.Messages().Get(i))
		}
	}
	seen := map[string]bool{}
	var file func(protoreflect.FileDescriptor)
	file = func(f protoreflect.FileDescriptor) {
		if seen[f.Path()] || !strings.HasPrefix(f.Path(), "svc/") {
			return
		}
		seen[f.Path()] = true
		text := ""
		for _, path := range []protoreflect.SourcePath{{2}, {12}, {14}} { // package, syntax, edition
			text += plain(f.SourceLocations().ByPath(path)) + "\n"
		}
		out[f.Path()] = text
		for i := range f.Messages().Len() {
			message(f.Messages().Get(i))
		}
		for i := range f.Enums().Len() {
			enum(f.Enums().Get(i))
		}
		for i := range f.Services().Len() {
			s := f.Services().Get(i)
			add(s)
			for j := range s.Methods().Len() {
				add(s.Methods().Get(j))
			}
		}
		for i := range f.Imports().Len() {
			file(f.Imports().Get(i).FileDescriptor)
		}
	}
	for _, m := range c.Methods() {
		file(m.Descriptor.ParentFile())
	}
	return out
}

// plain returns the comments at a place in one line. A figure and its unit can be on two lines of the source.
func plain(at protoreflect.SourceLocation) string {
	parts := append(slices.Clone(at.LeadingDetachedComments), at.LeadingComments, at.TrailingComments)
	return strings.Join(strings.Fields(strings.Join(parts, "\n")), " ")
}

// TestFigures compares the figures in the comments of the contract with limits, by the table in figures_table_test.go.
func TestFigures(t *testing.T) {
	c, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	const table = "boundFigures (server/contract/figures_table_test.go)"
	want := map[string][]string{}
	for _, b := range boundFigures {
		for _, path := range strings.Fields(b.paths) {
			want[path] = append(want[path], b.figure)
		}
	}
	text, rules := comments(c), ruled(c)
	for path := range want {
		if _, ok := text[path]; !ok {
			t.Errorf("%s binds %s to a figure; the contract does not have it", table, path)
		}
	}
	figures := 0
	for _, path := range slices.Sorted(maps.Keys(text)) {
		rest := noFigures.ReplaceAllString(text[path], ";")
		got := figuresOf(rest)
		own, ofRequest := rules[path]
		if ofRequest {
			rest = defaultText.ReplaceAllString(rest, ";") // TestDefaults compares these
		}
		got = append(got, countsOf(rest)...)
		figures += len(got)
		for _, f := range got {
			if !slices.Contains(want[path], f) && !slices.Contains(own, f) {
				t.Errorf("%s says %q; its figures in %s are %q. Correct the comment, or bind the figure there.", path, f, table, want[path])
			}
		}
		for _, f := range want[path] {
			if !slices.Contains(got, f) {
				t.Errorf("%s does not say %q, which %s binds to it. It says %q.", path, f, table, got)
			}
		}
	}
	if figures < 300 {
		t.Errorf("%d figures were found", figures)
	}
}
