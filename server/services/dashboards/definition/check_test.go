package definition

import (
	_ "embed"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/wirejson"
)

// everything is a definition that uses each part, as the server stored it before the message DashboardDefinition existed.
//
//go:embed testdata/everything.json
var everything string

func full(t *testing.T) *svcv2.DashboardDefinition {
	t.Helper()
	def := &svcv2.DashboardDefinition{}
	if err := wirejson.Unmarshal([]byte(everything), def); err != nil {
		t.Fatal(err)
	}
	return def
}

// TestEveryPart: the stored text equals the given text byte for byte. This pins each name and each absent field of the stored form.
func TestEveryPart(t *testing.T) {
	def := full(t)
	Normalize(def)
	text, err := Check(def)
	if err != nil {
		t.Fatal(err)
	}
	if string(text) != everything {
		t.Errorf("stored as\n%s\nwant\n%s", text, everything)
	}
}

// TestFormerSpelling: definitions that earlier releases stored, with steps in camelCase, are read and answered in snake_case.
func TestFormerSpelling(t *testing.T) {
	former := strings.NewReplacer(`"event_name":`, `"eventName":`, `"attribute_equals":`, `"attributeEquals":`, `"page_path":"/p"`,
		`"pagePath":"/p"`,
		`"dimension":"country"`, `"dimension":"utmSource"`, `"breakdown_by":"attribute:plan"`,
		`"breakdown_by":"referrerHost"`).Replace(everything)
	want := strings.NewReplacer(`"dimension":"country"`, `"dimension":"utm_source"`, `"breakdown_by":"attribute:plan"`,
		`"breakdown_by":"referrer_host"`).Replace(everything)
	def, err := Read([]byte(former))
	if err != nil {
		t.Fatal(err)
	}
	text, err := Check(def)
	if err != nil {
		t.Fatal(err)
	}
	if string(text) != want {
		t.Errorf("answered as\n%s\nwant\n%s", text, want)
	}
	if _, err := Read([]byte(strings.Replace(former, `"eventName":"e"`, `"eventName":"e","event_name":"f"`, 1))); err == nil {
		t.Error("both spellings at once were taken")
	}
}

// TestStoredAsBefore: earlier releases stored the JSON of CreateDashboardRequest. A definition has the same text, and a request
// becomes a definition without a loss.
func TestStoredAsBefore(t *testing.T) {
	req := &svcv2.CreateDashboardRequest{}
	if err := wirejson.Unmarshal([]byte(everything), req); err != nil {
		t.Fatal(err)
	}
	for name, m := range map[string]proto.Message{"the request": req, "its definition": New(req)} {
		if text, err := wirejson.Marshal(m); err != nil || string(text) != everything {
			t.Errorf("%s: %v: written as\n%s\nwant\n%s", name, err, text, everything)
		}
	}
	before, now := req.ProtoReflect().Descriptor().Fields(), (&svcv2.DashboardDefinition{}).ProtoReflect().Descriptor().Fields()
	if before.Len() != now.Len() {
		t.Errorf("a request has %d fields, a definition %d", before.Len(), now.Len())
	}
	for i := range before.Len() {
		a, b := before.Get(i), now.ByNumber(before.Get(i).Number())
		if b == nil || a.Name() != b.Name() || a.Kind() != b.Kind() || a.Cardinality() != b.Cardinality() || a.HasPresence() != b.HasPresence() {
			t.Errorf("%s is another field in a definition: %v", a.FullName(), b)
		}
	}
}

func TestDefaults(t *testing.T) {
	def := &svcv2.DashboardDefinition{Name: "  n "}
	Normalize(def)
	text, err := Check(def)
	const want = `{"name":"n","description":null,"tags":[],"time_range":{"type":"relative","value":"12h"},"widgets":[],"sections":[],"variables":[],"refresh_interval_seconds":null}`
	if err != nil || string(text) != want {
		t.Errorf("%v: %s, want %s", err, text, want)
	}
}

