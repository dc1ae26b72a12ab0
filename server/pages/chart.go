package pages

import (
	"bytes"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"math"
	"strconv"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
)

// Size of the picture of a chart. It is light whatever the client's colours are: a picture cannot know them, so it brings its own ground.
const (
	chartWidth  = 800
	chartHeight = 380

	plotLeft   = 88
	plotRight  = chartWidth - 30
	plotBottom = chartHeight - 46
	chartEdge  = 26
)

var (
	limitColor = color.RGBA{0xd1, 0x24, 0x2f, 0xff}
	// breachColor is limitColor with an opacity of 10 %, with its colours multiplied by the opacity.
	breachColor = color.RGBA{0x15, 0x04, 0x05, 0x1a}
	seriesColor = []color.RGBA{
		accentColor,
		{0x1f, 0x5f, 0xc4, 0xff},
		{0xb4, 0x5a, 0x00, 0xff},
		{0x7a, 0x3f, 0xb8, 0xff},
		{0x2e, 0x7d, 0x32, 0xff},
		{0xa8, 0x2a, 0x76, 0xff},
	}
)

// legendEntries is how many series the legend names.
const legendEntries = 6

// chartCanvas is the picture of a chart that is being drawn.
type chartCanvas struct {
	*canvas

	chart  *svcv2.ChartPicture
	series [][]dot
	// top is the upper edge of the plot. low and high are the values at its edges, first and last the times.
	top, low, high, first, last float64
	// step is the usual time between two points.
	step float64
}

// dot is a point of a series: milliseconds and value.
type dot struct{ at, value float64 }

// drawChart draws a chart.
func drawChart(f fonts, chart *svcv2.ChartPicture) ([]byte, error) {
	c := &chartCanvas{canvas: &canvas{image.NewRGBA(image.Rect(0, 0, chartWidth, chartHeight)), f}, chart: chart, top: 70}
	draw.Draw(c, c.Bounds(), image.NewUniform(lineColor), image.Point{}, draw.Src)
	draw.Draw(c, c.Bounds().Inset(1), image.NewUniform(color.White), image.Point{}, draw.Src)
	if err := c.text(f.bold, 23, chartEdge, 42, chartWidth-2*chartEdge, inkColor, f.written(f.bold, chart.GetTitle())); err != nil {
		return nil, err
	}
	paint := c.overTime
	if chart.GetKind() == "ranked" {
		paint = c.ranked
	}
	if err := paint(); err != nil {
		return nil, err
	}
	var out bytes.Buffer
	err := png.Encode(&out, paletted(c.RGBA))
	return out.Bytes(), err
}

// overTime draws the kinds line, area and bar.
func (c *chartCanvas) overTime() error {
	c.read()
	if err := c.legend(); err != nil {
		return err
	}
	if err := c.axes(); err != nil {
		return err
	}
	c.shade()
	for i, dots := range c.series {
		fill := seriesColor[i%len(seriesColor)]
		switch c.chart.GetKind() {
		case "bar":
			c.bars(dots, fill)
		case "area":
			c.under(dots, fill)
			c.line(dots, fill)
		default:
			c.line(dots, fill)
		}
	}
	return c.limit()
}

