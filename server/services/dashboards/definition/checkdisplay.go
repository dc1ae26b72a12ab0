package definition

import (
	"maps"
	"math"
	"slices"
	"strings"

	"google.golang.org/protobuf/types/known/structpb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/query/reads"
)

const (
	maxSteps    = limits.FunnelSteps
	maxDepth    = limits.PathHops
	maxBranches = limits.PathBranches
	maxColumns  = limits.Columns
)

func (c *checker) display(path string, d *svcv2.WidgetDisplay) {
	if v := d.GetChartPresentation().GetFillNulls(); v != nil {
		_, number := v.GetKind().(*structpb.Value_NumberValue)
		off, boolean := v.GetKind().(*structpb.Value_BoolValue)
		if !number && (!boolean || off.BoolValue) {
			c.fail(path+".chart_presentation.fill_nulls", "must be a number or false")
		}
	}
	if y := d.GetYAxis(); y != nil {
		c.ordered(path+".y_axis.max", y.Min, y.Max, "min")
		c.ordered(path+".y_axis.soft_max", y.SoftMin, y.SoftMax, "soft_min")
	}
	if g := d.GetGauge(); g != nil {
		c.ordered(path+".gauge.max", g.Min, g.Max, "min")
	}
	if len(d.GetThresholds()) > maxColumns {
		c.fail(path+".thresholds", "has %d thresholds; at most %d are allowed", len(d.GetThresholds()), maxColumns)
	}
	if len(d.GetColumns()) > maxColumns {
		c.fail(path+".columns", "has %d columns; at most %d are allowed", len(d.GetColumns()), maxColumns)
	}
	for i, column := range d.GetColumns() {
		c.positive(at(path+".columns", i)+".width", column.Width)
	}
	if s := d.GetSparkline().GetDataSource(); s != nil {
		c.dataSource(path+".sparkline.data_source", s)
	}
	c.positive(path+".list_limit", d.ListLimit)
	c.references(path+".list_where_clause", d.GetListWhereClause())
	c.whereText(path+".list_where_clause", d.GetListWhereClause())
	if h := d.GetHistogram(); h != nil {
		c.positive(path+".histogram.bucket_count", h.BucketCount)
		c.positive(path+".histogram.bucket_width", h.BucketWidth)
	}
	if f := d.GetFunnel(); f != nil {
		c.funnel(path+".funnel", f)
	}
	if p := d.GetPaths(); p != nil {
		c.paths(path+".paths", p)
	}
}

func (c *checker) ordered(path string, low, high *float64, other string) {
	if low != nil && high != nil && *low >= *high {
		c.fail(path, "must be greater than %s", other)
	}
}

func (c *checker) funnel(path string, f *svcv2.FunnelDisplay) {
	if n := len(f.GetSteps()); n > maxSteps {
		c.fail(path+".steps", "has %d steps; at most %d are allowed", n, maxSteps)
	}
	for i, step := range f.GetSteps() {
		here := at(path+".steps", i)
		c.step(here, step)
		if i > 0 && step.GetKind() == reads.StepSession {
			c.fail(here+".kind", "can be session only in the first step")
		}
	}
	c.positive(path+".window_seconds", f.WindowSeconds)
	if f.BreakdownBy != nil {
		by := f.GetBreakdownBy()
		key, isAttribute := strings.CutPrefix(by, reads.AttributePrefix)
		if isAttribute && strings.TrimSpace(key) == "" || !isAttribute && !slices.Contains(sessionDimensions(), by) {
			c.fail(path+".breakdown_by", "must be one of %s, or attribute: and a key", strings.Join(sessionDimensions(), ", "))
		}
	}
}

// sessionDimensions are the dimensions that sessions can be grouped by.
func sessionDimensions() []string { return slices.Sorted(maps.Keys(query.SessionDimensions())) }

func (c *checker) step(path string, s *svcv2.FunnelStep) {
	fields := reads.StepFields(s)
	for _, f := range fields {
		c.foreign(path+"."+f.Name, f.Given && f.Kind != s.GetKind(), f.Kind)
	}
	if problem := reads.CheckStepAttributes(s.GetAttributeEquals()); problem != "" {
		c.fail(path+".attribute_equals", "%s", problem)
	}
	if s.GetKind() == reads.StepSession && s.Dimension != nil && !slices.Contains(sessionDimensions(), s.GetDimension()) {
		c.fail(path+".dimension", "must be one of %s", strings.Join(sessionDimensions(), ", "))
	}
	for _, f := range fields {
		if f.Needed && f.Kind == s.GetKind() {
			c.needs(path+"."+f.Name, f.Given && (!f.Blank || f.Kind == reads.StepSession), f.Kind)
		}
	}
}

func (c *checker) paths(path string, p *svcv2.PathsDisplay) {
	c.step(path+".anchor", p.GetAnchor())
	whole := func(field string, v *float64, most float64) {
		if v != nil && (*v != math.Trunc(*v) || *v < 1 || *v > most) {
			c.fail(path+"."+field, "must be a whole number between 1 and %v", most)
		}
	}
	whole("depth", p.Depth, maxDepth)
	whole("branches", p.Branches, maxBranches)
	c.positive(path+".window_seconds", p.WindowSeconds)
	if len(p.GetExclude()) > maxColumns {
		c.fail(path+".exclude", "has %d entries; at most %d are allowed", len(p.GetExclude()), maxColumns)
	}
}
