package rpc

import (
	"testing"

	"google.golang.org/protobuf/proto"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
)

// FuzzCodec: messages over Connect, gRPC and gRPC-Web, in protobuf and in JSON. A message that is read is written and read back unchanged.
func FuzzCodec(f *testing.F) {
	limit := int32(3)
	seed, err := proto.Marshal(&svcv2.SearchTracesRequest{Limit: &limit, Filters: &svcv2.TraceFilters{}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(seed)
	f.Add([]byte(`{"limit":3,"filters":{"attributes":[{"key":"a","value":{"b":[1,null]}}]},"startTime":"2026-01-31T09:30:00.5Z"}`))
	f.Add([]byte("\xfa\x07\x01"))
	f.Fuzz(func(t *testing.T, data []byte) {
		for name, read := range map[string]func([]byte, proto.Message) error{"protobuf": readBinary, "JSON": readJSON} {
			got := &svcv2.SearchTracesRequest{}
			if read(data, got) != nil {
				continue
			}
			text, err := proto.Marshal(got)
			if err != nil {
				t.Fatalf("%s %q: %v", name, data, err)
			}
			again := &svcv2.SearchTracesRequest{}
			if err := readBinary(text, again); err != nil {
				t.Fatalf("%s %q: we do not read what we wrote: %v", name, data, err)
			}
			// Messages with a NaN are equal to themselves only in protobuf.
			if second, err := proto.Marshal(again); err != nil || !proto.Equal(got, again) && string(second) != string(text) {
				t.Fatalf("%s %q: came back as %v, %v", name, data, again, err)
			}
		}
	})
}
