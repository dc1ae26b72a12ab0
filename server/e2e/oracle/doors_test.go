package oracle_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/svc-observability/svc/server/contract"
	"github.com/svc-observability/svc/server/testkit"
)

// audit asks a server and compares its figures.
type audit struct {
	testing.TB
	*telemetry
	server      *testkit.Server
	contract    *contract.Contract
	key         string
	compared    map[string]int // by operation or tool
	wrong       int
	wrongOf     map[string]int // by operation or tool
	*corruption                // nil unless answers are corrupted
	late        bool           // rows arrived after the first comparison
	began       time.Time
	until       time.Time // the end of an input while fuzzing
}

// mostWrong is the number of wrong figures that a test prints.
const mostWrong = 25

// figure compares one figure.
func (a *audit) figure(read, what string, got float64, want bounds) {
	a.Helper()
	a.compared[read]++
	if want.admits(got) {
		return
	}
	if a.wrongIn(read) > mostWrong {
		return
	}
	expected := fmt.Sprint(want.low)
	if want.low != want.high {
		expected = fmt.Sprintf("%v to %v", want.low, want.high)
	}
	a.Errorf("%s: %s is %v, expected %s", read, what, got, expected)
}

// wrongIn counts a wrong figure of a read. It returns the number of all wrong figures.
func (a *audit) wrongIn(read string) int {
	a.wrong++
	a.wrongOf[read]++
	return a.wrong
}

// names compares a set of names, which counts as one figure.
func (a *audit) names(read, what string, got, want []string) {
	a.Helper()
	a.compared[read]++
	slices.Sort(got)
	slices.Sort(want)
	if slices.Equal(got, want) {
		return
	}
	if a.wrongIn(read) <= mostWrong {
		without := func(list, other []string) (only []string) {
			for _, v := range list {
				if !slices.Contains(other, v) {
					only = append(only, v)
				}
			}
			return only
		}
		a.Errorf("%s: %s: %d of %d; unexpected %q, missing %q", read, what, len(got), len(want), without(got, want), without(want, got))
	}
}

type object = map[string]any

// ask calls an operation of the contract over REST.
func (a *audit) ask(operation string, request object, into any) {
	a.Helper()
	i := slices.IndexFunc(a.contract.Methods(), func(m *contract.Method) bool { return m.OperationID == operation })
	if i < 0 {
		a.Fatalf("the contract has no operation %s", operation)
	}
	binding := a.contract.Methods()[i].HTTP
	request = maps.Clone(request)
	path := binding.Path
	for _, p := range binding.PathParams {
		path = strings.ReplaceAll(path, "{"+p+"}", url.PathEscape(fmt.Sprint(request[p])))
		delete(request, p)
	}
	var body []byte
	if binding.BodyField == "" {
		q := url.Values{}
		for k, v := range request {
			q.Set(k, fmt.Sprint(v))
		}
		path += "?" + q.Encode()
	} else {
		body, _ = json.Marshal(request)
	}
	status, raw := a.exchange(binding.Method, path, body)
	raw = a.change(operation, raw)
	if err := json.Unmarshal(raw, into); err != nil || status != http.StatusOK {
		a.Fatalf("%s %v: %d %v %s", operation, request, status, err, raw)
	}
}

// exchange makes a request. It takes another key when the current one has reached its rate limit.
func (a *audit) exchange(method, path string, body []byte) (int, []byte) {
	a.Helper()
	if !a.until.IsZero() && time.Now().After(a.until) {
		if a.wrong > 0 {
			a.Fatal("the time of this input is over")
		}
		a.SkipNow()
	}
	if status, raw, ok := a.kept(method, path, body); ok {
		return status, raw
	}
	for range 30 {
		if a.key == "" {
			a.key = a.newKey()
		}
		status, raw := a.roundTrip(method, path, body, a.key)
		if status != http.StatusTooManyRequests {
			a.keep(method, path, body, status, raw)
			return status, raw
		}
		a.key = ""
		time.Sleep(10 * time.Millisecond)
	}
	a.Fatalf("%s %s: too many requests", method, path)
	return 0, nil
}

func (a *audit) newKey() string {
	a.Helper()
	status, raw := a.roundTrip(http.MethodPost, "/v2/api_keys", []byte(`{"name": "oracle"}`), a.server.APIKey)
	var k struct{ Secret string }
	if err := json.Unmarshal(raw, &k); err != nil || k.Secret == "" {
		a.Fatalf("a new key: %d %s", status, raw)
	}
	return k.Secret
}

func (a *audit) roundTrip(method, path string, body []byte, key string) (int, []byte) {
	a.Helper()
	req, err := http.NewRequestWithContext(a.Context(), method, a.server.BaseURL+path, bytes.NewReader(body))
	if err != nil {
		a.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+key)
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		a.Fatal(err)
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		a.Fatal(err)
	}
	return res.StatusCode, raw
}

// call calls a tool and reads the structured content.
func (a *audit) call(tool string, arguments object, into any) (answered bool) {
	a.Helper()
	body, _ := json.Marshal(object{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": object{"name": tool, "arguments": arguments}})
	status, raw := a.exchange(http.MethodPost, "/mcp?detail=full", body)
	var out struct {
		Result struct {
			IsError           bool
			StructuredContent json.RawMessage
			Content           []struct{ Text string }
		}
	}
	unknown := arguments["environment"] == nowhere
	if err := json.Unmarshal(raw, &out); err != nil || status != http.StatusOK || out.Result.IsError != unknown ||
		len(out.Result.Content) == 0 {
		a.Fatalf("%s %v: %d %v %s", tool, arguments, status, err, raw)
	}
	if unknown {
		if text := out.Result.Content[0].Text; !strings.Contains(text, nowhere) || !strings.Contains(text, "production") {
			a.Errorf("%s does not name the unknown environment and the known ones: %s", tool, text)
		}
		return false
	}
	if err := json.Unmarshal(a.change(tool, out.Result.StructuredContent), into); err != nil {
		a.Fatalf("%s: %v %s", tool, err, out.Result.StructuredContent)
	}
	return true
}

// nowhere is an environment without telemetry. REST has no rows for it, and tools refuse it.
const nowhere = "nowhere"

// in makes a request about a window.
func in(w window, more object) object {
	r := object{"start_time": w.start.Format(time.RFC3339Nano), "end_time": w.end.Format(time.RFC3339Nano)}
	maps.Copy(r, more)
	return r
}

// windows are the shapes of windows: whole hours, whole minutes that end at the time of a row, arbitrary times, and a window that
// starts and ends at the time of a row.
func (t *telemetry) windows() []window {
	minute := t.start.Add(time.Duration(1+t.r.IntN(60)) * time.Minute)
	odd := t.start.Add(time.Duration(t.r.Int64N(int64(time.Hour)))).Truncate(time.Millisecond)
	first, last := t.spans[t.r.IntN(len(t.spans))].at, t.spans[t.r.IntN(len(t.spans))].at
	if first.After(last) {
		first, last = last, first
	}
	return []window{
		{t.start, t.end},
		{minute, t.boundary()},
		{odd, odd.Add(time.Hour + time.Duration(t.r.IntN(1e6))*time.Millisecond)},
		{first, last.Add(time.Nanosecond)},
	}
}
