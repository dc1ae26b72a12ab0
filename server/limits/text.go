package limits

import (
	"strconv"
	"time"
)

// Number writes n with commas between thousands: 10,000.
func Number[T ~int | ~int64](n T) string {
	text := strconv.FormatInt(int64(n), 10)
	for i := len(text) - 3; i > 0 && text[i-1] != '-'; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// Size writes n in the largest binary unit that divides it: 20 MiB. Other sizes are in bytes.
func Size[T ~int | ~int64](n T) string {
	for _, u := range []struct {
		name string
		size int64
	}{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}} {
		if int64(n) >= u.size && int64(n)%u.size == 0 {
			return Number(int64(n)/u.size) + " " + u.name
		}
	}
	return Number(n) + " bytes"
}

// Days writes d in whole days: 7 days.
func Days(d time.Duration) string { return plural(int64(d/Day), "day") }

// Lasts writes d in the largest unit that divides it. One day is 24 hours, as people say of windows.
func Lasts(d time.Duration) string {
	for _, u := range []struct {
		name string
		unit time.Duration
	}{{"day", Day}, {"hour", time.Hour}, {"minute", time.Minute}, {"second", time.Second}} {
		if d > u.unit && d%u.unit == 0 || d == u.unit && u.unit != Day {
			return plural(int64(d/u.unit), u.name)
		}
	}
	return plural(d.Milliseconds(), "millisecond")
}

// Seconds writes d in seconds: 60 seconds.
func Seconds(d time.Duration) string { return plural(int64(d/time.Second), "second") }

func plural(n int64, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return Number(n) + " " + noun
}
