package pages

import (
	"cmp"
	"image"
	"image/color"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/image/font"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/vector"
)

// lineWidth is the width of a line in pixels.
const lineWidth = 2.6

// spot is a place in the picture.
type spot struct{ x, y float64 }

// runs splits the points of a series where data is missing. A rule that was evaluated at few minutes has points that are far apart, which
// is not a gap.
func (c *chartCanvas) runs(dots []dot) (out [][]spot) {
	gap := max(2.5*c.step, (c.last-c.first)/8)
	for i, d := range dots {
		if i == 0 || d.at-dots[i-1].at > gap {
			out = append(out, nil)
		}
		n := len(out) - 1
		out[n] = append(out[n], spot{c.x(d.at), c.y(d.value)})
	}
	return out
}

// line draws a series as a line. A point without neighbours, and the last one, are dots.
func (c *chartCanvas) line(dots []dot, fill color.Color) {
	runs := c.runs(dots)
	for i, run := range runs {
		c.stroke(run, fill)
		if last := run[len(run)-1]; len(run) == 1 || i == len(runs)-1 {
			c.box(last.x-4.5, last.y-4.5, 9, 9, 4.5, fill)
		}
	}
}

// under colours the area below a series.
func (c *chartCanvas) under(dots []dot, of color.RGBA) {
	const opacity = 0x38
	part := func(v uint8) uint8 { return uint8(int(v) * opacity / 0xff) }
	fill := color.RGBA{part(of.R), part(of.G), part(of.B), opacity}
	ground := c.y(0)
	for _, run := range c.runs(dots) {
		c.polygon(fill, append(append([]spot{{run[0].x, ground}}, run...), spot{run[len(run)-1].x, ground}))
	}
}

// bars draws a series as bars, which begin at their times.
func (c *chartCanvas) bars(dots []dot, fill color.Color) {
	ground := c.y(0)
	for _, d := range dots {
		left, right, y := c.x(d.at), c.x(d.at+c.step), c.y(d.value)
		gap := min(3, (right-left)*0.2)
		c.box(left+gap/2, min(y, ground), right-left-gap, math.Abs(ground-y), 2, fill)
	}
}

// stroke draws a line through places.
func (c *chartCanvas) stroke(through []spot, fill color.Color) {
	var shapes [][]spot
	const half = lineWidth / 2
	for i, p := range through {
		shapes = append(shapes, circle(p, half))
		if i == 0 {
			continue
		}
		q := through[i-1]
		length := math.Hypot(p.x-q.x, p.y-q.y)
		if length == 0 {
			continue
		}
		nx, ny := -(p.y-q.y)/length*half, (p.x-q.x)/length*half
		shapes = append(shapes, []spot{{q.x + nx, q.y + ny}, {q.x - nx, q.y - ny}, {p.x - nx, p.y - ny}, {p.x + nx, p.y + ny}})
	}
	c.polygon(fill, shapes...)
}

// circle has the direction of the parts of a stroke: parts that overlap must have the same one, or they erase each other.
func circle(at spot, radius float64) []spot {
	const corners = 8
	out := make([]spot, corners)
	for i := range out {
		angle := 2 * math.Pi * float64(i) / corners
		out[i] = spot{at.x + radius*math.Cos(angle), at.y + radius*math.Sin(angle)}
	}
	return out
}

// polygon fills shapes together, so that their overlaps do not show.
func (c *chartCanvas) polygon(fill color.Color, shapes ...[]spot) {
	r := vector.NewRasterizer(chartWidth, chartHeight)
	for _, shape := range shapes {
		for i, p := range shape {
			if i == 0 {
				r.MoveTo(float32(p.x), float32(p.y))
			} else {
				r.LineTo(float32(p.x), float32(p.y))
			}
		}
		r.ClosePath()
	}
	r.Draw(c, c.Bounds(), image.NewUniform(fill), image.Point{})
}

// width measures a text in pixels.
func (c *canvas) width(f *opentype.Font, size float64, text string) float64 {
	face, err := opentype.NewFace(f, &opentype.FaceOptions{Size: size, DPI: 72, Hinting: font.HintingNone})
	if err != nil {
		return 0 // the text is not written either
	}
	defer func() { _ = face.Close() }()
	return float64(font.MeasureString(face, text)) / 64
}

// written is the part of a text for which the typeface has letters. Letters of other scripts become an ellipsis, which says that
// something is missing; the message beside the picture has all of it. Symbols such as emoji are left out.
func (f fonts) written(of *opentype.Font, text string) string {
	var buffer sfnt.Buffer
	var out strings.Builder
	missing := false
	for _, r := range text {
		switch glyph, err := of.GlyphIndex(&buffer, r); {
		case err == nil && glyph != 0 || unicode.IsSpace(r):
			if missing && !unicode.IsSpace(r) {
				missing = false
			}
			out.WriteRune(r)
		case unicode.IsLetter(r) || unicode.IsDigit(r):
			if !missing {
				out.WriteRune('…')
			}
			missing = true
		}
	}
	return out.String()
}

// paletted reduces a picture to its 256 most frequent colours, which makes its file several times smaller. It loses shades at the
// edges of letters and lines.
func paletted(from *image.RGBA) *image.Paletted {
	counts := map[color.RGBA]int{}
	for y := range from.Bounds().Dy() {
		for x := range from.Bounds().Dx() {
			counts[from.RGBAAt(x, y)]++
		}
	}
	frequent := slices.SortedFunc(maps.Keys(counts), func(a, b color.RGBA) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(packed(a), packed(b)))
	})
	var palette color.Palette
	for _, c := range frequent[:min(len(frequent), 256)] {
		palette = append(palette, c)
	}
	index := map[color.RGBA]uint8{}
	for i, c := range frequent {
		if i < len(palette) {
			index[c] = uint8(i)
		} else {
			index[c] = uint8(palette.Index(c))
		}
	}
	out := image.NewPaletted(from.Bounds(), palette)
	for y := range from.Bounds().Dy() {
		for x := range from.Bounds().Dx() {
			out.SetColorIndex(x, y, index[from.RGBAAt(x, y)])
		}
	}
	return out
}

func packed(c color.RGBA) uint32 { return uint32(c.R)<<16 | uint32(c.G)<<8 | uint32(c.B) }
