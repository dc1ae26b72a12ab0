package dashboards

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/fieldmaskpb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/mcp/tool"
	"github.com/svc-observability/svc/server/publicid"
	"github.com/svc-observability/svc/server/wording"
)

// These are the templates for a call that gives only a service or a metric.
const (
	serviceTemplate = "service-health"
	metricTemplate  = "metric-overview"
)

type createDashboardArgs struct {
	tool.Call
	Name               string `required:"true"`
	Description        *string
	Template           *string `doc:"Name or id. The error for an unknown name lists all templates."`
	Service            *string `doc:"For the template."`
	MetricName         *string
	MetricType         *string         `of:"QueryMetric.type" except:"summary"`
	TemplateParameters json.RawMessage `doc:"Other parameters of the template." type:"object"`
	Widgets            json.RawMessage `doc:"List of widgets."`
	TimeRange          timeRangeJSON   `doc:"{\"type\":\"relative\",\"value\":\"6h\"}" type:"object"`
	DashboardJSON      json.RawMessage `doc:"Whole definition. The arguments name and description override it." type:"object"`
	Validate           bool            `doc:"Check the data of the widgets." default:"true"`
}

func newCreateDashboard(s *tool.Clients) (*tool.Tool, error) {
	return defineChange(&tool.Tool{
		Name: "create_dashboard", View: "/dashboards/{id}",
		Title:  "Create a dashboard",
		Writes: true,
		Description: "Create a dashboard from a template, for a service or a metric, from widgets, or from a whole definition. See " +
			"describe_dashboard_schema.",
		Run: tool.With(func(ctx context.Context, a *createDashboardArgs) (*tool.Answer, error) {
			wanted := tool.Or(a.Template, "")
			switch own := a.Widgets == nil && a.DashboardJSON == nil; {
			case wanted != "" || !own:
			case a.MetricName != nil:
				wanted = metricTemplate
			case a.Service != nil:
				wanted = serviceTemplate
			}
			if wanted != "" {
				return fromTemplate(ctx, s, a, wanted)
			}
			for _, field := range []any{&a.Service, &a.MetricName, &a.MetricType} {
				if a.Given(field) {
					a.Note("%s was ignored: only templates take it.", a.NameOf(field))
				}
			}
			req, source := &svcv2.CreateDashboardRequest{}, "widgets"
			if raw := a.DashboardJSON; raw != nil {
				source = a.NameOf(&a.DashboardJSON)
				if err := tool.DecodeJSON(a.NameOf(&a.DashboardJSON), withPanels(definition(raw, req)), req); err != nil {
					return nil, err
				}
			}
			req.Name = a.Name
			if v := a.Description; v != nil {
				req.Description = v
			}
			if raw := a.Widgets; raw != nil {
				widgets, err := decodeWidgets(a.NameOf(&a.Widgets), raw)
				if err != nil {
					return nil, err
				}
				req.Widgets = widgets
			}
			if a.TimeRange != nil {
				req.TimeRange = &svcv2.TimeRange{}
				if err := a.Decode(&a.TimeRange, req.TimeRange); err != nil {
					return nil, err
				}
			}
			out, err := s.Dashboards.CreateDashboard(ctx, req)
			if err != nil {
				return nil, err
			}
			res := dashboardChange{
				Dashboard:      changedRow(out),
				Source:         source,
				Validation:     validateIf(ctx, s, a.Validate, out, out.GetWidgets()),
				RenderWarnings: renderWarnings(out.GetWidgets()...),
			}
			if len(out.GetWidgets()) > 0 {
				return changeAnswer(res, "The dashboard was created."), nil
			}
			made := changeAnswer(
				res,
				"The dashboard was created without widgets, because the call gave none. add_dashboard_widget adds one widget at a time. "+
					"The arguments template, service, metric_name, widgets and dashboard_json create a dashboard with widgets.",
			)
			made.Text.Next = []tool.Suggestion{
				tool.Next("describe_dashboard_schema", map[string]any{"section": "queries"}, "the queries of widgets"),
			}
			return made, nil
		}),
	}, "source", "template", "validation", "renderWarnings")
}

