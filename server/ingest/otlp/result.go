package otlp

import (
	"fmt"
	"strings"

	"github.com/svc-observability/svc/server/ingest/productevents"
	"github.com/svc-observability/svc/server/limits"
)

// Result has the outcome for the items of a well-formed request.
type Result struct {
	Accepted, Rejected int
	// Sampled counts spans that the sampling policy dropped. They are neither accepted nor rejected, and the response does not
	// mention them.
	Sampled int
	// ProductEvents counts the product events that spans created, even if the spans themselves are not stored.
	ProductEvents int
	// Cut counts the parts of accepted items that were shortened or left out because of a limit: texts, attributes, events,
	// links, exemplars. The warnings name them.
	Cut int
	// Reasons says why items were rejected. Warnings name the parts of accepted items that were changed or left out. Each kind occurs once.
	Reasons, Warnings []Note
}

// Note is one kind of problem.
type Note struct {
	Message string
	// Path is the place of the first occurrence.
	Path  string
	Count int
}

// String returns the note as one line of text.
func (n Note) String() string {
	if n.Count == 1 {
		return n.Path + ": " + n.Message
	}
	return fmt.Sprintf("%s: %s (%d times in this request)", n.Path, n.Message, n.Count)
}

// Message returns the error_message of a partial success. It is empty if there is nothing to report.
func (r Result) Message() string {
	var b strings.Builder
	for _, notes := range [][]Note{r.Reasons, r.Warnings} {
		for _, n := range notes {
			if b.Len() > 0 {
				b.WriteString("; ")
			}
			b.WriteString(n.String())
		}
	}
	return b.String()
}

type issueKind uint8

const (
	issueTraceID issueKind = iota
	issueSpanID
	issueTooOld
	issueTooNew
	issueNoName
	issueNoValue
	issueBucketCounts
	issueBounds
	firstWarning
)

const (
	issueNoTime issueKind = iota + firstWarning
	issueNoTemporality
	issueNegativeDuration
	issueEndTooNew
	issueParentID
	issueLinkID
	issueRecordID
	issueExemplarID
	issueTimeRange
	issueObservedTime
	issueEnum
	issueDeepValue
	issueLongKey
	issueLongValue
	issueLongBody
	issueManyAttributes
	issueLongName
	issueLongText
	issueManyElements
	issueEventSignal
	issueEventName
	issueEventLimit
	issueSampleRate
	issues
	noIssue = issues
)

type issue struct {
	path  string
	count int
}

func (k issueKind) message() string {
	//exhaustive:enforce
	switch k {
	case issueTraceID:
		return "span rejected: must be 16 bytes, not all zero"
	case issueSpanID:
		return "span rejected: must be 8 bytes, not all zero"
	case issueTooOld:
		return "rejected: the time is further back than the retention of this signal (" + limits.Days(limits.TraceRetention) +
			", metrics " +
			limits.Number(int(limits.MetricRetention/limits.Day)) + "); check the sender's clock"
	case issueTooNew:
		return "rejected: the time is more than " + limits.Lasts(limits.ClockAhead) + " ahead; check the sender's clock"
	case issueNoName:
		return "rejected: a metric must have a name"
	case issueNoValue:
		return "rejected: neither as_double nor as_int is set, and the flags do not say that there is no recorded value"
	case issueBucketCounts:
		return "rejected: there must be one more than there are explicit_bounds, or none of both"
	case issueBounds:
		return "rejected: must be strictly increasing"
	case issueNoTemporality:
		return "must be 1 (delta) or 2 (cumulative): the metric was stored as unspecified, and its values cannot be added up over time"
	case issueNoTime:
		return "is not set: the receive time stands for it"
	case issueNegativeDuration:
		return "is before the start: a duration of 0 was stored"
	case issueEndTooNew:
		return "is more than " + limits.Lasts(limits.ClockAhead) + " ahead: a duration of 0 was stored; check the sender's clock"
	case issueParentID:
		return "must be 8 bytes: the span was stored without a parent"
	case issueLinkID:
		return "trace_id must be 16 bytes and span_id 8: the link was stored without the bad id"
	case issueRecordID:
		return "trace_id must be 16 bytes and span_id 8: the log record was stored without the bad id"
	case issueExemplarID:
		return "trace_id must be 16 bytes and span_id 8: the exemplar was stored without the bad id"
	case issueTimeRange:
		return "is out of range and was replaced"
	case issueObservedTime:
		return "is more than " + limits.Days(limits.LogRetention) + " back or " + limits.Lasts(limits.ClockAhead) + " ahead: " +
			"the receive time was stored; check the clock of the observer"
	case issueEnum:
		return "is a number that OTLP does not define: 0 was stored, which stands for unset or unspecified"
	case issueLongKey, issueLongValue, issueLongBody, issueManyAttributes, issueLongName, issueLongText, issueManyElements:
		return limitMessage(k)
	case issueSampleRate:
		return fmt.Sprintf(
			"is more than %d with the sampling of this organization: the span was stored as standing for so many",
			int64(maxSampleRate),
		)
	case issueEventSignal:
		return "this ingest key may not send events: no product event was made of the span"
	case issueEventName:
		return fmt.Sprintf(
			"the name of a product event must be 1 to %d bytes long and must not begin with $, which is reserved: no product event was made of the span",
			productevents.MaxName,
		)
	case issueEventLimit:
		return fmt.Sprintf(
			"the product event has a value that is too long or more than %d attributes: the values beyond the limits were left out",
			productevents.MaxAttributes,
		)
	case issueDeepValue:
		return fmt.Sprintf("a value is nested more than %d deep: the innermost parts were left out", maxJSONDepth)
	case issues: // also noIssue: no problem to report
	}
	return ""
}

