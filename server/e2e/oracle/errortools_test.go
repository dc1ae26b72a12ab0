package oracle_test

import (
	"fmt"
	"maps"
	"slices"
	"time"
)

// namedCount is a part of a figure of a tool.
type namedCount struct {
	Name  string
	Count float64
}

// named compares the parts of a figure, corrected for sampling.
func (a *audit) named(read, what string, got []namedCount, want map[string][]*row) {
	a.Helper()
	var found []string
	for _, c := range got {
		found = append(found, c.Name)
		a.figure(read, what+" "+c.Name, c.Count, exactly(estimated(want[c.Name])))
	}
	a.names(read, what, found, slices.Collect(maps.Keys(want)))
}

// before is the equally long time before a window.
func (w window) before() window {
	return window{w.start.Add(w.start.Sub(w.end)), w.start.Add(-time.Nanosecond)}
}

// checkErrorTools compares the tools about errors. The groups are those of searchErrorEvents, which gives the fingerprints.
func (a *audit) checkErrorTools() {
	late := window{a.start.Add(a.end.Sub(a.start) / 2), a.end}
	// A window that begins at the time of an error: the error is not in the time before, too.
	errors := rowsIn(a.spans, late, func(r *row) bool { return r.status == "Error" })
	late.start = slices.MinFunc(errors, func(x, y *row) int { return x.at.Compare(y.at) }).at
	for n, w := range append(a.windows(), late) {
		environment := a.pick("", "production", "staging")
		if n == 4 {
			environment = ""
		}
		arguments, filters := object{"limit": 100}, object{}
		if environment != "" {
			arguments["environment"], filters["deployment_environment"] = environment, environment
		}
		wrong := func(r *row) bool { return r.status == "Error" && (environment == "" || r.environment == environment) }
		rows := rowsIn(a.spans, w, wrong)
		groups, was := by(rows, errorGroup), by(rowsIn(a.spans, w.before(), wrong), errorGroup)
		what := fmt.Sprintf("errors of %q in %s", environment, w)
		groupNames := map[string]string{}
		for _, g := range a.walk("searchErrorEvents", what, in(w, object{"filters": filters}), len(groups)) {
			services, _ := g["services"].([]any)
			groupNames[fmt.Sprint(g["fingerprint_hash"])] = groupOf(services[0], g)
		}
		a.checkFoundErrors(what, in(w, arguments), rows, groups, was, groupNames)
		for hash, name := range groupNames {
			detail := in(w, object{"fingerprint": hash})
			if environment != "" {
				detail["environment"] = environment
			}
			a.checkErrorDetail(what+": "+name, detail, groups[name])
			break // one group shows the figures of a detail
		}
	}
}

func (a *audit) checkFoundErrors(what string, arguments object, rows []*row, groups, was map[string][]*row, groupNames map[string]string) {
	const read = "find_errors"
	var got struct {
		Errors []struct {
			FingerprintHash                     string
			Count, ReceivedCount, PreviousCount float64
			Environments                        []namedCount
			FirstSeen, LastSeen                 string
		}
		Totals struct {
			Occurrences, ReceivedOccurrences, Fingerprints, NoExceptionCount float64
			Environments                                                     []namedCount
		}
	}
	a.call(read, arguments, &got)
	environment := func(r *row) string { return r.environment }
	a.figure(read, "occurrences of "+what, got.Totals.Occurrences, exactly(estimated(rows)))
	a.figure(read, "received occurrences of "+what, got.Totals.ReceivedOccurrences, exactly(float64(len(rows))))
	a.figure(read, "fingerprints of "+what, got.Totals.Fingerprints, exactly(float64(len(groups))))
	bare := slices.DeleteFunc(slices.Clone(rows), func(r *row) bool { return r.exception != "" })
	a.figure(read, "occurrences without an exception of "+what, got.Totals.NoExceptionCount, exactly(estimated(bare)))
	a.named(read, "environments of "+what, got.Totals.Environments, by(rows, environment))
	var found []string
	for _, e := range got.Errors {
		name := groupNames[e.FingerprintHash]
		found = append(found, name)
		of := groups[name]
		if len(of) == 0 {
			continue
		}
		a.figure(read, "count of "+name+" of "+what, e.Count, exactly(estimated(of)))
		a.figure(read, "received count of "+name+" of "+what, e.ReceivedCount, exactly(float64(len(of))))
		a.figure(read, "count before of "+name+" of "+what, e.PreviousCount, exactly(estimated(was[name])))
		if len(got.Totals.Environments) > 1 {
			a.named(read, "environments of "+name+" of "+what, e.Environments, by(of, environment))
		}
	}
	a.names(read, "groups of "+what, found, slices.Collect(maps.Keys(groups)))
}

func (a *audit) checkErrorDetail(what string, arguments object, rows []*row) {
	const read = "error_detail"
	var got struct {
		Summary struct {
			Occurrences, ReceivedOccurrences, AffectedTraces, ServiceCount, NoExceptionCount float64
		}
		Versions, Environments []namedCount
	}
	a.call(read, arguments, &got)
	a.figure(read, "occurrences of "+what, got.Summary.Occurrences, exactly(estimated(rows)))
	a.figure(read, "received occurrences of "+what, got.Summary.ReceivedOccurrences, exactly(float64(len(rows))))
	traces, services := by(rows, func(r *row) string { return r.trace }), by(rows, func(r *row) string { return r.service })
	a.figure(read, "traces of "+what, got.Summary.AffectedTraces, exactly(float64(len(traces))))
	a.figure(read, "services of "+what, got.Summary.ServiceCount, exactly(float64(len(services))))
	bare := slices.DeleteFunc(slices.Clone(rows), func(r *row) bool { return r.exception != "" })
	a.figure(read, "occurrences without an exception of "+what, got.Summary.NoExceptionCount, exactly(estimated(bare)))
	a.named(read, "versions of "+what, got.Versions, by(rows, func(r *row) string { return r.version }))
	a.named(read, "environments of "+what, got.Environments, by(rows, func(r *row) string { return r.environment }))
}