func TestCheck(t *testing.T) {
	type definition = svcv2.DashboardDefinition
	w := func(d *definition, i int) *svcv2.Widget { return d.Widgets[i] }
	for path, break_ := range map[string]func(*definition){
		"name":                func(d *definition) { d.Name = "a\nb" },
		"tags[1]":             func(d *definition) { d.Tags[1] = " " },
		"time_range.end_time": func(d *definition) { d.TimeRange.EndTime = d.TimeRange.StartTime },
		"time_range.value": func(d *definition) {
			d.TimeRange = &svcv2.TimeRange{
				Type:  "relative",
				Value: new("12 hours"),
			}
		},
		"widgets[0].time_range.value":                   func(d *definition) { w(d, 0).TimeRange.Value = new("0m") },
		"widgets[1].id":                                 func(d *definition) { w(d, 1).Id = "q" },
		"widgets[0].section_id":                         func(d *definition) { w(d, 0).SectionId = new("nope"); w(d, 0).TabId = nil },
		"widgets[0].tab_id":                             func(d *definition) { w(d, 0).TabId = new("nope") },
		"widgets[1].tab_id":                             func(d *definition) { w(d, 1).TabId = new("t") },
		"widgets[0].layout.x":                           func(d *definition) { w(d, 0).Layout.X = new(-1.0) },
		"widgets[0].layout.w":                           func(d *definition) { w(d, 0).Layout.X = new(7.0) },
		"widgets[0].layout.h":                           func(d *definition) { w(d, 0).Layout.H = new(0.5) },
		"widgets[0].layout.max_w":                       func(d *definition) { w(d, 0).Layout.MaxW = new(1.0) },
		"widgets[0].layout.y":                           func(d *definition) { w(d, 0).Layout.Y = new(math.Inf(1)) },
		"widgets[0].data_source.result_shape":           func(d *definition) { w(d, 0).DataSource.ResultShape = nil },
		"widgets[0].data_source.queries":                func(d *definition) { w(d, 0).DataSource.Queries = nil },
		"widgets[0].data_source.queries[1].id":          func(d *definition) { w(d, 0).DataSource.Queries[1].Id = "a" },
		"widgets[0].data_source.queries[2].metric_name": func(d *definition) { w(d, 0).DataSource.Queries[2].MetricName = new("m") },
		"widgets[0].data_source.queries[0].limit":       func(d *definition) { w(d, 0).DataSource.Queries[0].Limit = new("ten") },
		"widgets[0].data_source.queries[2].aggregation": func(d *definition) { w(d, 0).DataSource.Queries[2].Aggregation = "p95_duration" },
		"widgets[0].data_source.queries[3].where_clause": func(d *definition) {
			w(d, 0).DataSource.Queries[3].WhereClause = new("event.name = ")
		},
		"widgets[0].data_source.formulas[0].expression": func(d *definition) { w(d, 0).DataSource.Formulas[0].Expression = " " },
		"widgets[0].data_source.formulas[0].name":       func(d *definition) { w(d, 0).DataSource.Formulas[0].Name = "a" },
		"widgets[0].data_source.queries[1].name":        func(d *definition) { w(d, 0).DataSource.Queries[1].Name = "B C" },
		"widgets[0].data_source.queries[2].group_by[0]": func(d *definition) { w(d, 0).DataSource.Queries[2].GroupBy = []string{"event.x"} },
		"widgets[0].data_source.queries[0].group_by[0]": func(d *definition) { w(d, 0).DataSource.Queries[0].GroupBy[0] = "duration_ms" },
		"widgets[0].data_source.queries[3].having":      func(d *definition) { w(d, 0).DataSource.Queries[3].Having = new("many") },
		"widgets[0].data_source.sql":                    func(d *definition) { w(d, 0).DataSource.Sql = new("SELECT 1") },
		"widgets[0].data_source.transform.limit":        func(d *definition) { w(d, 0).DataSource.Transform.Limit = new(0.0) },
		"widgets[1].data_source.sql":                    func(d *definition) { w(d, 1).DataSource.Sql = new("SELECT 1") },
		"widgets[2].data_source.params.sql":             func(d *definition) { delete(w(d, 2).DataSource.Params.Fields, "sql") },
		"widgets[2].data_source.endpoint":               func(d *definition) { w(d, 2).DataSource.Endpoint = nil },
		"widgets[0].display.chart_presentation.fill_nulls": func(d *definition) {
			w(d, 0).Display.ChartPresentation.FillNulls.Kind = nil
		},
		"widgets[0].display.y_axis.max":                 func(d *definition) { w(d, 0).Display.YAxis.Max = new(0.0) },
		"widgets[0].display.gauge.max":                  func(d *definition) { w(d, 0).Display.Gauge.Max = new(math.NaN()) },
		"widgets[0].display.histogram.bucket_count":     func(d *definition) { w(d, 0).Display.Histogram.BucketCount = new(0.0) },
		"widgets[0].display.sparkline.data_source.sql":  func(d *definition) { w(d, 0).Display.Sparkline.DataSource.Kind = "raw_sql" },
		"widgets[3].display.markdown.content":           func(d *definition) { w(d, 3).Display.Markdown = nil },
		"widgets[4].display.funnel.steps[1].kind":       func(d *definition) { s := w(d, 4).Display.Funnel.Steps; s[1] = proto.CloneOf(s[0]) },
		"widgets[4].display.funnel.steps[2].event_name": func(d *definition) { w(d, 4).Display.Funnel.Steps[2].EventName = nil },
		"widgets[4].display.funnel.steps[2].attribute_equals": func(d *definition) {
			w(d, 4).Display.Funnel.Steps[2].AttributeEquals = map[string]string{"": "pro"}
		},
		"widgets[4].display.funnel.steps[0].page_path": func(d *definition) { w(d, 4).Display.Funnel.Steps[0].PagePath = new("/") },
		"widgets[4].display.funnel.breakdown_by":       func(d *definition) { w(d, 4).Display.Funnel.BreakdownBy = new("attribute:") },
		"widgets[4].display.funnel.steps":              func(d *definition) { w(d, 4).Display.Funnel = nil },
		"widgets[5].display.paths.depth":               func(d *definition) { w(d, 5).Display.Paths.Depth = new(6.0) },
		"widgets[5].display.paths.branches":            func(d *definition) { w(d, 5).Display.Paths.Branches = new(1.5) },
		"widgets[4].display.funnel.steps[0].dimension": func(d *definition) { w(d, 4).Display.Funnel.Steps[0].Dimension = new("browser") },
		"widgets[5].display.paths.anchor.page_path":    func(d *definition) { w(d, 5).Display.Paths.Anchor = &svcv2.FunnelStep{Kind: "page"} },
		"widgets[5].display.paths":                     func(d *definition) { w(d, 5).Display.Paths = nil },
		"sections[1].id":                               func(d *definition) { d.Sections[1].Id = "s" },
		"sections[0].tabs[1].id": func(d *definition) {
			d.Sections[0].Tabs = append(d.Sections[0].Tabs,
				&svcv2.DashboardTab{Id: "t"})
		},
		"variables[1].name":                      func(d *definition) { d.Variables[1].Name = "service" },
		"variables[3].name":                      func(d *definition) { d.Variables[3].Name = "1x" },
		"variables[0].source":                    func(d *definition) { d.Variables[0].Source = nil },
		"variables[0].source.scope":              func(d *definition) { d.Variables[0].Source.Scope = new("span") },
		"variables[1].source.attribute_key":      func(d *definition) { d.Variables[1].Source.AttributeKey = nil },
		"variables[2].options":                   func(d *definition) { d.Variables[2].Options = nil },
		"variables[3].options":                   func(d *definition) { d.Variables[3].Options = []*svcv2.VariableOption{{Value: "x"}} },
		`widgets[0].display.series_mapping["a"]`: func(d *definition) { w(d, 0).Display.SeriesMapping["a"] = "\x00" },
		`widgets[2].data_source.params["x"]`:     func(d *definition) { w(d, 2).DataSource.Params.Fields["x"] = number(math.NaN()) },
		"sections": func(d *definition) {
			for range maxSections {
				d.Sections = append(d.Sections, &svcv2.DashboardSection{Id: strings.Repeat("x", len(d.Sections))})
			}
		},
	} {
		def := full(t)
		break_(def)
		Normalize(def)
		_, err := Check(def)
		var e *apierr.Error
		if !errors.As(err, &e) || e.Tag != apierr.DashboardValidation || e.Param != path || !strings.Contains(e.Message, "`"+path+"`") ||
			len(e.Violations) == 0 {
			t.Errorf("%s: %v, want a DashboardValidationError about it", path, err)
		}
	}
}

