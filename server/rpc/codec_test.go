package rpc_test

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"connectrpc.com/connect"
	"github.com/klauspost/compress/gzip"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"

	optionsv1 "github.com/svc-observability/svc/gen/svc/options/v1"
	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/rpc"
)

const smallMessage = 10_000

// send posts bytes to CreateApiKey and returns the ErrorDetail of the answer, or nil if there is no detail.
func (f *fixture) send(t *testing.T, contentType, encoding string, body []byte) *optionsv1.ErrorDetail {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, f.server.URL+"/svc.v2.ApiKeysService/CreateApiKey",
		bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", contentType)
	if encoding != "" {
		req.Header.Set("Content-Encoding", encoding)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	if strings.HasPrefix(contentType, "application/grpc-web") {
		packed, err := base64.RawStdEncoding.DecodeString(res.Header.Get("Grpc-Status-Details-Bin"))
		if err != nil {
			t.Fatal(err)
		}
		var st status.Status
		if err := proto.Unmarshal(packed, &st); err != nil {
			t.Fatal(err)
		}
		if len(st.GetDetails()) == 0 {
			return nil
		}
		d := &optionsv1.ErrorDetail{}
		if err := st.GetDetails()[0].UnmarshalTo(d); err != nil {
			t.Fatal(err)
		}
		return d
	}
	var wire struct {
		Details []struct{ Value string }
	}
	if res.StatusCode == http.StatusOK {
		return nil
	}
	if err := json.Unmarshal(text, &wire); err != nil || len(wire.Details) == 0 {
		return nil
	}
	packed, err := base64.RawStdEncoding.DecodeString(wire.Details[0].Value)
	if err != nil {
		t.Fatal(err)
	}
	d := &optionsv1.ErrorDetail{}
	if err := proto.Unmarshal(packed, d); err != nil {
		t.Fatal(err)
	}
	return d
}

func zipped(t *testing.T, text string) []byte {
	t.Helper()
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	if _, err := z.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func enveloped(message []byte) []byte {
	return append(binary.BigEndian.AppendUint32([]byte{0}, uint32(len(message))), message...)
}

// TestUnreadableMessages checks that a message that cannot be read is refused like every other call: in our form, and counted.
func TestUnreadableMessages(t *testing.T) {
	f := newFixture(t, func(c *rpc.Config) { c.MaxMessageBytes = smallMessage })
	f.caller = fullAccess()
	const (
		asJSON = "application/json"
		binary = "application/proto"
		web    = "application/grpc-web+proto"
	)
	unknown := protowire.AppendVarint(protowire.AppendTag([]byte("\x0a\x01a"), 127, protowire.VarintType), 1)
	forged := protowire.AppendBytes(protowire.AppendTag([]byte("\x0a\x01a"), protowire.MaxValidNumber, protowire.BytesType), []byte("x"))
	huge := strings.Repeat("x", 2*smallMessage)
	for name, tc := range map[string]struct {
		contentType, encoding string
		body                  []byte
		tag                   apierr.Tag
		param, says           string
	}{
		"unknown field": {
			asJSON, "", []byte(`{"name":"a","scope":["traces:read"]}`), apierr.InvalidRequest, "scope",
			"`scope` is not a known field.",
		},
		"unknown field, utf-8": {
			asJSON + "; charset=utf-8", "", []byte(`{"foo":1}`), apierr.InvalidRequest, "foo",
			"`foo` is not a known field.",
		},
		"empty list": {
			asJSON, "", []byte(`{"name":"a","scopes":[]}`), apierr.InvalidRequest, "scopes",
			"`scopes` must not be an empty list. Leave it out instead.",
		},
		"duplicate":  {asJSON, "", []byte(`{"name":"a","name":"b"}`), apierr.InvalidRequest, "name", "`name` is given twice."},
		"other type": {asJSON, "", []byte(`{"name":5}`), apierr.InvalidRequest, "name", "`name` holds a value of another type."},
		"cut off": {
			asJSON, "", []byte(`{"name":"a"`), apierr.InvalidRequest, "",
			"The message cannot be read as JSON of svc.v2.CreateApiKeyRequest.",
		},
		"not an object": {
			asJSON, "", []byte(`[]`), apierr.InvalidRequest, "",
			"The message cannot be read as JSON of svc.v2.CreateApiKeyRequest, at line and column 1:1.",
		},
		"empty": {
			asJSON, "", nil, apierr.InvalidRequest, "",
			"The message is empty. Send a JSON object: `{}` if no field is set.",
		},
		"binary garbage": {
			binary, "",
			[]byte{0xff, 0xff},
			apierr.InvalidRequest, "",
			"The message cannot be read as svc.v2.CreateApiKeyRequest: it is not valid protobuf.",
		},
		"binary, bad UTF-8": {
			binary, "", []byte("\x0a\x01\xff"), apierr.InvalidRequest, "",
			"The message cannot be read as svc.v2.CreateApiKeyRequest: a text field is not valid UTF-8.",
		},
		"binary, unknown field": {binary, "", unknown, apierr.InvalidRequest, "", "svc.v2.CreateApiKeyRequest has no field with the number 127."},
		"binary, forged": {
			binary, "", forged, apierr.InvalidRequest, "",
			"svc.v2.CreateApiKeyRequest has no field with the number 536870911.",
		},
		"too large": {
			asJSON, "", []byte(`{"name":"` + huge + `"}`), apierr.PayloadTooLarge, "",
			"The message is larger than 10,000 bytes. Send less in one request.",
		},
		"gzip bomb": {
			asJSON, "gzip", zipped(t, `{"name":"`+huge+`"}`), apierr.PayloadTooLarge, "",
			"The message is larger than 10,000 bytes. Send less in one request.",
		},
		"no gzip":      {asJSON, "gzip", []byte("x"), apierr.InvalidRequest, "", "The message is not valid gzip."},
		"gzip cut off": {asJSON, "gzip", zipped(t, `{"name":"a"}`)[:20], apierr.InvalidRequest, "", "The message is not valid gzip."},
		"gRPC-Web garbage": {
			web, "", enveloped([]byte{0xff}), apierr.InvalidRequest, "",
			"The message cannot be read as svc.v2.CreateApiKeyRequest: it is not valid protobuf.",
		},
		"gRPC-Web too large": {
			web, "", enveloped([]byte(huge)), apierr.PayloadTooLarge, "",
			"The message is larger than 10,000 bytes. Send less in one request.",
		},
		"zero byte": {asJSON, "", []byte(`{"name":"a\u0000b"}`), apierr.InvalidRequest, "name", "`name` holds a zero byte."},
		"zero byte in a list": {
			asJSON, "", []byte(`{"name":"a","scopes":["a\u0000b"]}`), apierr.InvalidRequest, "scopes[0]",
			"`scopes[0]` holds a zero byte.",
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := f.send(t, tc.contentType, tc.encoding, tc.body)
			if d == nil {
				t.Fatal("no ErrorDetail")
			}
			if d.GetTag() != apierr.Spec(tc.tag).GetTag() || d.GetParam() != tc.param || d.GetMessage() != tc.says {
				t.Errorf("tag %s, param %q: %s", d.GetTag(), d.GetParam(), d.GetMessage())
			}
		})
	}
	if n := testutil.CollectAndCount(f.metrics, "svc_rpc_duration_seconds"); n == 0 {
		t.Error("the refused calls were not counted")
	}
}

// TestReadableMessages checks that a message within the limits and the schema passes, in both spellings of JSON.
func TestReadableMessages(t *testing.T) {
	f := newFixture(t, func(c *rpc.Config) { c.MaxMessageBytes = smallMessage })
	f.caller = fullAccess()
	for name, body := range map[string]string{
		"snake case": `{"name":"a","expires_in_seconds":100,"scopes":["traces:read"]}`,
		"camel case": `{"name":"a","expiresInSeconds":100,"scopes":null}`,
	} {
		if d := f.send(t, "application/json", "", []byte(body)); d != nil {
			t.Errorf("%s: %v", name, d)
		}
		if d := f.send(t, "application/json", "gzip", zipped(t, body)); d != nil {
			t.Errorf("%s, gzip: %v", name, d)
		}
	}
	for door, opts := range map[string][]connect.ClientOption{
		"connect": nil, "json": {connect.WithProtoJSON()}, "grpc": {connect.WithGRPC()}, "grpc-web": {connect.WithGRPCWeb()},
		"gzip": {connect.WithSendGzip()},
	} {
		if key, err := f.client(opts...).CreateApiKey(t.Context(), &svcv2.CreateApiKeyRequest{Name: "n"}); err != nil || key.GetName() != "n" {
			t.Errorf("%s: %v, %v", door, key, err)
		}
	}
}

// TestZeroBytes looks within nested messages, as the filters of a search are.
func TestZeroBytes(t *testing.T) {
	for path, req := range map[string]proto.Message{
		"filters.service_name": &svcv2.SearchTracesRequest{Filters: &svcv2.TraceFilters{ServiceName: proto.String("a\x00")}},
		"filters.attributes[1].key": &svcv2.SearchTracesRequest{Filters: &svcv2.TraceFilters{Attributes: []*svcv2.AttributeFilter{
			{},
			{Key: "\x00"},
		}}},
		"filters.attributes[0].value": &svcv2.SearchTracesRequest{Filters: &svcv2.TraceFilters{Attributes: []*svcv2.AttributeFilter{{Value: structpb.NewStringValue("\x00")}}}},
		"":                            &svcv2.SearchTracesRequest{Filters: &svcv2.TraceFilters{ServiceName: proto.String("a")}},
	} {
		if got := rpc.ZeroByte(req.ProtoReflect()); got != path {
			t.Errorf("got %q, want %q", got, path)
		}
	}
}
