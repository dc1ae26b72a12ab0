package blocks

import (
	"cmp"

	"github.com/svc-observability/svc/server/warehouse/native"
)

// MetricType is a value of metric_catalog.MetricType.
type MetricType uint8

// Metric types.
const (
	GaugeMetric MetricType = iota
	SumMetric
	HistogramMetric
	ExponentialHistogramMetric
	SummaryMetric
)

func metricTypeNames() []string {
	return []string{"gauge", "sum", "histogram", "exponential_histogram", "summary"}
}

// MetricCatalog says which metrics were seen, by hour and service: the table metric_catalog.
type MetricCatalog struct {
	texts native.LowCardinality
	index map[catalogKey]int32
	rows  []catalogEntry
}

type catalogKey struct {
	org, hour, name, service uint32
	typ                      MetricType
}

type catalogEntry struct {
	catalogKey
	description, unit uint32
	monotonic         bool
	points            uint64
	first, last       int64
}

// MetricUse is data points of one metric in one hour.
type MetricUse struct {
	Org, Name, Service, Description, Unit []byte
	// Hour is in seconds since 1970.
	Hour      uint32
	Type      MetricType
	Monotonic bool
	Points    uint64
	// First and Last are the earliest and latest time of the points, in nanoseconds.
	First, Last int64
}

// Add counts data points. The description and unit given last stay.
func (c *MetricCatalog) Add(u *MetricUse) {
	k := catalogKey{c.texts.Intern(u.Org), u.Hour, c.texts.Intern(u.Name), c.texts.Intern(u.Service), u.Type}
	i, ok := c.index[k]
	if !ok {
		if c.index == nil {
			c.index = make(map[catalogKey]int32)
		}
		i = int32(len(c.rows))
		c.index[k] = i
		c.rows = append(c.rows, catalogEntry{catalogKey: k, first: u.First, last: u.Last})
	}
	r := &c.rows[i]
	r.description, r.unit = c.texts.Intern(u.Description), c.texts.Intern(u.Unit)
	r.monotonic = r.monotonic || u.Monotonic
	r.points += u.Points
	r.first, r.last = min(r.first, u.First), max(r.last, u.Last)
}

// AppendFrom adds the points of another.
func (c *MetricCatalog) AppendFrom(other *MetricCatalog) {
	t := &other.texts
	for i := range other.rows {
		r := &other.rows[i]
		c.Add(&MetricUse{
			Org: t.Key(r.org), Name: t.Key(r.name), Service: t.Key(r.service), Description: t.Key(r.description), Unit: t.Key(r.unit),
			Hour: r.hour, Type: r.typ, Monotonic: r.monotonic, Points: r.points, First: r.first, Last: r.last,
		})
	}
}

// Reset forgets everything.
func (c *MetricCatalog) Reset() {
	c.texts.Reset()
	c.index, c.rows = resetIndex(c.index, c.rows)
}

func (c *MetricCatalog) bytes() int { return catalogEntrySize*len(c.rows) + c.texts.Bytes() }

func (c *MetricCatalog) block() *native.Block {
	t := &c.texts
	order := sorted(c.rows, func(x, y *catalogEntry) int {
		return cmp.Or(
			compareText(t, x.org, y.org), cmp.Compare(x.hour, y.hour), compareText(t, x.name, y.name),
			cmp.Compare(x.typ, y.typ), compareText(t, x.service, y.service))
	})
	org, hour, name := native.NewLowCardinality(), native.NewDateTime(), native.NewLowCardinality()
	typ, service := native.NewLowCardinality(metricTypeNames()...), native.NewLowCardinality()
	description, unit, monotonic := native.NewString(), native.NewString(), native.NewUInt8()
	points, first, last := native.NewUInt64(), native.NewDateTime64(), native.NewDateTime64()
	for _, i := range order {
		r := &c.rows[i]
		org.Append(t.Key(r.org))
		hour.Append(r.hour)
		name.Append(t.Key(r.name))
		typ.AppendID(uint32(r.typ))
		service.Append(t.Key(r.service))
		description.Append(t.Key(r.description))
		unit.Append(t.Key(r.unit))
		native.AppendBool(monotonic, r.monotonic)
		points.Append(r.points)
		first.Append(r.first)
		last.Append(r.last)
	}
	return &native.Block{Fields: []native.Field{
		{Name: "OrgId", Column: org},
		{Name: "Hour", Column: hour},
		{Name: "MetricName", Column: name},
		{Name: "MetricType", Column: typ},
		{Name: "ServiceName", Column: service},
		{Name: "MetricDescription", Column: description},
		{Name: "MetricUnit", Column: unit},
		{Name: "IsMonotonic", Column: monotonic},
		{Name: "DataPointCount", Column: points},
		{Name: "FirstSeen", Column: first},
		{Name: "LastSeen", Column: last},
	}}
}
