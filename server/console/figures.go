package console

import (
	"math"
	"strconv"
	"strings"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"
)

// timeLayout is how tables write times. Titles say that they are in UTC.
const (
	timeLayout  = "2006-01-02 15:04:05"
	exactLayout = "2006-01-02 15:04:05.000"
)

func at(t *timestamppb.Timestamp) string {
	if t == nil {
		return "-"
	}
	return t.AsTime().UTC().Format(timeLayout)
}

func atExactly(t *timestamppb.Timestamp) string {
	if t == nil {
		return "-"
	}
	return t.AsTime().UTC().Format(exactLayout)
}

// figure writes a number with about three digits.
func figure(f float64) string {
	switch a := math.Abs(f); {
	case f == math.Trunc(f) && a < 1e15:
		return strconv.FormatFloat(f, 'f', 0, 64)
	case a >= 100:
		return strconv.FormatFloat(f, 'f', 0, 64)
	case a >= 10:
		return strconv.FormatFloat(f, 'f', 1, 64)
	case a >= 0.01:
		return strconv.FormatFloat(f, 'f', 2, 64)
	default:
		return strconv.FormatFloat(f, 'g', 3, 64)
	}
}

func count(f float64) string { return strconv.FormatFloat(math.Round(f), 'f', 0, 64) }

func percent(share float64) string { return figure(math.Round(share*10000) / 100) }

// share is a percentage with a colour that says how bad it is.
func share(f float64) cell {
	t := plain
	switch {
	case f >= 0.05:
		t = bad
	case f > 0.01:
		t = warned
	}
	return cell{percent(f), t}
}

func status(code string, failed bool) cell {
	if failed {
		return cell{"Error", bad}
	}
	return cell{code, plain}
}

var bars = []rune("▁▂▃▄▅▆▇█")

// sparkline draws values between 0 and the largest; a missing one is a space.
func sparkline(values []float64) string {
	top := 0.0
	for _, v := range values {
		if !math.IsNaN(v) {
			top = max(top, v)
		}
	}
	var out strings.Builder
	for _, v := range values {
		switch {
		case math.IsNaN(v):
			out.WriteRune(' ')
		case top <= 0 || v <= 0:
			out.WriteRune(bars[0])
		default:
			out.WriteRune(bars[min(len(bars)-1, int(v/top*float64(len(bars))))])
		}
	}
	return out.String()
}

func utcWindow(start, end *timestamppb.Timestamp) string {
	return at(start) + " to " + at(end) + " UTC (" + length(end.AsTime().Sub(start.AsTime())) + ")"
}

// length writes a length of time without the units that are zero at its end: 6h, not 6h0m0s.
func length(d time.Duration) string {
	text := d.Round(time.Second).String()
	for _, unit := range []string{"m0s", "h0m"} {
		if strings.HasSuffix(text, unit) {
			text = text[:len(text)-2]
		}
	}
	return text
}
