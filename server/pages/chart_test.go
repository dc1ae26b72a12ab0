package pages

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/structpb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
)

// seriesOf makes a series with a point each minute; NaN is a minute without one.
func seriesOf(name string, step time.Duration, values ...float64) *svcv2.ChartPictureSeries {
	start := time.Date(2026, 11, 28, 9, 3, 0, 0, time.UTC)
	out := &svcv2.ChartPictureSeries{Name: name}
	for i, v := range values {
		if !math.IsNaN(v) {
			out.Points = append(out.Points, &structpb.ListValue{Values: []*structpb.Value{
				structpb.NewNumberValue(float64(start.Add(time.Duration(i) * step).UnixMilli())), structpb.NewNumberValue(v),
			}})
		}
	}
	return out
}

// wave makes an hour of values about a middle, and a spike at the end.
func wave(middle, spike float64) (out []float64) {
	const n = 60
	for i := range n {
		v := middle * (1 + 0.2*math.Sin(float64(i)*0.7) + 0.1*math.Cos(float64(i)*2.1))
		if i >= n-4 {
			v = spike * (0.8 + 0.05*float64(i-n+4))
		}
		out = append(out, v)
	}
	return out
}

func charts() map[string]*svcv2.ChartPicture {
	limit := func(kind, unit, title string, threshold float64, side string, series ...*svcv2.ChartPictureSeries) *svcv2.ChartPicture {
		return &svcv2.ChartPicture{Kind: kind, Unit: unit, Title: title, Threshold: &threshold, BreachSide: &side, Series: series}
	}
	gaps := wave(120, 400)
	for i := 20; i < 35; i++ {
		gaps[i] = math.NaN()
	}
	var many []*svcv2.ChartPictureSeries
	for i, name := range []string{
		"checkout", "cart", "payment-gateway-with-a-very-long-name", "search", "عربى", "inventory", "seventh",
		"eighth",
	} {
		many = append(many, seriesOf(name, time.Minute, wave(100+20*float64(i), 300+40*float64(i))...))
	}
	ranks := &svcv2.ChartPicture{Kind: "ranked", Title: "Occurrences of errors", Unit: "number"}
	for i, name := range []string{
		"TypeError: cannot read properties of undefined (reading 'id') in checkout", "io.EOF in cart", "panic 💥 in payment", "数据库错误 in 订单", "x",
	} {
		ranks.Points = append(ranks.Points, &svcv2.ChartPicturePoint{Name: name, Value: math.Round(12_345 / math.Pow(4, float64(i)))})
	}
	return map[string]*svcv2.ChartPicture{
		"spike": limit("line", "percent", "Checkout fails · checkout", 0.05, "above", seriesOf("checkout", time.Minute, wave(0.01, 0.31)...)),
		"empty": limit("line", "duration_ms", "p95 of search", 500, "above", seriesOf("search", time.Minute)),
		"one":   limit("line", "duration_ms", "p95 of search", 500, "above", seriesOf("search", time.Minute, 1234)),
		"gaps":  limit("line", "duration_ms", "p95 of search", 350, "above", seriesOf("search", time.Minute, gaps...)),
		"below": limit("area", "number", "Nobody buys anything", 40, "below", seriesOf("orders", time.Minute, wave(90, 8)...)),
		"many":  limit("line", "number", "Queue length", 350, "above", many...),
		"script": limit("line", "number", "🔥🔥 "+strings.Repeat("Very long title of a rule ", 8)+"مرحبا بالعالم", 3, "none",
			seriesOf("a", time.Minute, 1, 2, 3, 4)),
		"rtl": limit("line", "bytes", "תור ההזמנות 🛒 مرحبا — очередь", 3<<20, "above",
			seriesOf("a", time.Hour, 1<<20, 2<<20, 5<<20, 4<<20, 1<<19)),
		"flat":   limit("line", "number", "Nothing", 0, "above", seriesOf("a", time.Minute, 0, 0, 0, 0)),
		"minus":  limit("line", "number", "Balance", -50, "below", seriesOf("a", time.Minute, 10, -20, -80, 30)),
		"absurd": limit("line", "requests_per_sec", "Huge", 1e300, "above", seriesOf("a", time.Minute, 1e300, -1e300, math.Inf(1), 5e-324)),
		"days":   limit("bar", "number", "Days", 5, "above", seriesOf("a", 24*time.Hour, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12)),
		"bars": {
			Kind: "bar", Title: "TypeError in checkout", Unit: "number",
			Series: []*svcv2.ChartPictureSeries{seriesOf("Occurrences", time.Hour, 0, 0, 3, 1, 0, 0, 12, 40, 2, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0,
				0, 9, 31)},
		},
		"ranked": ranks,
		"blank":  {},
	}
}

