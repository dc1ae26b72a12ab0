package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	optionsv1 "github.com/svc-observability/svc/gen/svc/options/v1"
	"github.com/svc-observability/svc/server/contract"
	"github.com/svc-observability/svc/server/testkit"
	"github.com/svc-observability/svc/server/wirejson"
)

// answer is the answer of one door: a result in the JSON of /v2, or an error.
type answer struct {
	body json.RawMessage
	err  *wireError
}

// wireError is the part of an error that every door shows.
type wireError struct {
	Tag       string `json:"_tag"`
	Type      string `json:"type,omitempty"`
	Code      string `json:"code,omitempty"`
	Title     string `json:"title,omitempty"`
	Message   string `json:"message"`
	Recovery  string `json:"recovery,omitempty"`
	Retryable bool   `json:"retryable,omitempty"`
	Param     string `json:"param,omitempty"`
}

// caller sends one request, given in the JSON of /v2, through one door.
type caller func(t *testing.T, s *testkit.Server, key string, m *contract.Method, request json.RawMessage) answer

var doors = map[string]caller{"connect": callConnect, "grpc": callGRPC, "rest": callREST}

var loadContract = sync.OnceValues(contract.Load)

// theContract is loaded once: with the race detector it takes a quarter of a second.
func theContract(t *testing.T) *contract.Contract {
	t.Helper()
	c, err := loadContract()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// operation finds a method by its operation id.
func operation(t *testing.T, id string) *contract.Method {
	t.Helper()
	for _, m := range theContract(t).Methods() {
		if m.OperationID == id {
			return m
		}
	}
	t.Fatalf("no operation %q", id)
	return nil
}

func messageOf(t *testing.T, name protoreflect.FullName) proto.Message {
	t.Helper()
	mt, err := protoregistry.GlobalTypes.FindMessageByName(name)
	if err != nil {
		t.Fatal(err)
	}
	return mt.New().Interface()
}

func types(t *testing.T, m *contract.Method) (in, out proto.Message) {
	t.Helper()
	return messageOf(t, m.Descriptor.Input().FullName()), messageOf(t, m.Descriptor.Output().FullName())
}

func fromDetail(d *optionsv1.ErrorDetail) *wireError {
	return &wireError{
		Tag: d.GetTag(), Type: d.GetType(), Code: d.GetCode(), Title: d.GetTitle(), Message: d.GetMessage(),
		Recovery: d.GetRecovery(), Retryable: d.GetRetryable(), Param: d.GetParam(),
	}
}

// marshal prints a message in the form of /v2, so that answers of all doors can be compared.
func marshal(t *testing.T, m proto.Message) json.RawMessage {
	t.Helper()
	b, err := wirejson.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func callConnect(t *testing.T, s *testkit.Server, key string, m *contract.Method, request json.RawMessage) answer {
	t.Helper()
	return callConnectIn(t, s, key, "", m, request)
}

// callConnectIn is callConnect with the organization that the caller asks for.
func callConnectIn(t *testing.T, s *testkit.Server, key, org string, m *contract.Method, request json.RawMessage) answer {
	t.Helper()
	req, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, s.BaseURL+m.Procedure, bytes.NewReader(request))
	req.Header.Set("Content-Type", "application/json")
	if key != "" {
		req.Header.Set("Authorization", "Bearer "+key)
	}
	if org != "" {
		req.Header.Set("X-Svc-Org-Id", org)
	}
	status, body := roundTrip(t, req)
	_, out := types(t, m)
	if status == http.StatusOK {
		if err := protojson.Unmarshal(body, out); err != nil {
			t.Fatalf("connect answer: %v: %s", err, body)
		}
		return answer{body: marshal(t, out)}
	}
	var e struct {
		Details []struct {
			Type  string `json:"type"`
			Value string `json:"value"`
		} `json:"details"`
	}
	if err := json.Unmarshal(body, &e); err != nil {
		t.Fatalf("connect error is not JSON: %d %s", status, body)
	}
	for _, d := range e.Details {
		if d.Type == string((&optionsv1.ErrorDetail{}).ProtoReflect().Descriptor().FullName()) {
			detail := &optionsv1.ErrorDetail{}
			raw, err := decodeBase64(d.Value)
			if err != nil {
				t.Fatal(err)
			}
			if err := proto.Unmarshal(raw, detail); err != nil {
				t.Fatal(err)
			}
			return answer{err: fromDetail(detail)}
		}
	}
	t.Fatalf("connect error without detail: %d %s", status, body)
	return answer{}
}

func callGRPC(t *testing.T, s *testkit.Server, key string, m *contract.Method, request json.RawMessage) answer {
	t.Helper()
	conn, err := grpc.NewClient(strings.TrimPrefix(s.BaseURL, "http://"), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	in, out := types(t, m)
	if err := protojson.Unmarshal(request, in); err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	if key != "" {
		ctx = metadata.AppendToOutgoingContext(ctx, "authorization", "Bearer "+key)
	}
	err = conn.Invoke(ctx, m.Procedure, in, out)
	if err == nil {
		return answer{body: marshal(t, out)}
	}
	for _, d := range status.Convert(err).Details() {
		if detail, ok := d.(*optionsv1.ErrorDetail); ok {
			return answer{err: fromDetail(detail)}
		}
	}
	t.Fatalf("grpc error without detail: %v", err)
	return answer{}
}

func callREST(t *testing.T, s *testkit.Server, key string, m *contract.Method, request json.RawMessage) answer {
	t.Helper()
	fields := map[string]json.RawMessage{}
	if err := json.Unmarshal(request, &fields); err != nil {
		t.Fatal(err)
	}
	path := m.HTTP.Path
	for _, p := range m.HTTP.PathParams {
		path = strings.Replace(path, "{"+p+"}", url.PathEscape(text(fields[p])), 1)
		delete(fields, p)
	}
	var body io.Reader
	if m.HTTP.BodyField != "" {
		b, _ := json.Marshal(fields)
		body = bytes.NewReader(b)
	} else if len(fields) > 0 {
		q := url.Values{}
		for k, v := range fields {
			var list []json.RawMessage
			if json.Unmarshal(v, &list) != nil || list == nil {
				list = []json.RawMessage{v}
			}
			for _, x := range list {
				q.Add(k, text(x))
			}
		}
		path += "?" + q.Encode()
	}
	req, _ := http.NewRequestWithContext(t.Context(), m.HTTP.Method, s.BaseURL+path, body)
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if key != "" {
		req.Header.Set("Authorization", "Bearer "+key)
	}
	status, got := roundTrip(t, req)
	if status == http.StatusOK {
		return answer{body: got}
	}
	var e struct {
		Error wireError `json:"error"`
	}
	if err := json.Unmarshal(got, &e); err != nil || e.Error.Tag == "" {
		t.Fatalf("rest error is not the envelope: %d %s", status, got)
	}
	return answer{err: &e.Error}
}

func text(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	return string(raw)
}

func roundTrip(t *testing.T, req *http.Request) (int, []byte) {
	t.Helper()
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, body
}

// callTool calls an MCP tool by plain JSON-RPC and returns its whole structured content, or the error that it reports.
func callTool(ctx context.Context, t *testing.T, s *testkit.Server, key, tool string, arguments any) answer {
	t.Helper()
	rpc, _ := json.Marshal(map[string]any{
		"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": map[string]any{"name": tool, "arguments": arguments},
	})
	req, _ := http.NewRequestWithContext(ctx, http.MethodPost, s.BaseURL+"/mcp?detail=full", bytes.NewReader(rpc))
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	req.Header.Set("MCP-Protocol-Version", "2025-06-18")
	if key != "" {
		req.Header.Set("Authorization", "Bearer "+key)
	}
	status, body := roundTrip(t, req)
	if status != http.StatusOK {
		var e struct {
			Error wireError `json:"error"`
		}
		if err := json.Unmarshal(body, &e); err != nil || e.Error.Tag == "" {
			t.Fatalf("mcp error is not the envelope: %d %s", status, body)
		}
		return answer{err: &e.Error}
	}
	var out struct {
		Error  json.RawMessage `json:"error"`
		Result struct {
			IsError    bool            `json:"isError"`
			Structured json.RawMessage `json:"structuredContent"`
			Content    []struct {
				Text string `json:"text"`
			} `json:"content"`
		} `json:"result"`
	}
	if err := json.Unmarshal(body, &out); err != nil {
		t.Fatalf("mcp answer: %v: %s", err, body)
	}
	if len(out.Error) > 0 {
		t.Fatalf("mcp protocol error: %s", out.Error)
	}
	if out.Result.IsError {
		var e wireError
		if err := json.Unmarshal(out.Result.Structured, &e); err != nil {
			t.Fatalf("mcp error result without structured content: %v: %s", err, body)
		}
		return answer{err: &e}
	}
	if len(out.Result.Content) == 0 || out.Result.Content[0].Text == "" {
		t.Fatalf("mcp answer without text: %s", body)
	}
	return answer{body: out.Result.Structured}
}

// pick reads a dotted path from JSON; `[]` after a name collects the values of a list.
func pick(v any, path string) (any, error) {
	if path == "" {
		return v, nil
	}
	head, rest, _ := strings.Cut(path, ".")
	name, each := strings.CutSuffix(head, "[]")
	object, ok := v.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("%q: not an object", head)
	}
	v, ok = object[name]
	if !ok {
		return nil, fmt.Errorf("%q: absent", name)
	}
	if !each {
		return pick(v, rest)
	}
	list, ok := v.([]any)
	if !ok {
		return nil, fmt.Errorf("%q: not a list", name)
	}
	out := make([]any, 0, len(list))
	for _, item := range list {
		got, err := pick(item, rest)
		if err != nil {
			return nil, err
		}
		out = append(out, got)
	}
	return out, nil
}