var relativeRange = regexp.MustCompile(`^(?:now-|-|last )?([0-9]{1,6})\s?(mo|m|h|d|w)$`)

// timeRangeJSON is the window that a dashboard shows: an object, or the length of a window that ends now.
type timeRangeJSON json.RawMessage

// Short reads the length of a window.
func (timeRangeJSON) Short(text string) (json.RawMessage, bool) {
	m := relativeRange.FindStringSubmatch(strings.ToLower(text))
	if m == nil {
		return nil, false
	}
	return json.RawMessage(`{"type":"relative","value":"` + m[1] + m[2] + `"}`), true
}

// definition removes the fields from a dashboard's JSON that only answers have. The result of get_dashboard can then be sent
// back.
func definition(raw json.RawMessage, req proto.Message) json.RawMessage {
	var m map[string]json.RawMessage
	if json.Unmarshal(raw, &m) != nil {
		return raw // the decoder describes the fault
	}
	fields, answer := req.ProtoReflect().Descriptor().Fields(), (&svcv2.DashboardMutationResponse{}).ProtoReflect().Descriptor().Fields()
	for name, v := range m {
		f := fields.ByTextName(name)
		if f == nil && answer.ByTextName(name) != nil || f != nil && (name == "id" || string(v) == "null") {
			delete(m, name)
		}
	}
	out, err := json.Marshal(m)
	if err != nil {
		return raw
	}
	return out
}

// ofTemplate returns the arguments that stand for parameters of templates.
func (a *createDashboardArgs) ofTemplate() map[string]**string {
	return map[string]**string{"service_name": &a.Service, "metric_name": &a.MetricName, "metric_type": &a.MetricType}
}

// slug is the form of a name in which names of templates are compared.
func slug(name string) string {
	return strings.Trim(regexp.MustCompile(`[^a-z0-9]+`).ReplaceAllString(strings.ToLower(name), "-"), "-")
}

