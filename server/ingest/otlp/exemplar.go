package otlp

import (
	"math"

	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/warehouse/blocks"
)

// exemplar reads an Exemplar at b[i].
func (w *walker) exemplar(t *pointTable, b []byte, i int) int {
	m, i := chunk(b, i)
	if i < 0 || !w.readExemplar(t.exemplars, m) {
		return -1
	}
	return i
}

func (w *walker) readExemplar(e *blocks.Exemplars, b []byte) bool {
	attributes, p := e.ExemplarsAttributes.Elements, &w.point
	if p.exemplars >= maxElements {
		return w.extraElement(exemplarMsg, b, pointAttributeDepth, "exemplars")
	}
	if p.exemplars == 0 {
		p.exemplarAttributes = attributes.Mark()
		p.exemplarTrace, p.exemplarSpan = e.ExemplarsTraceID.Elements.Mark(), e.ExemplarsSpanID.Elements.Mark()
	}
	attributes.BeginRow()
	var at, v uint64
	var value float64
	var traceID, spanID []byte
	for i := 0; i < len(b); {
		tag, next := varint(b, i)
		if next < 0 {
			return false
		}
		i = next
		switch tag {
		case 2<<3 | wireFixed8:
			at, i = fixed64(b, i)
		case 3<<3 | wireFixed8:
			value, i = double(b, i)
		case 4<<3 | wireBytes:
			spanID, i = chunk(b, i)
		case 5<<3 | wireBytes:
			traceID, i = chunk(b, i)
		case 6<<3 | wireFixed8:
			v, i = fixed64(b, i)
			value = float64(int64(v))
		case 7<<3 | wireBytes:
			var m []byte
			if m, i = chunk(b, i); i < 0 || !w.attribute(attributes, m, pointAttributeDepth+1) {
				return false
			}
		default:
			i = skip(b, i, tag)
		}
		if i < 0 {
			return false
		}
	}
	attributes.EndRow()
	if at > math.MaxInt64 {
		at = 0
		w.note(issueTimeRange, "exemplars.time_unix_nano")
	}
	if badSize(traceID, 16) || badSize(spanID, 8) {
		w.note(issueExemplarID, "exemplars")
	}
	e.ExemplarsTimestamp.Elements.Append(int64(at)) // 0 is replaced by the point's time once that is known.
	e.ExemplarsValue.Elements.Append(value)
	appendID(e.ExemplarsTraceID.Elements, traceID, 16)
	appendID(e.ExemplarsSpanID.Elements, spanID, 8)
	p.exemplars++
	return w.grow(elementSize)
}

// dropExemplars drops the exemplars of a point that is not stored.
func (w *walker) dropExemplars(e *blocks.Exemplars) {
	p := &w.point
	if p.exemplars == 0 {
		return
	}
	n := e.ExemplarsTimestamp.Start()
	e.ExemplarsTimestamp.Elements.Truncate(n)
	e.ExemplarsValue.Elements.Truncate(n)
	e.ExemplarsTraceID.Elements.Rollback(p.exemplarTrace)
	e.ExemplarsSpanID.Elements.Rollback(p.exemplarSpan)
	e.ExemplarsAttributes.Elements.Rollback(p.exemplarAttributes)
}

func endExemplars(e *blocks.Exemplars, at int64) {
	times := e.ExemplarsTimestamp.Elements.Rows()[e.ExemplarsTimestamp.Start():]
	for i, t := range times {
		if t == 0 {
			times[i] = at
		}
	}
	e.ExemplarsTimestamp.EndRow()
	e.ExemplarsValue.EndRow()
	e.ExemplarsTraceID.EndRow()
	e.ExemplarsSpanID.EndRow()
	e.ExemplarsAttributes.EndRow()
}

