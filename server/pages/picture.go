package pages

import (
	"bytes"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"math"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/gobold"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/math/fixed"
	"golang.org/x/image/vector"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/limits"
)

// Size of the picture of a share link. Programs that preview links ask for this size.
const (
	pictureWidth  = 1200
	pictureHeight = 630
	pictureMargin = 56

	gridColumns = limits.GridColumns
	// gridRows is the largest number of rows of a dashboard in the picture. A dashboard with fewer than gridFewest rows gets no
	// taller tiles.
	gridRows   = 26
	gridFewest = 12
)

var (
	inkColor    = color.RGBA{0x17, 0x21, 0x1f, 0xff}
	faintColor  = color.RGBA{0x5d, 0x6b, 0x68, 0xff}
	groundColor = color.RGBA{0xf4, 0xf6, 0xf5, 0xff}
	lineColor   = color.RGBA{0xdd, 0xe3, 0xe1, 0xff}
	markColor   = color.RGBA{0xb5, 0xd3, 0xcf, 0xff}
	accentColor = color.RGBA{0x14, 0x6c, 0x63, 0xff}
)

// fonts are the typefaces of pictures. They have Latin, Greek and Cyrillic letters; all others appear as boxes.
type fonts struct{ regular, bold *opentype.Font }

func parseFonts() (f fonts, err error) {
	if f.regular, err = opentype.Parse(goregular.TTF); err != nil {
		return f, err
	}
	f.bold, err = opentype.Parse(gobold.TTF)
	return f, err
}

// canvas is a picture that is being drawn.
type canvas struct {
	*image.RGBA
	fonts fonts
}

// drawCard draws the picture of a share link: its title, its organization, and the layout of its widgets. It contains no data.
func drawCard(f fonts, card *svcv2.ShareOgCard) ([]byte, error) {
	c := &canvas{image.NewRGBA(image.Rect(0, 0, pictureWidth, pictureHeight)), f}
	draw.Draw(c, c.Bounds(), image.NewUniform(groundColor), image.Point{}, draw.Src)
	const inner = pictureWidth - 2*pictureMargin
	c.box(pictureMargin, 44, 40, 40, 10, accentColor)
	for i, line := range [][2]float64{{8, 15}, {15, 17}, {12, 10}} {
		c.box(pictureMargin+line[0], 44+11+7*float64(i), line[1], 3.6, 1.8, color.White)
	}
	if err := c.text(f.regular, 26, pictureMargin+56, 73, inner-56, faintColor, card.GetOrg().GetName()); err != nil {
		return nil, err
	}
	if err := c.text(f.bold, 58, pictureMargin, 158, inner, inkColor, card.GetTitle()); err != nil {
		return nil, err
	}
	if err := c.text(f.regular, 28, pictureMargin, 206, inner, faintColor, card.GetDescription()); err != nil {
		return nil, err
	}
	if err := c.tiles(card.GetTiles(), pictureMargin, 240, inner, pictureHeight-240); err != nil {
		return nil, err
	}
	var out bytes.Buffer
	err := png.Encode(&out, c)
	return out.Bytes(), err
}

// tiles draws the widgets in a rectangle. Its lower edge cuts off the tiles below it. Sections stand below each other. The tabs
// of a section share one place, so only the first tab is drawn.
func (c *canvas) tiles(all []*svcv2.ShareOgTile, left, top, width, height float64) error {
	var placed []*svcv2.ShareOgTile
	var sections []string
	for _, t := range all {
		if !slices.Contains(sections, t.GetSection()) {
			sections = append(sections, t.GetSection())
		}
	}
	offset := 0.0
	for _, section := range sections {
		end := offset
		for _, t := range all {
			if t.GetSection() != section {
				continue
			}
			at := &svcv2.ShareOgTile{X: t.X, Y: t.Y + offset, W: t.W, H: t.H, Title: t.Title, Visualization: t.Visualization}
			if !slices.ContainsFunc(placed, func(o *svcv2.ShareOgTile) bool { return overlap(at, o) }) {
				placed = append(placed, at)
				end = max(end, at.Y+at.H)
			}
		}
		offset = end
	}
	column, row := width/gridColumns, height/min(max(offset, gridFewest), gridRows)
	const gap = 5
	for _, t := range placed {
		x, y, w, h := left+t.X*column+gap, top+t.Y*row+gap, t.W*column-2*gap, t.H*row-2*gap
		if w < 1 || h < 1 || y >= pictureHeight {
			continue
		}
		c.box(x, y, w, h, 8, lineColor)
		c.box(x+1.5, y+1.5, w-3, h-3, 7, color.White)
		if h > 34 {
			if err := c.text(c.fonts.bold, 17, x+14, y+27, w-28, inkColor, t.GetTitle()); err != nil {
				return err
			}
		}
		c.mark(t.GetVisualization(), x+14, y+42, w-28, h-56)
	}
	return nil
}