// pixels counts the pixels of a colour in a part of a picture.
func pixels(p image.Image, area image.Rectangle, of color.RGBA) (n int) {
	for y := area.Min.Y; y < area.Max.Y; y++ {
		for x := area.Min.X; x < area.Max.X; x++ {
			if r, g, b, _ := p.At(x, y).RGBA(); uint8(r>>8) == of.R && uint8(g>>8) == of.G && uint8(b>>8) == of.B {
				n++
			}
		}
	}
	return n
}

// TestDrawChart checks that every shape of data gives a picture of the required size with its parts. With SVC_TEST_PICTURES, the pictures
// are written to that folder for people to look at.
func TestDrawChart(t *testing.T) {
	f, err := parseFonts()
	if err != nil {
		t.Fatal(err)
	}
	drawn := map[string]image.Image{}
	for name, chart := range charts() {
		began := time.Now()
		b, err := drawChart(f, chart)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		t.Logf("%s: %d bytes in %s", name, len(b), time.Since(began).Round(time.Millisecond))
		if folder := os.Getenv("SVC_TEST_PICTURES"); folder != "" {
			if err := os.WriteFile(filepath.Join(folder, name+".png"), b, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		p, err := png.Decode(bytes.NewReader(b))
		if err != nil || p.Bounds().Dx() != chartWidth || p.Bounds().Dy() != chartHeight || len(b) > 60<<10 {
			t.Fatalf("%s: %d bytes, %v", name, len(b), err)
		}
		// A client with dark colours shows it as well as a light one: no pixel lets the client's ground through.
		if o, ok := p.(interface{ Opaque() bool }); !ok || !o.Opaque() {
			t.Errorf("%s is not opaque", name)
		}
		for y := 1; y < chartHeight-1; y++ {
			if pixels(p, image.Rect(1, y, 8, y+1), color.RGBA{0xff, 0xff, 0xff, 0xff}) != 7 {
				t.Errorf("%s: something stands in the margin at %d", name, y)
				break
			}
		}
		drawn[name] = p
	}
	white, plot := color.RGBA{0xff, 0xff, 0xff, 0xff}, image.Rect(plotLeft, 70, plotRight, plotBottom)
	shaded := color.RGBA{0xfa, 0xe9, 0xea, 0xff}
	for name, want := range map[string]struct{ line, shade, data bool }{
		"spike": {true, true, true}, "empty": {true, true, false}, "one": {true, true, true}, "below": {true, true, true},
		"many":   {true, true, true},
		"script": {true, false, true}, "bars": {false, false, true}, "minus": {true, true, true}, "blank": {},
	} {
		for part, found := range map[string][2]bool{
			"threshold": {pixels(drawn[name], plot, limitColor) > 500, want.line},
			"shade":     {pixels(drawn[name], plot, shaded) > 1000, want.shade},
			"data":      {pixels(drawn[name], plot, accentColor) > 40, want.data},
		} {
			if found[0] != found[1] {
				t.Errorf("%s: %s is drawn: %t, want %t", name, part, found[0], found[1])
			}
		}
		if pixels(drawn[name], plot, white) < 1000 {
			t.Errorf("%s: the ground is gone", name)
		}
	}
	// The shade is on the side of the breach: above the threshold of an error rate, below that of orders.
	half := image.Rect(plotLeft+120, 71, plotRight-60, 90)
	low := image.Rect(plotLeft+120, plotBottom-10, plotRight-60, plotBottom-2)
	if pixels(drawn["spike"], half, shaded) == 0 || pixels(drawn["spike"], low, shaded) > 0 {
		t.Error("the shade of `above` is on the wrong side")
	}
	if pixels(drawn["below"], half, shaded) > 0 || pixels(drawn["below"], image.Rect(plotRight-25, plotBottom-60, plotRight, plotBottom),
		shaded) == 0 {
		t.Error("the shade of `below` is on the wrong side")
	}
}

// TestFigures checks how values are written.
func TestFigures(t *testing.T) {
	for want, got := range map[string]string{
		"5%": figure("percent", 0.05), "12.3%": figure("percent", 0.1234), "0%": figure("percent", 0), "120 ms": figure("duration_ms", 120.4),
		"1.5 s": figure("duration_ms", 1500), "2 min": figure("duration_ms", 120_000), "50 µs": figure("duration_ms", 0.05),
		"1.5 KiB": figure("bytes", 1536), "12 B": figure("bytes", 12), "3.4k": figure("number", 3400), "1.23M": figure("number", 1_234_000),
		"12/s": figure("requests_per_sec", 12), "-4.5": figure("number", -4.5), "1k": figure("number", 999.9), "1e-05": figure("number", 0.00001),
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestWritten checks what is left of texts in scripts that the typeface does not have.
func TestWritten(t *testing.T) {
	f, err := parseFonts()
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"Checkout — Ωμέγα, очередь": "Checkout — Ωμέγα, очередь", "🔥 hot": " hot", "数据库 error": "… error", "مرحبا": "…", "a\u202eb": "ab", "": "",
	} {
		if got := f.written(f.bold, text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
