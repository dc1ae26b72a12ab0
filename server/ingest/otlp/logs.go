package otlp

import (
	"bytes"

	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/severity"
	"github.com/svc-observability/svc/server/warehouse/blocks"
)

// logRecord holds the fields of the current log record.
type logRecord struct {
	traceID, spanID          []byte
	severityText, eventName  []byte
	body                     []byte
	hasBody, ownBody         bool
	severity, time, observed uint64
	flags                    uint32
}

func (w *walker) logs(body []byte) bool {
	t := w.set.Logs()
	w.counters[countLog].column, w.counters[countLog].scope = t.LogAttributes, blocks.OnLog
	columns := resourceColumns{
		org: t.OrgID, service: t.ServiceName, namespace: t.ServiceNamespace, version: t.ServiceVersion, env: t.Environment,
		scopeName: t.ScopeName, scopeVersion: t.ScopeVersion,
		scopeAttributes: t.ScopeAttributes, resourceAttributes: t.ResourceAttributes,
	}
	return w.items(body, func(m []byte) bool { return w.readLogRecord(t, &columns, m) })
}

func (w *walker) readLogRecord(t *blocks.Logs, columns *resourceColumns, b []byte) bool {
	r := &w.record
	*r = logRecord{}
	w.beginNotes()
	attributes := t.LogAttributes
	mark := attributes.Mark()
	attributes.BeginRow()
	for i := 0; i < len(b); {
		tag, next := varint(b, i)
		if next < 0 {
			return false
		}
		i = next
		var m []byte
		switch tag {
		case 1<<3 | wireFixed8:
			r.time, i = fixed64(b, i)
		case 2<<3 | wireVarint:
			r.severity, i = varint(b, i)
		case 3<<3 | wireBytes:
			r.severityText, i = text(b, i)
		case 5<<3 | wireBytes:
			if m, i = chunk(b, i); i < 0 || !w.addBody(m) {
				return false
			}
		case 6<<3 | wireBytes:
			if m, i = chunk(b, i); i < 0 || !w.attribute(attributes, m, itemAttributeDepth) {
				return false
			}
		case 8<<3 | wireFixed4:
			r.flags, i = fixed32(b, i)
		case 9<<3 | wireBytes:
			r.traceID, i = chunk(b, i)
		case 10<<3 | wireBytes:
			r.spanID, i = chunk(b, i)
		case 11<<3 | wireFixed8:
			r.observed, i = fixed64(b, i)
		case 12<<3 | wireBytes:
			r.eventName, i = text(b, i)
		default:
			i = skip(b, i, tag)
		}
		if i < 0 {
			return false
		}
	}
	var v anyValue
	if r.hasBody && !w.readAny(r.body, itemAttributeDepth, &v) {
		return false
	}
	text, ok := w.bodyText(&v, itemAttributeDepth)
	if !ok {
		return false
	}
	at, ok := w.admitRecord()
	if !ok {
		w.takeBackWarnings()
		attributes.Rollback(mark)
		return w.grow(rejectedSize)
	}
	t.Body.Append(text)
	return w.finishRecord(t, columns, at)
}

// addBody keeps the body until the record is read. A second body is merged into the first.
func (w *walker) addBody(m []byte) bool {
	r := &w.record
	if !r.hasBody {
		r.body, r.hasBody = m, true
		return true
	}
	if !w.checkWhole() {
		return false
	}
	var ok bool
	r.body, ok = w.joined(r.body, r.ownBody, m)
	r.ownBody = true
	return ok
}

// admitRecord decides whether the record can be stored, and with which time. A record without a time of its own must have an
// observed time.
func (w *walker) admitRecord() (int64, bool) {
	r := &w.record
	field, t := "time_unix_nano", r.time
	if t == 0 {
		field, t = "observed_time_unix_nano", r.observed
	}
	if t == 0 {
		w.note(issueNoTime, "time_unix_nano")
		return w.stamp.ReceivedUnixNano, true
	}
	if !w.inWindow(t, limits.LogRetention) {
		w.noteOutside(t, field)
		return 0, false
	}
	return int64(t), true
}

func (w *walker) finishRecord(t *blocks.Logs, columns *resourceColumns, at int64) bool {
	r := &w.record
	w.accepted++
	w.enterHour(at)
	w.resource.rows++
	observed := w.stamp.ReceivedUnixNano
	switch {
	case r.observed == 0:
	case w.inWindow(r.observed, limits.LogRetention):
		observed = int64(r.observed)
	default:
		w.note(issueObservedTime, "observed_time_unix_nano")
	}
	if badSize(r.traceID, 16) || badSize(r.spanID, 8) {
		w.note(issueRecordID, "")
	}
	t.Timestamp.Append(at)
	t.ObservedTimestamp.Append(observed)
	appendID(t.TraceID, r.traceID, 16)
	appendID(t.SpanID, r.spanID, 8)
	t.Flags.Append(r.flags)
	number := enum(r.severity, severity.Highest)
	if number == 0 && int32(r.severity) != 0 {
		w.note(issueEnum, "severity_number")
	}
	t.SeverityNumber.Append(uint8(number))
	// Filters on the severity ignore spaces around it and letter case, so the stored text has neither.
	if text := bytes.TrimSpace(r.severityText); len(text) > 0 {
		t.SeverityText.Append(w.limitName(w.upper(text), "severity_text"))
	} else {
		t.SeverityText.AppendString(severity.Text(number))
	}
	eventName := w.limitName(r.eventName, "event_name")
	t.EventName.Append(eventName)
	if !w.place(placeLogs, columns) {
		return false
	}
	t.LogAttributes.EndRow()
	if !w.logError(t, eventName, at) {
		return false
	}
	w.counters[countLog].countRow()
	return true
}