// TestUnreadable checks that a definition with a value that no read accepts is refused, and that a change of a stored definition
// may keep that value.
func TestUnreadable(t *testing.T) {
	type definition = svcv2.DashboardDefinition
	day := func(n int) *timestamppb.Timestamp {
		return timestamppb.New(time.Date(2026, 1, n, 0, 0, 0, 0, time.UTC))
	}
	statement := func(bytes int) *string {
		const text = "SELECT 1 WHERE $__orgFilter AND '' = '"
		return new(text + strings.Repeat("x", bytes-len(text)-1) + "'")
	}
	conditions := func(n int) *string { return new(strings.Repeat("> 1 AND ", n-1) + "> 1") }
	having := func(d *definition, text *string) {
		q := d.Widgets[0].DataSource.Queries[0]
		q.Having, q.AddOns.Having = text, true
	}
	list := func(d *definition, column string) {
		d.Widgets[0].Visualization = "list"
		s := d.Widgets[0].DataSource
		s.ResultShape, s.Columns = new("list"), []string{"trace_id", column}
	}
	where := func(n int) *string { return new("service.name = $service" + strings.Repeat(" ", n-23)) }
	off := func(d *definition, where *string) {
		q := d.Widgets[0].DataSource.Queries[0]
		q.WhereClause, q.Enabled = where, new(false)
	}
	text := func(s *string) *structpb.Value { return structpb.NewStringValue(*s) }
	filter := func(n int) *string { return new(*statement(n - 34) + " AND $__timeFilter(Timestamp)     ") }
	for name, c := range map[string]struct {
		path             string
		readable, beyond func(*definition)
	}{
		"relative": {
			"time_range.value",
			func(d *definition) { d.TimeRange = &svcv2.TimeRange{Type: "relative", Value: new("31d")} },
			func(d *definition) { d.TimeRange = &svcv2.TimeRange{Type: "relative", Value: new("32d")} },
		},
		"a widget": {
			"widgets[0].time_range.value",
			func(d *definition) { d.Widgets[0].TimeRange.Value = new("1mo") },
			func(d *definition) { d.Widgets[0].TimeRange.Value = new("2mo") },
		},
		"overflow": {
			"widgets[0].time_range.value",
			func(d *definition) { d.Widgets[0].TimeRange.Value = new("744h") },
			func(d *definition) { d.Widgets[0].TimeRange.Value = new("200000d") },
		},
		"absolute": {
			"time_range.start_time",
			func(d *definition) { d.TimeRange.StartTime, d.TimeRange.EndTime = day(1), day(32) },
			func(d *definition) { d.TimeRange.StartTime, d.TimeRange.EndTime = day(1), day(33) },
		},
		"statement": {
			"widgets[1].data_source.sql",
			func(d *definition) { d.Widgets[1].DataSource.Sql = statement(limits.SQLText) },
			func(d *definition) { d.Widgets[1].DataSource.Sql = statement(limits.SQLText + 1) },
		},
		"macros": {
			"widgets[1].data_source.sql",
			func(d *definition) { d.Widgets[1].DataSource.Sql = filter(limits.SQLText - 200) },
			func(d *definition) { d.Widgets[1].DataSource.Sql = filter(limits.SQLText) },
		},
		"filter with a variable": {
			"widgets[0].data_source.queries[0].where_clause",
			func(d *definition) { d.Widgets[0].DataSource.Queries[0].WhereClause = where(limits.WhereText) },
			func(d *definition) { d.Widgets[0].DataSource.Queries[0].WhereClause = where(limits.WhereText + 1) },
		},
		"filter of a query that is switched off": {
			"widgets[0].data_source.queries[0].where_clause",
			func(d *definition) { off(d, where(limits.WhereText)) },
			func(d *definition) { off(d, where(limits.WhereText+1)) },
		},
		"statement of a route": {
			"widgets[2].data_source.params.sql",
			func(d *definition) { d.Widgets[2].DataSource.Params.Fields["sql"] = text(statement(limits.SQLText)) },
			func(d *definition) {
				d.Widgets[2].DataSource.Params.Fields["sql"] = text(statement(limits.SQLText + 1))
			},
		},
		"filter of a list": {
			"widgets[0].display.list_where_clause",
			func(d *definition) { d.Widgets[0].Display.ListWhereClause = where(limits.WhereText) },
			func(d *definition) { d.Widgets[0].Display.ListWhereClause = where(limits.WhereText + 1) },
		},
		"column of a list": {
			"widgets[0].data_source.columns[1]",
			func(d *definition) { list(d, "event.name") },
			func(d *definition) { list(d, strings.Repeat("x", limits.FieldKey+12)) },
		},
		"having": {
			"widgets[0].data_source.queries[0].having",
			func(d *definition) { having(d, conditions(limits.Having)) },
			func(d *definition) { having(d, conditions(limits.Having+1)) },
		},
	} {
		def := full(t)
		c.readable(def)
		if _, err := Check(def); err != nil {
			t.Errorf("%s at the limit: %v", name, err)
		}
		c.beyond(def)
		_, err := Check(def)
		if e := apierr.From(err); err == nil || e.Param != c.path || len(e.Violations) != 1 {
			t.Errorf("%s beyond the limit: %v, want one violation of %s", name, err, c.path)
		}
		changed := proto.CloneOf(def)
		changed.Name = "another name"
		if _, err := Check(changed, def); err != nil {
			t.Errorf("%s: the name of a stored definition cannot be changed: %v", name, err)
		}
	}
}

