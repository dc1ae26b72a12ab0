package mcp

import (
	"regexp"
	"slices"
	"strconv"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/apierr"
)

// widgetFault is why a widget's own query or statement is refused; empty for every other failure, which another try or another argument may mend.
func widgetFault(err error) string {
	if err == nil {
		return ""
	}
	d := apiFailure(&tool{}, err)
	faults := []apierr.Tag{apierr.QueryEngineValidation, apierr.WarehouseInvalidSql, apierr.WarehouseQuery, apierr.TelemetryBreakdownFilterRequired, apierr.TelemetryBucketCountTooLarge}
	if slices.ContainsFunc(faults, func(t apierr.Tag) bool { return apierr.Spec(t).GetTag() == d.Tag }) {
		return d.Message
	}
	return ""
}

// brokenChart is the inspection of a widget whose query is refused: its definition, and why.
func brokenChart(req *svcv2.SearchDashboardWidgetInspectionRequest, board *svcv2.Dashboard, x *svcv2.Widget, why string, now time.Time) (*answer, error) {
	start, end, source := chartWindow(req, board, x, now)
	out := &svcv2.WidgetInspection{
		Outcome: "inspected", DashboardId: board.GetId(), DashboardName: board.GetName(), WidgetId: x.GetId(), Visualization: x.GetVisualization(), Verdict: "broken", Notes: []string{why},
		StartTime: timestamppb.New(start), EndTime: timestamppb.New(end), RangeSource: source,
	}
	if d := x.GetDisplay(); d != nil {
		out.Title, out.Unit = d.Title, d.Unit
	}
	var read chartRead
	if d := x.GetDataSource(); d.GetKind() == "raw_sql" || d.GetKind() == "route" {
		out.Outcome = "raw_sql"
		read.sql = &chartSQL{SQL: d.GetSql(), Status: "error", Error: why, Columns: []string{}, Rows: [][]any{}}
		if d.GetKind() == "route" {
			read.sql.SQL = d.GetParams().GetFields()["sql"].GetStringValue()
		}
	}
	read.refusal = why
	return chartAnswer(out, x, read)
}

var relativeLength = regexp.MustCompile(`^([0-9]{1,6})(mo|m|h|d|w)$`)

// chartWindow is the window in which a widget would have been read: that of the call, its own, that of its dashboard, or the last 12 hours.
func chartWindow(req *svcv2.SearchDashboardWidgetInspectionRequest, board *svcv2.Dashboard, x *svcv2.Widget, now time.Time) (start, end time.Time, source string) {
	r, source := req.GetTimeRange(), "override"
	if r == nil {
		r, source = x.GetTimeRange(), "widget"
	}
	if r == nil {
		r, source = board.GetTimeRange(), "dashboard"
	}
	if r.GetType() == "absolute" {
		return r.GetStartTime().AsTime(), r.GetEndTime().AsTime(), source
	}
	length := 12 * time.Hour
	if m := relativeLength.FindStringSubmatch(r.GetValue()); m != nil {
		if n, err := strconv.Atoi(m[1]); err == nil {
			unit := map[string]time.Duration{"m": time.Minute, "h": time.Hour, "d": 24 * time.Hour, "w": 7 * 24 * time.Hour, "mo": 30 * 24 * time.Hour}[m[2]]
			length = time.Duration(n) * unit
		}
	}
	return now.Add(-length), now, source
}
