package dashboards

import (
	"context"
	"errors"
	"slices"
	"time"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/query/widget"
	"github.com/svc-observability/svc/server/services/dashboards/definition"
	"github.com/svc-observability/svc/server/store"
)

// Data implements svcv2connect.DashboardDataServiceHandler, which reads the data of widgets. It is safe for concurrent use.
type Data struct {
	store    *store.Store
	resolver *widget.Resolver

	definitions *definition.Cache
}

// NewData returns the service.
func NewData(st *store.Store, r *widget.Resolver) *Data {
	return &Data{store: st, resolver: r, definitions: definition.NewCache()}
}

// board returns a definition of the caller's organization. Callers share it and must not change it.
func (s *Data) board(ctx context.Context, id string) (principal.OrgID, *svcv2.DashboardDefinition, error) {
	caller, key, err := definition.Resource().Target(ctx, id)
	if err != nil {
		return "", nil, err
	}
	row, err := s.store.GetDashboard(ctx, caller.Org, key)
	if err != nil {
		return "", nil, definition.Resource().Failure(ctx, err)
	}
	def, err := s.definitions.Of(row)
	return caller.Org, def, err
}

func findWidget(def *svcv2.DashboardDefinition, id string) (*svcv2.Widget, error) {
	i := slices.IndexFunc(def.GetWidgets(), func(w *svcv2.Widget) bool { return w.GetId() == id })
	if i < 0 {
		return nil, apierr.New(apierr.DashboardWidgetNotFound, "This dashboard has no such widget.", apierr.Param("widget_id"))
	}
	return def.GetWidgets()[i], nil
}

// explained maps a bad value of a variable to its API error.
func explained(err error) error {
	var bad *widget.BadVariable
	if errors.As(err, &bad) {
		return apierr.New(apierr.DashboardValidation, bad.Error(), apierr.Param("variable_values."+bad.Name))
	}
	return err
}

// SearchDashboardWidgetData reads the data of a widget.
func (s *Data) SearchDashboardWidgetData(ctx context.Context, req *svcv2.SearchDashboardWidgetDataRequest) (*svcv2.WidgetData, error) {
	org, def, err := s.board(ctx, req.GetId())
	if err != nil {
		return nil, err
	}
	w, err := findWidget(def, req.GetWidgetId())
	if err != nil {
		return nil, err
	}
	if err := definition.CheckRange(req.GetTimeRange()); err != nil {
		return nil, err
	}
	data, err := s.resolver.Data(ctx, org, widget.Request{
		Widget: w, Override: req.GetTimeRange(), Dashboard: def.GetTimeRange(), Variables: def.GetVariables(), Values: req.GetVariableValues(),
		Sparkline: req.GetSource() == "sparkline", Points: int(req.GetMaxDataPoints()),
		Fallback: req.EmptyRangeFallback == nil || req.GetEmptyRangeFallback(),
	})
	return data, explained(err)
}

// PreviewDashboardWidget reads the data of a widget that is not stored.
func (s *Data) PreviewDashboardWidget(ctx context.Context, req *svcv2.PreviewDashboardWidgetRequest) (*svcv2.WidgetData, error) {
	caller, err := principal.Caller(ctx)
	if err != nil {
		return nil, err
	}
	def, err := previewed(req)
	if err != nil {
		return nil, err
	}
	data, err := s.resolver.Data(ctx, caller.Org, widget.Request{
		Widget: def.GetWidgets()[0], Override: req.GetTimeRange(), Dashboard: def.GetTimeRange(), Variables: def.GetVariables(),
		Values: req.GetVariableValues(), Sparkline: req.GetSource() == "sparkline", Points: int(req.GetMaxDataPoints()),
		Fallback: req.EmptyRangeFallback == nil || req.GetEmptyRangeFallback(),
	})
	return data, explained(err)
}

// previewed returns a dashboard with the widget of a preview alone, without the section that it may be in. A time range of the request
// takes the place of the widget's own range, which may then be longer than a read accepts.
func previewed(req *svcv2.PreviewDashboardWidgetRequest) (*svcv2.DashboardDefinition, error) {
	alone := &svcv2.Widget{
		Id: req.GetWidget().GetId(), Visualization: req.GetWidget().GetVisualization(), DataSource: req.GetWidget().GetDataSource(),
		Display: req.GetWidget().GetDisplay(), Layout: req.GetWidget().GetLayout(), TimeRange: req.GetWidget().GetTimeRange(),
	}
	def := &svcv2.DashboardDefinition{Name: "Preview", Widgets: []*svcv2.Widget{alone}, Variables: req.GetVariables()}
	definition.Normalize(def)
	var unread []*svcv2.DashboardDefinition
	if req.GetTimeRange() != nil {
		unread = append(unread, &svcv2.DashboardDefinition{TimeRange: alone.GetTimeRange()})
	}
	if err := definition.CheckAlone(def, unread...); err != nil {
		return nil, err
	}
	return def, definition.CheckRange(req.GetTimeRange())
}

// SearchDashboardWidgetInspection inspects the data of a widget. A widget whose queries or statement are refused is reported as
// broken; the call itself succeeds.
func (s *Data) SearchDashboardWidgetInspection(
	ctx context.Context, req *svcv2.SearchDashboardWidgetInspectionRequest,
) (*svcv2.WidgetInspection, error) {
	org, def, err := s.board(ctx, req.GetId())
	if err != nil {
		return nil, err
	}
	w, err := findWidget(def, req.GetWidgetId())
	if err != nil {
		return nil, err
	}
	if err := definition.CheckRange(req.GetTimeRange()); err != nil {
		return nil, err
	}
	data, err := s.resolver.Data(ctx, org, widget.Request{
		Widget: w, Override: req.GetTimeRange(), Dashboard: def.GetTimeRange(), Variables: def.GetVariables(), Values: req.GetVariableValues(),
	})
	var out *svcv2.WidgetInspection
	if why := widget.Refusal(err); why != "" {
		window, source, err := widget.Window(req.GetTimeRange(), w.GetTimeRange(), def.GetTimeRange(), time.Now())
		if err != nil {
			return nil, err
		}
		out = widget.Refused(w, window, source, why)
	} else if err != nil {
		return nil, explained(err)
	} else {
		out = widget.Inspect(w, data)
	}
	out.DashboardId, out.DashboardName = req.GetId(), def.GetName()
	return out, nil
}

// SearchDashboardVariableOptions lists the values of a variable.
func (s *Data) SearchDashboardVariableOptions(
	ctx context.Context, req *svcv2.SearchDashboardVariableOptionsRequest,
) (*svcv2.SearchDashboardVariableOptionsResponse, error) {
	org, def, err := s.board(ctx, req.GetId())
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(def.GetVariables(), func(v *svcv2.DashboardVariable) bool { return v.GetName() == req.GetVariable() })
	if i < 0 {
		return nil, apierr.New(apierr.DashboardVariableNotFound, "This dashboard has no such variable.", apierr.Param("variable"))
	}
	if err := definition.CheckRange(req.GetTimeRange()); err != nil {
		return nil, err
	}
	window, _, err := widget.Window(req.GetTimeRange(), nil, def.GetTimeRange(), time.Now())
	if err != nil {
		return nil, err
	}
	options, err := s.resolver.Options(ctx, org, def.GetVariables()[i], window, req.GetSearch())
	if err != nil {
		return nil, err
	}
	return &svcv2.SearchDashboardVariableOptionsResponse{Object: "list", Data: options}, nil
}