// TestLengths checks that the lengths of texts are in characters.
func TestLengths(t *testing.T) {
	type definition = svcv2.DashboardDefinition
	for path, c := range map[string]struct {
		limit int
		set   func(d *definition, text string)
	}{
		"name":                     {limits.DashboardName, func(d *definition, text string) { d.Name = text }},
		"tags[0]":                  {limits.DashboardName, func(d *definition, text string) { d.Tags[0] = text }},
		"description":              {limits.DashboardText, func(d *definition, text string) { d.Description = &text }},
		"widgets[0].display.title": {limits.DashboardText, func(d *definition, text string) { d.Widgets[0].Display.Title = &text }},
		"variables[0].label":       {limits.DashboardText, func(d *definition, text string) { d.Variables[0].Label = &text }},
		"sections[0].title":        {limits.DashboardText, func(d *definition, text string) { d.Sections[0].Title = text }},
		"widgets[3].display.markdown.content": {limits.DashboardMarkdown, func(d *definition, text string) {
			d.Widgets[3].Display.Markdown.Content = text
		}},
		"widgets[0].data_source.queries[0].where_clause": {limits.WhereText, func(d *definition, text string) {
			d.Widgets[0].DataSource.Queries[0].WhereClause = new(filterOf([]rune(text)))
		}},
	} {
		for _, letter := range []string{"s", "ä", "𝄞"} {
			def := full(t)
			c.set(def, strings.Repeat(letter, c.limit))
			if _, err := Check(def); err != nil {
				t.Errorf("%s of %d times %q: %v", path, c.limit, letter, err)
			}
			c.set(def, strings.Repeat(letter, c.limit+1))
			_, err := Check(def)
			if e := apierr.From(err); err == nil || e.Param != path || strings.Contains(e.Message, "bytes") {
				t.Errorf("%s of %d times %q: %v", path, c.limit+1, letter, err)
			}
		}
	}
}