// admitPoint decides whether the point can be stored, and with which time.
func (w *walker) admitPoint() (at int64, ok bool) {
	p := &w.point
	switch {
	case len(w.metric.name) == 0:
		w.noteMetric(issueNoName, "name")
		return 0, false
	case p.problem != noIssue:
		w.note(p.problem, p.field)
		return 0, false
	case p.time == 0:
		w.note(issueNoTime, "time_unix_nano")
		return w.stamp.ReceivedUnixNano, true
	case !w.inWindow(p.time, limits.MetricRetention):
		w.noteOutside(p.time, "time_unix_nano")
		return 0, false
	}
	return int64(p.time), true
}

// finishPoint stores the point if it can be stored. The function own appends the columns that only its table has.
func (w *walker) finishPoint(t *pointTable, own func()) bool {
	p, m := &w.point, &w.metric
	at, ok := w.admitPoint()
	if !ok {
		w.takeBackWarnings()
		t.Attributes.Rollback(p.mark)
		if t.exemplars != nil {
			w.dropExemplars(t.exemplars)
		}
		return w.grow(rejectedSize)
	}
	if p.start > math.MaxInt64 {
		w.note(issueTimeRange, "start_time_unix_nano")
		p.start = 0
	}
	w.accepted++
	w.enterHour(at)
	w.resource.rows++
	w.countPoint(t.typ, at)
	if !m.interned {
		w.enterMetric()
		m.nameID, m.descriptionID, m.unitID = t.MetricName.Intern(m.name), t.MetricDescription.Intern(m.description), t.MetricUnit.Intern(m.unit)
		m.interned = true
	}
	t.MetricName.AppendID(m.nameID)
	t.MetricDescription.AppendID(m.descriptionID)
	t.MetricUnit.AppendID(m.unitID)
	if t.Attributes.EndRow() {
		p.series = seriesOfRow(t.Attributes)
	}
	w.counters[countMetric+int(t.typ)].countRow()
	t.SeriesHash.Append(seriesHash(m.name, w.resource.series, w.scope.name, p.series))
	t.StartTimestamp.Append(int64(p.start))
	t.Timestamp.Append(at)
	t.Flags.Append(p.flags)
	if t.exemplars != nil {
		endExemplars(t.exemplars, at)
	}
	own()
	return w.place(placeGauge+int(t.typ), &resourceColumns{
		org: t.OrgID, service: t.ServiceName, namespace: t.ServiceNamespace, env: t.Environment,
		scopeName: t.ScopeName, scopeVersion: t.ScopeVersion,
		scopeAttributes: t.ScopeAttributes, resourceAttributes: t.ResourceAttributes,
	})
}

// enterMetric completes the metric when its first point to store is found.
func (w *walker) enterMetric() {
	m := &w.metric
	if m.aggregated && enum(m.temporality, maxTemporality) == 0 {
		w.noteMetric(issueNoTemporality, "aggregation_temporality")
	}
	if len(m.name) <= maxNameBytes && len(m.description) <= maxTextBytes && len(m.unit) <= maxNameBytes {
		return
	}
	point := w.itemAt
	w.itemAt = -1
	m.name, m.description, m.unit = w.limitName(m.name, "name"), w.limitText(m.description, "description"), w.limitName(m.unit, "unit")
	w.itemAt = point
}

// countPoint adds a point to the metric's run in the present hour.
func (w *walker) countPoint(typ blocks.MetricType, at int64) {
	m := &w.metric
	if m.run.Points > 0 && m.hour != w.hour {
		w.flushRun()
	}
	if m.run.Points == 0 {
		m.hour = w.hour
		m.run.Type, m.run.First, m.run.Last = typ, at, at
	}
	m.run.Points++
	m.run.First, m.run.Last = min(m.run.First, at), max(m.run.Last, at)
}

// flushRun adds the run to metric_catalog.
func (w *walker) flushRun() {
	m := &w.metric
	if m.run.Points == 0 {
		return
	}
	m.run.Org, m.run.Name, m.run.Service = w.org, m.name, w.resource.service
	m.run.Description, m.run.Unit, m.run.Hour, m.run.Monotonic = m.description, m.unit, m.hour, m.monotonic
	w.catalog.Add(&m.run)
	m.run.Points = 0
}