// read takes the points that can be drawn, and finds the ranges of the axes.
func (c *chartCanvas) read() {
	c.first, c.last, c.step = math.Inf(1), math.Inf(-1), math.Inf(1)
	low, high := math.Inf(1), math.Inf(-1)
	for _, s := range c.chart.GetSeries() {
		var dots []dot
		for _, p := range s.GetPoints() {
			if v := p.GetValues(); len(v) == 2 && finite(v[1].GetNumberValue()) && finite(v[0].GetNumberValue()) {
				d := dot{v[0].GetNumberValue(), v[1].GetNumberValue()}
				if n := len(dots); n > 0 && d.at > dots[n-1].at {
					c.step = min(c.step, d.at-dots[n-1].at)
				}
				dots = append(dots, d)
				c.first, c.last = min(c.first, d.at), max(c.last, d.at)
				low, high = min(low, d.value), max(high, d.value)
			}
		}
		c.series = append(c.series, dots)
	}
	if c.chart.Threshold != nil && finite(c.chart.GetThreshold()) {
		low, high = min(low, c.chart.GetThreshold()), max(high, c.chart.GetThreshold())
	}
	const minute = 60_000
	if math.IsInf(c.step, 0) {
		c.step = minute
	}
	switch {
	case c.chart.GetKind() == "bar":
		c.last += c.step // a bar stands for the time after its beginning
	case c.first == c.last:
		c.first, c.last = c.first-30*minute, c.last+30*minute
	}
	c.low, c.high = min(0, low), max(0, high)
	if math.IsInf(low, 0) {
		c.low, c.high = 0, 1
	}
	if c.low == c.high {
		c.high = c.low + 1
	}
	room := (c.high - c.low) * 0.1
	if c.high > 0 {
		c.high += room
	}
	if c.low < 0 {
		c.low -= room
	}
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// empty reports whether there is no point.
func (c *chartCanvas) empty() bool { return math.IsInf(c.first, 0) }

// x and y place a time and a value.
func (c *chartCanvas) x(at float64) float64 {
	return plotLeft + (at-c.first)/(c.last-c.first)*(plotRight-plotLeft)
}

func (c *chartCanvas) y(value float64) float64 {
	share := (value - c.low) / (c.high - c.low)
	return plotBottom - min(max(share, 0), 1)*(plotBottom-c.top)
}

// legend names the series, if there are several.
func (c *chartCanvas) legend() error {
	all := c.chart.GetSeries()
	if len(all) < 2 {
		return nil
	}
	shown := min(len(all), legendEntries)
	const perRow = 3
	const width = (chartWidth - 2*chartEdge) / perRow
	for i, s := range all[:shown] {
		x, y := float64(chartEdge+i%perRow*width), float64(68+i/perRow*22)
		c.box(x, y-10, 12, 12, 3, seriesColor[i%len(seriesColor)])
		name := s.GetName()
		if i == shown-1 && len(all) > shown {
			name += " and " + strconv.Itoa(len(all)-shown) + " more"
		}
		if err := c.text(c.fonts.regular, 15, x+19, y+1, width-32, inkColor, c.fonts.written(c.fonts.regular, name)); err != nil {
			return err
		}
	}
	c.top = float64(68 + (shown-1)/perRow*22 + 22)
	return nil
}

// shade colours the side of the threshold on which values breach.
func (c *chartCanvas) shade() {
	if c.chart.Threshold == nil {
		return
	}
	y := c.y(c.chart.GetThreshold())
	area := image.Rectangle{}
	switch c.chart.GetBreachSide() {
	case "above":
		area = image.Rect(plotLeft, int(c.top), plotRight, int(math.Round(y)))
	case "below":
		area = image.Rect(plotLeft, int(math.Round(y)), plotRight, plotBottom)
	}
	draw.Draw(c, area, image.NewUniform(breachColor), image.Point{}, draw.Over)
}

// limit draws the threshold over everything else.
func (c *chartCanvas) limit() error {
	if c.chart.Threshold == nil {
		return nil
	}
	y := int(math.Round(c.y(c.chart.GetThreshold())))
	for x := plotLeft; x < plotRight; x += 12 {
		draw.Draw(c, image.Rect(x, y-1, min(x+8, plotRight), y+1), image.NewUniform(limitColor), image.Point{}, draw.Src)
	}
	label := figure(c.chart.GetUnit(), c.chart.GetThreshold())
	width := c.width(c.fonts.bold, 15, label)
	at := float64(y - 7) // on the left, where the line of a breach seldom is
	if at-14 < c.top {
		at = float64(y + 19)
	}
	c.box(plotLeft+6, at-15, width+10, 19, 4, color.White)
	return c.text(c.fonts.bold, 15, plotLeft+11, at, width+4, limitColor, label)
}

// ranked draws the kind ranked: one bar for each name.
func (c *chartCanvas) ranked() error {
	points := c.chart.GetPoints()
	most := 0.0
	for _, p := range points {
		most = max(most, p.GetValue())
	}
	const names = 360
	height := min(46, float64(chartHeight-c.top-16)/float64(max(1, len(points))))
	for i, p := range points {
		y := c.top + float64(i)*height
		name := c.fonts.written(c.fonts.regular, p.GetName())
		if err := c.text(c.fonts.regular, 16, chartEdge, y+height/2+5, names-16, inkColor, name); err != nil {
			return err
		}
		const left, right = chartEdge + names, chartWidth - chartEdge - 70
		width := 0.0
		if most > 0 && finite(p.GetValue()) {
			width = max(2, p.GetValue()/most*(right-left))
		}
		c.box(left, y+4, width, height-8, 4, accentColor)
		if err := c.text(c.fonts.bold, 15, left+width+8, y+height/2+5, 70, inkColor, figure(c.chart.GetUnit(), p.GetValue())); err != nil {
			return err
		}
	}
	return nil
}
