package oracle_test

import (
	"slices"
	"time"
)

// hold keeps a tenth of the spans and records back. arrive sends them after their times were read once, so that a figure which was counted
// ahead shows. The answer to an equal request is kept for some minutes, so the windows are different from then on.
func (a *audit) hold() (arrive func()) {
	apart := func(rows []*row) (now, late []*row) {
		for _, r := range rows {
			if a.r.IntN(10) == 0 {
				late = append(late, r)
			} else {
				now = append(now, r)
			}
		}
		return now, late
	}
	spans, lateSpans := apart(a.spans)
	records, lateRecords := apart(a.records)
	a.spans, a.records = spans, records
	return func() {
		a.spans, a.records = slices.Concat(spans, lateSpans), slices.Concat(records, lateRecords)
		a.late = true
		a.start = a.start.Add(-time.Hour)
		a.export(a, a.server, lateSpans, lateRecords, nil)
		waitStored(a, a.server)
	}
}

// checkLate compares reads again after late rows arrived.
func (a *audit) checkLate(arrive func()) {
	arrive()
	for _, check := range []func(){a.checkSignals, a.checkServices, a.checkErrors, a.checkErrorTools, a.checkAllReleases} {
		check()
	}
}
