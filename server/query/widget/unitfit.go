package widget

import (
	"fmt"
	"slices"
	"strings"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/query"
)

// valueUnits lists the units of the values that a widget shows, as far as they are known.
func valueUnits(d *svcv2.WidgetData) []string {
	var units []string
	add := func(unit string) {
		if unit != "" && !slices.Contains(units, unit) {
			units = append(units, unit)
		}
	}
	for _, s := range d.GetTimeseries().GetSeries() {
		add(s.GetUnit())
	}
	for _, c := range d.GetBreakdown().GetColumns() {
		add(c.GetUnit())
	}
	if units == nil {
		add(d.GetUnit())
	}
	return units
}

// misfit returns the reason why a widget cannot show values of one unit in another unit. It is empty if it can, and for units
// that misfit does not know.
func misfit(drawn, values string) string {
	wants, has := dimension(drawn), dimension(values)
	switch {
	case wants == "" || has == "":
		return ""
	case wants != has:
		return fmt.Sprintf("The values are in %s, but the unit is %s.", values, drawn)
	case scale(drawn) != scale(values):
		return fmt.Sprintf("The values are in %s, but the unit is %s: the widget shows them on another scale.", values, drawn)
	}
	return ""
}

// scaled has the units with a dimension and a scale. They are the names of the contract, and those that senders of metrics use.
func scaled(unit string) (dimension string, scale float64) {
	switch strings.ToLower(strings.TrimPrefix(unit, durationUnits)) {
	case "ns", "nanoseconds":
		return "time", 1e-9
	case "us", "µs", "microseconds":
		return "time", 1e-6
	case "ms", "milliseconds":
		return "time", 1e-3
	case "s", "sec", "seconds":
		return "time", 1
	case "min", "minutes":
		return "time", 60
	case "h", "hours":
		return "time", 3600
	case "by", UnitBytes, "byte":
		return "size", 1
	case "kby", "kb":
		return "size", 1e3
	case "kiby", "kib":
		return "size", 1 << 10
	case "mby", "mb":
		return "size", 1e6
	case "miby", "mib":
		return "size", 1 << 20
	case "gby", "gb":
		return "size", 1e9
	case "giby", "gib":
		return "size", 1 << 30
	case UnitPercent, query.UnitRatio: // the contract's percent is of a ratio
		return "share", 1
	case "%":
		return "share", 0.01
	case UnitRequestsPerSecond, query.UnitPerSecond:
		return "rate", 1
	}
	return "", 0
}

func dimension(unit string) string {
	d, _ := scaled(unit)
	return d
}

func scale(unit string) float64 {
	_, s := scaled(unit)
	return s
}

// judgeValues compares the unit of the widget with the units of its values.
func (i *inspection) judgeValues() {
	for _, unit := range valueUnits(i.data) {
		if why := misfit(i.unit(), unit); why != "" {
			i.flag(flagUnit, "%s", why)
		}
		if plain := i.unit() == UnitNumber || i.unit() == UnitShort; plain && dimension(unit) != "" {
			i.flag(flagWarnings, "The values are in %s, but the widget shows them as plain numbers. Leave out the unit %s to see %s.", unit,
				i.unit(), unit)
		}
	}
}
