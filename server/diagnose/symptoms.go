package diagnose

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/svc-observability/svc/server/atonce"
	"github.com/svc-observability/svc/server/diagnose/changes"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/query/read"
	"github.com/svc-observability/svc/server/query/reads"
	"github.com/svc-observability/svc/server/query/sqlbuild"
	"github.com/svc-observability/svc/server/wording"
)

// Kinds of symptoms, as IncidentSymptom names them.
const (
	errorRate         = "error_rate"
	latency           = "latency"
	throughput        = "throughput"
	dependencyErrors  = "dependency_errors"
	dependencyLatency = "dependency_latency"
	dependencyCalls   = "dependency_calls"
	errorGroup        = "error_group"
	logRecords        = "logs"
	resource          = "resource"
)

// symptom is a change of one series.
type symptom struct {
	kind, service, environment string
	// subject names the dependency, error group, severity or metric; label is its text for people.
	subject, label string
	from, to       time.Time
	// open says that the change lasts until the end of the window.
	open         bool
	value, usual float64
	unit         string
	score        float64
}

func (s symptom) up() bool { return s.value > s.usual }

// statement words the symptom.
func (s symptom) statement() string {
	figure := func(v float64) string {
		switch s.unit {
		case "1":
			if s.kind == resource && max(s.value, s.usual) > 1.5 { // a number of things has the unit 1, too
				return wording.Number(v)
			}
			return wording.Percent(v)
		case "ms":
			return wording.Number(v) + " ms"
		case "1/s":
			if v < 1 {
				return wording.Number(60*v) + " a minute"
			}
			return wording.Number(v) + " a second"
		}
		return wording.Number(v) + " " + s.unit
	}
	subject := map[string]string{
		errorRate: "failed requests of " + s.service, latency: "latency of " + s.service, throughput: "requests of " + s.service,
		dependencyErrors:  "failed calls of " + s.service + " to " + s.label,
		dependencyLatency: "latency of calls of " + s.service + " to " + s.label,
		dependencyCalls:   "calls of " + s.service + " to " + s.label + " for each request",
		errorGroup:        "error " + wording.Clip(wording.OneLine(s.label), 120) + " in " + s.service,
		logRecords:        s.label + " log records of " + s.service, resource: s.label + " of " + s.service,
	}[s.kind]
	return fmt.Sprintf("%s: %s, usually %s", subject, figure(s.value), figure(s.usual))
}

// search is the plan of a search for symptoms.
type search struct {
	series reads.ChangeSeries
	// asked is the window of the caller; series.Window begins earlier.
	asked Period
	// gap is the number of buckets for which a change may pause.
	gap int

	list []symptom
	// traffic is the number of received entry spans by service and environment.
	traffic map[[2]string][]float64
	// course is the course of the day, nil if too few services tell it.
	course []float64
	// begin is the first bucket with an entry span of any service. The time before it was not observed, and does not count as silence.
	begin int
	// looked is the number of series, notSearched the telemetry left out.
	looked      int
	notSearched []string
	empty       bool
	// unmarked says that markers could not be read.
	unmarked atomic.Bool
}

// Buckets are FineBucket long in a window of at most FineUpTo, MiddleBucket in one of at most MiddleUpTo, and else CoarseBucket. A change
// may pause for PauseUpTo. The time before a window is as long as the window, from BeforeLeast to BeforeMost, and counts as part of it.
const (
	FineBucket, FineUpTo     = time.Minute, 12 * time.Hour
	MiddleBucket, MiddleUpTo = 2 * time.Minute, 31 * time.Hour
	CoarseBucket             = 5 * time.Minute
	PauseUpTo                = 10 * time.Minute
	BeforeLeast, BeforeMost  = 2 * time.Hour, 6 * time.Hour
)

// newSearch extends the window by a time before, with which it is compared.
func newSearch(p Period, s Scope) *search {
	before := min(max(p.length(), BeforeLeast), BeforeMost)
	length, bucket := p.length()+before, CoarseBucket
	switch {
	case length <= FineUpTo+time.Minute:
		bucket = FineBucket
	case length <= MiddleUpTo:
		bucket = MiddleBucket
	}
	start := p.Start.Add(-before).Truncate(bucket)
	end := p.End.Truncate(bucket)
	return &search{
		series: reads.ChangeSeries{
			Window: query.Window{Start: start, End: end}, Bucket: bucket, Environment: s.Environment, Service: s.Service,
			Limit: limits.IncidentSeries,
		},
		asked: Period{p.Start, end}, gap: max(2, int(PauseUpTo/bucket)), traffic: map[[2]string][]float64{},
	}
}

