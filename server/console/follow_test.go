package console_test

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	optionsv1 "github.com/svc-observability/svc/gen/svc/options/v1"
	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/console"
	"github.com/svc-observability/svc/server/console/consoletest"
)

// stream is a store of log records that grows.
type stream struct {
	mu   sync.Mutex
	logs []*svcv2.Log
	away bool
}

func (s *stream) add(id string, at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.logs = append(s.logs, &svcv2.Log{
		Id: id, Object: "log", Timestamp: timestamppb.New(at), SeverityText: "INFO", SeverityNumber: 9,
		ServiceName: "cart", Body: "body of " + id + "\x1b[2J",
	})
}

func (s *stream) answer(method string, request proto.Message) (proto.Message, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.away {
		return nil, consoletest.Refusal(connect.CodeUnavailable, &optionsv1.ErrorDetail{
			Tag: "@svc/x/Away", Message: "The warehouse is away.",
			Retryable: true, Status: 503,
		})
	}
	if method == "QueryLogTimeseries" {
		req := request.(*svcv2.QueryLogTimeseriesRequest)
		n := 0.0
		for _, v := range s.logs {
			if at := v.GetTimestamp().AsTime(); !at.Before(req.GetStartTime().AsTime()) && !at.After(req.GetEndTime().AsTime()) {
				n++
			}
		}
		return &svcv2.LogTimeseries{Series: []*svcv2.TelemetrySeries{{Points: []*svcv2.TelemetryPoint{{
			Timestamp: req.GetStartTime(),
			Value:     n,
		}}}}}, nil
	}
	req := request.(*svcv2.SearchLogsRequest)
	var from int
	_, _ = fmt.Sscan(req.GetCursor(), &from)
	res := &svcv2.SearchLogsResponse{Object: "list"}
	skip := from
	for i := len(s.logs) - 1; i >= 0; i-- {
		if at := s.logs[i].GetTimestamp().AsTime(); at.Before(req.GetStartTime().AsTime()) || at.After(req.GetEndTime().AsTime()) {
			continue
		}
		if skip > 0 {
			skip--
			continue
		}
		if len(res.GetData()) == int(req.GetLimit()) {
			next := fmt.Sprint(from + len(res.GetData()))
			res.HasMore, res.NextCursor = true, &next
			break
		}
		res.Data = append(res.Data, s.logs[i])
	}
	return res, nil
}

// lines collects what a follower writes.
type lines struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// within waits until a text has the wanted part.
func within(t *testing.T, l *lines, want string) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if strings.Contains(l.String(), want) {
			return
		}
	}
	t.Fatalf("%q is missing in:\n%s", want, l.String())
}

// TestFollow: each record is shown once, oldest first, also a late one and one from the time when the server was away. Ctrl-C ends it
// without an error. A name that no telemetry has yet gives a note.
func TestFollow(t *testing.T) {
	t.Parallel()
	store := &stream{}
	s := consoletest.New(t, func(method string, request proto.Message) (proto.Message, error) {
		if _, ok := request.(*svcv2.QueryBreakdownRequest); ok {
			return &svcv2.QueryBreakdownResponse{Warnings: []string{`No service "payment" was received in this window.`}}, nil
		}
		return store.answer(method, request)
	})
	begin := time.Now()
	store.add("before", begin.Add(-time.Minute))
	store.add("first", begin.Add(-time.Second))
	var data, messages lines
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	ended := make(chan error, 1)
	c := command(t, "logs")
	go func() {
		ended <- c.Run(ctx, console.Connect(console.Target{URL: s.URL, Token: consoletest.Token}),
			&console.Query{Options: console.Options{Follow: true, Service: "payment"}, Now: begin},
			&console.Output{Data: &data, Messages: &messages, Format: console.FormatTable, Width: 70})
	}()
	within(t, &data, "body of first")
	within(t, &messages, "service payment is not known yet")
	store.add("late", begin.Add(-2*time.Second))
	within(t, &data, "body of late")
	store.mu.Lock()
	store.away = true
	store.mu.Unlock()
	within(t, &messages, "The warehouse is away. (@svc/x/Away, request req_TEST); trying")
	store.add("meanwhile", time.Now())
	store.mu.Lock()
	store.away = false
	store.mu.Unlock()
	within(t, &data, "body of meanwhile")
	within(t, &messages, "answers again after")
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	text := data.String()
	for _, id := range []string{"first", "late", "meanwhile"} {
		if strings.Count(text, "body of "+id) != 1 {
			t.Errorf("%s is not there once:\n%s", id, text)
		}
	}
	if strings.Contains(text, "before") || strings.Contains(text, "\x1b") {
		t.Errorf("%q", text)
	}
}

// TestFollowFlood: more records than are shown are counted.
func TestFollowFlood(t *testing.T) {
	t.Parallel()
	store := &stream{}
	s := consoletest.New(t, store.answer)
	var data, messages lines
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	c := command(t, "logs")
	for i := range 2000 {
		store.add(fmt.Sprintf("f%04d", i), time.Now().Add(-4*time.Second+time.Duration(i)*time.Millisecond))
	}
	go func() {
		_ = c.Run(ctx, console.Connect(console.Target{URL: s.URL, Token: consoletest.Token}),
			&console.Query{Options: console.Options{Follow: true}},
			&console.Output{Data: &data, Messages: &messages, Format: console.FormatLines})
	}()
	within(t, &messages, "left out about 1500 log records")
	if n := strings.Count(data.String(), "\n"); n != 500 {
		t.Errorf("%d records are shown", n)
	}
}

// TestFollowEnds: a follower ends when its reader leaves, and when the credential is refused.
func TestFollowEnds(t *testing.T) {
	t.Parallel()
	store := &stream{}
	s := consoletest.New(t, store.answer)
	c := command(t, "logs")
	q := &console.Query{Options: console.Options{Follow: true}}
	out := &console.Output{Data: &lines{}, Messages: &lines{}, Format: console.FormatLines, Left: func() bool { return true }}
	if err := c.Run(t.Context(), console.Connect(console.Target{URL: s.URL, Token: consoletest.Token}), q, out); err != nil {
		t.Error(err)
	}
	out.Left = nil
	if err := c.Run(t.Context(), console.Connect(console.Target{URL: s.URL, Token: "old"}), q, out); err == nil ||
		!strings.Contains(err.Error(), "InvalidCredentials") {
		t.Error(err)
	}
}
