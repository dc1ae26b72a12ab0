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
	// ValueDepth is for arrays and maps in an attribute or a body. LogPushDepth and LogPushValue are for those in a line of a log push:
	// beyond them a value stays the text that was sent.
	ValueDepth   = 64
	LogPushDepth = 16
	LogPushValue = 64 << 10
	// SampleRate is how many spans one span stands for.
	SampleRate = 1_000_000_000
	// ErrorSumText is for the type and the message of the occurrences of an error.
	ErrorSumText = 500
	// StackLines and StackBytes bound the part of a stack in which its calls are searched.
	StackLines = 200
	StackBytes = 16 << 10
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
		count("ValueDepth", ValueDepth, "Arrays and maps in a value are nested at most %s levels deep. Deeper ones are left out."),
		count("LogPushDepth", LogPushDepth, "A value in a line of a log push that is nested more than %s levels deep is kept as text."),
		size("LogPushValue", LogPushValue, "An object or array of more than %s in such a line is kept as text."),
		count("SampleRate", SampleRate, "A sampled span stands for at most %s spans."),
		size("ErrorSumText", ErrorSumText,
			"The type and the message by which an error issue is named have at most %s each. Longer ones are cut."),
		count("StackLines", StackLines, "The calls of an error are read from the first %s lines of its stack."),
		size("StackBytes", StackBytes, "The calls are read from the first %s of a stack."),
	}
}
