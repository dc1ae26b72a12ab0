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

// metricCatalogRows are the columns of the table metric_catalog. MetricType is numbered like the type of that name.
type metricCatalogRows struct {
	native.Block `table:"metric_catalog"`

	OrgID             *native.LowCardinality `ch:"OrgId"`
	Hour              *native.UInt32         `ch:"Hour" type:"DateTime('UTC')"`
	MetricName        *native.LowCardinality `ch:"MetricName"`
	MetricType        *native.LowCardinality `ch:"MetricType" values:"gauge,sum,histogram,exponential_histogram,summary"`
	ServiceName       *native.LowCardinality `ch:"ServiceName"`
	MetricDescription *native.String         `ch:"MetricDescription"`
	MetricUnit        *native.String         `ch:"MetricUnit"`
	IsMonotonic       *native.UInt8          `ch:"IsMonotonic"`
	DataPointCount    *native.UInt64         `ch:"DataPointCount"`
	FirstSeen         *native.Int64          `ch:"FirstSeen" type:"DateTime64(9, 'UTC')"`
	LastSeen          *native.Int64          `ch:"LastSeen" type:"DateTime64(9, 'UTC')"`
}

// MetricCatalog records which metrics were seen, by hour and service. It is the table metric_catalog.
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

// MetricUse describes data points of one metric in one hour.
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

// Add counts data points. The last description and unit win.
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

// AppendFrom adds the points of another catalog.
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
	rows, block := native.Make[metricCatalogRows]()
	for _, i := range order {
		r := &c.rows[i]
		rows.OrgID.Append(t.Key(r.org))
		rows.Hour.Append(r.hour)
		rows.MetricName.Append(t.Key(r.name))
		rows.MetricType.AppendID(uint32(r.typ))
		rows.ServiceName.Append(t.Key(r.service))
		rows.MetricDescription.Append(t.Key(r.description))
		rows.MetricUnit.Append(t.Key(r.unit))
		native.AppendBool(rows.IsMonotonic, r.monotonic)
		rows.DataPointCount.Append(r.points)
		rows.FirstSeen.Append(r.first)
		rows.LastSeen.Append(r.last)
	}
	return block
}
