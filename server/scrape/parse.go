package scrape

import (
	"bytes"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/exemplar"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/textparse"

	"github.com/svc-observability/svc/server/limits"
)

// reader turns an exposition into families of points. It is reused; only one goroutine uses it at a time.
type reader struct {
	seed     maphash.Seed
	reserved []string // names of the target's labels, sorted
	started  int64    // nanoseconds

	family  family
	known   map[string]metadata
	labels  labels.Labels
	samples int
	// openMetrics says that samples named _created are times of creation. protobuf has them in the metrics.
	openMetrics, protobuf bool
	emit                  func(*family) error
}

// metadata is the type of a metric whose samples are not all together.
type metadata struct {
	help, unit string
	kind       model.MetricType
}

// read calls emit with each family of the page, in order. The error names the first thing that is wrong; nothing of the page may be used
// then.
func (r *reader) read(p page) (err error) {
	defer func() {
		// The parser of the library checks native histograms only after it has used them.
		if v := recover(); v != nil {
			err = fmt.Errorf("the answer cannot be read: %v", v)
		}
	}()
	contentType := strings.ToLower(p.contentType)
	r.protobuf = strings.HasPrefix(contentType, "application/vnd.google.protobuf")
	r.openMetrics = strings.HasPrefix(contentType, "application/openmetrics-text")
	r.samples = 0
	clear(r.known)
	r.family.reset("")
	body := p.body
	if !r.protobuf && !r.openMetrics && len(body) > 0 && body[len(body)-1] != '\n' {
		body = append(slices.Clip(body), '\n') // many hand-written exporters forget the last one
	}
	parser, err := textparse.New(body, p.contentType, labels.NewSymbolTable(), textparse.ParserOptions{FallbackContentType: "text/plain"})
	if parser == nil {
		return fmt.Errorf("the answer cannot be read: %w", err)
	}
	if !r.protobuf && looksLikeHTML(body, contentType) {
		return errors.New("the answer is a web page, not metrics; check the path of the URL")
	}
	for {
		entry, err := parser.Next()
		if errors.Is(err, io.EOF) {
			return r.flush()
		}
		if err != nil {
			return fmt.Errorf("the answer is not in a format of Prometheus: %s", clip(err.Error()))
		}
		if err := r.entry(parser, entry); err != nil {
			return err
		}
	}
}

func looksLikeHTML(body []byte, contentType string) bool {
	return strings.HasPrefix(contentType, "text/html") || bytes.HasPrefix(bytes.TrimSpace(body[:min(len(body), 64)]), []byte("<"))
}

// clip shortens a text of the library, which may quote the answer.
func clip(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if r := []rune(s); len(r) > 200 {
		return string(r[:200]) + "…"
	}
	return s
}

func (r *reader) entry(parser textparse.Parser, entry textparse.Entry) error {
	switch entry {
	case textparse.EntryType:
		name, kind := parser.Type()
		if err := r.begin(name); err != nil {
			return err
		}
		r.family.kind = kind
		r.remember()
		return nil
	case textparse.EntryHelp:
		name, help := parser.Help()
		if err := r.begin(name); err != nil {
			return err
		}
		r.family.help = strings.ToValidUTF8(string(help), "\uFFFD")
		r.remember()
		return nil
	case textparse.EntryUnit:
		name, unit := parser.Unit()
		if err := r.begin(name); err != nil {
			return err
		}
		r.family.unit = strings.ToValidUTF8(string(unit), "\uFFFD")
		r.remember()
		return nil
	case textparse.EntrySeries:
		_, at, value := parser.Series()
		return r.sample(parser, at, value)
	case textparse.EntryHistogram:
		return r.native(parser)
	default: // comments
		return nil
	}
}

// begin continues the family with this name, or ends the one before and begins it.
func (r *reader) begin(name []byte) error {
	if string(name) == r.family.name {
		return nil
	}
	if !utf8.Valid(name) {
		return errors.New("the answer has a metric whose name is not valid UTF-8")
	}
	if err := r.flush(); err != nil {
		return err
	}
	r.family.reset(string(name))
	if m, ok := r.known[r.family.name]; ok {
		r.family.help, r.family.unit, r.family.kind = m.help, m.unit, m.kind
	}
	return nil
}

func (r *reader) remember() {
	r.known[r.family.name] = metadata{r.family.help, r.family.unit, r.family.kind}
}

func (r *reader) flush() error {
	if len(r.family.points) == 0 {
		return nil
	}
	err := r.emit(&r.family)
	r.family.points, r.family.attributes = r.family.points[:0], r.family.attributes[:0]
	clear(r.family.byHash)
	return err
}

// suffixes are the endings of samples of a family, by its type.
func suffixes(kind model.MetricType) []string {
	switch kind {
	case model.MetricTypeCounter:
		return []string{"_total", "_created"}
	case model.MetricTypeHistogram:
		return []string{"_bucket", "_sum", "_count", "_created"}
	case model.MetricTypeGaugeHistogram:
		return []string{"_bucket", "_gsum", "_gcount"}
	case model.MetricTypeSummary:
		return []string{"_sum", "_count", "_created"}
	case model.MetricTypeInfo:
		return []string{"_info"}
	default:
		return nil
	}
}

// ending returns the part of a sample's name after that of its family. ok is false if the sample belongs to another family.
func (f *family) ending(name string) (suffix string, ok bool) {
	suffix, ok = strings.CutPrefix(name, f.name)
	if !ok || f.name == "" {
		return "", false
	}
	return suffix, suffix == "" || slices.Contains(suffixes(f.kind), suffix)
}

func (r *reader) count() error {
	if r.samples++; r.samples > limits.ScrapeSamples {
		return fmt.Errorf("the answer has more than %s samples, which is the most that is read", limits.Number(limits.ScrapeSamples))
	}
	return nil
}

