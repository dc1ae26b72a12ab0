package diagnosis

import (
	"context"
	"errors"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/diagnose"
)

func at(hours int) *timestamppb.Timestamp {
	return timestamppb.New(time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC).Add(time.Duration(hours) * time.Hour))
}

func TestWindowsAreChecked(t *testing.T) {
	s := New(diagnose.Readers{})
	for name, tc := range map[string]struct {
		call  func(context.Context) error
		tag   apierr.Tag
		param string
	}{
		"turned around": {func(ctx context.Context) error {
			_, err := s.DiagnoseService(ctx, &svcv2.DiagnoseServiceRequest{Name: "web", StartTime: at(0), EndTime: at(-1)})
			return err
		}, apierr.TimeRangeInvalid, "end_time"},
		"over a week": {func(ctx context.Context) error {
			_, err := s.SearchSlowerOperations(ctx, &svcv2.SearchSlowerOperationsRequest{StartTime: at(-200), EndTime: at(0)})
			return err
		}, apierr.TelemetryRangeTooLarge, "start_time"},
		"previous turned around": {func(ctx context.Context) error {
			_, err := s.ComparePeriods(ctx, &svcv2.ComparePeriodsRequest{
				StartTime: at(-1), EndTime: at(0), PreviousStartTime: at(-2), PreviousEndTime: at(-3),
			})
			return err
		}, apierr.TimeRangeInvalid, "previous_end_time"},
		"previous over a week": {func(ctx context.Context) error {
			_, err := s.ComparePeriods(ctx, &svcv2.ComparePeriodsRequest{StartTime: at(-1), EndTime: at(0), PreviousStartTime: at(-300)})
			return err
		}, apierr.TelemetryRangeTooLarge, "previous_start_time"},
		"session over a month": {func(ctx context.Context) error {
			_, err := s.GetAgentSessionVerdict(ctx, &svcv2.GetAgentSessionVerdictRequest{SessionId: "c", StartTime: at(-800), EndTime: at(0)})
			return err
		}, apierr.TelemetryRangeTooLarge, "start_time"},
		"figures of over a month": {func(ctx context.Context) error {
			_, err := s.GetAgentSessionFigures(ctx, &svcv2.GetAgentSessionFiguresRequest{SessionId: "c", StartTime: at(-800), EndTime: at(0)})
			return err
		}, apierr.TelemetryRangeTooLarge, "start_time"},
	} {
		var e *apierr.Error
		if err := tc.call(t.Context()); !errors.As(err, &e) || e.Tag != tc.tag || e.Param != tc.param {
			t.Errorf("%s: %v", name, err)
		}
	}
}
