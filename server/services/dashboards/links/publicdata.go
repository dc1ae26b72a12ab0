package links

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"runtime/debug"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sync/singleflight"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/cache"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/query/read"
	"github.com/svc-observability/svc/server/query/widget"
)

const (
	// publicEntries bounds the kept results. publicAtOnce bounds the reads of all links that run at once.
	publicEntries = 512
	publicAtOnce  = limits.SharedReadsOfNode
	// chartFailed is how long the failure of a chart is kept. A chat service asks for a picture several times in a row.
	chartFailed = time.Minute
)

// publicReads shares the reads of links or charts: equal reads run once, few run at once, and results are kept for some time. It is safe
// for concurrent use.
type publicReads[V any] struct {
	kept *cache.Cache[string, publicResult[V]]
	// keep is for results, keepFailed for failures; zero: they are not kept.
	keep, keepFailed time.Duration
	flights          singleflight.Group
	slots            chan struct{}
	each             *read.OrgSlots
}

// publicResult is how a read ended.
type publicResult[V any] struct {
	data V
	err  error
}

func newPublicReads[V any](keep, keepFailed time.Duration) *publicReads[V] {
	return &publicReads[V]{
		kept: cache.New[string, publicResult[V]](publicEntries, time.Now), keep: keep, keepFailed: keepFailed,
		slots: make(chan struct{}, publicAtOnce), each: read.NewOrgSlots(limits.SharedReads, nil),
	}
}

// get returns the kept result of the key, or else the result of a read. Callers share the result and must not change it. A
// reader who leaves does not end the read of the others.
func (p *publicReads[V]) get(
	ctx context.Context, org principal.OrgID, key string, read func(context.Context) (V, error),
) (data V, err error) {
	if result, ok := p.kept.Get(key); ok {
		return result.data, result.err
	}
	done := p.flights.DoChan(key, func() (any, error) { return p.run(context.WithoutCancel(ctx), org, key, read) })
	select {
	case result := <-done:
		data, _ = result.Val.(V)
		return data, result.Err
	case <-ctx.Done():
		return data, ctx.Err()
	}
}

// run reads in a slot. A panic becomes an error: it would end the process, not a request.
func (p *publicReads[V]) run(
	ctx context.Context, org principal.OrgID, key string, read func(context.Context) (V, error),
) (data V, err error) {
	if result, ok := p.kept.Get(key); ok { // a flight ended between the look into the cache and this one
		return result.data, result.err
	}
	ctx, cancel := context.WithTimeout(ctx, limits.ReadTime)
	defer cancel()
	release, err := p.slot(ctx, org)
	if err != nil {
		return data, err
	}
	defer func() {
		release()
		if v := recover(); v != nil {
			err = fmt.Errorf("dashboards: a public read panicked: %v\n%s", v, debug.Stack())
		}
	}()
	data, err = read(ctx)
	keep := p.keep
	if err != nil {
		keep = p.keepFailed
	}
	if keep > 0 {
		p.kept.Put(key, publicResult[V]{data, err}, 1, keep)
	}
	return data, err
}

// slot waits for a slot of the organization, and then for one of all.
func (p *publicReads[V]) slot(ctx context.Context, org principal.OrgID) (release func(), err error) {
	leave, err := p.each.Acquire(ctx, org)
	if err != nil {
		return nil, err
	}
	select {
	case p.slots <- struct{}{}:
		return func() { <-p.slots; leave() }, nil
	case <-ctx.Done():
		leave()
		return nil, ctx.Err()
	}
}

// ResolveShareWidgetData reads the data of widgets of a link.
func (p *Public) ResolveShareWidgetData(ctx context.Context, req *svcv2.ResolveShareWidgetDataRequest) (*svcv2.ShareWidgetData, error) {
	l, err := p.open(ctx, p.cfg.Hash(req.GetToken()))
	if err != nil {
		return nil, err
	}
	window, err := publicWindow(req.GetTimeRange(), time.Now())
	if err != nil {
		return nil, err
	}
	variables := l.variables()
	chosen, err := widget.Choose(variables, req.GetVariableValues())
	var bad *widget.BadVariable
	if errors.As(err, &bad) {
		return nil, apierr.New(apierr.ShareVariableInvalid, bad.Error(), apierr.Param("variable_values."+bad.Name))
	} else if err != nil {
		return nil, err
	}
	out := &svcv2.ShareWidgetData{Results: make([]*svcv2.ShareWidgetResult, len(req.GetRequests())), Variables: map[string]string{}}
	maps.Copy(out.Variables, chosen)
	var g errgroup.Group
	for i, one := range req.GetRequests() {
		g.Go(func() error {
			out.Results[i] = p.widgetData(ctx, l, one, window, variables, req.GetVariableValues(), chosen)
			return nil
		})
	}
	_ = g.Wait() // failures are results
	return out, ctx.Err()
}

// variables returns the variables that the link shows. For a shared widget, these are the variables that it refers to.
func (l *link) variables() []*svcv2.DashboardVariable {
	if l.widget == nil {
		return l.def.GetVariables()
	}
	return slices.DeleteFunc(slices.Clone(l.def.GetVariables()), func(v *svcv2.DashboardVariable) bool { return !uses(l.widget, v.GetName()) })
}