func (s *search) buckets() int { return int(s.series.Window.Length() / s.series.Bucket) }

// column makes a list of one figure with a value for each bucket; missing is the value of a bucket without data.
func (s *search) column(r reads.ChangeSeriesRow, figure int, missing float64) []float64 {
	out := make([]float64, s.buckets())
	for i := range out {
		out[i] = missing
	}
	for i, at := range r.At {
		if at >= 0 && int(at) < len(out) && figure < len(r.Figures[i]) {
			out[at] = r.Figures[i][figure]
		}
	}
	return out
}

// add keeps a change that touches the window of the caller.
func (s *search) add(c changes.Change, y symptom) {
	at := func(bucket int) time.Time { return s.series.Window.Start.Add(time.Duration(bucket) * s.series.Bucket) }
	y.from, y.to, y.score = at(c.From), at(c.To), c.Score
	y.open = c.To >= s.buckets()-1
	if y.to.After(s.asked.Start) {
		s.list = append(s.list, y)
	}
}

// symptoms reads the series and searches them for changes.
func (e *Engine) symptoms(ctx context.Context, org principal.OrgID, s *search) error {
	var services, peers, groups, logs, gauges []reads.ChangeSeriesRow
	all := func(to *[]reads.ChangeSeriesRow, of func(reads.ChangeSeries) sqlbuild.Statement) func() error {
		return func() (err error) {
			*to, err = read.All[reads.ChangeSeriesRow](ctx, e.read.Warehouse, org, of(s.series))
			return err
		}
	}
	err := atonce.Run(
		all(&services, reads.ServiceChanges), all(&peers, reads.PeerChanges), all(&groups, reads.ErrorChanges), all(&logs, reads.LogChanges),
		func() (err error) { gauges, err = e.resources(ctx, org, s); return err },
	)
	if err != nil {
		return err
	}
	for what, rows := range map[string][]reads.ChangeSeriesRow{
		"services": services, "dependencies": peers, "error groups": groups, "log series": logs, "resources": gauges,
	} {
		s.looked += len(rows)
		if len(rows) > 0 && rows[0].Series > uint64(len(rows)) {
			s.notSearched = append(s.notSearched,
				fmt.Sprintf("%d of %d %s: the smallest", rows[0].Series-uint64(len(rows)), rows[0].Series, what))
		}
	}
	slices.Sort(s.notSearched)
	s.services(services)
	s.peers(peers)
	s.groups(groups)
	s.logs(logs)
	s.gauges(gauges)
	return nil
}

// services searches the entry spans of services.
func (s *search) services(rows []reads.ChangeSeriesRow) {
	for _, r := range rows {
		s.traffic[[2]string{r.Service, r.Environment}] = s.column(r, 0, 0)
	}
	s.empty, s.begin = s.beforeIsEmpty(), s.firstObserved()
	s.course = s.profile(rows)
	for _, r := range rows {
		n, k := s.column(r, 0, 0), s.column(r, 1, 0)
		weighted, failed := s.column(r, 2, 0), s.column(r, 3, 0)
		y := symptom{service: r.Service, environment: r.Environment}
		shares := changes.Shares(n, k, s.gap)
		for _, c := range shares {
			y.kind, y.unit = errorRate, "1"
			y.value, y.usual = apart(failed, weighted, c, shares)
			s.add(c, y)
		}
		var slow []changes.Change
		for _, figure := range []int{6, 4, 5} { // the 95th percentile first; the others see slowness below it
			x := s.column(r, figure, math.NaN())
			for i := range x {
				if x[i] /= 1e6; n[i] < 3 { // of one or two spans there is no quantile
					x[i] = math.NaN()
				}
			}
			for _, c := range changes.Levels(x, n, changes.Level{Ratio: 1.5, Distance: 8, Noise: 0.08, Gap: s.gap, Shortest: 3, Few: 20}) {
				if slices.ContainsFunc(slow, func(o changes.Change) bool { return o.From < c.To && c.From < o.To }) {
					continue
				}
				slow = append(slow, c)
				y.kind, y.unit, y.value, y.usual = latency, "ms", c.Value, c.Baseline
				s.add(c, y)
			}
		}
		s.rate(r, n, y)
	}
}

