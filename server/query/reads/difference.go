package reads

import (
	"fmt"
	"time"

	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/query/sqlbuild"
)

// Selection is one side of a difference: rows of a window that meet a filter.
type Selection struct {
	Window query.Window
	Filter query.Filter
}

// Difference compares the attributes of two selections of spans, log records or sessions. A row that both select belongs to the first.
type Difference struct {
	Source query.Source
	// Scope are conditions on both.
	Scope query.Filter
	// Selected is the side to explain, Other that beside it.
	Selected, Other Selection
	// SelectedShare and OtherShare are the parts of the traces, or of the records, that are read: 1 is all.
	SelectedShare, OtherShare float64
	// Limit is the highest number of values.
	Limit int
}

// sides returns the table, its weight, the sampling key and the two conditions.
func (d Difference) sides(b *sqlbuild.Builder) (table, weight, key string, where sqlbuild.Conditions, selected, other string) {
	table, weight, key = "spans", "SampleRate", "TraceId"
	if d.Source == query.Logs {
		table, weight, key = "logs", "1", "TraceId, Timestamp, Body"
	}
	var sessions func(first, last time.Time) string
	if d.Source == query.Sessions {
		weight, key = "1", "SessionId"
		// Versions are merged before the filters, because a lower version may match where the highest does not.
		sessions = func(first, last time.Time) string {
			return fmt.Sprintf(`(
        SELECT *, StartTime AS Timestamp
        FROM session_replays
        WHERE %s
        ORDER BY SessionId, Version DESC
        LIMIT 1 BY SessionId
    ) AS latest`, sqlbuild.OfOrganization().With("StartTime >= "+b.Time("start", first), "StartTime <= "+b.Time("end", last)).Join(12))
		}
	}
	side := func(prefix string, s Selection) string {
		c := sqlbuild.Conditions{"Timestamp >= " + b.Time(prefix+"_start", s.Window.Start), "Timestamp <= " + b.Time(prefix+"_end", s.Window.End)}
		return "(" + c.With(query.FilterSQL(b, d.Source, s.Filter)...).Join(8) + ")"
	}
	selected = side("selected", d.Selected)
	other = side("other", d.Other)
	first, last := d.Selected.Window.Start, d.Selected.Window.End
	if d.Other.Window.Start.Before(first) {
		first = d.Other.Window.Start
	}
	if d.Other.Window.End.After(last) {
		last = d.Other.Window.End
	}
	if sessions != nil {
		return sessions(first, last), weight, key, sqlbuild.OfOrganization().With(query.FilterSQL(b, d.Source, d.Scope)...), selected, other
	}
	where = sqlbuild.OfOrganization().With("Timestamp >= "+b.Time("start", first), "Timestamp <= "+b.Time("end", last))
	return table, weight, key, where.With(query.FilterSQL(b, d.Source, d.Scope)...), selected, other
}

// DifferenceSizesRow is the row of DifferenceSizes.
type DifferenceSizesRow struct {
	// Selected and Other count rows; the estimates are corrected for sampling.
	Selected          uint64  `ch:"Selected"`
	Other             uint64  `ch:"Other"`
	SelectedEstimated float64 `ch:"SelectedEstimated"`
	OtherEstimated    float64 `ch:"OtherEstimated"`
}

// DifferenceSizes gives one DifferenceSizesRow.
func DifferenceSizes(d Difference) sqlbuild.Statement {
	b := &sqlbuild.Builder{}
	table, weight, _, where, selected, other := d.sides(b)
	return b.Statement(fmt.Sprintf(`SELECT
    countIf(Side = 1) AS Selected,
    countIf(Side = 2) AS Other,
    toFloat64(sumIf(Weight, Side = 1)) AS SelectedEstimated,
    toFloat64(sumIf(Weight, Side = 2)) AS OtherEstimated
FROM
(
    SELECT
        multiIf(%s, 1, %s, 2, 0) AS Side,
        %s AS Weight
    FROM %s
    WHERE %s
)`, selected, other, weight, table, where.Join(8)))
}

// DifferenceRow is a row of Differences: an attribute's value, with the rows of both sides that have it.
type DifferenceRow struct {
	Key   string `ch:"Key"`
	Value string `ch:"Value"`
	// Selected and Other are the rows read, the estimates are corrected for sampling and for the part that was read.
	Selected          uint64  `ch:"Selected"`
	Other             uint64  `ch:"Other"`
	SelectedEstimated float64 `ch:"SelectedEstimated"`
	OtherEstimated    float64 `ch:"OtherEstimated"`
	// KeySelected and KeyOther are the estimates of all rows that have the key. Values is the number of different values.
	KeySelected float64 `ch:"KeySelected"`
	KeyOther    float64 `ch:"KeyOther"`
	Values      uint64  `ch:"Values"`
}