// filterOf makes a filter of the same length as a text. Its values are parts of the text.
func filterOf(text []rune) string {
	const begin, end, value = `service.name = "`, `" OR `, 900
	var b strings.Builder
	for rest := len(text); rest > 0; {
		letters := min(value, rest-len(begin)-len(`"`))
		if rest -= len(begin) + letters + len(end); rest < 100 { // the last condition
			return b.String() + begin + string(text[:letters]) + `"` + strings.Repeat(" ", rest+len(end)-len(`"`))
		}
		b.WriteString(begin + string(text[:letters]) + end)
	}
	return b.String()
}

// TestVisualization checks that a visualization that draws groups needs groups.
func TestVisualization(t *testing.T) {
	for _, v := range []string{"pie", "heatmap", "hbar", "funnel", "list"} {
		def := full(t)
		w := def.Widgets[0]
		w.Visualization = v
		for _, q := range w.DataSource.Queries {
			q.GroupBy = nil
		}
		if _, err := Check(def); err == nil {
			t.Errorf("%s of a timeseries without a group-by is taken", v)
		}
	}
	for _, v := range []string{"pie", "heatmap", "hbar", "funnel"} {
		def := full(t)
		def.Widgets[0].Visualization = v
		if _, err := Check(def); err != nil {
			t.Errorf("%s with a group-by: %v", v, err)
		}
		def.Widgets[0].DataSource.Queries[0].AddOns.GroupBy = false
		if _, err := Check(def); err == nil {
			t.Errorf("%s with a group-by that is switched off is taken", v)
		}
	}
}