func overlap(a, b *svcv2.ShareOgTile) bool {
	return a.X < b.X+b.W && b.X < a.X+a.W && a.Y < b.Y+b.H && b.Y < a.Y+a.H
}

// mark draws a symbol for the visualization of a widget.
func (c *canvas) mark(visualization string, x, y, w, h float64) {
	h, w = min(h, 84), min(w, 150)
	if h < 18 || w < 40 {
		return
	}
	switch visualization {
	case "stat", "gauge":
		c.box(x, y, min(w, 84), min(h, 26), 6, markColor)
	case "table", "list", "markdown":
		for i := 0.0; (i+1)*18 <= h; i++ {
			c.box(x, y+i*18, w*(1-0.3*math.Mod(i, 2)), 7, 3.5, markColor)
		}
	case "hbar", "funnel", "paths":
		for i := 0.0; (i+1)*22 <= h; i++ {
			c.box(x, y+i*22, w*(1-0.24*i), 14, 4, markColor)
		}
	case "pie":
		d := min(w, h)
		c.box(x, y, d, d, d/2, markColor)
	default:
		for i := range 6 {
			part := h * []float64{0.45, 0.7, 0.55, 1, 0.8, 0.6}[i]
			c.box(x+w/6*float64(i), y+h-part, w/6-5, part, 3, markColor)
		}
	}
}

// box fills a rectangle with round corners.
func (c *canvas) box(x, y, w, h, radius float64, fill color.Color) {
	if w <= 0 || h <= 0 {
		return
	}
	radius = min(radius, w/2, h/2)
	bounds := image.Rect(int(x), int(y), int(math.Ceil(x+w)), int(math.Ceil(y+h))).Intersect(c.Bounds())
	if bounds.Empty() {
		return
	}
	r := vector.NewRasterizer(bounds.Dx(), bounds.Dy())
	at := func(px, py float64) (float32, float32) {
		return float32(px - float64(bounds.Min.X)), float32(py - float64(bounds.Min.Y))
	}
	// round places the control points of a curve that stands for a quarter of a circle: this fraction of the way to the corner.
	const round = 0.5523
	corner := func(fx, fy, cx, cy, ex, ey float64) {
		ax, ay := at(fx+(cx-fx)*round, fy+(cy-fy)*round)
		bx, by := at(ex+(cx-ex)*round, ey+(cy-ey)*round)
		px, py := at(ex, ey)
		r.CubeTo(ax, ay, bx, by, px, py)
	}
	r.MoveTo(at(x+radius, y))
	r.LineTo(at(x+w-radius, y))
	corner(x+w-radius, y, x+w, y, x+w, y+radius)
	r.LineTo(at(x+w, y+h-radius))
	corner(x+w, y+h-radius, x+w, y+h, x+w-radius, y+h)
	r.LineTo(at(x+radius, y+h))
	corner(x+radius, y+h, x, y+h, x, y+h-radius)
	r.LineTo(at(x, y+radius))
	corner(x, y+radius, x, y, x+radius, y)
	r.ClosePath()
	r.Draw(c, bounds, image.NewUniform(fill), image.Point{})
}

// text writes one line. A line that is wider than the given width is cut and ends with an ellipsis; y is the baseline.
func (c *canvas) text(f *opentype.Font, size, x, y, width float64, fill color.Color, text string) error {
	text = strings.Join(strings.FieldsFunc(text, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }), " ")
	if text == "" || width <= 0 {
		return nil
	}
	face, err := opentype.NewFace(f, &opentype.FaceOptions{Size: size, DPI: 72, Hinting: font.HintingNone})
	if err != nil {
		return err
	}
	defer func() { _ = face.Close() }()
	room := fixed.Int26_6(width * 64)
	runes := []rune(text)
	if len(runes) > 400 { // no line has room for more
		runes = runes[:400]
	}
	for cut := len(runes); font.MeasureString(face, text) > room; cut-- {
		if cut == 0 {
			return nil
		}
		text = strings.TrimRight(string(runes[:cut-1]), " ") + "…"
	}
	(&font.Drawer{
		Dst: c, Src: image.NewUniform(fill), Face: face,
		Dot: fixed.Point26_6{X: fixed.Int26_6(x * 64), Y: fixed.Int26_6(y * 64)},
	}).DrawString(
		text,
	)
	return nil
}
