package contract

import (
	"cmp"
	"fmt"
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

const number = `\d[\d,]*\d|\d|two|three|five|six|seven|ten|thirty`

var (
	numeral = regexp.MustCompile(`(?i)` + number)
	numbers = map[string]int64{"two": 2, "three": 3, "five": 5, "six": 6, "seven": 7, "ten": 10, "thirty": 30}
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
	want := map[string][]string{}
	for _, b := range boundFigures {
		for _, path := range strings.Fields(b.paths) {
			want[path] = append(want[path], b.figure)
		}
	}
	text := comments(c)
	for path := range want {
		if _, ok := text[path]; !ok {
			t.Errorf("%s is bound to a figure and is not in the contract", path)
		}
	}
	figures := 0
	for _, path := range slices.Sorted(maps.Keys(text)) {
		got := figuresOf(text[path])
		figures += len(got)
		for _, f := range got {
			if !slices.Contains(want[path], f) {
				t.Errorf("%s says %q; its limits are %q. Correct the comment, or bind the figure.", path, f, want[path])
			}
		}
		for _, f := range want[path] {
			if !slices.Contains(got, f) {
				t.Errorf("%s does not say %q, which is its limit: %s", path, f, fmt.Sprint(got))
			}
		}
	}
	if figures < 120 {
		t.Errorf("%d figures were found", figures)
	}
}
