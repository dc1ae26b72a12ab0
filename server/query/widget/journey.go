package widget

import (
	"context"
	"slices"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/query/engine"
	"github.com/svc-observability/svc/server/query/read"
	"github.com/svc-observability/svc/server/query/reads"
)

const drawnGroups = limits.DrawnFunnelGroups

func (j *job) funnel(ctx context.Context, d *svcv2.FunnelDisplay) error {
	f := reads.Funnel{
		Window:   j.window,
		KeyBy:    reads.NewKeyBy(d.KeyBy),
		Within:   reads.NewWithin(d.WindowSeconds),
		Sessions: reads.NewSessionFilters(d.GetFilters()),
		Groups:   drawnGroups,
	}
	for _, s := range d.GetSteps() {
		f.Steps = append(f.Steps, reads.NewStep(s, s.Host))
	}
	f.Dimension, f.Attribute = reads.NewBreakdown(d.GetBreakdownBy())
	rows, err := read.All[reads.FunnelRow](ctx, j.warehouse, j.org, reads.FunnelCounts(f).Until(f.Window.End))
	if err != nil {
		return err
	}
	out := &svcv2.WidgetFunnel{}
	if !slices.ContainsFunc(rows, func(r reads.FunnelRow) bool { return r.Class == reads.FunnelAll }) {
		rows = append([]reads.FunnelRow{{}}, rows...) // a row of zeros
	}
	for _, row := range rows {
		var group *string
		switch {
		case row.Class == reads.FunnelAll:
		case row.Class == reads.FunnelOther:
			group = new(reads.OtherNode)
		case row.Group == "":
			group = new(reads.NoGroup)
		default:
			group = new(row.Group)
		}
		for i, s := range f.Steps {
			r := &svcv2.WidgetFunnelRow{Name: s.Name(), Group: group}
			if i < len(row.Counts) {
				r.Value = float64(row.Counts[i])
			}
			if i > 0 && i-1 < len(row.Nanoseconds) && r.GetValue() > 0 {
				r.P50Ms, r.P90Ms = new(row.Nanoseconds[i-1][0]/1e6), new(row.Nanoseconds[i-1][1]/1e6)
			}
			out.Rows = append(out.Rows, r)
		}
	}
	unknown, err := engine.UnknownEvents(ctx, j.warehouse, j.org, f.Window, f.Unreached(rows[0]))
	if err != nil {
		return err
	}
	for _, text := range unknown {
		j.warn(text)
	}
	if d.GetVariant() == "dropoff" {
		leavers, err := read.All[reads.LeaverRow](ctx, j.warehouse, j.org, reads.FunnelLeavers(f).Until(f.Window.End))
		if err != nil {
			return err
		}
		for _, l := range leavers {
			if i := int(l.Level) - 1; i >= 0 && i < len(f.Steps) {
				out.Rows[i].Leavers = append(out.Rows[i].Leavers, &svcv2.ProductEventLeaver{Name: l.Name, Count: float64(l.Count)})
			}
		}
	}
	j.out.Kind, j.out.Funnel = "funnel", out
	return nil
}

// steps shows rows with a name and a number as the steps of a funnel.
func (j *job) steps(f frame) {
	j.out.Kind, j.out.Funnel = "funnel", &svcv2.WidgetFunnel{}
	name, at := f.index(nameColumn), f.valueIndex(valueColumn)
	if name < 0 || at < 0 {
		j.warn("A funnel needs the column name and a column with numbers.")
		return
	}
	for _, row := range f.rows {
		if v := finite(real(row[at])); v != nil {
			j.out.Funnel.Rows = append(j.out.Funnel.Rows, &svcv2.WidgetFunnelRow{Name: label(row[name]), Value: *v})
		}
	}
}

func (j *job) paths(ctx context.Context, d *svcv2.PathsDisplay) error {
	if d.GetAnchor().GetKind() == "session" {
		return apierr.New(
			apierr.QueryEngineValidation,
			"`display.paths.anchor.kind` must be event or page: nothing leads to the beginning of a session.",
			apierr.Param("display.paths.anchor.kind"),
		)
	}
	p := reads.Paths{
		Window:   j.window,
		Anchor:   reads.NewStep(d.GetAnchor(), d.GetAnchor().Host),
		Before:   d.GetDirection() == "before",
		Depth:    limits.DefaultPathHops,
		Branches: limits.DefaultPathBranches,
		KeyBy:    reads.NewKeyBy(d.KeyBy),
		Within:   reads.NewWithin(d.WindowSeconds),
		Include:  reads.IncludeAll,
		Exclude:  d.GetExclude(),
		Sessions: reads.NewSessionFilters(d.GetFilters()),
	}
	if d.Depth != nil {
		p.Depth = int(d.GetDepth())
	}
	if d.Branches != nil {
		p.Branches = int(d.GetBranches())
	}
	if d.Include != nil {
		p.Include = d.GetInclude()
	}
	kept, err := read.All[reads.PathNodeRow](ctx, j.warehouse, j.org, reads.PathNodes(p).Until(p.Window.End))
	if err != nil {
		return err
	}
	rows, err := read.All[reads.PathLinkRow](ctx, j.warehouse, j.org, reads.PathLinks(p, kept).Until(p.Window.End))
	if err != nil {
		return err
	}
	out := &svcv2.WidgetPaths{}
	for _, row := range rows {
		out.Rows = append(
			out.Rows,
			&svcv2.ProductEventPathLink{Hop: uint32(row.Hop), FromNode: row.From, ToNode: row.To, Count: float64(row.Count)},
		)
	}
	j.out.Kind, j.out.Paths = "paths", out
	return nil
}
