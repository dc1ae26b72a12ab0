package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"

	coltrace "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	trace "go.opentelemetry.io/proto/otlp/trace/v1"

	"github.com/svc-observability/svc/server/testkit"
)

// TestDiagnosis reads a diagnosis in the organization that has the telemetry, and tries the same in another one. The cases for
// all doors are in testdata/doors/diagnosis.yaml.
func TestDiagnosis(t *testing.T) {
	t.Parallel()
	shared := testkit.Shared(t)
	ours, others := shared.NewOrganization(t, "Diagnosed"), shared.NewOrganization(t, "Curious")
	seed := seedTelemetry(t, ours)
	session := seedAgent(t, ours)
	window := fmt.Sprintf("start_time=%s&end_time=%s", seed.start.Format(time.RFC3339), seed.end.Format(time.RFC3339))
	body := fmt.Sprintf(`{"start_time":%q,"end_time":%q}`, seed.start.Format(time.RFC3339), seed.end.Format(time.RFC3339))
	us, them := restClient{t, ours, ours.APIKey}, restClient{t, others, others.APIKey}

	verdict := "/v2/traces/agent_sessions/" + session + "/verdict?" + window
	request := []byte(fmt.Sprintf(`{"session_id":%q,"start_time":%q,"end_time":%q}`, session, seed.start.Format(time.RFC3339),
		seed.end.Format(time.RFC3339)))
	eventually(t, "the session of the agent", func() bool {
		return callREST(t, ours, ours.APIKey, operation(t, "getAgentSessionVerdict"), request).err == nil
	})
	got := us.call("GET", verdict, "", 200)
	if got["status"] != "failed" || got["turn_count"] != 1.0 || got["model_call_count"] != 1.0 ||
		got["headline"] != "model-x: RateLimit failed in turn 1. too many requests" {
		t.Errorf("verdict: %v", got)
	}

	figures := "/v2/traces/agent_sessions/" + session + "/figures?" + window
	got = us.call("GET", figures, "", 200)
	turns := list(got, "turns")
	if len(turns) != 1 || got["span_count"] != 2.0 || got["model_call_count"] != 1.0 || got["wall_clock_ms"] != 2000.0 || got["cost"] != nil {
		t.Fatalf("figures: %v", got)
	}
	if turn, _ := turns[0].(map[string]any); turn["kind"] != "agent" || turn["span_count"] != 2.0 || turn["error_span_count"] != 1.0 ||
		turn["failed"] != false {
		t.Errorf("turn: %v", turn)
	}

	for _, path := range []string{
		verdict, figures, "/v2/traces/" + seedTrace + "/critical_path",
		"/v2/services/checkout/diagnosis?" + window,
	} {
		us.call("GET", path, "", 200)
		them.call("GET", path, "", 404)
	}
	if mine, theirs := us.call("POST", "/v2/services/compare", body, 200),
		them.call("POST", "/v2/services/compare", body, 200); len(list(mine, "services")) == 0 || len(list(theirs, "services")) > 0 {
		t.Errorf("services: ours %v, those of the others %v", mine["services"], theirs["services"])
	}
	if data := list(them.call("POST", "/v2/traces/slower_operations", body, 200), "data"); len(data) > 0 {
		t.Errorf("the others see %v", data)
	}

	// A search reads the series of the caller's organization only, and so does a difference.
	mine, theirs := us.call("POST", "/v2/services/incidents", body, 200), them.call("POST", "/v2/services/incidents", body, 200)
	if mine["series_count"] == 0.0 || theirs["series_count"] != 0.0 || len(list(theirs, "data")) > 0 {
		t.Errorf("series: ours %v, those of the others %v", mine["series_count"], theirs["series_count"])
	}
	sides := strings.Replace(body, "}", `,"selected":"has_error = true"}`, 1)
	count := func(c restClient, side string) any {
		of, _ := c.call("POST", "/v2/traces/explain_difference", sides, 200)[side].(map[string]any)
		return of["received_count"]
	}
	if ours, others := count(us, "selected"), count(them, "selected"); ours == 0.0 || others != 0.0 || count(them, "other") != 0.0 {
		t.Errorf("failed spans: ours %v, those of the others %v", ours, others)
	}

	// Sessions have a scope of their own.
	telemetry := restClient{t, ours, createKey(t, ours, "traces:read", "logs:read")}
	telemetry.call("POST", "/v2/traces/explain_difference", sides, 200)
	telemetry.call("POST", "/v2/traces/explain_difference", strings.Replace(sides, "}", `,"signal":"sessions"}`, 1), 403)
	us.call("POST", "/v2/traces/explain_difference", strings.Replace(sides, "}", `,"signal":"sessions"}`, 1), 200)

	// A diagnosis holds errors and log patterns, so the scope of services alone does not open it.
	narrow := createKey(t, ours, "services:read")
	restClient{t, ours, narrow}.call("GET", "/v2/services/checkout?"+window, "", 200)
	restClient{t, ours, narrow}.call("GET", "/v2/services/checkout/diagnosis?"+window, "", 403)
	wide := createKey(t, ours, "services:read", "service_map:read", "error_events:read", "logs:read")
	restClient{t, ours, wide}.call("GET", "/v2/services/checkout/diagnosis?"+window, "", 200)
}

// seedAgent sends a session of an agent with one turn, whose model call fails.
func seedAgent(t *testing.T, s *testkit.Server) (session string) {
	t.Helper()
	session = "conv_diagnosed"
	at := time.Now().UTC().Add(-5 * time.Minute)
	span := func(name string, start time.Time, lasts time.Duration, spanID, parent string, attributes ...*common.KeyValue) *trace.Span {
		sp := &trace.Span{
			TraceId: id("6b8efff798038103d269b633813fc60c"), SpanId: id(spanID), Name: name, Kind: trace.Span_SPAN_KIND_CLIENT,
			StartTimeUnixNano: uint64(start.UnixNano()), EndTimeUnixNano: uint64(start.Add(lasts).UnixNano()),
			Attributes: append(attributes, str("gen_ai.conversation.id", session)),
		}
		if parent != "" {
			sp.ParentSpanId = id(parent)
		}
		return sp
	}
	turn := span("invoke_agent helper", at, 2*time.Second, "aee19b7ec3c1b174", "", str("gen_ai.operation.name", "invoke_agent"),
		str("gen_ai.agent.name", "helper"))
	call := span("chat model-x", at.Add(time.Second), time.Second, "aee19b7ec3c1b175", "aee19b7ec3c1b174",
		str("gen_ai.operation.name", "chat"), str("gen_ai.request.model", "model-x"), str("error.type", "RateLimit"))
	call.Status = &trace.Status{Code: trace.Status_STATUS_CODE_ERROR, Message: "too many requests"}
	post(t, s, "/v1/traces", &coltrace.ExportTraceServiceRequest{ResourceSpans: []*trace.ResourceSpans{{
		Resource: checkoutResource(), ScopeSpans: []*trace.ScopeSpans{{Spans: []*trace.Span{turn, call}}},
	}}})
	return session
}
