package console

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/limits"
)

var (
	ordered = regexp.MustCompile(`(?i)\border\s+by\b`)
	limited = regexp.MustCompile(`(?i)\b(limit\s+\d+(\s*,\s*\d+)?(\s+offset\s+\d+)?|offset\s+\d+(\s+rows?)?)\s*$`)
	united  = regexp.MustCompile(`(?i)\b(union|intersect|except)\s+(all|distinct|select|\()`)
	// A comment, a text or a quoted name, whose words do not belong to the statement.
	quoted  = regexp.MustCompile(`(?s)--[^\n]*|/\*.*?\*/|'(?:[^'\\]|\\.|'')*'|"(?:[^"\\]|\\.)*"|` + "`(?:[^`\\\\]|\\\\.)*`")
	bracket = regexp.MustCompile(`\([^()]*\)`)
)

// outermost is the statement without comments, texts and everything in parentheses, such as subqueries and windows.
func outermost(sql string) string {
	sql = quoted.ReplaceAllStringFunc(sql, func(text string) string {
		if strings.HasPrefix(text, "--") || strings.HasPrefix(text, "/*") {
			return " "
		}
		return " x "
	})
	for {
		less := bracket.ReplaceAllString(sql, " x ")
		if less == sql {
			return sql
		}
		sql = less
	}
}

// paged is the statement without its end, to which LIMIT and OFFSET are added.
func paged(sql string) (string, error) {
	sql = strings.TrimRight(sql, "; \t\r\n")
	outer := strings.TrimRight(outermost(sql), "; \t\r\n")
	switch {
	case united.MatchString(outer):
		return "", usage("--all adds LIMIT, which belongs to the last SELECT of a UNION: write SELECT * FROM (…) ORDER BY … around it")
	case !ordered.MatchString(outer):
		return "", usage("--all reads page by page, so the statement needs an ORDER BY whose columns are unique together")
	case limited.MatchString(outer):
		return "", usage("--all adds LIMIT and OFFSET itself: leave LIMIT out of the statement")
	}
	return sql, nil
}

// allRows writes the rows of a statement, page by page, each on its own line. It keeps one page in memory. Every page is a request of its
// own with the same window.
func allRows(ctx context.Context, q *Query, out *Output) error {
	sql, err := paged(q.Arguments[0])
	if err != nil {
		return err
	}
	start, end, err := q.window()
	if err != nil {
		return err
	}
	size := q.Limit
	if size == 0 {
		size = limits.SQLRows
	}
	w := bufio.NewWriter(out.Data)
	for rows, page := 0, 1; ; page++ {
		statement := fmt.Sprintf("%s\nLIMIT %d OFFSET %d", sql, size, rows)
		res, err := q.sqlPage(ctx, out, statement, start, end, size)
		if err != nil {
			return errors.Join(err, w.Flush())
		}
		for _, r := range res.GetRows() {
			line, err := sqlObject(res.GetColumns(), r)
			if err == nil {
				_, err = w.Write(append(escapeControls(line), '\n'))
			}
			if err != nil {
				return left(err)
			}
		}
		if err := w.Flush(); err != nil {
			return left(err)
		}
		if page == 1 {
			for _, note := range sqlNotes(res) {
				out.note(note)
			}
		}
		if rows += len(res.GetRows()); len(res.GetRows()) < size {
			out.note(limits.Number(rows) + " rows in " + times(page, "request"))
			return nil
		}
	}
}

func times(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return limits.Number(n) + " " + noun + "s"
}

// sqlPage runs one statement. It waits when the server asks to.
func (q *Query) sqlPage(
	ctx context.Context, out *Output, sql string, start, end *timestamppb.Timestamp, size int,
) (*svcv2.SqlResult, error) {
	for {
		res, err := q.client.sql.RunSql(ctx, &svcv2.RunSqlRequest{Sql: sql, StartTime: start, EndTime: end, MaxRows: number(size)})
		if err == nil {
			return res, nil
		}
		err = q.client.failure(err)
		var failure *Failure
		if !errors.As(err, &failure) || failure.retry <= 0 || failure.retry > time.Minute {
			return nil, err
		}
		out.note("the server asks to wait " + failure.retry.String() + " before the next page")
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(failure.retry):
		}
	}
}

// sqlNotes are the warnings of an answer, in the words of the command line.
func sqlNotes(res *svcv2.SqlResult) []string {
	words := strings.NewReplacer("the notes of the table spans", "'svc tables spans'", "start_time and end_time", "--since, --start and --end")
	var notes []string
	for _, w := range res.GetWarnings() {
		notes = append(notes, words.Replace(w))
	}
	return notes
}
