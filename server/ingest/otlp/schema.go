package otlp

// schema describes the OTLP messages, as far as requests use them. One table serves both to name errors on the wire and to encode
// JSON.

type message uint8

const (
	noMessage message = iota
	tracesRequest
	logsRequest
	metricsRequest
	resourceSpansMsg
	resourceLogsMsg
	resourceMetricsMsg
	resourceMsg
	entityRefMsg
	scopeMsg
	scopeSpansMsg
	scopeLogsMsg
	scopeMetricsMsg
	keyValueMsg
	anyValueMsg
	arrayValueMsg
	keyValueListMsg
	spanMsg
	eventMsg
	linkMsg
	statusMsg
	logRecordMsg
	metricMsg
	gaugeMsg
	sumMsg
	histogramMsg
	exponentialHistogramMsg
	summaryMsg
	numberDataPointMsg
	histogramDataPointMsg
	exponentialHistogramDataPointMsg
	bucketsMsg
	summaryDataPointMsg
	valueAtQuantileMsg
	exemplarMsg
	messages
)

type kind uint8

const (
	kindMessage kind = iota
	kindString
	kindBytes
	// kindID is a bytes field that JSON writes in hexadecimal.
	kindID
	kindBool
	kindEnum
	kindInt32
	kindUint32
	kindSint32
	kindInt64
	kindUint64
	kindFixed32
	kindFixed64
	kindSfixed64
	kindDouble
)

type field struct {
	number   uint8
	kind     kind
	repeated bool
	of       message
	// name is the field's name in the .proto file; json is its name in OTLP JSON.
	name, json string
}

// wire returns the wire type of one value.
func (k kind) wire() uint64 {
	switch k {
	case kindMessage, kindString, kindBytes, kindID:
		return wireBytes
	case kindFixed64, kindSfixed64, kindDouble:
		return wireFixed8
	case kindFixed32:
		return wireFixed4
	default:
		return wireVarint
	}
}

func (s Signal) message() message { return tracesRequest + message(s) }

