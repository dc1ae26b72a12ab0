package dashboards

import (
	"context"
	"fmt"
	"strings"
	"time"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/atonce"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/mcp/tool"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/wording"
)

type chartResult struct {
	Outcome       string         `json:"outcome"`
	DashboardID   string         `json:"dashboardId"`
	DashboardName string         `json:"dashboardName"`
	Widget        chartWidget    `json:"widget"`
	TimeRange     chartRange     `json:"timeRange"`
	Queries       []chartQuery   `json:"queries"`
	Verdict       string         `json:"verdict"`
	Flags         []string       `json:"flags"`
	Notes         []string       `json:"notes"`
	Series        []chartSeries  `json:"series,omitempty"`
	RawSQL        *chartSQL      `json:"rawSql,omitempty"`
	DataSource    map[string]any `json:"dataSource,omitempty"`
}

type chartWidget struct {
	ID            string  `json:"id"`
	Title         *string `json:"title,omitempty"`
	Visualization string  `json:"visualization"`
	// Endpoint is the endpoint that reads the data.
	Endpoint    string  `json:"endpoint"`
	DisplayUnit *string `json:"displayUnit,omitempty"`
	// HasFormulaWarning is true when a formula has no value although its queries have some, for example after a division by zero.
	HasFormulaWarning bool `json:"hasFormulaWarning"`
	// HasUnsupportedTransform says that the widget turns its data into rows that no longer distinguish queries.
	HasUnsupportedTransform bool `json:"hasUnsupportedTransform"`
}

type chartRange struct {
	StartTime string `json:"startTime"`
	EndTime   string `json:"endTime"`
	Source    string `json:"source"`
}

// chartSeries holds the figures of data that comes from no query of the query builder: columns of a statement, rows of a list.
type chartSeries struct {
	Name   string   `json:"name"`
	Points uint32   `json:"points"`
	Min    *float64 `json:"min,omitempty"`
	Max    *float64 `json:"max,omitempty"`
	Avg    *float64 `json:"avg,omitempty"`
}

type inspectChartDataArgs struct {
	tool.Call
	ofDashboard
	WidgetID  string     `required:"true"`
	StartTime *time.Time `doc:"Default: the window of the widget or dashboard."`
	EndTime   *time.Time
}

func newInspectChartData(s *tool.Clients) (*tool.Tool, error) {
	return tool.Define[chartResult](&tool.Tool{
		Name: "inspect_chart_data", View: "/dashboards/{dashboard_id}?widget={widget_id}",
		Title: "Data of a widget",
		Description: "Read the data of a widget, query by query, and report problems: no data, a missing metric, a unit or scale that does not " +
			"fit, gaps, too many series.",
		Run: tool.With(func(ctx context.Context, a *inspectChartDataArgs) (*tool.Answer, error) {
			if (a.StartTime == nil) != (a.EndTime == nil) {
				return nil, a.Bad(&a.StartTime, "and end_time belong together: give both or neither.", "now-"+tool.Short(limits.DefaultToolWindow))
			}
			req := &svcv2.SearchDashboardWidgetInspectionRequest{Id: a.DashboardID, WidgetId: a.WidgetID}
			if a.StartTime != nil {
				w, err := a.Between(a.StartTime, a.EndTime, limits.DefaultToolWindow, limits.SearchWindow)
				if err != nil {
					return nil, err
				}
				req.TimeRange = absolute(w)
			}
			var out *svcv2.WidgetInspection
			var board *svcv2.Dashboard
			err := atonce.Run(
				func() (err error) {
					out, err = s.DashboardData.SearchDashboardWidgetInspection(ctx, req)
					return err
				},
				func() (err error) {
					board, err = s.Dashboards.GetDashboard(ctx, &svcv2.GetDashboardRequest{Id: req.GetId()})
					return err
				},
			)
			if err != nil {
				return nil, err
			}
			i, err := findWidget(&a.Call, &a.WidgetID, board.GetWidgets(), req.GetWidgetId())
			if err != nil {
				return nil, err
			}
			return chartAnswer(out, board.GetWidgets()[i], readStatement(ctx, s, out, board.GetWidgets()[i]))
		}),
	})
}