func TestSQL(t *testing.T) {
	for text, ok := range map[string]bool{
		"SELECT count() FROM traces WHERE $__orgFilter AND $__timeFilter(Timestamp)":     true,
		"WITH x AS (SELECT 1) SELECT * FROM x, traces WHERE $__orgFilter;":               true,
		"(SELECT 1 WHERE $__orgFilter) UNION ALL (SELECT 2 WHERE $__orgFilter) -- done;": true,
		"SELECT truncate(1.5), t.delete, format('{}', 1) FROM t WHERE $__orgFilter":      true,
		"SELECT 'DROP; SETTINGS' AS x WHERE $__orgFilter /* INSERT */":                   true,
		"SELECT $service WHERE $__orgFilter":                                             true,
		"":                                                                               false,
		"SHOW TABLES -- $__orgFilter":                                                    false,
		"SELECT 1":                                                                       false,
		"SELECT 1 -- $__orgFilter":                                                       false,
		"SELECT '$__orgFilter'":                                                          false,
		"SELECT $x$ $__orgFilter $x$":                                                    false,
		"SELECT 1 WHERE $__orgFilter; SELECT 2":                                          false,
		"SELECT 1 WHERE $__orgFilter SETTINGS max_threads = 1":                           false,
		"SELECT 1 WHERE $__orgFilter settings max_threads = 1":                           false,
		"SELECT 1 WHERE $__orgFilter FORMAT JSON":                                        false,
		"SELECT 1 WHERE $__orgFilter INTO OUTFILE 'x'":                                   false,
		"SELECT * FROM system.users WHERE $__orgFilter":                                  false,
		"SELECT $__orgId WHERE $__orgFilter":                                             false,
		"SELECT 'open WHERE $__orgFilter":                                                false,
		"DROP TABLE x":                                                                   false,
	} {
		c := newChecker(nil)
		c.sql("sql", text)
		if got := len(c.violations) == 0; got != ok {
			t.Errorf("%q: taken %v, want %v: %v", text, got, ok, c.violations)
		}
	}
}

// TestUnknownVariables checks that a filter with a variable that the dashboard does not have is refused. The violation names
// both.
func TestUnknownVariables(t *testing.T) {
	for clause, unknown := range map[string]string{
		"service.name = $t": "", `service.name = "a-${t}"`: "", `attr.price = "$5"`: "", `body contains "\$HOME"`: "",
		"service.name = $nosuch": "$nosuch", `service.name = "x${nosuch}"`: "$nosuch", "service.name = $t AND attr.k = $T": "$T",
	} {
		def := full(t)
		def.Widgets[0].DataSource.Queries[0].WhereClause = &clause
		Normalize(def)
		_, err := Check(def)
		e := apierr.From(err)
		if (unknown == "") != (err == nil) || unknown != "" &&
			(e.Param != "widgets[0].data_source.queries[0].where_clause" || !strings.Contains(e.Violations[0].Message, unknown+",")) {
			t.Errorf("%s: %v", clause, err)
		}
		def = full(t)
		def.Widgets[0].Display.ListWhereClause = &clause
		Normalize(def)
		if _, err := Check(def); (unknown == "") != (err == nil) {
			t.Errorf("of a list, %s: %v", clause, err)
		}
	}
}

// TestFormulas checks that an expression that cannot be computed is refused. The violation names it.
func TestFormulas(t *testing.T) {
	for expression, problem := range map[string]string{
		"A / B": "", "a*100": "", "-(C + 1.5) / $t": "", "${t} * D": "", "F1 + 1": "F1", "A / Z": `"Z"`, "A +": "ends", "A / (B": "parenthesis",
		"A ^ B": "expected",
		"1..2":  "not a number", "$nobody * A": "expected", "A B": "not expected", strings.Repeat("(", 100) + "A": "deep",
		strings.Repeat("A+", 600) + "A": "1024",
	} {
		def := full(t)
		def.Widgets[0].DataSource.Formulas[0].Expression = expression
		Normalize(def)
		_, err := Check(def)
		if problem == "" {
			if err != nil {
				t.Errorf("%s: %v", expression, err)
			}
			continue
		}
		var e *apierr.Error
		if !errors.As(err, &e) || e.Param != "widgets[0].data_source.formulas[0].expression" || !strings.Contains(e.Message, problem) {
			t.Errorf("%.40s: %v, want a violation with %q", expression, err, problem)
		}
	}
	// An expression can refer to an earlier formula, but not to a later one or to itself. The name of a query that is switched
	// off stays valid.
	def := full(t)
	source := def.Widgets[0].DataSource
	source.Queries[1].Enabled = new(false)
	source.Formulas = append(source.Formulas, &svcv2.QueryFormula{Id: "g", Name: "F2", Expression: "F1 + F3", Legend: "l"},
		&svcv2.QueryFormula{Id: "h", Name: "F3", Expression: "f2 * F1", Legend: "l"})
	_, err := Check(def)
	var e *apierr.Error
	if !errors.As(err, &e) || len(e.Violations) != 1 || e.Param != "widgets[0].data_source.formulas[1].expression" {
		t.Errorf("a later formula: %v", err)
	}
}
