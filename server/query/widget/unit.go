package widget

// Units of the values of a widget. The contract names them at WidgetDisplay.unit, which also accepts free text.
const (
	UnitNone              = "none"
	UnitNumber            = "number"
	UnitPercent           = "percent" // of a ratio from 0 to 1
	UnitMilliseconds      = durationUnits + "ms"
	UnitMicroseconds      = durationUnits + "us"
	UnitSeconds           = durationUnits + "s"
	UnitNanoseconds       = durationUnits + "ns"
	UnitBytes             = "bytes"
	UnitRequestsPerSecond = "requests_per_sec"
	UnitShort             = "short"
)

// durationUnits is the prefix of the units of durations.
const durationUnits = "duration_"

// Units lists the units in the order of the contract.
func Units() []string {
	return []string{
		UnitNone, UnitNumber, UnitPercent, UnitMilliseconds, UnitMicroseconds, UnitSeconds, UnitNanoseconds, UnitBytes,
		UnitRequestsPerSecond, UnitShort,
	}
}
