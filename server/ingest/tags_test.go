package ingest

import (
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/prototext"

	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/golden"
)

// TestTags sends every ingest error through both doors: status, headers and body over HTTP, code and details over gRPC.
// server/apierr/testdata has the same table for the doors of the API.
func TestTags(t *testing.T) {
	var b strings.Builder
	for _, tag := range apierr.All() {
		name := apierr.Spec(tag).GetTag()
		if !strings.HasPrefix(name, "@svc/ingest/") {
			continue
		}
		fail := apierr.New(tag, "What went wrong.")
		w := httptest.NewRecorder()
		writeError(w, fail)
		if retry := w.Header().Get("Retry-After"); (retry != "") != apierr.Spec(tag).GetRetryable() {
			t.Errorf("%s: Retry-After %q, retryable %t", name, retry, apierr.Spec(tag).GetRetryable())
		}
		fmt.Fprintf(&b, "%s\n  http %d %q Retry-After %q %s\n", name, w.Code, w.Header().Get("Content-Type"),
			w.Header().Get("Retry-After"), w.Body)
		st := grpcStatus(fail)
		fmt.Fprintf(&b, "  grpc %s %q\n", st.Code(), st.Message())
		for _, detail := range st.Proto().GetDetails() {
			m, err := detail.UnmarshalNew()
			if err != nil {
				t.Fatal(err)
			}
			// prototext varies its spaces on purpose.
			text := strings.Join(strings.Fields(prototext.MarshalOptions{}.Format(m)), " ")
			fmt.Fprintf(&b, "    %s %s\n", m.ProtoReflect().Descriptor().Name(), text)
		}
	}
	golden.Compare(t, "tags.golden", b.String())
}