// beforeIsEmpty tells whether less than a tenth of the time before the window has spans.
func (s *search) beforeIsEmpty() bool {
	before := int(s.asked.Start.Sub(s.series.Window.Start) / s.series.Bucket)
	held := 0
	for i := range before {
		for _, n := range s.traffic {
			if n[i] > 0 {
				held++
				break
			}
		}
	}
	return held*10 < before
}

// firstObserved is the first bucket in which any service has spans.
func (s *search) firstObserved() int {
	for i := range s.buckets() {
		for _, n := range s.traffic {
			if n[i] > 0 {
				return i
			}
		}
	}
	return 0
}

// profile is the course of the day: the median over services of their traffic, each relative to its own median. With few services it
// is nil.
func (s *search) profile(rows []reads.ChangeSeriesRow) []float64 {
	var relative [][]float64
	for _, r := range rows {
		n := s.traffic[[2]string{r.Service, r.Environment}]
		if m := middle(n); m >= 10 {
			x := make([]float64, len(n))
			for i := range n {
				x[i] = n[i] / m
			}
			relative = append(relative, x)
		}
	}
	if len(relative) < 5 {
		return nil
	}
	out := make([]float64, s.buckets())
	for i := range out {
		at := make([]float64, len(relative))
		for j := range relative {
			at[j] = relative[j][i]
		}
		out[i] = max(middle(at), 0.05)
	}
	return out
}

// rate searches the traffic of a service for more or less than the course of the day.
func (s *search) rate(r reads.ChangeSeriesRow, n []float64, y symptom) {
	m := middle(n)
	if m < 10 {
		return
	}
	x := make([]float64, len(n))
	for i := range n {
		var usual float64
		if s.course != nil {
			usual = m * s.course[i]
		} else {
			width := int(90 * time.Minute / s.series.Bucket)
			usual = max(middle(n[max(0, i-width):min(len(n), i+width)]), m/10)
		}
		if x[i] = (n[i] + 0.5) / usual; i <= s.begin { // the first bucket is cut
			x[i] = math.NaN()
		}
	}
	weighted := s.column(r, 2, 0)
	found := changes.Levels(x, n, changes.Level{Ratio: 1.7, Down: true, Noise: 0.1, Gap: s.gap, Shortest: 4})
	for _, c := range found {
		y.kind, y.unit = throughput, "1/s"
		y.value = total(weighted[c.From:c.To]) / (float64(c.To-c.From) * s.series.Bucket.Seconds())
		y.usual = y.value / (c.Value / c.Baseline)
		s.add(c, y)
	}
}

// peers searches the calls to dependencies.
func (s *search) peers(rows []reads.ChangeSeriesRow) {
	for _, r := range rows {
		n, k := s.column(r, 0, 0), s.column(r, 1, 0)
		weighted, failed, nanos := s.column(r, 2, 0), s.column(r, 3, 0), s.column(r, 4, 0)
		y := symptom{service: r.Service, environment: r.Environment, subject: r.Subject, label: dependencyName(r)}
		if y.subject == "" {
			y.subject = r.Label
		}
		shares := changes.Shares(n, k, s.gap)
		for _, c := range shares {
			y.kind, y.unit = dependencyErrors, "1"
			y.value, y.usual = apart(failed, weighted, c, shares)
			s.add(c, y)
		}
		x := make([]float64, len(n))
		each := make([]float64, len(n))
		requests := s.traffic[[2]string{r.Service, r.Environment}]
		for i := range n {
			x[i], each[i] = math.NaN(), math.NaN()
			if n[i] >= 3 {
				x[i] = nanos[i] / weighted[i] / 1e6
			}
			if requests != nil && requests[i] >= 5 {
				each[i] = (n[i] + 0.1) / requests[i]
			}
		}
		for _, c := range changes.Levels(x, n, changes.Level{Ratio: 1.7, Distance: 5, Noise: 0.15, Gap: s.gap, Shortest: 3}) {
			y.kind, y.unit, y.value, y.usual = dependencyLatency, "ms", c.Value, c.Baseline
			s.add(c, y)
		}
		for _, c := range changes.Levels(each, n, changes.Level{Ratio: 1.8, Noise: 0.15, Gap: s.gap, Shortest: 4}) {
			y.kind, y.unit, y.value, y.usual = dependencyCalls, "", c.Value, c.Baseline
			s.add(c, y)
		}
	}
}

