package mcp

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/svc-observability/svc/server/mcp/tool"
	"github.com/svc-observability/svc/server/mcp/tool/tooltest"
)

// BenchmarkParse measures the parts of reading a call: the SDK's two envelopes and its params, and our arguments.
func BenchmarkParse(b *testing.B) {
	type arguments struct {
		tool.Window
		Service *string
		Limit   int
		Widgets json.RawMessage
	}
	echo := &tool.Tool{Name: "search_traces", Run: tool.With(func(context.Context, *arguments) (*tool.Answer, error) {
		return &tool.Answer{},
			nil
	})}
	small := `{"service":"checkout","start_time":"now-1h","limit":20}`
	large := `{"service":"checkout","widgets":[`
	for range 200 {
		large += `{"id":"w1","visualization":"chart","display":{"title":"Requests"},"layout":{"x":0,"y":0,"w":6,"h":4},"data_source":{"kind":"query","queries":[{"id":"a","name":"A"}]}},`
	}
	large = large[:len(large)-1] + `]}`
	for name, text := range map[string]string{"small": small, "large": large} {
		params := `{"name":"search_traces","arguments":` + text + `}`
		body := []byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":` + params + `}`)
		b.Run(name+"/envelope", func(b *testing.B) {
			b.SetBytes(int64(len(body)))
			for b.Loop() {
				if _, err := jsonrpc.DecodeMessage(body); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(name+"/params", func(b *testing.B) {
			for b.Loop() {
				var p sdk.CallToolParamsRaw
				if err := json.Unmarshal([]byte(params), &p); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(name+"/arguments", func(b *testing.B) {
			for b.Loop() {
				if _, err := echo.Call(b.Context(), json.RawMessage(text), tooltest.Now()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
