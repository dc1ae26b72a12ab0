package console_test

import (
	"slices"
	"testing"
	"time"

	"buf.build/go/protovalidate"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/console"
)

// TestAttributeChoices: the commands about attributes offer exactly what their operations take. They do not take the same.
func TestAttributeChoices(t *testing.T) {
	t.Parallel()
	at := timestamppb.New(time.Now())
	requests := map[string]func(scope, source string) proto.Message{
		"attributes keys": func(scope, source string) proto.Message {
			return &svcv2.ListAttributeKeysRequest{StartTime: at, EndTime: at, Signal: source, Scope: &scope}
		},
		"attributes values": func(scope, source string) proto.Message {
			return &svcv2.ListAttributeValuesRequest{StartTime: at, EndTime: at, Signal: source, Scope: &scope, Key: "k"}
		},
	}
	for _, c := range console.Commands() {
		request, ok := requests[c.Path]
		if !ok {
			continue
		}
		delete(requests, c.Path)
		choices := map[string][]string{}
		for _, f := range c.Flags {
			choices[f.Name] = f.Choices
		}
		for _, scope := range []string{"resource", "span", "log", "metric", "event", "link", "", "nowhere"} {
			taken := protovalidate.Validate(request(scope, "traces")) == nil
			if offered := slices.Contains(choices["scope"], scope); offered != taken {
				t.Errorf("%s: the scope %q is offered: %t, taken: %t", c.Path, scope, offered, taken)
			}
		}
		for _, source := range append([]string{"nothing"}, choices["source"]...) {
			taken := protovalidate.Validate(request("resource", source)) == nil
			if offered := slices.Contains(choices["source"], source); offered != taken {
				t.Errorf("%s: the source %q is offered: %t, taken: %t", c.Path, source, offered, taken)
			}
		}
	}
	if len(requests) != 0 {
		t.Errorf("there is no command %v", requests)
	}
}
