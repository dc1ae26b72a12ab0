package console_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/svc-observability/svc/server/console"
	"github.com/svc-observability/svc/server/limits"
)

type echo struct {
	Text string `json:"text"`
}

// echoServer is a server of the official SDK. Options decide whether it has sessions, and whether it answers with streams.
func echoServer(options *sdk.StreamableHTTPOptions) http.Handler {
	server := sdk.NewServer(&sdk.Implementation{Name: "echo", Version: "1"}, nil)
	sdk.AddTool(server, &sdk.Tool{Name: "echo"}, func(_ context.Context, _ *sdk.CallToolRequest, in echo) (*sdk.CallToolResult, echo, error) {
		return nil, in, nil
	})
	return sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, options)
}

// TestBridgeClient: the official client reaches a server through the bridge: with and without sessions, with JSON and with streams.
func TestBridgeClient(t *testing.T) {
	for name, options := range map[string]*sdk.StreamableHTTPOptions{
		"stream, sessions": {}, "JSON, no sessions": {Stateless: true, JSONResponse: true},
	} {
		t.Run(name, func(t *testing.T) {
			inner := echoServer(options)
			var forget atomic.Bool
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Header.Get("Authorization") != "Bearer key" || r.URL.Path != "/mcp" || r.URL.Query().Get("toolsets") != "a,b" &&
					r.Method == http.MethodPost {
					t.Errorf("%s %v", r.URL, r.Header)
				}
				if r.Header.Get("Mcp-Session-Id") != "" && forget.CompareAndSwap(true, false) {
					http.Error(w, "session not found", http.StatusNotFound)
					return
				}
				inner.ServeHTTP(w, r)
			}))
			defer s.Close()
			toBridge, fromClient := io.Pipe()
			toClient, fromBridge := io.Pipe()
			var messages bytes.Buffer
			ended := make(chan error, 1)
			go func() {
				b := console.NewBridge(console.Target{URL: s.URL, Token: "key"}, url.Values{"toolsets": {"a,b"}}, &messages)
				ended <- b.Run(t.Context(), toBridge, fromBridge)
				_ = fromBridge.Close()
			}()
			session, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).Connect(
				t.Context(), &sdk.IOTransport{Reader: toClient, Writer: fromClient}, nil)
			if err != nil {
				t.Fatal(err)
			}
			for i := range 40 {
				if i == 20 {
					forget.Store(true)
				}
				text := fmt.Sprint("line\n", i)
				res, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: "echo", Arguments: echo{text}})
				if err != nil || res.IsError || res.StructuredContent.(map[string]any)["text"] != text {
					t.Fatalf("%d: %+v %v", i, res, err)
				}
			}
			if err := session.Close(); err != nil {
				t.Error(err)
			}
			_ = fromClient.Close()
			if err := <-ended; err != nil || messages.Len() != 0 {
				t.Errorf("%v %s", err, &messages)
			}
		})
	}
}

// TestBridgeRefusals: a refusal of the server and a line without a message become errors of the protocol. Stdout has nothing else.
func TestBridgeRefusals(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = io.WriteString(w, `{"error":{"_tag":"@svc/http/v2/InvalidCredentialsError","message":"This server does not know the credential."}}`)
	}))
	defer s.Close()
	in := strings.Join([]string{
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}`,
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
		`{"jsonrpc":"2.0","id":"two","method":"tools/list"}`,
		`no JSON`, `[]`, `{"jsonrpc":"2.0","id":4,"method":"x","params":"` + strings.Repeat("a", limits.RESTBody) + `"}`,
		`{"jsonrpc":"2.0","id":5,"method":"x","params":"` + strings.Repeat("a", limits.BridgeMessage) + `"}`,
	}, "\n")
	var out, messages bytes.Buffer
	b := console.NewBridge(console.Target{URL: s.URL, Token: "old", Relogin: "Run 'svc login'."}, nil, &messages)
	if err := b.Run(t.Context(), strings.NewReader(in), &out); err != nil {
		t.Fatal(err)
	}
	got := map[string]int{}
	for line := range strings.Lines(out.String()) {
		var e struct {
			ID    json.RawMessage
			Error struct {
				Code    int
				Message string
			}
		}
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Errorf("%v: %s", err, line)
		}
		got[fmt.Sprint(string(e.ID), " ", e.Error.Code)]++
		if e.Error.Code == -32000 && !strings.Contains(e.Error.Message, "Run 'svc login'.") {
			t.Error(e.Error.Message)
		}
	}
	if len(got) != 5 || got["1 -32000"] != 1 || got["4 -32000"] != 1 || got[`"two" -32000`] != 1 || got["null -32700"] != 1 ||
		got["null -32600"] != 2 {
		t.Error(got)
	}
	if strings.Count(messages.String(), "\n") != 1 || !strings.Contains(messages.String(), "Run 'svc login'.") {
		t.Error(messages.String())
	}
}

// TestBridgeTellsEachOutage: a person learns of an outage once, and of the next one again.
func TestBridgeTellsEachOutage(t *testing.T) {
	var away atomic.Bool
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var e struct{ ID json.RawMessage }
		if err := json.NewDecoder(r.Body).Decode(&e); err != nil {
			t.Error(err)
		}
		if away.Load() {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{}}`, e.ID)
	}))
	defer s.Close()
	fromAgent, agent := io.Pipe()
	answers, toAgent := io.Pipe()
	var messages bytes.Buffer
	ended := make(chan error, 1)
	go func() {
		ended <- console.NewBridge(console.Target{URL: s.URL}, nil, &messages).Run(t.Context(), fromAgent, toAgent)
	}()
	lines := bufio.NewScanner(answers)
	for i, outage := range []bool{true, true, false, true, false} {
		away.Store(outage)
		if _, err := fmt.Fprintf(agent, `{"jsonrpc":"2.0","id":%d,"method":"ping"}`+"\n", i); err != nil || !lines.Scan() {
			t.Fatal(err, lines.Err())
		}
		if failed := strings.Contains(lines.Text(), `"error"`); failed != outage {
			t.Errorf("%d: %s", i, lines.Text())
		}
	}
	if err := agent.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err != nil || strings.Count(messages.String(), "503") != 2 {
		t.Errorf("%v %s", err, &messages)
	}
}
