package apierr_test

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-observability/svc/server/apierr"
)

var tagForm = regexp.MustCompile(`^@svc/(http/v2|http/errors|ingest)/[A-Z][A-Za-z]+$`)

func TestTable(t *testing.T) {
	recoveries := []string{"none", "fix_request", "reauthenticate", "request_access", "reconnect", "refresh", "retry", "contact_support"}
	seen := map[string]apierr.Tag{}
	for _, tag := range apierr.All() {
		s := apierr.Spec(tag)
		name := s.GetTag()
		if !tagForm.MatchString(name) {
			t.Errorf("%v: tag %q is malformed", tag, name)
		}
		if prior, twice := seen[name]; twice {
			t.Errorf("%s is the tag of %v and %v", name, prior, tag)
		}
		seen[name] = tag
		if found, ok := apierr.Lookup(name); !ok || found != tag {
			t.Errorf("Lookup(%q) = %v, %v", name, found, ok)
		}
		if s.GetStatus() < 400 || s.GetStatus() > 599 || s.GetCode() == "" || s.GetTitle() == "" {
			t.Errorf("%s: status, code or title is missing: %v", name, s)
		}
		if !slices.Contains(recoveries, s.GetRecovery()) {
			t.Errorf("%s: recovery %q does not exist", name, s.GetRecovery())
		}
		if s.GetRetryable() != (s.GetRecovery() == "retry") {
			t.Errorf("%s: retryable is %v, recovery is %q", name, s.GetRetryable(), s.GetRecovery())
		}
		if seconds := apierr.New(tag, "").RetryAfterSeconds(); s.GetRetryable() != (seconds > 0) {
			t.Errorf("%s: retryable is %v, Retry-After is %d", name, s.GetRetryable(), seconds)
		}
		if s.GetStatus() == 429 && !s.GetRetryable() && tag != apierr.WarehouseQuotaExceeded {
			t.Errorf("%s: a 429 that is not retryable; only WarehouseQuotaExceededError is", name)
		}
		if ingest := strings.HasPrefix(name, "@svc/ingest/"); ingest != strings.HasPrefix(s.GetCode(), "ingest_") &&
			!strings.HasPrefix(name, "@svc/http/errors/IngestKey") {
			t.Errorf("%s: code %q belongs to another door", name, s.GetCode())
		}
	}
	if got := len(apierr.All()); got != 197 {
		t.Errorf("%d tags; a tag is never removed, and a new one is counted here", got)
	}
}

// TestPublicTags compares the table with the published list of errors, row by row.
func TestPublicTags(t *testing.T) {
	type row struct {
		status      int32
		code        string // empty: the list gives no code
		retryable   bool
		retrySecond int
	}
	for tag, want := range map[string]row{
		"@svc/http/v2/ParameterInvalidError":                 {status: 400},
		"@svc/http/v2/ParameterMissingError":                 {status: 400},
		"@svc/http/v2/InvalidRequestError":                   {status: 400},
		"@svc/http/errors/DashboardValidationError":          {status: 400},
		"@svc/http/v2/InvalidCredentialsError":               {status: 401},
		"@svc/http/errors/UnauthorizedError":                 {status: 401},
		"@svc/http/v2/InsufficientScopeError":                {status: 403, code: "insufficient_scope"},
		"@svc/http/v2/InsufficientPermissionsError":          {status: 403},
		"@svc/http/v2/OrganizationAccessDeniedError":         {status: 403},
		"@svc/http/errors/ApiKeyNotFoundError":               {status: 404},
		"@svc/http/errors/DashboardNotFoundError":            {status: 404},
		"@svc/http/errors/DashboardTemplateNotFoundError":    {status: 404},
		"@svc/http/v2/RouteNotFoundError":                    {status: 404, code: "route_not_found"},
		"@svc/http/v2/RateLimitError":                        {429, "rate_limited", true, 60},
		"@svc/http/v2/ResponseSchemaError":                   {status: 500},
		"@svc/http/v2/UnexpectedError":                       {status: 500},
		"@svc/http/errors/DashboardStoredConfigInvalidError": {status: 500},
		"@svc/http/errors/ApiKeyPersistenceError":            {503, "", true, 5},
		"@svc/http/errors/ApiKeyLookupPersistenceError":      {503, "", true, 5},
		"@svc/http/errors/AuthorizationUnavailableError":     {503, "", true, 5},
		"@svc/http/errors/DashboardPersistenceError":         {503, "", true, 5},
		"@svc/http/v2/WorkerUnavailableError":                {504, "", true, 1},
		"@svc/ingest/Unauthorized":                           {status: 401, code: "ingest_unauthorized"},
		"@svc/ingest/RateLimited":                            {429, "ingest_rate_limited", true, 1},
		"@svc/ingest/PayloadTooLarge":                        {status: 413, code: "ingest_payload_too_large"},
		"@svc/ingest/UnsupportedMediaType":                   {status: 415, code: "ingest_unsupported_media_type"},
		"@svc/ingest/BadRequest":                             {status: 400, code: "ingest_bad_request"},
		"@svc/ingest/ReplayBodyNotGzip":                      {status: 400, code: "ingest_replay_body_not_gzip"},
		"@svc/ingest/PlanLimitReached":                       {status: 402, code: "ingest_plan_limit_reached"},
		"@svc/ingest/OrgQueueThrottled":                      {429, "ingest_queue_throttled", true, 1},
		"@svc/ingest/ExportLaneBackpressure":                 {429, "ingest_export_lane_full", true, 2},
		"@svc/ingest/ServiceUnavailable":                     {503, "ingest_unavailable", true, 5},
		"@svc/ingest/QueueUnavailable":                       {503, "ingest_queue_unavailable", true, 5},
		"@svc/ingest/CollectorUnavailable":                   {503, "ingest_collector_unavailable", true, 5},
		"@svc/ingest/RequestTimeout":                         {503, "ingest_request_timeout", true, 5},
		"@svc/ingest/PayloadEncodeFailed":                    {status: 503, code: "ingest_encode_failed"},
		"@svc/ingest/InternalError":                          {status: 500, code: "ingest_internal_error"},
	} {
		found, ok := apierr.Lookup(tag)
		if !ok {
			t.Errorf("%s is missing", tag)
			continue
		}
		s := apierr.Spec(found)
		got := row{s.GetStatus(), s.GetCode(), s.GetRetryable(), apierr.New(found, "").RetryAfterSeconds()}
		if want.code == "" {
			got.code = ""
		}
		if got != want {
			t.Errorf("%s: got %+v, want %+v", tag, got, want)
		}
	}
}

