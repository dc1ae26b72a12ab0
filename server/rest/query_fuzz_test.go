package rest

import (
	"testing"

	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/svc-observability/svc/server/contract"
)

// FuzzQuery reads a query string for each method that has query parameters. The fields that are set are parameters of the method.
func FuzzQuery(f *testing.F) {
	c, err := contract.Load()
	if err != nil {
		f.Fatal(err)
	}
	f.Add("start_time=2026-01-31T09:30:00Z&limit=20&cursor=off_1")
	f.Add("limit=+1&limit=2;a=%zz&&=&environments=a&environments=%ff")
	f.Fuzz(func(t *testing.T, raw string) {
		for _, m := range c.Methods() {
			if len(m.HTTP.QueryParams) == 0 {
				continue
			}
			values, err := readQuery(m, raw)
			if err != nil {
				continue
			}
			msg := dynamicpb.NewMessage(m.Descriptor.Input())
			if (queryParser{}).Parse(msg, values, nil) != nil {
				continue
			}
			msg.Range(func(field protoreflect.FieldDescriptor, _ protoreflect.Value) bool {
				if _, given := values[string(field.Name())]; !given {
					t.Errorf("%s: %q sets %s", m.FullName, raw, field.Name())
				}
				return true
			})
		}
	})
}
