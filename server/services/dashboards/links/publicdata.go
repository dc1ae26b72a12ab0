package links

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/query/widget"
)

const (
	// publicSnap is what the ends of public windows are rounded down to, so that readers who come together read the same.
	publicSnap = 15 * time.Second
	// publicFor is how long the data of a widget is kept for further readers.
	publicFor = 15 * time.Second
	// publicEntries bounds what is kept, publicAtOnce the reads of all links that run at once.
	publicEntries = 512
	publicAtOnce  = 4
	// publicLimit is how long one read may take, waiting included.
	publicLimit = 30 * time.Second
)

// publicReads shares the reads of links: equal ones run once, few run at once, and results are kept for a moment. It is safe for concurrent
// use.
type publicReads struct {
	mu      sync.Mutex
	entries map[[sha256.Size]byte]*publicRead
	slots   chan struct{}
}

type publicRead struct {
	done  chan struct{}
	data  *svcv2.WidgetData
	err   error
	until time.Time
}

func newPublicReads() *publicReads {
	return &publicReads{entries: map[[sha256.Size]byte]*publicRead{}, slots: make(chan struct{}, publicAtOnce)}
}

// get gives what read gave for the key a moment ago, or gives now. The data belongs to many: it must not be changed.
func (p *publicReads) get(ctx context.Context, key [sha256.Size]byte, read func(context.Context) (*svcv2.WidgetData, error)) (*svcv2.WidgetData, error) {
	now := time.Now()
	p.mu.Lock()
	e := p.entries[key]
	if e == nil || now.After(e.until) {
		e = &publicRead{done: make(chan struct{}), until: now.Add(publicLimit + publicFor)}
		if len(p.entries) >= publicEntries {
			maps.DeleteFunc(p.entries, func(_ [sha256.Size]byte, old *publicRead) bool { return now.After(old.until) })
		}
		if len(p.entries) < publicEntries {
			p.entries[key] = e
		}
		// A reader who leaves does not take the result from the others.
		go p.run(context.WithoutCancel(ctx), key, e, read)
	}
	p.mu.Unlock()
	select {
	case <-e.done:
		return e.data, e.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (p *publicReads) run(ctx context.Context, key [sha256.Size]byte, e *publicRead, read func(context.Context) (*svcv2.WidgetData, error)) {
	ctx, cancel := context.WithTimeout(ctx, publicLimit)
	defer cancel()
	defer close(e.done)
	defer func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		if e.until = time.Now().Add(publicFor); e.err != nil && p.entries[key] == e {
			delete(p.entries, key)
		}
	}()
	select {
	case p.slots <- struct{}{}:
		defer func() { <-p.slots }()
		defer func() {
			if v := recover(); v != nil { // it is nobody's request that would end with it, but the process
				e.err = fmt.Errorf("dashboards: the read of a shared widget panicked: %v\n%s", v, debug.Stack())
			}
		}()
		e.data, e.err = read(ctx)
	case <-ctx.Done():
		e.err = ctx.Err()
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

// variables are those that the link shows: of a widget, the ones that it refers to.
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
	if !start.IsValid() || !end.IsValid() || start.AsTime().Year() < 1970 || end.AsTime().After(now.Add(24*time.Hour)) {
		return nil, refuse("time_range", "must lie between the year 1970 and tomorrow.")
	}
	from, to := start.AsTime().Truncate(publicSnap), end.AsTime().Truncate(publicSnap)
	switch {
	case !end.AsTime().After(start.AsTime()):
		return nil, refuse("time_range.end_time", "must be after start_time.")
	case end.AsTime().Sub(start.AsTime()) > limits.TimeseriesWindow:
		return nil, refuse("time_range.start_time", "must be at most "+limits.Days(limits.TimeseriesWindow)+" before end_time.")
	case !to.After(from):
		to = from.Add(publicSnap)
	case to.Sub(from) > limits.TimeseriesWindow:
		from = to.Add(-limits.TimeseriesWindow)
	}
	return &svcv2.TimeRange{Type: "absolute", StartTime: timestamppb.New(from), EndTime: timestamppb.New(to)}, nil
}

// widgetData is the data of one widget, or why there is none, in words that tell nothing of the query.
func (p *Public) widgetData(
	ctx context.Context, l *link, req *svcv2.ShareWidgetRequest, window *svcv2.TimeRange, variables []*svcv2.DashboardVariable, given, chosen map[string]string,
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
	if w.GetVisualization() == "markdown" || w.GetDataSource().GetKind() == "static" && w.GetVisualization() != "funnel" && w.GetVisualization() != "paths" && w.GetVisualization() != "list" {
		return no("unsupported", "This widget has no data.")
	}
	data, err := p.reads.get(ctx, readKey(l, w, req, window, chosen), func(ctx context.Context) (*svcv2.WidgetData, error) {
		return p.cfg.Widgets.Data(ctx, l.share.Org, widget.Request{
			Widget: w, Override: window, Dashboard: l.def.GetTimeRange(), Variables: variables, Values: given, Sparkline: sparkline, Points: int(req.GetMaxDataPoints()),
		})
	})
	if err != nil {
		return no("failed", "The data of this widget cannot be read at the moment.")
	}
	// Warnings name metrics and attributes that the link does not show.
	data = &svcv2.WidgetData{
		Object: data.GetObject(), WidgetId: data.GetWidgetId(), Kind: data.GetKind(), StartTime: data.GetStartTime(), EndTime: data.GetEndTime(),
		RangeSource: data.GetRangeSource(), NarrowedToSeconds: data.NarrowedToSeconds, Timeseries: data.GetTimeseries(), Breakdown: data.GetBreakdown(),
		Table: data.GetTable(), Value: data.GetValue(), Histogram: data.GetHistogram(), Heatmap: data.GetHeatmap(), Funnel: data.GetFunnel(), Paths: data.GetPaths(),
		Truncated: data.GetTruncated(),
	}
	return &svcv2.ShareWidgetResult{WidgetId: req.GetWidgetId(), Ok: true, Data: data, NarrowedToSeconds: data.NarrowedToSeconds}
}

// readKey is of everything that the data depends on: the widget as it is now, so that a change shows at once.
func readKey(l *link, w *svcv2.Widget, req *svcv2.ShareWidgetRequest, window *svcv2.TimeRange, chosen map[string]string) (key [sha256.Size]byte) {
	h := sha256.New()
	part := func(text string) { fmt.Fprintf(h, "%d:%s", len(text), text) }
	part(string(l.share.Org))
	part(l.share.Dashboard.String())
	for _, m := range []proto.Message{w, req, window} {
		text, _ := proto.MarshalOptions{Deterministic: true}.Marshal(m) // what was read can be written
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
	h.Sum(key[:0])
	return key
}