// differenceValue is the longest value, in characters, that takes part: longer ones are texts, not properties.
const differenceValue = limits.DifferenceValue

// sessionPairs are the values of a session that take part. Those of its visitor do not: they name one session, or few.
const sessionPairs = `arrayConcat(
            [('service.name', toString(ServiceName)), ('service.version', ResourceAttributes['service.version']), ('browser.name', toString(BrowserName)),
             ('os.name', toString(OsName)), ('device.type', toString(DeviceType)), ('language', toString(Language)), ('country', toString(Country)),
             ('host', toString(Host)), ('entry.path', EntryPath), ('exit.path', ExitPath), ('referrer.host', toString(ReferrerHost)),
             ('utm.source', toString(UtmSource)), ('utm.medium', toString(UtmMedium)), ('utm.campaign', toString(UtmCampaign)),
             ('group.id', GroupId), ('user.id', UserId), ('visitor.is_new', if(VisitorIsNew, 'true', 'false'))],
            arrayMap(p -> (concat('attr.', toString(p.1)), p.2), arrayZip(mapKeys(UserTraits), mapValues(UserTraits))),
            arrayMap(p -> (concat('resource.', toString(p.1)), p.2), arrayFilter(p -> p.1 NOT IN ('service.name', 'service.version'),
                arrayZip(mapKeys(ResourceAttributes), mapValues(ResourceAttributes)))))`

// Differences gives DifferenceRow rows for the values whose shares of the two sides differ most.
func Differences(d Difference, selectedSize, otherSize float64) sqlbuild.Statement {
	b := &sqlbuild.Builder{}
	table, weight, key, where, selected, other := d.sides(b)
	const share = 1 << 20
	drawn := fmt.Sprintf("cityHash64(%s) %% %d", key, share)
	pairs := `arrayConcat(
            [('service.name', toString(ServiceName)), ('service.version', toString(ServiceVersion)), ('deployment.environment.name', toString(Environment)),
             ('name', toString(SpanName)), ('kind', toString(SpanKind)), ('status.message', StatusMessage)],
            arrayMap(p -> (toString(p.1), p.2), arrayZip(mapKeys(SpanAttributes), mapValues(SpanAttributes))),
            arrayMap(p -> (concat('resource.', toString(p.1)), p.2), arrayFilter(p -> p.1 NOT IN ('service.name', 'service.version',
                'deployment.environment.name', 'deployment.environment'), arrayZip(mapKeys(ResourceAttributes), mapValues(ResourceAttributes)))))`
	if d.Source == query.Logs {
		pairs = `arrayConcat(
            [('service.name', toString(ServiceName)), ('service.version', toString(ServiceVersion)), ('deployment.environment.name', toString(Environment)),
             ('severity', toString(SeverityText)), ('event.name', toString(EventName))],
            arrayMap(p -> (toString(p.1), p.2), arrayZip(mapKeys(LogAttributes), mapValues(LogAttributes))),
            arrayMap(p -> (concat('resource.', toString(p.1)), p.2), arrayFilter(p -> p.1 NOT IN ('service.name', 'service.version',
                'deployment.environment.name', 'deployment.environment'), arrayZip(mapKeys(ResourceAttributes), mapValues(ResourceAttributes)))))`
	}
	if d.Source == query.Sessions {
		pairs = sessionPairs
	}
	selectedSize, otherSize = max(selectedSize, 1), max(otherSize, 1)
	return b.Statement(fmt.Sprintf(`SELECT
    *,
    sum(SelectedEstimated) OVER (PARTITION BY Key) AS KeySelected,
    sum(OtherEstimated) OVER (PARTITION BY Key) AS KeyOther,
    count() OVER (PARTITION BY Key) AS Values
FROM
(
    SELECT
        Pair.1 AS Key,
        Pair.2 AS Value,
        countIf(Side = 1) AS Selected,
        countIf(Side = 2) AS Other,
        toFloat64(sumIf(Weight, Side = 1)) AS SelectedEstimated,
        toFloat64(sumIf(Weight, Side = 2)) AS OtherEstimated
    FROM
    (
        SELECT
            multiIf(%[1]s, 1, %[2]s, 2, 0) AS Side,
            %[3]s * if(Side = 1, %[4]s, %[5]s) AS Weight,
            %[6]s AS Pairs
        FROM %[7]s
        WHERE %[8]s
            AND Side > 0
            AND %[9]s < if(Side = 1, %[10]s, %[11]s)
    )
    ARRAY JOIN Pairs AS Pair
    WHERE Value != '' AND lengthUTF8(Value) <= %[12]d
    GROUP BY Key, Value
)
ORDER BY abs(SelectedEstimated / %[13]s - OtherEstimated / %[14]s) DESC, Key, Value
LIMIT %[15]s`, selected, other, weight,
		b.Bind("selected_weight", "Float64", 1/d.SelectedShare), b.Bind("other_weight", "Float64", 1/d.OtherShare),
		pairs, table, where.Join(12), drawn,
		b.Bind("selected_drawn", "UInt64", int64(d.SelectedShare*share)), b.Bind("other_drawn", "UInt64", int64(d.OtherShare*share)),
		differenceValue,
		b.Bind("selected_size", "Float64", selectedSize), b.Bind("other_size", "Float64", otherSize), b.Bind("limit", "UInt32", int64(d.Limit))))
}

