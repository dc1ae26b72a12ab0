package pages

import (
	"image"
	"image/draw"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/svc-observability/svc/server/limits"
)

// axes draws the lines and labels of values and times.
func (c *chartCanvas) axes() error {
	for _, v := range ticks(c.low, c.high, c.chart.GetUnit()) {
		y := int(math.Round(c.y(v)))
		draw.Draw(c, image.Rect(plotLeft, y, plotRight, y+1), image.NewUniform(lineColor), image.Point{}, draw.Src)
		label := figure(c.chart.GetUnit(), v)
		width := c.width(c.fonts.regular, 15, label)
		left := max(12, plotLeft-10-width)
		if err := c.text(c.fonts.regular, 15, left, float64(y)+5, min(width+4, plotLeft-left), faintColor, label); err != nil {
			return err
		}
	}
	draw.Draw(c, image.Rect(plotLeft, plotBottom, plotRight, plotBottom+1), image.NewUniform(markColor), image.Point{}, draw.Src)
	if c.empty() {
		const none = "No data"
		width := c.width(c.fonts.bold, 20, none)
		return c.text(c.fonts.bold, 20, (plotLeft+plotRight-width)/2, (c.top+plotBottom)/2, width+4, faintColor, none)
	}
	return c.times()
}

// times writes the labels of the time axis, in UTC.
func (c *chartCanvas) times() error {
	from, to := time.UnixMilli(int64(c.first)).UTC(), time.UnixMilli(int64(c.last)).UTC()
	step := timeStep(to.Sub(from))
	layout := "15:04"
	if step >= 24*time.Hour {
		layout = "Jan 2"
	}
	const zone = "UTC"
	room := plotRight - c.width(c.fonts.regular, 15, zone) - 8
	end := 0.0
	for t := from.Truncate(step); !t.After(to); t = t.Add(step) {
		if t.Before(from) {
			continue
		}
		x := c.x(float64(t.UnixMilli()))
		draw.Draw(c, image.Rect(int(x), plotBottom, int(x)+1, plotBottom+5), image.NewUniform(markColor), image.Point{}, draw.Src)
		label := t.Format(layout)
		width := c.width(c.fonts.regular, 15, label)
		if left := x - width/2; left > end && left+width < room {
			if err := c.text(c.fonts.regular, 15, left, plotBottom+23, width+4, faintColor, label); err != nil {
				return err
			}
			end = left + width + 12
		}
	}
	return c.text(c.fonts.regular, 15, room+8, plotBottom+23, plotRight-room, faintColor, zone)
}

// timeStep is a round time of which 5 to 9 fit into a range, where there is one.
func timeStep(length time.Duration) time.Duration {
	for _, minutes := range []int{1, 2, 5, 10, 15, 30, 60, 120, 180, 360, 720} {
		if step := time.Duration(minutes) * time.Minute; length <= 8*step {
			return step
		}
	}
	return time.Duration(math.Ceil(length.Hours()/24/8)) * limits.Day
}

// ticks are round values between two others, about 5. Bytes are round in powers of 1024.
func ticks(low, high float64, unit string) []float64 {
	base := 1.0
	for unit == "bytes" && high-low > 2*base*1024 {
		base *= 1024
	}
	low, high = low/base, high/base
	step := math.Pow10(int(math.Floor(math.Log10((high - low) / 5))))
	for _, factor := range []float64{2, 2.5, 2} { // 2, 5, 10 times
		if (high-low)/step <= 6 {
			break
		}
		step *= factor
	}
	if step <= 0 || !finite(step) {
		return []float64{low * base}
	}
	var out []float64
	for n := math.Ceil(low / step); n*step <= high && len(out) < 12; n++ {
		out = append(out, n*step*base)
	}
	return out
}

// figure writes a value of a unit. A value in percent is a ratio.
func figure(unit string, v float64) string {
	switch unit {
	case "percent":
		return digits(100*v) + "%"
	case "duration_ms":
		switch size := math.Abs(v); {
		case size >= 60_000:
			return digits(v/60_000) + " min"
		case size >= 1000:
			return digits(v/1000) + " s"
		case size > 0 && size < 0.1:
			return digits(v*1000) + " µs"
		}
		return digits(v) + " ms"
	case "bytes":
		return short(v, 1024, "B", "KiB", "MiB", "GiB", "TiB", "PiB")
	case "requests_per_sec":
		return short(v, 1000, "", "k", "M", "G", "T", "P") + "/s"
	default:
		return short(v, 1000, "", "k", "M", "G", "T", "P")
	}
}

// short divides a value until it has at most three digits before the point.
func short(v, by float64, names ...string) string {
	i := 0
	for ; i < len(names)-1 && math.Abs(v) >= by*0.9995; i++ {
		v /= by
	}
	if by == 1024 {
		return digits(v) + " " + names[i]
	}
	return digits(v) + names[i]
}

// digits writes a number with about three digits.
func digits(v float64) string {
	switch size := math.Abs(v); {
	case size != 0 && size < 0.001, size >= 1e6:
		return strconv.FormatFloat(v, 'g', 2, 64)
	case size < 1:
		return trimmed(v, 3)
	case size < 10:
		return trimmed(v, 2)
	case size < 100:
		return trimmed(v, 1)
	default:
		return trimmed(v, 0)
	}
}

func trimmed(v float64, places int) string {
	text := strconv.FormatFloat(v, 'f', places, 64)
	if strings.Contains(text, ".") {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	if text == "-0" {
		return "0"
	}
	return text
}