func (r *reader) sample(parser textparse.Parser, at *int64, value float64) error {
	if err := r.count(); err != nil {
		return err
	}
	parser.Labels(&r.labels)
	name := r.labels.Get(model.MetricNameLabel)
	suffix, ok := r.family.ending(name)
	if !ok {
		if err := r.begin([]byte(name)); err != nil {
			return err
		}
		suffix = ""
	}
	f := &r.family
	// In the text format 0.0.4, a series named _created is an ordinary gauge.
	if suffix == "_created" && !r.openMetrics {
		if err := r.begin([]byte(name)); err != nil {
			return err
		}
		suffix = ""
	}
	apart, role := "", suffix
	switch {
	case f.kind == model.MetricTypeHistogram && suffix == "_bucket":
		apart = "le"
	case f.kind == model.MetricTypeSummary && suffix == "" && r.labels.Has("quantile"):
		apart, role = "quantile", "_quantile"
	case f.kind == model.MetricTypeGaugeHistogram, f.kind == model.MetricTypeInfo, f.kind == model.MetricTypeCounter && suffix == "_total":
		// Each sample is a series of its own, under its own name.
		role = ""
	}
	p, place, err := r.point(name, suffix, apart, at)
	if err != nil {
		return err
	}
	p.samples++
	if r.protobuf {
		p.start = parser.StartTimestamp()
	}
	switch role {
	case "_bucket", "_quantile":
		bound, err := strconv.ParseFloat(place, 64)
		if err != nil || math.IsNaN(bound) {
			return fmt.Errorf("a sample of %s has the label %s=%q, which is not a number", name, apart, clip(place))
		}
		p.buckets, p.has = append(p.buckets, bucket{bound, value}), true
	case "_sum":
		p.sum, p.hasSum, p.has = value, true, true
	case "_count":
		p.count, p.hasCount, p.has = value, true, true
	case "_created":
		if value > 0 && value < math.MaxInt64/1e9 {
			p.start = int64(value * 1000)
		}
	default:
		if !p.has { // of two samples of one series, the first counts, as in Prometheus
			p.name, p.value, p.has = name, value, true
		}
	}
	var e exemplar.Exemplar
	if parser.Exemplar(&e) {
		p.exemplars = appendExemplar(p.exemplars, &e, uint64(r.started))
	}
	return nil
}

func (r *reader) native(parser textparse.Parser) error {
	if err := r.count(); err != nil {
		return err
	}
	_, at, whole, float := parser.Histogram()
	parser.Labels(&r.labels)
	name := r.labels.Get(model.MetricNameLabel)
	if err := r.begin([]byte(name)); err != nil {
		return err
	}
	p, _, err := r.point(name, "", "", at)
	if err != nil {
		return err
	}
	p.samples++
	p.start, p.has = parser.StartTimestamp(), true
	if whole != nil {
		p.native, err = ofHistogram(whole)
	} else {
		p.native, err = ofFloatHistogram(float)
	}
	if err != nil {
		return fmt.Errorf("the native histogram %s cannot be read: %w", name, err)
	}
	for e := (exemplar.Exemplar{}); parser.Exemplar(&e); e = (exemplar.Exemplar{}) {
		p.exemplars = appendExemplar(p.exemplars, &e, uint64(r.started))
	}
	return nil
}

// point finds or makes the point of a sample. apart is the label that tells the parts of a point apart; place is its value.
func (r *reader) point(name, suffix, apart string, at *int64) (p *point, place string, err error) {
	f := &r.family
	from, n := len(f.attributes), 0
	r.labels.Range(func(l labels.Label) {
		switch {
		case l.Name == model.MetricNameLabel:
			return
		case l.Name == apart:
			place = l.Value
			return
		case len(l.Value) > limits.ScrapeLabelValue && err == nil:
			err = fmt.Errorf("the label %s of %s has %d bytes; at most %d are read", clip(l.Name), name, len(l.Value), limits.ScrapeLabelValue)
		case (!utf8.ValidString(l.Value) || !utf8.ValidString(l.Name)) && err == nil:
			err = fmt.Errorf("a label of %s is not valid UTF-8", name)
		}
		n++
		if l.Value == "" {
			return // in Prometheus, a label with the empty value does not count
		}
		key := l.Name
		for slices.Contains(r.reserved, key) || key != l.Name && r.labels.Has(key) {
			key = "exported_" + key
		}
		f.attributes = appendKeyValue(f.attributes, numberAttributes, key, l.Value)
	})
	if err != nil {
		return nil, "", err
	}
	if n > limits.ScrapeLabels {
		return nil, "", fmt.Errorf("a sample of %s has %d labels; at most %d are read", name, n, limits.ScrapeLabels)
	}
	var h maphash.Hash
	h.SetSeed(r.seed)
	_, _ = h.WriteString(f.name)
	if f.kind == model.MetricTypeGaugeHistogram || f.kind == model.MetricTypeInfo {
		_, _ = h.WriteString(suffix)
	}
	_ = h.WriteByte(0)
	_, _ = h.Write(f.attributes[from:])
	sum := h.Sum64()
	if i, ok := f.byHash[sum]; ok {
		f.attributes = f.attributes[:from]
		return &f.points[i], place, nil
	}
	f.byHash[sum] = len(f.points)
	if len(f.points) < cap(f.points) { // keeps the memory of its lists
		f.points = f.points[:len(f.points)+1]
	} else {
		f.points = append(f.points, point{})
	}
	p = &f.points[len(f.points)-1]
	*p = point{from: from, to: len(f.attributes), hash: sum, buckets: p.buckets[:0], exemplars: p.exemplars[:0], name: name}
	if at != nil {
		p.millis = *at
	}
	return p, place, nil
}
