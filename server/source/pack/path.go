package pack

import (
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/svc-observability/svc/server/limits"
)

// pathFilter is the path of a query.
type pathFilter struct {
	prefix string // without a slash at the end
	glob   *regexp.Regexp
	// base says that the glob looks at names only.
	base bool
}

func newPathFilter(path string) (pathFilter, error) {
	switch {
	case path == "":
		return pathFilter{}, nil
	case !utf8.ValidString(path) || strings.ContainsFunc(path, isControl):
		return pathFilter{}, &QueryError{Path: true, Message: "it has characters that no path has"}
	case len(path) > maxPath:
		return pathFilter{}, &QueryError{Path: true, Message: "it is longer than any path"}
	}
	path = strings.TrimPrefix(strings.TrimPrefix(path, "./"), "/")
	if !strings.ContainsAny(path, "*?[{") {
		path = strings.TrimSuffix(path, "/")
		for segment := range strings.SplitSeq(path, "/") {
			if segment == "." || segment == ".." {
				return pathFilter{}, &QueryError{Path: true, Message: "`.` and `..` are not understood; paths begin at the root of the repository"}
			}
		}
		return pathFilter{prefix: path}, nil
	}
	if len(path) > limits.SourceGlob {
		return pathFilter{}, &QueryError{Path: true, Message: fmt.Sprintf("a glob has at most %d bytes", limits.SourceGlob)}
	}
	if strings.HasSuffix(path, "/") {
		path += "**"
	}
	glob, problem := globExpression(path)
	if problem != "" {
		return pathFilter{}, &QueryError{Path: true, Message: problem}
	}
	return pathFilter{glob: glob, base: !strings.Contains(path, "/")}, nil
}

func (f pathFilter) matches(path string) bool {
	if f.glob == nil {
		rest, ok := strings.CutPrefix(path, f.prefix)
		return ok && (f.prefix == "" || rest == "" || rest[0] == '/')
	}
	if f.base {
		path = path[strings.LastIndexByte(path, '/')+1:]
	}
	return f.glob.MatchString(path)
}

// globExpression translates a glob. Braces hold alternatives and may not be nested.
func globExpression(glob string) (*regexp.Regexp, string) {
	var b strings.Builder
	b.WriteString(`\A(?s:`)
	braces := false
	for i := 0; i < len(glob); i++ {
		switch c := glob[i]; {
		case strings.HasPrefix(glob[i:], "**/") && (i == 0 || glob[i-1] == '/'):
			b.WriteString(`(?:.*/)?`)
			i += 2
		case strings.HasPrefix(glob[i:], "**"):
			b.WriteString(`.*`)
			i++
		case c == '*':
			b.WriteString(`[^/]*`)
		case c == '?':
			b.WriteString(`[^/]`)
		case c == '[':
			end := strings.IndexByte(glob[min(i+2, len(glob)):], ']')
			if end < 0 {
				return nil, "the [ has no ]"
			}
			set := glob[i+1 : i+2+end]
			i += 2 + end
			b.WriteByte('[')
			if set[0] == '!' || set[0] == '^' {
				b.WriteString("^/")
				set = set[1:]
			}
			b.WriteString(strings.NewReplacer(`\`, `\\`, `[`, `\[`, `]`, `\]`, `^`, `\^`, `&`, `\&`).Replace(set))
			b.WriteByte(']')
		case c == '{' && !braces:
			braces = true
			b.WriteString(`(?:`)
		case c == '}' && braces:
			braces = false
			b.WriteByte(')')
		case c == ',' && braces:
			b.WriteByte('|')
		case c == '{':
			return nil, "braces cannot be nested"
		case c == '\\' && i+1 < len(glob):
			i++
			_, size := utf8.DecodeRuneInString(glob[i:])
			b.WriteString(regexp.QuoteMeta(glob[i : i+size]))
			i += size - 1
		default:
			_, size := utf8.DecodeRuneInString(glob[i:])
			b.WriteString(regexp.QuoteMeta(glob[i : i+size]))
			i += size - 1
		}
	}
	if braces {
		return nil, "the { has no }"
	}
	b.WriteString(`)\z`)
	glob = b.String()
	re, err := regexp.Compile(glob)
	if err != nil {
		return nil, "the characters between [ and ] are no set"
	}
	return re, ""
}