func chartAnswer(out *svcv2.WidgetInspection, x *svcv2.Widget, sql *chartSQL) (*tool.Answer, error) {
	res := chartResult{
		Outcome:       out.GetOutcome(),
		DashboardID:   out.GetDashboardId(),
		DashboardName: out.GetDashboardName(),
		TimeRange: chartRange{
			wording.Clock(out.GetStartTime().AsTime()),
			wording.Clock(out.GetEndTime().AsTime()),
			out.GetRangeSource(),
		},
		Verdict: out.GetVerdict(),
		Flags:   tool.NonNil(out.GetFlags()),
		Notes:   tool.NonNil(out.GetNotes()),
		RawSQL:  sql,
	}
	var err error
	if res.DataSource, err = toMap(x.GetDataSource()); err != nil {
		return nil, err
	}
	var withoutValue bool
	if res.Queries, withoutValue, err = chartQueries(out, x.GetDataSource()); err != nil {
		return nil, err
	}
	res.Widget = chartWidget{
		ID:                      out.GetWidgetId(),
		Title:                   out.Title,
		Visualization:           out.GetVisualization(),
		Endpoint:                endpointOf(x.GetDataSource()),
		DisplayUnit:             out.Unit,
		HasFormulaWarning:       withoutValue,
		HasUnsupportedTransform: out.GetReshaped(),
	}
	var cells, queries [][]string
	figure := func(v *float64) string {
		if v == nil {
			return ""
		}
		return wording.Number(*v)
	}
	for _, f := range out.GetSeries() {
		row := toChartSeries(f)
		if len(res.Queries) == 0 {
			res.Series = append(res.Series, row)
		}
		cells = append(cells, []string{wording.Clip(row.Name, 120), fmt.Sprint(row.Points), figure(row.Min), figure(row.Avg), figure(row.Max)})
	}
	text := tool.Page{Scope: []tool.Pair{
		tool.Labeled("Dashboard", out.GetDashboardName()),
		tool.Labeled("Widget", strings.TrimSpace(out.GetWidgetId()+" "+out.GetTitle())),
		tool.Labeled("Panel", out.GetVisualization()),
		tool.Labeled("Unit", out.GetUnit()),
		tool.Labeled("Time range", res.TimeRange.StartTime+" to "+res.TimeRange.EndTime+" ("+res.TimeRange.Source+")"),
		tool.Labeled("Verdict", strings.TrimSpace(out.GetVerdict()+" "+strings.Join(out.GetFlags(), ", "))),
	}}
	text.Notes = append(text.Notes, out.GetNotes()...)
	for _, q := range res.Queries {
		rows, series := "", ""
		if q.Stats != nil {
			rows, series = fmt.Sprint(q.Stats.RowCount), fmt.Sprint(q.Stats.SeriesCount)
		}
		queries = append(
			queries,
			[]string{q.QueryName, strings.TrimSpace(q.Status + " " + q.Error), rows, series, figure(q.ReducedValue), strings.Join(q.Flags, ", ")},
		)
	}
	if len(queries) > 0 {
		text.Blocks = append(text.Blocks, tool.Table("Queries", "", []string{"Query", "Status", "Rows", "Series", "Value", "Flags"}, queries))
	}
	empty := "There are no values."
	if out.GetOutcome() == "unsupported" {
		empty = "A widget of this kind has no data to check."
	}
	text.Blocks = append(text.Blocks, tool.Table("Series", empty, []string{"Series", "Points", "min", "avg", "max"}, cells))
	if q := res.RawSQL; q != nil {
		text.Blocks = append(
			text.Blocks,
			tool.Block{Heading: "SQL", Rows: []string{"```sql", strings.ReplaceAll(wording.Clip(q.SQL, 4000), "```", "'''"), "```"}},
			q.block(),
		)
	}
	if res.Verdict != "looks_healthy" && out.GetOutcome() != "unsupported" {
		text.Next = append(
			text.Next,
			tool.Next("describe_dashboard_schema", map[string]any{"section": "queries"}, "the fields of its query, for update_dashboard_widget"),
		)
	}
	text.Next = append(
		text.Next,
		tool.Next("get_dashboard", map[string]any{"dashboard_id": out.GetDashboardId()}, "the definition of the widget"),
	)
	return &tool.Answer{Data: res, Text: text}, nil
}

// validation describes the data of new widgets.
type validation struct {
	Ran             bool            `json:"ran"`
	Inspected       []inspectedItem `json:"inspected"`
	HealthyCount    int             `json:"healthyCount"`
	SuspiciousCount int             `json:"suspiciousCount"`
	BrokenCount     int             `json:"brokenCount"`
	SkippedCount    int             `json:"skippedCount"`
	Capped          bool            `json:"capped"`
	// TimeRange is the window of the data, if it is the same for all widgets.
	TimeRange *tool.TimeRange `json:"timeRange,omitempty"`
}

type inspectedItem struct {
	WidgetID      string   `json:"widgetId"`
	Title         string   `json:"title,omitempty"`
	Visualization string   `json:"visualization"`
	Verdict       string   `json:"verdict"`
	Flags         []string `json:"flags"`
	Note          string   `json:"note,omitempty"`

	start, end time.Time // the window of the data
}

