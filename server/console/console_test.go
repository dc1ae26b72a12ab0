package console_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	optionsv1 "github.com/svc-observability/svc/gen/svc/options/v1"
	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/console"
	"github.com/svc-observability/svc/server/console/consoletest"
)

// pagedTraces has a thousand traces, named by their place. Its cursors are places.
func pagedTraces(_ string, request proto.Message) (proto.Message, error) {
	req := request.(*svcv2.SearchTracesRequest)
	from, _ := strconv.Atoi(req.GetCursor())
	res := &svcv2.SearchTracesResponse{Object: "list", HasMore: true}
	for i := from; i < from+int(req.GetLimit()); i++ {
		res.Data = append(res.Data, &svcv2.TraceSummary{Id: fmt.Sprintf("%032d", i), Object: "trace", StartTime: timestamppb.New(now())})
	}
	next := strconv.Itoa(from + int(req.GetLimit()))
	res.NextCursor = &next
	return res, nil
}

// TestEmpty: nothing found is no failure, and stdout holds no text but the empty answer.
func TestEmpty(t *testing.T) {
	s := consoletest.New(t, func(string, proto.Message) (proto.Message, error) {
		return &svcv2.SearchLogsResponse{Object: "list"}, nil
	})
	const page = `{
  "object": "list",
  "data": [],
  "has_more": false,
  "next_cursor": null,
  "warnings": []
}
`
	for format, want := range map[string]string{"table": "", "jsonl": "", "json": page} {
		stdout, stderr, err := run(t.Context(), t, s, "logs", console.Query{}, console.Output{Format: format})
		if err != nil || stdout != want || format == "table" && !strings.Contains(stderr, "no log record matches") {
			t.Errorf("%s: %q %q %v", format, stdout, stderr, err)
		}
	}
}

// TestRefusals holds the texts of failures.
func TestRefusals(t *testing.T) {
	for name, tc := range map[string]struct {
		code   connect.Code
		detail *optionsv1.ErrorDetail
		want   []string
	}{
		"expired": {
			connect.CodeUnauthenticated,
			&optionsv1.ErrorDetail{Tag: "@svc/x/InvalidCredentialsError", Message: "The credential is not valid.", Status: 401},
			[]string{"The credential is not valid. (@svc/x/InvalidCredentialsError, request req_TEST)", "Run 'svc login'."},
		},
		"a field": {
			connect.CodeInvalidArgument,
			&optionsv1.ErrorDetail{
				Tag: "@svc/x/TimeRange", Message: "start_time must be before \x1b[31mend_time.", Param: "start_time",
				Status: 400,
			},
			[]string{"--start: start_time", `\x1b[31mend_time`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := consoletest.New(t, func(string, proto.Message) (proto.Message, error) {
				return nil, consoletest.Refusal(tc.code, tc.detail)
			})
			_, _, err := run(t.Context(), t, s, "traces", console.Query{}, console.Output{Format: "table"})
			var failure *console.Failure
			if !errors.As(err, &failure) {
				t.Fatal(err)
			}
			for _, text := range tc.want {
				if !strings.Contains(err.Error(), text) {
					t.Errorf("%q lacks %q", err, text)
				}
			}
			if !strings.Contains(string(failure.JSON()), `"request_id":"req_TEST"`) ||
				!strings.Contains(string(failure.JSON()), tc.detail.GetTag()) {
				t.Errorf("%s", failure.JSON())
			}
		})
	}
}

// TestServersOfOthers: an address where no svc answers is named, and a redirect gets no credential.
func TestServersOfOthers(t *testing.T) {
	var leaked bool
	thief := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		leaked = leaked || r.Header.Get("Authorization") != ""
	}))
	defer thief.Close()
	redirects := httptest.NewServer(http.RedirectHandler(thief.URL, http.StatusTemporaryRedirect))
	defer redirects.Close()
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, "<html>\x1b[2J")
	}))
	defer page.Close()
	gone := httptest.NewServer(nil)
	gone.Close()
	for url, want := range map[string]string{
		redirects.URL: "is not one of svc", page.URL: "is not one of svc",
		gone.URL: "no server answers at " + gone.URL,
	} {
		c := command(t, "services")
		q := console.Query{Now: now()}
		err := c.Run(t.Context(), console.Connect(console.Target{URL: url, Token: "secret"}), &q,
			&console.Output{Data: io.Discard, Messages: io.Discard})
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\x1b") ||
			strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v, want %q", url, err, want)
		}
	}
	if leaked {
		t.Error("another server got the credential")
	}
}

// TestBadFlags: an error in the command line names the flag and asks no server.
func TestBadFlags(t *testing.T) {
	for _, tc := range []struct {
		path string
		q    console.Options
		want string
	}{
		{"logs", console.Options{Since: "6 hours"}, `--since "6 hours"`},
		{"logs", console.Options{Since: "-1h"}, "--since"},
		{"logs", console.Options{Start: "noon"}, `--start "noon"`},
		{"logs", console.Options{End: "2026-13-01"}, "--end"},
		{"logs", console.Options{Start: "2026-11-27"}, "--start 2026-11-27 is not before"},
		{"logs", console.Options{Start: "2026-11-20", Since: "1h"}, "--since and --start"},
		{"logs", console.Options{Severity: "warn"}, `--severity "warn": use TRACE, DEBUG`},
		{"logs", console.Options{Limit: -1}, "--limit -1"},
		{"logs", console.Options{Follow: true, Limit: 5}, "--follow"},
		{"traces", console.Options{Offset: -1}, "--offset -1"},
		{"traces", console.Options{MinDuration: 5, MaxDuration: 4}, "--max-duration-ms"},
		{"top-ops", console.Options{Metric: "speed"}, `--metric "speed"`},
		{"timeseries", console.Options{Source: "metrics"}, "--source metrics needs --metric"},
		{"timeseries", console.Options{Source: "logs", Metric: "m"}, "--metric is for"},
		{"breakdown", console.Options{MetricType: "sum"}, "--type"},
		{"compare", console.Options{Around: "2026-11-26", Start: "2026-11-25"}, "--around"},
		{"compare", console.Options{PreviousStart: "2026-11-25"}, "--previous-end"},
		{"query", console.Options{Environment: "production"}, "--environment"},
		{"issues claim", console.Options{Lease: 5}, "--lease-seconds 5"},
		{"issues move", console.Options{}, `STATE "B"`},
	} {
		s := consoletest.New(t, nil)
		_, _, err := run(t.Context(), t, s, tc.path, console.Query{Arguments: []string{"A", "B"}, Options: tc.q}, console.Output{})
		var bad *console.UsageError
		if !errors.As(err, &bad) || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("svc %s: %v, want a usage error with %q", tc.path, err, tc.want)
		}
		if list := s.Requests(); len(list) > 0 {
			t.Errorf("svc %s asked the server: %q", tc.path, list)
		}
	}
}

type closedPipe struct{}

func (closedPipe) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

// TestReaderLeaves: a reader who has enough, such as head, is no failure.
func TestReaderLeaves(t *testing.T) {
	s := consoletest.New(t, nil)
	c := command(t, "services")
	q := console.Query{Now: now()}
	for _, format := range []string{"table", "json", "jsonl"} {
		err := c.Run(context.Background(), console.Connect(console.Target{URL: s.URL, Token: consoletest.Token}), &q,
			&console.Output{Data: closedPipe{}, Messages: io.Discard, Format: format})
		if err != nil {
			t.Errorf("%s: %v", format, err)
		}
	}
}
