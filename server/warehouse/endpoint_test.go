package warehouse

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/google/go-cmp/cmp"
)

func TestParseURL(t *testing.T) {
	type parsed struct{ Base, User, Password, Database, Cluster string }
	for raw, want := range map[string]parsed{
		"clickhouse://host": {"http://host:8123", "", "", "svc", ""},
		"clickhouse://u:p%40ss@host:18123/db?cluster=main": {"http://host:18123", "u", "p@ss", "db", "main"},
		"clickhouses://host/db":                            {"https://host:8443", "", "", "db", ""},
		"https://h.example:443/db":                         {"https://h.example:443", "", "", "db", ""},
		"http://[::1]/db":                                  {"http://[::1]:8123", "", "", "db", ""},
	} {
		p, err := ParseURL(raw)
		if err != nil {
			t.Errorf("%s: %v", raw, err)
			continue
		}
		if diff := cmp.Diff(want, parsed{p.base.String(), p.user, p.password, p.database, p.cluster}); diff != "" {
			t.Errorf("%s (-want +got):\n%s", raw, diff)
		}
		if p.password != "" && strings.Contains(p.String(), p.password) {
			t.Errorf("%s shows its password", p)
		}
	}
	for raw, want := range map[string]string{
		"clickhouse://u:secret@a,b:9000?cluster=m":  "native protocol",
		"clickhouse://u:secret@a,b":                 "several hosts need cluster",
		"clickhouse://u:secret@a,a:8123?cluster=m":  "twice",
		"clickhouse://u:secret@a,?cluster=m":        "not a URL",
		"clickhouse://u:secret@host:9000":           "native protocol",
		"clickhouse://u:secret@host:9440/db":        "native protocol",
		"postgres://u:secret@host":                  "unknown scheme",
		"clickhouse://u:secret@/db":                 "no host",
		"clickhouse://u:secret@host/a-b":            "database",
		"clickhouse://u:secret@host/db?x=1":         "unknown parameter",
		"clickhouse://u:secret@host/db?cluster=a'b": "cluster",
		"clickhouse://u:secret@host/db?quorum=2":    "quorum needs cluster",
		"clickhouse://h/db?cluster=a&quorum=most":   "use a number of replicas",
		"clickhouse://u:sec%zzret@host":             "not a URL",
	} {
		_, err := ParseURL(raw)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") || strings.Contains(err.Error(), "zz") {
			t.Errorf("%s: got %v, want %q and no password", raw, err, want)
		}
	}
}

func TestParseHosts(t *testing.T) {
	p, err := ParseURL("clickhouses://u:secret@a:8123,b,[::1]:1/db?cluster=main")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"a:8123", "b:8443", "[::1]:1"}, p.hosts); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := p.String(); got != "ClickHouse at a:8123,b:8443,[::1]:1/db" || p.base.Host != "a:8123" {
		t.Errorf("%q, first host %q", got, p.base.Host)
	}
}

func TestFormatArgs(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 6, time.FixedZone("x", 3600))
	got, err := formatArgs([]Arg{
		Named("s", "a\t'b\\"), Named("i", int32(-1)), Named("u", uint8(2)), Named("f", 0.5), Named("b", true), Named("t", at),
		Named("l", []string{"a'b", `c\`}), Named("n", []int{1, 2}), Named("e", []string{}),
	})
	if err != nil {
		t.Fatal(err)
	}
	want := clickhouse.Parameters{
		"s": `a\t'b\\`, "i": "-1", "u": "2", "f": "0.5", "b": "true", "t": "2026-01-02 02:04:05.000000006",
		"l": `['a\'b','c\\']`, "n": "[1,2]", "e": "[]",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if _, err := formatArgs([]Arg{Named("a", 1), Named("a", 2)}); err == nil {
		t.Error("an argument given twice was taken")
	}
	if _, err := formatArgs([]Arg{Named("a", map[string]int{})}); err == nil {
		t.Error("a map was taken")
	}
}

func TestMapError(t *testing.T) {
	expired, cancel := context.WithTimeout(context.Background(), 0)
	defer cancel()
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	for _, tt := range []struct {
		name  string
		ctx   context.Context
		err   error
		kind  error
		retry bool
	}{
		{"refused", nil, fmt.Errorf("post: %w", syscall.ECONNREFUSED), ErrUnavailable, true},
		{"cut off", nil, io.ErrUnexpectedEOF, ErrUnavailable, true},
		{"memory", nil, &clickhouse.Exception{Code: 241}, ErrMemory, true},
		{"time", nil, &clickhouse.Exception{Code: 159}, ErrTimeout, true},
		{"rows", nil, &clickhouse.Exception{Code: 158}, ErrTooCostly, true},
		{"bytes", nil, &clickhouse.Exception{Code: 307}, ErrTooCostly, true},
		{"result", nil, &clickhouse.Exception{Code: 396}, ErrTooCostly, true},
		{"too many parts", nil, &clickhouse.Exception{Code: 252}, ErrUnavailable, true},
		{"too many queries", nil, &clickhouse.Exception{Code: 202}, ErrUnavailable, true},
		{"type", nil, &clickhouse.Exception{Code: 53}, ErrOther, true},
		{"proxy", nil, &clickhouse.HTTPError{StatusCode: 502, Err: errors.New("bad gateway")}, ErrUnavailable, true},
		{"not ClickHouse", nil, &clickhouse.HTTPError{StatusCode: 404, Err: errors.New("nothing here")}, ErrClient, true},
		{"a proxy's credentials", nil, &clickhouse.HTTPError{StatusCode: 403, Err: errors.New("who are you?")}, ErrAuth, true},
		{"ClickHouse's credentials", nil, &clickhouse.HTTPError{StatusCode: 403, Err: &clickhouse.Exception{Code: 516}}, ErrAuth, true},
		{"another protocol", nil, errors.New("unexpected packet 99"), ErrClient, true},
		{"deadline", expired, syscall.ECONNRESET, ErrTimeout, true},
		{"cancel", cancelled, syscall.ECONNRESET, context.Canceled, true},
	} {
		ctx := tt.ctx
		if ctx == nil {
			ctx = context.Background()
		}
		err := mapError(ctx, tt.err)
		if !errors.Is(err, tt.kind) || Retryable(err) != tt.retry {
			t.Errorf("%s: got %v, retryable %v", tt.name, err, Retryable(err))
		}
		var e *Error
		if errors.As(err, &e) && errors.Is(err, ErrUnavailable) && e.RetryAfter <= 0 {
			t.Errorf("%s: unavailable without a time to retry", tt.name)
		}
	}
	if mapError(cancelled, nil) != nil {
		t.Error("no error became one")
	}
}
