package investigations

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/svc-observability/svc/server/publicid"
	"github.com/svc-observability/svc/server/store"
	"github.com/svc-observability/svc/server/wording"
)

// report writes an investigation as Markdown. Texts of callers stay within their line, except the question and the conclusion, which are
// Markdown themselves.
func report(r store.Investigation) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n", wording.OneLine(r.Title))
	fmt.Fprintf(&b, "%s, %s, started %s, last change %s", publicid.Encode(publicid.Investigation, r.ID), r.Status, wording.Clock(r.CreatedAt),
		wording.Clock(r.UpdatedAt))
	if r.Assignee != nil {
		fmt.Fprintf(&b, ", with %s", wording.OneLine(*r.Assignee))
	}
	if r.IssueID != nil {
		fmt.Fprintf(&b, ", about the error issue %s", *r.IssueID)
	}
	b.WriteString("\n")
	if r.Question != nil {
		fmt.Fprintf(&b, "\n%s\n", *r.Question)
	}
	b.WriteString("\n## Findings\n\n")
	if len(r.Findings) == 0 {
		b.WriteString("There are no findings yet.\n")
	}
	for i, f := range r.Findings {
		fmt.Fprintf(&b, "%d. %s", i+1, wording.OneLine(f.Text))
		if f.Value != nil {
			fmt.Fprintf(&b, ": **%s**", strings.TrimSpace(wording.Number(*f.Value)+" "+orEmpty(f.Unit)))
		}
		fmt.Fprintf(&b, " (%s)\n", wording.Clock(f.CreatedAt))
		if f.Call != nil {
			fmt.Fprintf(&b, "   `%s` `%s`\n", *f.Call, compact(f.Request))
		}
	}
	if r.Conclusion != nil {
		fmt.Fprintf(&b, "\n## Conclusion\n\n%s\n", *r.Conclusion)
	}
	return b.String()
}

// compact writes a request on one line. Marks of code in it would end its own, so they are written as JSON escapes.
func compact(request json.RawMessage) string {
	if len(request) == 0 {
		return "{}"
	}
	var b bytes.Buffer
	if err := json.Compact(&b, request); err != nil {
		return "{}"
	}
	return strings.ReplaceAll(b.String(), "`", `\u0060`)
}

func orEmpty(text *string) string {
	if text == nil {
		return ""
	}
	return wording.OneLine(*text)
}