// fromTemplate creates a dashboard from the template with an id or a name.
func fromTemplate(ctx context.Context, s *tool.Clients, a *createDashboardArgs, wanted string) (*tool.Answer, error) {
	for _, other := range []any{&a.Widgets, &a.DashboardJSON} {
		if a.Given(other) {
			return nil, a.Bad(other, "cannot be given together with template.", "")
		}
	}
	var all []*svcv2.DashboardTemplate
	all, _, err := tool.Collect(
		ctx,
		nil,
		0,
		1000,
		func(ctx context.Context, limit int32, cursor *string) ([]*svcv2.DashboardTemplate, *string, error) {
			res, err := s.Dashboards.ListDashboardTemplates(ctx, &svcv2.ListDashboardTemplatesRequest{Limit: &limit, Cursor: cursor})
			return res.GetData(), tool.NextCursor(res), err
		},
	)
	if err != nil {
		return nil, err
	}
	var names []string
	var t *svcv2.DashboardTemplate
	for _, one := range all {
		own, err := publicid.DecodeText(publicid.DashboardTemplate, one.GetId())
		if one.GetId() == wanted || slug(one.GetName()) == slug(wanted) || err == nil && own == slug(wanted) {
			t = one
		}
		names = append(names, one.GetName())
	}
	if t == nil {
		return nil, a.Bad(
			&a.Template,
			fmt.Sprintf("%q does not exist. The templates are: %s.", wording.Clip(wanted, 100), strings.Join(names, ", ")),
			names[0],
		)
	}
	values := map[string]json.RawMessage{}
	if raw := a.TemplateParameters; raw != nil {
		if err := json.Unmarshal(raw, &values); err != nil {
			return nil, a.Bad(&a.TemplateParameters, "must be an object of texts.", `{"service_name":"checkout"}`)
		}
	}
	own := a.ofTemplate()
	for _, key := range slices.Sorted(maps.Keys(own)) {
		v := *own[key]
		if v == nil {
			continue
		}
		if !slices.ContainsFunc(t.GetParameters(), func(p *svcv2.DashboardTemplateParameter) bool { return p.GetKey() == key }) {
			a.Note("%s was ignored: the template %s does not take it.", a.NameOf(own[key]), t.GetName())
			continue
		}
		raw, err := json.Marshal(*v)
		if err != nil {
			return nil, fmt.Errorf("encode a template's parameter: %w", err)
		}
		values[key] = raw
	}
	if a.TimeRange != nil { // checked before anything is created
		if err := a.Decode(&a.TimeRange, &svcv2.TimeRange{}); err != nil {
			return nil, err
		}
	}
	for _, p := range t.GetParameters() {
		if field := own[p.GetKey()]; p.GetRequired() && values[p.GetKey()] == nil && field != nil {
			return nil, a.Bad(field, "is required by the template "+t.GetName()+". list_metrics has the names and the types.", p.GetPlaceholder())
		}
	}
	raw, err := json.Marshal(map[string]any{"name": a.Name, "parameters": values})
	if err != nil {
		return nil, fmt.Errorf("encode a template's parameters: %w", err)
	}
	req := &svcv2.InstantiateDashboardTemplateRequest{}
	if err := tool.DecodeJSON(a.NameOf(&a.TemplateParameters), raw, req); err != nil {
		return nil, err
	}
	req.TemplateId = t.GetId()
	out, err := s.Dashboards.InstantiateDashboardTemplate(ctx, req)
	if err != nil {
		return nil, templateFailure(t, err)
	}
	if out, err = described(ctx, s, a, out); err != nil {
		return nil, err
	}
	name := t.GetName()
	res := dashboardChange{
		Dashboard:      changedRow(out),
		Source:         "template",
		Template:       &name,
		Validation:     validateIf(ctx, s, a.Validate, out, out.GetWidgets()),
		RenderWarnings: renderWarnings(out.GetWidgets()...),
	}
	return changeAnswer(res, "The dashboard was created from the template "+name+"."), nil
}

// described sets the call's description and window on a dashboard that a template made.
func described(
	ctx context.Context,
	s *tool.Clients,
	a *createDashboardArgs,
	d *svcv2.DashboardMutationResponse,
) (*svcv2.DashboardMutationResponse, error) {
	req := &svcv2.UpdateDashboardRequest{Id: d.GetId(), UpdateMask: &fieldmaskpb.FieldMask{}}
	if v := a.Description; v != nil {
		req.Description, req.UpdateMask.Paths = v, append(req.UpdateMask.Paths, "description")
	}
	if a.TimeRange != nil {
		req.TimeRange, req.UpdateMask.Paths = &svcv2.TimeRange{}, append(req.UpdateMask.Paths, "time_range")
		if err := a.Decode(&a.TimeRange, req.TimeRange); err != nil {
			return nil, err
		}
	}
	if len(req.GetUpdateMask().GetPaths()) == 0 {
		return d, nil
	}
	return s.Dashboards.UpdateDashboard(ctx, req)
}

// templateFailure adds the parameters of the template to a refusal.
func templateFailure(t *svcv2.DashboardTemplate, err error) error {
	d := tool.FailureOf(&tool.Tool{}, err)
	if !strings.Contains(d.Message, "parameters.") {
		return err
	}
	var takes []string
	for _, p := range t.GetParameters() {
		need := ""
		if p.GetRequired() {
			need = ", required"
		}
		takes = append(takes, fmt.Sprintf("%s (%s%s)", p.GetKey(), p.GetLabel(), need))
	}
	return &tool.InputError{
		Tag:       d.Tag,
		Parameter: "template_parameters",
		Message:   "template_parameters: " + d.Message + " The template " + t.GetName() + " takes these: " + strings.Join(takes, ", ") + ".",
		Example:   `{"service_name":"checkout"}`,
	}
}
