package notify

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/wording"
)

// The text of a message without a template.
const (
	builtInTitle = "{{ event.emoji }} {{ rule.name }} — {{ event.label }}"
	builtInBody  = "{{ observed.summary }}{{#if group}}\nGroup: {{ group }}{{/if}}\nSeverity: {{ severity }}"
)

// digestGroups is how many groups a message about several incidents names.
const digestGroups = limits.DigestGroups

// value returns the text of a key.
func (e *Event) value(key string) string {
	switch key {
	case "rule.name":
		return e.Rule.Name
	case "rule.id":
		return e.Rule.ID
	case "event.type":
		return e.Type
	case "event.label":
		return e.label()
	case "event.emoji":
		return e.emoji()
	case "severity":
		return e.Rule.Severity
	case "signal":
		return e.Rule.SignalType
	case "signal.label":
		return signalLabel(e.Rule.SignalType)
	case "comparator.label":
		return wording.Comparator(e.Rule.Comparator)
	case "threshold":
		return Figure(e.Rule.SignalType, e.Rule.Threshold)
	case "thresholdUpper":
		if e.Rule.ThresholdUpper == nil {
			return ""
		}
		return Figure(e.Rule.SignalType, *e.Rule.ThresholdUpper)
	case "value":
		if e.Observed.Value == nil {
			return ""
		}
		return Figure(e.Rule.SignalType, *e.Observed.Value)
	case "observed.summary":
		return e.Summary()
	case "sampleCount":
		return limits.Number(e.Observed.SampleCount)
	case "group":
		return e.group()
	case "window":
		return minutes(e.Rule.WindowMinutes)
	case "incidentId":
		return e.Incident.ID
	case "incidentStatus":
		return e.Incident.Status
	case "links.app":
		return e.LinkURL
	case "links.chat":
		return e.ChatURL
	case "sentAt":
		return e.SentAt.UTC().Format(time.RFC3339)
	default:
		return ""
	}
}

// group is the group that people see. A rule without groups has none.
func (e *Event) group() string {
	if len(e.Groups) > 0 {
		return fmt.Sprintf("%d groups", len(e.Groups))
	}
	if e.Rule.GroupKey == Total {
		return ""
	}
	return e.Rule.GroupKey
}

func (e *Event) label() string {
	switch e.Type {
	case Trigger:
		return "Triggered"
	case Resolve:
		return "Resolved"
	case Renotify:
		return "Still open"
	default:
		return "Test"
	}
}

func (e *Event) emoji() string {
	switch {
	case e.Type == Resolve:
		return "✅"
	case e.Type == Test:
		return "🧪"
	case e.Type == Renotify:
		return "🔁"
	case e.Rule.Severity == "critical":
		return "🔴"
	default:
		return "🟠"
	}
}

// color is the colour of the message, as 0xRRGGBB.
func (e *Event) color() int {
	switch {
	case e.Type == Resolve, e.Type == IssueQuiet, e.Type == IssueDone:
		return 0x2eb67d
	case e.Type == Test:
		return 0x36c5f0
	case e.Rule.Severity == "critical":
		return 0xe01e5a
	default:
		return 0xecb22e
	}
}

// Summary describes the observation in one sentence.
func (e *Event) Summary() string {
	if e.Type == Test {
		return "This is a test message from svc. Messages of alerts will look like it."
	}
	if len(e.Groups) > 0 {
		return fmt.Sprintf("%s of %d groups is %s %s.", signalLabel(e.Rule.SignalType), len(e.Groups), wording.Comparator(e.Rule.Comparator),
			e.bounds())
	}
	what := signalLabel(e.Rule.SignalType)
	if e.Observed.Value == nil {
		return fmt.Sprintf("%s has no data: its window is %s.", what, minutes(e.Rule.WindowMinutes))
	}
	value := Figure(e.Rule.SignalType, *e.Observed.Value)
	over := fmt.Sprintf("over %s, %s", minutes(e.Rule.WindowMinutes), samples(e.Observed.SampleCount))
	if e.Type == Resolve {
		return fmt.Sprintf("%s is %s (%s). The condition was: %s %s.", what, value, over, wording.Comparator(e.Rule.Comparator), e.bounds())
	}
	return fmt.Sprintf("%s is %s, which is %s %s (%s).", what, value, wording.Comparator(e.Rule.Comparator), e.bounds(), over)
}

func (e *Event) bounds() string {
	low := Figure(e.Rule.SignalType, e.Rule.Threshold)
	if e.Rule.ThresholdUpper == nil || !strings.HasSuffix(e.Rule.Comparator, "between") {
		return low
	}
	return low + " and " + Figure(e.Rule.SignalType, *e.Rule.ThresholdUpper)
}

// groupLines lists the groups of a message about several incidents.
func (e *Event) groupLines() []string {
	var lines []string
	for i, g := range e.Groups {
		if i == digestGroups {
			lines = append(lines, fmt.Sprintf("… and %d more", len(e.Groups)-i))
			break
		}
		value := "no data"
		if g.Observed.Value != nil {
			value = Figure(e.Rule.SignalType, *g.Observed.Value)
		}
		lines = append(lines, g.Key+": "+value)
	}
	return lines
}

func minutes(n int) string {
	if n == 1 {
		return "a minute"
	}
	return limits.Number(int64(n)) + " minutes"
}

func samples(n int64) string {
	if n == 1 {
		return "1 sample"
	}
	return limits.Number(n) + " samples"
}

func signalLabel(signal string) string {
	switch signal {
	case "error_rate":
		return "Error rate"
	case "p95_latency":
		return "p95 latency"
	case "p99_latency":
		return "p99 latency"
	case "apdex":
		return "Apdex"
	case "throughput":
		return "Throughput"
	default:
		return "Query result"
	}
}

// Figure writes a value of a signal: error rates in percent, latencies in ms, Apdex with 3 decimals, throughput in requests a minute.
func Figure(signal string, v float64) string {
	switch signal {
	case "error_rate":
		return decimal(100*v, 2) + "%"
	case "p95_latency", "p99_latency":
		return decimal(v, 1) + " ms"
	case "apdex":
		return strconv.FormatFloat(v, 'f', 3, 64)
	case "throughput":
		return decimal(v, 2) + " rpm"
	default:
		return decimal(v, 4)
	}
}

// decimal writes a number with at most so many digits after the point, and without zeros at its end. A small number keeps 3 digits.
func decimal(v float64, digits int) string {
	if v != 0 && math.Abs(v) < math.Pow10(-digits) || math.Abs(v) >= 1e15 {
		return strconv.FormatFloat(v, 'g', 3, 64)
	}
	text := strconv.FormatFloat(v, 'f', digits, 64)
	if strings.Contains(text, ".") {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	if text == "-0" {
		return "0"
	}
	return text
}