// cuts reports whether the issue means that something was shortened or left out because of a limit.
func (k issueKind) cuts() bool {
	switch k {
	case issueDeepValue,
		issueLongKey,
		issueLongValue,
		issueLongBody,
		issueManyAttributes,
		issueLongName,
		issueLongText,
		issueManyElements,
		issueEventLimit:
		return true
	default:
		return false
	}
}

// note counts an issue. The argument field is the path below the item, or empty for the item itself.
func (w *walker) note(k issueKind, field string) {
	n := &w.issues[k]
	w.noted[k]++
	w.anyNoted = true
	if n.count++; n.count > 1 {
		return
	}
	names := [...][3]string{
		Traces: {"resource_spans", "scope_spans", "spans"}, Logs: {"resource_logs", "scope_logs", "log_records"},
		Metrics: {"resource_metrics", "scope_metrics", "metrics"},
	}[w.signal]
	path := fmt.Sprintf("%s[%d]", names[0], w.resourceAt)
	switch {
	case w.scopeAt < 0:
		path += ".resource"
	case w.itemAt < 0 && w.metricAt < 0:
		path += fmt.Sprintf(".%s[%d].scope", names[1], w.scopeAt)
	case w.signal == Metrics && w.itemAt < 0:
		path += fmt.Sprintf(".%s[%d].%s[%d]", names[1], w.scopeAt, names[2], w.metricAt)
	case w.signal == Metrics:
		path += fmt.Sprintf(".%s[%d].%s[%d].data_points[%d]", names[1], w.scopeAt, names[2], w.metricAt, w.itemAt)
	default:
		path += fmt.Sprintf(".%s[%d].%s[%d]", names[1], w.scopeAt, names[2], w.itemAt)
	}
	if field != "" {
		path += "." + field
	}
	n.path = path
}

// noteMetric counts an issue of the current metric itself.
func (w *walker) noteMetric(k issueKind, field string) {
	point := w.itemAt
	w.itemAt = -1
	w.note(k, field)
	w.itemAt = point
}

// beginNotes clears the issues of the previous item.
func (w *walker) beginNotes() {
	if w.anyNoted {
		w.noted, w.anyNoted = [issues]int{}, false
	}
}

// takeBackWarnings removes the warnings of the current item. The item was rejected or sampled out, so nothing of it is stored.
func (w *walker) takeBackWarnings() {
	if !w.anyNoted {
		return
	}
	for k := firstWarning; k < issues; k++ {
		w.issues[k].count -= w.noted[k]
		w.noted[k] = 0
	}
}

func (w *walker) result() Result {
	r := Result{Accepted: w.accepted, Sampled: w.sampled, ProductEvents: w.events}
	for k, n := range w.issues {
		if n.count == 0 {
			continue
		}
		note := Note{Message: issueKind(k).message(), Path: n.path, Count: n.count}
		if issueKind(k) < firstWarning {
			r.Rejected += n.count
			r.Reasons = append(r.Reasons, note)
		} else {
			r.Warnings = append(r.Warnings, note)
			if issueKind(k).cuts() {
				r.Cut += n.count
			}
		}
	}
	return r
}