// validateWidgets reads the data of widgets that were just written. A widget that cannot be read is reported. It never fails the
// write, which is already done.
func validateWidgets(ctx context.Context, s *tool.Clients, dashboard string, widgets []*svcv2.Widget) *validation {
	v := &validation{Ran: true, Inspected: []inspectedItem{}, Capped: len(widgets) > limits.ToolValidatedWidgets}
	v.SkippedCount = max(len(widgets)-limits.ToolValidatedWidgets, 0)
	widgets = widgets[:min(len(widgets), limits.ToolValidatedWidgets)]
	items := make([]inspectedItem, len(widgets))
	if p, ok := principal.From(ctx); !ok || !p.Allows("dashboards", false) {
		return &validation{Inspected: []inspectedItem{}, SkippedCount: len(widgets)}
	}
	const together = 3 // one change must not use an organization's whole share
	for from := 0; from < len(widgets); from += together {
		var reads []func() error
		for i := from; i < min(from+together, len(widgets)); i++ {
			reads = append(reads, func() error {
				items[i] = inspected(ctx, s, dashboard, widgets[i])
				return nil
			})
		}
		_ = atonce.Run(reads...) // the reads never fail
	}
	for _, it := range items {
		switch it.Verdict {
		case "looks_healthy":
			v.HealthyCount++
		case "suspicious":
			v.SuspiciousCount++
		case "broken", "error":
			v.BrokenCount++
		default:
			v.SkippedCount++
		}
		v.Inspected = append(v.Inspected, it)
	}
	v.TimeRange = sameRange(items)
	return v
}

// sameRange is the window of all widgets, or nil if they have different ones. Windows that end now end a little later for each
// widget; they count as the same.
func sameRange(items []inspectedItem) *tool.TimeRange {
	const about = time.Minute
	var same *tool.TimeRange
	for _, it := range items {
		switch {
		case it.start.IsZero():
		case same == nil:
			w := tool.Period(it.start, it.end)
			same = &w
		case it.start.Sub(same.From).Abs() > about || it.end.Sub(same.To).Abs() > about:
			return nil
		}
	}
	return same
}

func inspected(ctx context.Context, s *tool.Clients, dashboard string, x *svcv2.Widget) inspectedItem {
	it := inspectedItem{WidgetID: x.GetId(), Title: titleOf(x), Visualization: x.GetVisualization(), Flags: []string{}}
	out, err := s.DashboardData.SearchDashboardWidgetInspection(
		ctx,
		&svcv2.SearchDashboardWidgetInspectionRequest{Id: dashboard, WidgetId: x.GetId()},
	)
	switch {
	case err != nil:
		it.Verdict, it.Note = "error", wording.Clip(tool.FailureOf(&tool.Tool{}, err).Message, 300)
	case out.GetOutcome() == "unsupported":
		it.Verdict = "unsupported"
	default:
		it.Verdict, it.Flags, it.Note = out.GetVerdict(), tool.NonNil(out.GetFlags()), wording.Clip(strings.Join(out.GetNotes(), " "), 300)
		it.start, it.end = out.GetStartTime().AsTime(), out.GetEndTime().AsTime()
	}
	return it
}

// block shows the findings.
func (v *validation) block() tool.Block {
	var cells [][]string
	for _, it := range v.Inspected {
		cells = append(cells, []string{it.WidgetID, it.Title, it.Visualization, it.Verdict, strings.Join(it.Flags, ", "), it.Note})
	}
	heading := fmt.Sprintf("Data of the widgets: %d healthy, %d suspicious, %d broken", v.HealthyCount, v.SuspiciousCount, v.BrokenCount)
	if v.Capped {
		heading += fmt.Sprintf("; only the first %d were checked", limits.ToolValidatedWidgets)
	}
	return tool.Table(heading, "No widget has data to check.", []string{"Widget", "Title", "Panel", "Verdict", "Flags", "Note"}, cells)
}

func absolute(w tool.TimeRange) *svcv2.TimeRange {
	return &svcv2.TimeRange{Type: "absolute", StartTime: w.StartProto(), EndTime: w.EndProto()}
}

func toChartSeries(f *svcv2.WidgetSeriesFigures) chartSeries {
	return chartSeries{f.GetName(), f.GetPoints(), f.Min, f.Max, f.Avg}
}

// validateIf checks widgets unless the call asked not to.
func validateIf(
	ctx context.Context,
	s *tool.Clients,
	wanted bool,
	d *svcv2.DashboardMutationResponse,
	widgets []*svcv2.Widget,
) *validation {
	if !wanted {
		return nil
	}
	return validateWidgets(ctx, s, d.GetId(), widgets)
}
