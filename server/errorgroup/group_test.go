package errorgroup_test

import (
	"bytes"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/svc-observability/svc/server/errorgroup"
)

// The same error of another organization or another service is another group; environments, versions and traces are not part of an error.
func TestScope(t *testing.T) {
	e := corpus(t)[0].error
	hash := errorgroup.Of(e).Hash
	other := e
	other.Service = "pay"
	if errorgroup.Of(other).Hash == hash {
		t.Error("two services have one group")
	}
	other = e
	other.Org = "org_other"
	if errorgroup.Of(other).Hash == hash {
		t.Error("two organizations have one group")
	}
	other = e
	other.SpanName, other.HTTPStatus, other.StatusMessage = "GET /", 500, "failed"
	if errorgroup.Of(other).Hash != hash {
		t.Error("the operation changes the group of an exception")
	}
}

func TestLabels(t *testing.T) {
	for _, c := range []struct {
		error        errorgroup.Exception
		label, title string
	}{
		{errorgroup.Exception{Type: "CardDeclined", Message: "card 42 was declined"}, "CardDeclined", "CardDeclined: card # was declined"},
		{errorgroup.Exception{StatusMessage: "timeout: 12 s (pool 3)"}, "timeout", "timeout"},
		{errorgroup.Exception{StatusMessage: `{"reason": "no stock", "id": 3}`}, "no stock", "no stock"},
		{errorgroup.Exception{StatusMessage: `{"type": "https://errors.example/Conflict"}`}, "Conflict", "Conflict"},
		{errorgroup.Exception{StatusMessage: `{"id": 3}`}, "JSON error", "JSON error"},
		{errorgroup.Exception{StatusMessage: "Schema parse error\nname: expected text"}, "Schema parse error", "Schema parse error"},
		{errorgroup.Exception{SpanName: "GET /cart", HTTPStatus: 502}, "GET /cart: HTTP 502", "GET /cart: HTTP 502"},
		{errorgroup.Exception{SpanName: "shop.Cart/Get", GRPCStatus: "14"}, "shop.Cart/Get: gRPC 14", "shop.Cart/Get: gRPC 14"},
		{errorgroup.Exception{}, "Unknown Error", "Unknown Error"},
	} {
		if g := errorgroup.Of(c.error); g.Label != c.label || g.Title != c.title {
			t.Errorf("%+v: label %q, title %q", c.error, g.Label, g.Title)
		}
	}
}

func TestNormal(t *testing.T) {
	for in, want := range map[string]string{
		"":                              "",
		"  spaces 5 \nsecond line":      "spaces #",
		"12 of 13 failed":               "# of # failed",
		"application/json is not utf-8": "application/json is not utf-#",
		"S3Client gave 403":             "S#Client gave #",
		"see https://a.example/b?c=1,2;d, then go": "see #, then go",
		"value=12, other=abc":                      "value=#, other=abc",
		"it's broken, isn't it":                    "it's broken, isn't it",
		"defaced deadbeef":                         "defaced #",
		strings.Repeat("é", 150):                   strings.Repeat("é", 100),
	} {
		if got := string(errorgroup.AppendNormal(nil, in)); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func TestGroupingJSON(t *testing.T) {
	for _, c := range corpus(t) {
		g := errorgroup.Of(c.error).Grouping
		back, err := errorgroup.ParseGrouping(g.JSON())
		if err != nil || !bytes.Equal(back.JSON(), g.JSON()) {
			t.Errorf("%s: %v, %s", c, err, g.JSON())
		}
	}
	g := errorgroup.Of(corpus(t)[0].error).Grouping
	if g.Version != errorgroup.Version {
		t.Errorf("version %q", g.Version)
	}
}

func FuzzGroup(f *testing.F) {
	for _, c := range corpus(f) {
		f.Add(c.error.Type, c.error.Message, c.error.Stack, c.error.SpanName)
	}
	var used errorgroup.Grouper
	f.Fuzz(func(t *testing.T, typ, message, stack, span string) {
		e := errorgroup.Exception{Org: "o", Service: "s", Type: typ, Message: message, Stack: stack, SpanName: span}
		from := time.Now()
		g := used.Of(&e)
		// A stack of 16 KiB takes less than a millisecond; the bound is for machines that do other work.
		if d := time.Since(from); d > 2*time.Second {
			t.Errorf("took %v", d)
		}
		again := errorgroup.Of(e)
		if g.Hash == 0 || again.Hash != g.Hash || again.Variant != g.Variant || again.Label != g.Label || again.Frame != g.Frame {
			t.Errorf("%+v, then %+v", g, again)
		}
		if len(g.Label) > 150 || len(g.Frame) > 300 || g.Label == "" {
			t.Errorf("label %q, frame %q", g.Label, g.Frame)
		}
		if n := testing.AllocsPerRun(1, func() { used.Of(&e) }); n > 40 && !strings.HasPrefix(strings.TrimSpace(message), "{") {
			t.Errorf("%v allocations", n)
		}
	})
}

// BenchmarkGroup measures the stack of 40 frames of a Java service.
func BenchmarkGroup(b *testing.B) {
	var s strings.Builder
	s.WriteString("java.lang.IllegalStateException: No stock left for order 4711\n")
	for i := range 40 {
		if i%8 == 3 {
			s.WriteString("\tat com.acme.shop.checkout.CheckoutService.charge(CheckoutService.java:41)\n")
		} else {
			s.WriteString("\tat org.springframework.web.servlet.FrameworkServlet.processRequest(FrameworkServlet.java:1014)\n")
		}
	}
	e := errorgroup.Exception{
		Org: "org_bench", Service: "shop", Type: "java.lang.IllegalStateException",
		Message: "No stock left for order 4711", Stack: s.String(),
	}
	var g errorgroup.Grouper
	b.ReportAllocs()
	b.SetBytes(int64(len(e.Stack)))
	from := cpuTime(b)
	for b.Loop() {
		g.Of(&e)
	}
	b.ReportMetric(float64(cpuTime(b)-from)/float64(b.N), "cpu-ns/op")
}

// cpuTime is the processor time of this process, as other programs share the machine.
func cpuTime(tb testing.TB) time.Duration {
	tb.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		tb.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