// publicWindow checks and rounds a window.
func publicWindow(r *svcv2.ShareTimeRange, now time.Time) (*svcv2.TimeRange, error) {
	refuse := func(field, message string) error {
		return apierr.New(apierr.ShareRangeInvalid, field+" "+message, apierr.Param(field))
	}
	start, end := r.GetStartTime(), r.GetEndTime()
	if !start.IsValid() || !end.IsValid() || start.AsTime().Year() < 1970 || end.AsTime().After(now.Add(limits.ClockAhead)) {
		return nil, refuse("time_range", "must be between 1970 and tomorrow.")
	}
	from, to := start.AsTime().Truncate(limits.SharedData), end.AsTime().Truncate(limits.SharedData)
	switch {
	case !end.AsTime().After(start.AsTime()):
		return nil, refuse("time_range.end_time", "must be after start_time.")
	case end.AsTime().Sub(start.AsTime()) > limits.TimeseriesWindow:
		return nil, refuse("time_range.start_time", "must be at most "+limits.Days(limits.TimeseriesWindow)+" before end_time.")
	case !to.After(from):
		to = from.Add(limits.SharedData)
	case to.Sub(from) > limits.TimeseriesWindow:
		from = to.Add(-limits.TimeseriesWindow)
	}
	return &svcv2.TimeRange{Type: "absolute", StartTime: timestamppb.New(from), EndTime: timestamppb.New(to)}, nil
}

// widgetData returns the data of one widget, or a reason that reveals nothing about the query.
func (p *Public) widgetData(
	ctx context.Context, l *link, req *svcv2.ShareWidgetRequest, window *svcv2.TimeRange, variables []*svcv2.DashboardVariable, given,
	chosen map[string]string,
) *svcv2.ShareWidgetResult {
	no := func(reason, message string) *svcv2.ShareWidgetResult {
		return &svcv2.ShareWidgetResult{WidgetId: req.GetWidgetId(), Reason: &reason, Message: &message}
	}
	i := slices.IndexFunc(l.def.GetWidgets(), func(w *svcv2.Widget) bool { return w.GetId() == req.GetWidgetId() })
	if i < 0 || l.widget != nil && l.widget.GetId() != req.GetWidgetId() {
		return no("not_found", "The link shows no such widget.")
	}
	w := l.def.GetWidgets()[i]
	sparkline := req.GetSource() == "sparkline"
	if sparkline && w.GetDisplay().GetSparkline().GetDataSource() == nil {
		return no("unsupported", "This widget has no small chart with data of its own.")
	}
	if w.GetVisualization() == "markdown" || w.GetDataSource().GetKind() == widget.SourceStatic && w.GetVisualization() != "funnel" &&
		w.GetVisualization() != "paths" && w.GetVisualization() != "list" {
		return no("unsupported", "This widget has no data.")
	}
	data, err := p.reads.get(ctx, l.share.Org, readKey(l, w, req, window, chosen), func(ctx context.Context) (*svcv2.WidgetData, error) {
		return p.cfg.Widgets.Data(ctx, l.share.Org, widget.Request{
			Widget: w, Override: window, Dashboard: l.def.GetTimeRange(), Variables: variables, Values: given, Sparkline: sparkline,
			Points: int(req.GetMaxDataPoints()),
		})
	})
	if err != nil {
		return no("failed", "The data of this widget cannot be read at the moment.")
	}
	// Warnings name metrics and attributes that the link does not show, so they are left out.
	data = &svcv2.WidgetData{
		Object: data.GetObject(), WidgetId: data.GetWidgetId(), Kind: data.GetKind(), StartTime: data.GetStartTime(), EndTime: data.GetEndTime(),
		RangeSource: data.GetRangeSource(), NarrowedToSeconds: data.NarrowedToSeconds, Timeseries: data.GetTimeseries(),
		Breakdown: data.GetBreakdown(), Table: data.GetTable(), Value: data.GetValue(), Histogram: data.GetHistogram(),
		Heatmap: data.GetHeatmap(), Funnel: data.GetFunnel(), Paths: data.GetPaths(),
		Truncated: data.GetTruncated(),
	}
	return &svcv2.ShareWidgetResult{WidgetId: req.GetWidgetId(), Ok: true, Data: data, NarrowedToSeconds: data.NarrowedToSeconds}
}

// readKey covers everything that the data depends on. It includes the widget in its present form, so that a change shows at once.
func readKey(l *link, w *svcv2.Widget, req *svcv2.ShareWidgetRequest, window *svcv2.TimeRange, chosen map[string]string) string {
	h := sha256.New()
	part := func(text string) { fmt.Fprintf(h, "%d:%s", len(text), text) }
	part(string(l.share.Org))
	part(l.share.Dashboard.String())
	for _, m := range []proto.Message{w, req, window} {
		text, _ := proto.MarshalOptions{Deterministic: true}.Marshal(m) // this cannot fail: the message was read before
		part(string(text))
	}
	for _, v := range l.def.GetVariables() {
		text, _ := proto.MarshalOptions{Deterministic: true}.Marshal(v)
		part(string(text))
	}
	for _, name := range slices.Sorted(maps.Keys(chosen)) {
		part(name)
		part(chosen[name])
	}
	return string(h.Sum(nil))
}