// schema is read-only.
var schema = [messages][]field{
	tracesRequest:      {sub(1, resourceSpansMsg, "resource_spans", "resourceSpans")},
	logsRequest:        {sub(1, resourceLogsMsg, "resource_logs", "resourceLogs")},
	metricsRequest:     {sub(1, resourceMetricsMsg, "resource_metrics", "resourceMetrics")},
	resourceSpansMsg:   resourceItems(scopeSpansMsg, "scope_spans", "scopeSpans"),
	resourceLogsMsg:    resourceItems(scopeLogsMsg, "scope_logs", "scopeLogs"),
	resourceMetricsMsg: resourceItems(scopeMetricsMsg, "scope_metrics", "scopeMetrics"),
	resourceMsg: {
		sub(1, keyValueMsg, "attributes", "attributes"),
		one(2, kindUint32, "dropped_attributes_count", "droppedAttributesCount"),
		sub(3, entityRefMsg, "entity_refs", "entityRefs"),
	},
	entityRefMsg: {
		one(1, kindString, "schema_url", "schemaUrl"),
		one(2, kindString, "type", "type"),
		many(3, kindString, "id_keys", "idKeys"),
		many(4, kindString, "description_keys", "descriptionKeys"),
	},
	scopeMsg: {
		one(1, kindString, "name", "name"),
		one(2, kindString, "version", "version"),
		sub(3, keyValueMsg, "attributes", "attributes"),
		one(4, kindUint32, "dropped_attributes_count", "droppedAttributesCount"),
	},
	scopeSpansMsg:   scopeItems(spanMsg, "spans", "spans"),
	scopeLogsMsg:    scopeItems(logRecordMsg, "log_records", "logRecords"),
	scopeMetricsMsg: scopeItems(metricMsg, "metrics", "metrics"),
	keyValueMsg: {
		one(1, kindString, "key", "key"),
		embed(2, anyValueMsg, "value", "value"),
		one(3, kindInt32, "key_strindex", "keyStrindex"),
	},
	anyValueMsg: {
		one(1, kindString, "string_value", "stringValue"),
		one(2, kindBool, "bool_value", "boolValue"),
		one(3, kindInt64, "int_value", "intValue"),
		one(4, kindDouble, "double_value", "doubleValue"),
		embed(5, arrayValueMsg, "array_value", "arrayValue"),
		embed(6, keyValueListMsg, "kvlist_value", "kvlistValue"),
		one(7, kindBytes, "bytes_value", "bytesValue"),
		one(8, kindInt32, "string_value_strindex", "stringValueStrindex"),
	},
	arrayValueMsg:   {sub(1, anyValueMsg, "values", "values")},
	keyValueListMsg: {sub(1, keyValueMsg, "values", "values")},
	spanMsg: {
		one(1, kindID, "trace_id", "traceId"),
		one(2, kindID, "span_id", "spanId"),
		one(3, kindString, "trace_state", "traceState"),
		one(4, kindID, "parent_span_id", "parentSpanId"),
		one(5, kindString, "name", "name"),
		one(6, kindEnum, "kind", "kind"),
		one(7, kindFixed64, "start_time_unix_nano", "startTimeUnixNano"),
		one(8, kindFixed64, "end_time_unix_nano", "endTimeUnixNano"),
		sub(9, keyValueMsg, "attributes", "attributes"),
		one(10, kindUint32, "dropped_attributes_count", "droppedAttributesCount"),
		sub(11, eventMsg, "events", "events"),
		one(12, kindUint32, "dropped_events_count", "droppedEventsCount"),
		sub(13, linkMsg, "links", "links"),
		one(14, kindUint32, "dropped_links_count", "droppedLinksCount"),
		embed(15, statusMsg, "status", "status"),
		one(16, kindFixed32, "flags", "flags"),
	},
	eventMsg: {
		one(1, kindFixed64, "time_unix_nano", "timeUnixNano"),
		one(2, kindString, "name", "name"),
		sub(3, keyValueMsg, "attributes", "attributes"),
		one(4, kindUint32, "dropped_attributes_count", "droppedAttributesCount"),
	},
	linkMsg: {
		one(1, kindID, "trace_id", "traceId"),
		one(2, kindID, "span_id", "spanId"),
		one(3, kindString, "trace_state", "traceState"),
		sub(4, keyValueMsg, "attributes", "attributes"),
		one(5, kindUint32, "dropped_attributes_count", "droppedAttributesCount"),
		one(6, kindFixed32, "flags", "flags"),
	},
	statusMsg: {
		one(2, kindString, "message", "message"),
		one(3, kindEnum, "code", "code"),
	},
	logRecordMsg: {
		one(1, kindFixed64, "time_unix_nano", "timeUnixNano"),
		one(2, kindEnum, "severity_number", "severityNumber"),
		one(3, kindString, "severity_text", "severityText"),
		embed(5, anyValueMsg, "body", "body"),
		sub(6, keyValueMsg, "attributes", "attributes"),
		one(7, kindUint32, "dropped_attributes_count", "droppedAttributesCount"),
		one(8, kindFixed32, "flags", "flags"),
		one(9, kindID, "trace_id", "traceId"),
		one(10, kindID, "span_id", "spanId"),
		one(11, kindFixed64, "observed_time_unix_nano", "observedTimeUnixNano"),
		one(12, kindString, "event_name", "eventName"),
	},
	metricMsg: {
		one(1, kindString, "name", "name"),
		one(2, kindString, "description", "description"),
		one(3, kindString, "unit", "unit"),
		embed(5, gaugeMsg, "gauge", "gauge"),
		embed(7, sumMsg, "sum", "sum"),
		embed(9, histogramMsg, "histogram", "histogram"),
		embed(10, exponentialHistogramMsg, "exponential_histogram", "exponentialHistogram"),
		embed(11, summaryMsg, "summary", "summary"),
		sub(12, keyValueMsg, "metadata", "metadata"),
	},
	gaugeMsg: {sub(1, numberDataPointMsg, "data_points", "dataPoints")},
	sumMsg: {
		sub(1, numberDataPointMsg, "data_points", "dataPoints"),
		one(2, kindEnum, "aggregation_temporality", "aggregationTemporality"),
		one(3, kindBool, "is_monotonic", "isMonotonic"),
	},
	histogramMsg: {
		sub(1, histogramDataPointMsg, "data_points", "dataPoints"),
		one(2, kindEnum, "aggregation_temporality", "aggregationTemporality"),
	},
	exponentialHistogramMsg: {
		sub(1, exponentialHistogramDataPointMsg, "data_points", "dataPoints"),
		one(2, kindEnum, "aggregation_temporality", "aggregationTemporality"),
	},
	summaryMsg: {sub(1, summaryDataPointMsg, "data_points", "dataPoints")},
	numberDataPointMsg: {
		one(2, kindFixed64, "start_time_unix_nano", "startTimeUnixNano"),
		one(3, kindFixed64, "time_unix_nano", "timeUnixNano"),
		one(4, kindDouble, "as_double", "asDouble"),
		sub(5, exemplarMsg, "exemplars", "exemplars"),
		one(6, kindSfixed64, "as_int", "asInt"),
		sub(7, keyValueMsg, "attributes", "attributes"),
		one(8, kindUint32, "flags", "flags"),
	},
	histogramDataPointMsg: {
		one(2, kindFixed64, "start_time_unix_nano", "startTimeUnixNano"),
		one(3, kindFixed64, "time_unix_nano", "timeUnixNano"),
		one(4, kindFixed64, "count", "count"),
		one(5, kindDouble, "sum", "sum"),
		many(6, kindFixed64, "bucket_counts", "bucketCounts"),
		many(7, kindDouble, "explicit_bounds", "explicitBounds"),
		sub(8, exemplarMsg, "exemplars", "exemplars"),
		sub(9, keyValueMsg, "attributes", "attributes"),
		one(10, kindUint32, "flags", "flags"),
		one(11, kindDouble, "min", "min"),
		one(12, kindDouble, "max", "max"),
	},
	exponentialHistogramDataPointMsg: {
		sub(1, keyValueMsg, "attributes", "attributes"),
		one(2, kindFixed64, "start_time_unix_nano", "startTimeUnixNano"),
		one(3, kindFixed64, "time_unix_nano", "timeUnixNano"),
		one(4, kindFixed64, "count", "count"),
		one(5, kindDouble, "sum", "sum"),
		one(6, kindSint32, "scale", "scale"),
		one(7, kindFixed64, "zero_count", "zeroCount"),
		embed(8, bucketsMsg, "positive", "positive"),
		embed(9, bucketsMsg, "negative", "negative"),
		one(10, kindUint32, "flags", "flags"),
		sub(11, exemplarMsg, "exemplars", "exemplars"),
		one(12, kindDouble, "min", "min"),
		one(13, kindDouble, "max", "max"),
		one(14, kindDouble, "zero_threshold", "zeroThreshold"),
	},
	bucketsMsg: {
		one(1, kindSint32, "offset", "offset"),
		many(2, kindUint64, "bucket_counts", "bucketCounts"),
	},
	summaryDataPointMsg: {
		one(2, kindFixed64, "start_time_unix_nano", "startTimeUnixNano"),
		one(3, kindFixed64, "time_unix_nano", "timeUnixNano"),
		one(4, kindFixed64, "count", "count"),
		one(5, kindDouble, "sum", "sum"),
		sub(6, valueAtQuantileMsg, "quantile_values", "quantileValues"),
		sub(7, keyValueMsg, "attributes", "attributes"),
		one(8, kindUint32, "flags", "flags"),
	},
	valueAtQuantileMsg: {
		one(1, kindDouble, "quantile", "quantile"),
		one(2, kindDouble, "value", "value"),
	},
	exemplarMsg: {
		one(2, kindFixed64, "time_unix_nano", "timeUnixNano"),
		one(3, kindDouble, "as_double", "asDouble"),
		one(4, kindID, "span_id", "spanId"),
		one(5, kindID, "trace_id", "traceId"),
		one(6, kindSfixed64, "as_int", "asInt"),
		sub(7, keyValueMsg, "filtered_attributes", "filteredAttributes"),
	},
}

func one(number uint8, k kind, name, json string) field {
	return field{number: number, kind: k, name: name, json: json}
}

func many(number uint8, k kind, name, json string) field {
	return field{number: number, kind: k, repeated: true, name: name, json: json}
}

func embed(number uint8, of message, name, json string) field {
	return field{number: number, of: of, name: name, json: json}
}

func sub(number uint8, of message, name, json string) field {
	return field{number: number, of: of, repeated: true, name: name, json: json}
}

func resourceItems(of message, name, json string) []field {
	return []field{
		embed(1, resourceMsg, "resource", "resource"), sub(2, of, name, json), one(3, kindString, "schema_url", "schemaUrl"),
	}
}

func scopeItems(of message, name, json string) []field {
	return []field{
		embed(1, scopeMsg, "scope", "scope"), sub(2, of, name, json), one(3, kindString, "schema_url", "schemaUrl"),
	}
}