func dependencyName(r reads.ChangeSeriesRow) string {
	if r.Kind == "external" && r.Subject != "" {
		return r.Subject
	}
	if r.Subject == "" {
		return r.Label
	}
	return r.Label + " " + r.Subject
}

// groups searches the errors of each group.
func (s *search) groups(rows []reads.ChangeSeriesRow) {
	for _, r := range rows {
		for _, c := range changes.Counts(s.column(r, 0, 0), s.traffic[[2]string{r.Service, r.Environment}], s.gap) {
			s.add(c, s.perSecond(symptom{
				kind: errorGroup, service: r.Service, environment: r.Environment, subject: r.Subject, label: r.Label, value: c.Value, usual: c.Baseline,
			}))
		}
	}
}

// logs searches the log records of each severity.
func (s *search) logs(rows []reads.ChangeSeriesRow) {
	for _, r := range rows {
		k, exposure := s.column(r, 0, 0), s.traffic[[2]string{r.Service, r.Environment}]
		y := symptom{kind: logRecords, service: r.Service, environment: r.Environment, subject: r.Kind, label: r.Kind}
		if always(k) < 20 {
			for _, c := range changes.Counts(k, exposure, s.gap) {
				y.value, y.usual = c.Value, c.Baseline
				s.add(c, s.perSecond(y))
			}
			continue
		}
		x := make([]float64, len(k))
		for i := range k {
			x[i] = k[i]
			if exposure != nil {
				x[i] = k[i] / (exposure[i] + 5)
			}
		}
		for _, c := range changes.Levels(x, k, changes.Level{Ratio: 2, Noise: 0.15, Gap: s.gap, Shortest: 3}) {
			y.value = total(k[c.From:c.To]) / float64(c.To-c.From)
			y.usual = y.value / (c.Value / c.Baseline)
			s.add(c, s.perSecond(y))
		}
	}
}

func (s *search) perSecond(y symptom) symptom {
	y.unit = "1/s"
	y.value /= s.series.Bucket.Seconds()
	y.usual /= s.series.Bucket.Seconds()
	return y
}

// gauges searches the resources.
func (s *search) gauges(rows []reads.ChangeSeriesRow) {
	for _, r := range rows {
		x := s.column(r, 1, math.NaN())
		// A level near 0 has no ratio: a queue with 3 messages instead of 1 is as quiet as before.
		offset := 0.2 * math.Abs(middle(x))
		least := 0.05 // a share
		for _, v := range x {
			if v > 1 {
				least = 2
			}
		}
		offset = max(offset, least)
		for i := range x {
			x[i] += offset
		}
		for _, c := range changes.Levels(x, nil, changes.Level{Ratio: 1.3, Noise: 0.03, Gap: s.gap, Shortest: 5}) {
			s.add(c, symptom{
				kind: resource, service: r.Service, environment: r.Environment, subject: r.Kind, label: strings.TrimSpace(r.Kind + " " + r.Subject),
				value: c.Value - offset, usual: c.Baseline - offset, unit: r.Label,
			})
		}
	}
}

// apart is the share of a run, and that of the buckets outside of all runs.
func apart(k, n []float64, run changes.Change, all []changes.Change) (value, usual float64) {
	value = total(k[run.From:run.To]) / max(total(n[run.From:run.To]), 1)
	outside, of := total(k), total(n)
	for _, c := range all {
		outside -= total(k[c.From:c.To])
		of -= total(n[c.From:c.To])
	}
	return value, max(outside, 0) / max(of, 1)
}

func total(list []float64) float64 {
	t := 0.0
	for _, x := range list {
		if !math.IsNaN(x) {
			t += x
		}
	}
	return t
}

// middle is the median of the numbers above 0.
func middle(list []float64) float64 {
	var v []float64
	for _, x := range list {
		if x > 0 {
			v = append(v, x)
		}
	}
	if len(v) == 0 {
		return 0
	}
	slices.Sort(v)
	return v[len(v)/2]
}

// always is the median of all numbers, of which many may be 0.
func always(list []float64) float64 {
	if len(list) == 0 {
		return 0
	}
	v := slices.Sorted(slices.Values(list))
	return v[len(v)/2]
}