func TestType(t *testing.T) {
	want := map[int]string{
		400: "invalid_request_error", 401: "authentication_error", 402: "payment_error", 403: "permission_error", 404: "not_found_error",
		405: "invalid_request_error", 409: "conflict_error", 413: "invalid_request_error", 415: "invalid_request_error",
		422: "invalid_request_error", 429: "rate_limit_error", 500: "api_error", 502: "api_error", 503: "api_error", 504: "api_error",
	}
	for status, family := range want {
		if got := apierr.Type(status); got != family {
			t.Errorf("Type(%d) = %q, want %q", status, got, family)
		}
	}
}

func TestNew(t *testing.T) {
	cause := errors.New("disk on fire")
	e := apierr.New(apierr.ApiKeyPersistence, "", apierr.Cause(cause), apierr.RetryAfter(1500*time.Millisecond))
	if e.Message != "API keys unavailable" {
		t.Errorf("an empty message must become the title, got %q", e.Message)
	}
	if !errors.Is(e, cause) || !strings.Contains(e.Error(), "disk on fire") {
		t.Errorf("the cause must be kept for logs: %v", e)
	}
	if d := e.Detail(); strings.Contains(d.String(), "fire") || d.GetRetryAfterSeconds() != 2 {
		t.Errorf("the detail must round the delay up and hide the cause: %v", d)
	}
	if got := apierr.New(apierr.ApiKeyNotFound, "x").Param; got != "id" {
		t.Errorf("the tag's own parameter is lost: %q", got)
	}
	if got := apierr.New(apierr.ApiKeyNotFound, "x", apierr.RetryAfter(time.Minute)).RetryAfterSeconds(); got != 0 {
		t.Errorf("an error that is not retryable has Retry-After %d", got)
	}
	v := apierr.New(apierr.InvalidRequest, "x", apierr.Violations(apierr.Violation{Field: "a", Message: "b"})).Detail().GetViolations()
	if len(v) != 1 || v[0].GetField() != "a" || v[0].GetMessage() != "b" {
		t.Errorf("violations are lost: %v", v)
	}
}

func TestFrom(t *testing.T) {
	own := apierr.New(apierr.TraceNotFound, "x")
	for _, c := range []struct {
		name string
		err  error
		want apierr.Tag
	}{
		{"own", own, apierr.TraceNotFound},
		{"wrapped", fmt.Errorf("query: %w", own), apierr.TraceNotFound},
		{"canceled", fmt.Errorf("query: %w", context.Canceled), apierr.RequestCanceled},
		{"deadline", fmt.Errorf("query: %w", context.DeadlineExceeded), apierr.WorkerUnavailable},
		{"own around canceled", apierr.New(apierr.WarehouseUpstream, "x", apierr.Cause(context.Canceled)), apierr.WarehouseUpstream},
		{"anything", errors.New("secret detail"), apierr.Unexpected},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := apierr.From(c.err)
			if diff := cmp.Diff(c.want, got.Tag); diff != "" {
				t.Error(diff)
			}
			if strings.Contains(got.Message, "secret detail") {
				t.Errorf("the message shows the cause: %q", got.Message)
			}
		})
	}
}

func TestUnknownTagMeansUnexpected(t *testing.T) {
	for _, tag := range []apierr.Tag{0, -1, 9999} {
		if got := apierr.Spec(tag).GetTag(); got != "@svc/http/v2/UnexpectedError" {
			t.Errorf("Spec(%d) = %s", tag, got)
		}
	}
	if _, ok := apierr.Lookup("@svc/http/v2/NoSuchError"); ok {
		t.Error("an unknown tag was found")
	}
}
