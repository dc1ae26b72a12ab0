package dashboards

import (
	"context"
	"errors"
	"fmt"
	"strings"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/paging"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/publicid"
	"github.com/svc-observability/svc/server/services/dashboards/templates"
)

// ListDashboardTemplates lists the built-in templates in display order.
func (s *Service) ListDashboardTemplates(
	_ context.Context, req *svcv2.ListDashboardTemplatesRequest,
) (*svcv2.ListDashboardTemplatesResponse, error) {
	page, err := paging.NewPage(req.Limit, req.Cursor)
	if err != nil {
		return nil, err
	}
	all := templates.All()
	all, next := paging.Part(page, all)
	res := &svcv2.ListDashboardTemplatesResponse{Object: "list", HasMore: next != nil, NextCursor: next}
	for _, t := range all {
		res.Data = append(res.Data, templateToProto(t))
	}
	return res, nil
}

// PreviewDashboardTemplate builds the dashboard of a template without storing it.
func (s *Service) PreviewDashboardTemplate(
	_ context.Context, req *svcv2.PreviewDashboardTemplateRequest,
) (*svcv2.DashboardTemplatePreview, error) {
	def, err := build(req.GetTemplateId(), req.GetParameters(), false)
	if err != nil {
		return nil, err
	}
	return &svcv2.DashboardTemplatePreview{
		Object: "dashboard_template_preview", Name: def.GetName(), TimeRange: def.GetTimeRange(), Widgets: def.GetWidgets(),
		Variables: def.GetVariables(),
	}, nil
}

// InstantiateDashboardTemplate creates a dashboard from a template.
func (s *Service) InstantiateDashboardTemplate(
	ctx context.Context, req *svcv2.InstantiateDashboardTemplateRequest,
) (*svcv2.DashboardMutationResponse, error) {
	caller, err := principal.Caller(ctx)
	if err != nil {
		return nil, err
	}
	def, err := build(req.GetTemplateId(), req.GetParameters(), true)
	if err != nil {
		return nil, err
	}
	if req.Name != nil {
		def.Name = req.GetName()
	}
	return s.create(ctx, caller, def)
}

// build serves both preview and instantiation, so that their widgets are equal.
func build(id string, parameters map[string]string, complete bool) (*svcv2.DashboardDefinition, error) {
	slug, err := publicid.DecodeText(publicid.DashboardTemplate, id)
	if err != nil {
		return nil, apierr.New(apierr.InvalidRequest, fmt.Sprintf("template_id is not the id of a template: %v.", err),
			apierr.Param("template_id"))
	}
	t := templates.Find(slug)
	if t == nil {
		return nil, apierr.New(apierr.DashboardTemplateNotFound, "There is no such dashboard template.")
	}
	if err := t.Check(parameters, complete); err != nil {
		var bad *templates.ParameterError
		if !errors.As(err, &bad) {
			return nil, err
		}
		tag, path := apierr.ParameterInvalid, "parameters."+bad.Key
		if bad.Missing {
			tag = apierr.ParameterMissing
		}
		return nil, apierr.New(tag, fmt.Sprintf("`%s` %s.", path, bad.Reason), apierr.Param(path))
	}
	return t.Build(parameters), nil
}

func templateToProto(t *templates.Template) *svcv2.DashboardTemplate {
	out := &svcv2.DashboardTemplate{
		Id: publicid.EncodeText(publicid.DashboardTemplate, t.Slug), Object: "dashboard_template", Name: t.Name, Description: t.Description,
		Category: t.Category, Tags: t.Tags, Requirements: t.Requirements, RequiredMetricPrefixes: t.MetricPrefixes,
	}
	if r := t.Requirement; r != nil {
		out.Requirement = &svcv2.DashboardTemplateRequirement{Kind: r.Kind, Label: r.Label, Collector: r.Collector, Hint: &r.Hint}
	}
	for _, p := range t.Parameters {
		parameter := &svcv2.DashboardTemplateParameter{Key: p.Key, Label: p.Label, Description: p.Description, Required: p.Required}
		if p.Placeholder != "" {
			parameter.Placeholder = &p.Placeholder
		}
		out.Parameters = append(out.Parameters, parameter)
	}
	for _, w := range t.Build(nil).GetWidgets() {
		l := w.GetLayout()
		out.Preview = append(out.Preview, &svcv2.DashboardTemplateTile{
			X: l.GetX(), Y: l.GetY(), W: l.GetW(), H: l.GetH(), Kind: panelType(w), Title: w.GetDisplay().GetTitle(),
		})
	}
	return out
}

// panelType names the drawing of a widget: the type of a chart, or the visualization of any other widget.
func panelType(w *svcv2.Widget) string {
	if w.GetVisualization() != "chart" {
		return w.GetVisualization()
	}
	switch kind, _ := strings.CutPrefix(w.GetDisplay().GetChartId(), "query-builder-"); kind {
	case "area", "bar":
		return kind
	default:
		return "line"
	}
}
