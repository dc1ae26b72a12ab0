package limits

// Attributes and texts of one item, resource, scope, event, link or exemplar. Rows depend on these numbers, also when a record of the
// durable queue is decoded again: they are constants, not settings.
const (
	ItemAttributes     = 1024
	AttributeKeyBytes  = 1 << 10
	AttributeValue     = 64 << 10
	LogBody            = 1 << 20
	TelemetryNameBytes = 1 << 10
	// TelemetryTextBytes bounds the message of a status, a trace state and the description of a metric.
	TelemetryTextBytes = 16 << 10
	// ItemElements bounds the events of a span, its links, and the exemplars of a data point.
	ItemElements = 1024
)

func texts() []Limit {
	return []Limit{
		count("ItemAttributes", ItemAttributes, "An item has at most %s attributes. Further ones are left out."),
		size("AttributeKeyBytes", AttributeKeyBytes, "An attribute key has at most %s. Longer ones are cut."),
		size("AttributeValue", AttributeValue, "An attribute value has at most %s as text. Longer ones are cut."),
		size("LogBody", LogBody, "The body of a log record has at most %s. Longer ones are cut."),
		size("TelemetryNameBytes", TelemetryNameBytes, "Names, versions, units and severity texts have at most %s. Longer ones are cut."),
		size("TelemetryTextBytes", TelemetryTextBytes,
			"The message of a status, a trace state and the description of a metric have at most %s. Longer ones are cut."),
		count("ItemElements", ItemElements,
			"A span has at most %[1]s events and %[1]s links, a data point at most %[1]s exemplars. Further ones are left out."),
	}
}
