package errorevents

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/timestamppb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/mcp/tool"
	"github.com/svc-observability/svc/server/mcp/tool/tooltest"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/wording"
)

// errorAPI has one error that occurred in two traces. The second trace has no spans left.
type errorAPI struct {
	svcv2.ErrorEventsServiceClient
	svcv2.TracesServiceClient
	svcv2.LogsServiceClient
	svcv2.ErrorIssuesServiceClient
	asked  *svcv2.GetErrorEventRequest
	refuse bool
}

func (f *errorAPI) GetErrorEvent(
	_ context.Context, req *svcv2.GetErrorEventRequest, _ ...grpc.CallOption,
) (*svcv2.ErrorEventDetail, error) {
	f.asked = req
	at := timestamppb.New(tooltest.Now())
	sample := func(trace string) *svcv2.ErrorEventSample {
		return &svcv2.ErrorEventSample{
			TraceId: strings.Repeat(trace, 16), SpanId: strings.Repeat("12", 8), SpanName: "charge",
			ServiceName: "payments", Timestamp: at, ExceptionMessage: "declined", DurationMs: 1000,
		}
	}
	return &svcv2.ErrorEventDetail{
		FingerprintHash: "77", ErrorLabel: "CardDeclined", Count: 3, EstimatedCount: 9, AffectedTracesCount: 2, Services: []string{"payments"},
		AffectedServicesCount: 1, FirstSeen: at, LastSeen: at,
		StartTime: timestamppb.New(tooltest.Now().Add(-24 * time.Hour)), EndTime: at,
		SampleTraces:     []*svcv2.ErrorEventSample{sample("ab"), sample("cd")},
		NoExceptionCount: 1, EstimatedNoExceptionCount: 4, RelatedErrors: []*svcv2.RelatedError{{
			FingerprintHash: "88", ErrorLabel: "Timeout",
			ServiceName: "web", TracesCount: 2,
		}},
	}, nil
}

func (f *errorAPI) ListErrorIssues(
	_ context.Context, req *svcv2.ListErrorIssuesRequest, _ ...grpc.CallOption,
) (*svcv2.ListErrorIssuesResponse, error) {
	if f.refuse {
		return nil, apierr.New(apierr.ErrorPersistence, "Issues cannot be read.")
	}
	if req.GetFingerprintHash() != "77" || !req.GetIncludeArchived() {
		return &svcv2.ListErrorIssuesResponse{}, nil
	}
	return &svcv2.ListErrorIssuesResponse{Data: []*svcv2.ErrorIssue{{Id: "iss_1"}}}, nil
}

func (f *errorAPI) GetErrorIssue(
	_ context.Context, req *svcv2.GetErrorIssueRequest, _ ...grpc.CallOption,
) (*svcv2.ErrorIssueDetail, error) {
	if req.GetId() != "iss_1" {
		return nil, apierr.New(apierr.ErrorIssueNotFound, "No such issue.")
	}
	return &svcv2.ErrorIssueDetail{Id: "iss_1", WorkflowState: "triage", OccurrenceCount: 12, Grouping: []*svcv2.ErrorGrouping{
		{FingerprintHash: "77", Version: 2, Variant: "app", Frames: []string{"shop.charge", "shop.pay"}, LeftOut: 31},
	}, Verifications: []*svcv2.ErrorIssueVerification{{
		Status: "verified", DeployedBy: new("commit"), Releases: []*svcv2.ErrorIssueFixedRelease{{Version: "1.1"}},
		ExpectedOccurrenceCount: 12.4, SpanShare: 0.5,
	}}}, nil
}

func (f *errorAPI) SearchTraces(
	_ context.Context, req *svcv2.SearchTracesRequest, _ ...grpc.CallOption,
) (*svcv2.SearchTracesResponse, error) {
	if req.GetFilters().GetTraceId() != strings.Repeat("ab", 16) {
		return &svcv2.SearchTracesResponse{}, nil
	}
	return &svcv2.SearchTracesResponse{Data: []*svcv2.TraceSummary{{
		Id:        strings.Repeat("ab", 16),
		StartTime: timestamppb.New(tooltest.Now().Add(-3 * time.Second)), DurationMs: 2500, RootSpanName: "POST /pay",
	}}}, nil
}

func (f *errorAPI) SummarizeTraces(
	_ context.Context, req *svcv2.SummarizeTracesRequest, _ ...grpc.CallOption,
) (*svcv2.SummarizeTracesResponse, error) {
	return &svcv2.SummarizeTracesResponse{Data: []*svcv2.TraceFigures{{
		Id: req.GetTraceIds()[0], SpanCount: 12,
		Services: []string{"payments", "web"},
	}}}, nil
}

func (f *errorAPI) GetSpan(_ context.Context, req *svcv2.GetSpanRequest, _ ...grpc.CallOption) (*svcv2.Span, error) {
	if req.GetTraceId() != strings.Repeat("ab", 16) || !req.GetTimestamp().AsTime().Equal(tooltest.Now().Add(-time.Second)) {
		return nil, apierr.New(apierr.SpanNotFound, "No such span.")
	}
	return &svcv2.Span{StatusMessage: new("card refused"), Attributes: map[string]string{"card": "visa"}}, nil
}

func (f *errorAPI) SearchLogs(context.Context, *svcv2.SearchLogsRequest, ...grpc.CallOption) (*svcv2.SearchLogsResponse, error) {
	if f.refuse {
		return nil, apierr.New(apierr.WarehouseQuotaExceeded, "Too much at once.")
	}
	return &svcv2.SearchLogsResponse{Data: []*svcv2.Log{{
		Timestamp: timestamppb.New(tooltest.Now()), SeverityText: "ERROR",
		ServiceName: "payments", Body: "it was declined",
	}}}, nil
}