// AffectedRow is the row of Affected.
type AffectedRow struct {
	Traces   uint64 `ch:"Traces"`
	Users    uint64 `ch:"Users"`
	Sessions uint64 `ch:"Sessions"`
}

// Affected gives one AffectedRow: the traces of the spans that meet a filter, and the users and sessions that any span of these traces
// names in user.id, enduser.id or session.id. It counts at most limit traces.
func Affected(w query.Window, f query.Filter, limit int) sqlbuild.Statement {
	b := &sqlbuild.Builder{}
	within := sqlbuild.OfOrganization().With("Timestamp >= "+b.Time("start", w.Start), "Timestamp <= "+b.Time("end", w.End))
	hit := append(sqlbuild.Conditions{}, within...).With(query.FilterSQL(b, query.Traces, f)...)
	return b.Statement(fmt.Sprintf(`WITH
    if(SpanAttributes['user.id'] != '', SpanAttributes['user.id'], SpanAttributes['enduser.id']) AS User,
    SpanAttributes['session.id'] AS Session
SELECT
    uniqCombined64(TraceId) AS Traces,
    uniqCombined64If(User, User != '') AS Users,
    uniqCombined64If(Session, Session != '') AS Sessions
FROM spans
WHERE %s
    AND TraceId IN
    (
        SELECT DISTINCT TraceId
        FROM spans
        WHERE %s
        LIMIT %s
    )`, within.Join(4), hit.Join(12), b.Bind("limit", "UInt32", int64(limit)))).Colocated()
}

// OperationLevelRow is a row of OperationLevels.
type OperationLevelRow struct {
	Name string `ch:"SpanName"`
	// Now and Before count received spans. The figures are milliseconds, corrected for sampling; they are NaN without spans.
	Now        uint64  `ch:"Now"`
	Before     uint64  `ch:"Before"`
	NowMean    float64 `ch:"NowMean"`
	BeforeMean float64 `ch:"BeforeMean"`
	NowP95     float64 `ch:"NowP95"`
	BeforeP95  float64 `ch:"BeforeP95"`
	// The logarithms of the nanoseconds of received spans: their means and variances.
	NowLog         float64 `ch:"NowLog"`
	BeforeLog      float64 `ch:"BeforeLog"`
	NowVariance    float64 `ch:"NowVariance"`
	BeforeVariance float64 `ch:"BeforeVariance"`
}

// OperationLevels gives an OperationLevelRow for the busiest operations of the spans that meet a filter, in a window and in one before it.
func OperationLevels(now, before query.Window, f query.Filter, limit int) sqlbuild.Statement {
	b := &sqlbuild.Builder{}
	in := func(name string, w query.Window) string {
		return fmt.Sprintf("(Timestamp >= %s AND Timestamp <= %s)", b.Time(name+"_start", w.Start), b.Time(name+"_end", w.End))
	}
	inNow, inBefore := in("now", now), in("before", before)
	c := sqlbuild.OfOrganization().With("(" + inNow + " OR " + inBefore + ")").With(query.FilterSQL(b, query.Traces, f)...)
	return b.Statement(fmt.Sprintf(`WITH
    %s AS IsNow,
    toUInt64(round(SampleRate * 16)) AS Weight
SELECT
    SpanName,
    countIf(IsNow) AS Now,
    countIf(NOT IsNow) AS Before,
    toFloat64(avgWeightedIf(DurationNano, SampleRate, IsNow)) / 1e6 AS NowMean,
    toFloat64(avgWeightedIf(DurationNano, SampleRate, NOT IsNow)) / 1e6 AS BeforeMean,
    toFloat64(quantileTDigestWeightedIf(0.95)(DurationNano, Weight, IsNow)) / 1e6 AS NowP95,
    toFloat64(quantileTDigestWeightedIf(0.95)(DurationNano, Weight, NOT IsNow)) / 1e6 AS BeforeP95,
    avgIf(log(DurationNano + 1), IsNow) AS NowLog,
    avgIf(log(DurationNano + 1), NOT IsNow) AS BeforeLog,
    varPopIf(log(DurationNano + 1), IsNow) AS NowVariance,
    varPopIf(log(DurationNano + 1), NOT IsNow) AS BeforeVariance
FROM spans
WHERE %s
GROUP BY SpanName
ORDER BY Now DESC, SpanName
LIMIT %s`, inNow, c.Join(4), b.Bind("limit", "UInt32", int64(limit))))
}