// detail calls error_detail as a caller with the scopes. Nil means all scopes.
func detail(t *testing.T, f *errorAPI, scopes []string, args string) (errorDetailResult, string) {
	t.Helper()
	made, err := newErrorDetail(&tool.Clients{Errors: f, Traces: f, Logs: f, ErrorIssues: f})
	if err != nil {
		t.Fatal(err)
	}
	p := &principal.Principal{Org: "org_a", Kind: principal.KindMCPKey, Role: principal.RoleRoot}
	if scopes != nil {
		p.Kind, p.Scopes = principal.KindAPIKey, scopes
	}
	out, err := made.Call(principal.WithResult(t.Context(), principal.Result{Principal: p}), []byte(args), tooltest.Now())
	if err != nil {
		t.Fatal(err)
	}
	res := out.Data.(errorDetailResult)
	tooltest.Validate(t, made.Output, res)
	return res, out.Text.Render(made.Title)
}

func TestErrorDetail(t *testing.T) {
	f := &errorAPI{}
	got, text := detail(t, f, nil, `{"fingerprint":"77"}`)
	if f.asked.GetStartTime() != nil || !got.Anchored || got.TimeRange.Start != wording.Clock(tooltest.Now().Add(-24*time.Hour)) {
		t.Errorf("without times the window is %v, asked for with %v", got.TimeRange, f.asked)
	}
	if got.Error.ServiceName != "payments" || got.Summary.NoExceptionCount != 4 || got.Summary.TimeRange != got.TimeRange {
		t.Errorf("%+v %+v", got.Error, got.Summary)
	}
	log := errorLog{wording.Clock(tooltest.Now()), "ERROR", "it was declined"}
	span := errorSpan{SpanID: strings.Repeat("12", 8), Name: "charge", ServiceName: "payments", Attributes: map[string]string{}}
	whole := span
	whole.StatusMessage, whole.Attributes = "card refused", map[string]string{"card": "visa"}
	want := []errorTrace{
		{
			TraceID: strings.Repeat("ab", 16), RootSpanName: "POST /pay", DurationMs: new(2500.0), SpanCount: new(int32(12)),
			Services: []string{"payments", "web"}, StartTime: wording.Clock(tooltest.Now().Add(-3 * time.Second)), ErrorMessage: "declined",
			ErrorSpan: &whole, Logs: []errorLog{log},
		},
		{
			TraceID: strings.Repeat("cd", 16), Services: []string{"payments"}, StartTime: wording.Clock(tooltest.Now()), ErrorMessage: "declined",
			ErrorSpan: &span, Logs: []errorLog{log},
		},
	}
	if diff := cmp.Diff(want, got.Traces); diff != "" {
		t.Errorf("traces (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]relatedError{{"88", "Timeout", "web", 2}}, got.Related); diff != "" {
		t.Errorf("related (-want +got):\n%s", diff)
	}
	for _, part := range []string{
		"POST /pay", "payments: charge", "4 of them without an exception", "Other errors in these traces",
		"it was declined", `"fingerprint":"88"`,
	} {
		if !strings.Contains(text, part) {
			t.Errorf("the text has no %q:\n%s", part, text)
		}
	}
}

func TestErrorDetailOfIssue(t *testing.T) {
	for _, args := range []string{`{"issue_id":"iss_1"}`, `{"fingerprint":"77"}`} {
		f := &errorAPI{}
		got, text := detail(t, f, nil, args)
		if f.asked.GetFingerprint() != "77" || got.IssueID == nil || *got.IssueID != "iss_1" {
			t.Errorf("%s: asked for %v, issue %v", args, f.asked, got.Issue)
		}
		for _, want := range []string{
			"Grouped by 2 frames of the application (shop.charge ← shop.pay), 31 further frames left out.",
			"Fix: it holds: 0 errors in 1.1 (known by its commit), 12.4 expected without the fix, 50 % of the traffic.",
		} {
			if !strings.Contains(text, want) {
				t.Errorf("%s: the text has no %q:\n%s", args, want, text)
			}
		}
	}
}

func TestErrorDetailWithoutScopes(t *testing.T) {
	f := &errorAPI{refuse: true}
	got, text := detail(t, f, []string{"error_events:read"}, `{"fingerprint":"77","start_time":"now-1h"}`)
	if got.Anchored || got.Traces[0].DurationMs != nil || got.Traces[0].ErrorSpan.Name != "charge" || len(got.Traces[0].Logs) != 0 {
		t.Errorf("%+v", got)
	}
	for _, scope := range []string{"traces:read", "logs:read", "error_issues:read"} {
		if !strings.Contains(text, scope) {
			t.Errorf("nothing says that %s lacks:\n%s", scope, text)
		}
	}
	if got, text = detail(t, f, nil, `{"fingerprint":"77"}`); len(got.Traces[0].Logs) != 0 || !strings.Contains(text, "Too much at once.") ||
		got.Traces[0].RootSpanName == "" {
		t.Errorf("a part that fails takes others with it, or is not told: %+v\n%s", got, text)
	}
}

func TestTracesCountedTogether(t *testing.T) {
	var list []*svcv2.TraceSummary
	for _, days := range []int{0, 1, 2, 20, 21} {
		list = append(list, &svcv2.TraceSummary{StartTime: timestamppb.New(tooltest.Now().AddDate(0, 0, -days))})
	}
	if n := together(list); n != 3 {
		t.Errorf("%d of them", n)
	}
	if n := together(list[3:]); n != 2 {
		t.Errorf("%d of the rest", n)
	}
}
