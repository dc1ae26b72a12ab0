package otlp

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/svc-observability/svc/server/limits"
)

// FromJSON turns an OTLP JSON request into the protobuf wire format that Walk reads. Errors are of type *Error; their path uses
// the names of the JSON body.
//
// It follows the OTLP specification: ids are hexadecimal in either case, other bytes are base64, enums are numbers only, and
// names are lowerCamelCase only. Unknown fields are ignored. 64-bit numbers may be text or number. A null counts as absent. If a
// field is given twice, the last one counts.
func FromJSON(signal Signal, body []byte) ([]byte, error) {
	if signal > Metrics {
		return nil, &Error{Reason: signal.String() + ": not an OTLP signal"}
	}
	if !utf8.Valid(body) {
		return nil, &Error{Reason: "the body is not valid UTF-8"}
	}
	p := &jsonParser{in: body, most: max(len(body), maxJSONWire), spare: 4*len(body) + 1<<20}
	out, err := p.message(make([]byte, 0, len(body)/2+64), signal.message())
	if p.tooLarge {
		return nil, ErrTooLarge
	}
	if err != nil {
		return nil, err
	}
	p.space()
	if p.at < len(p.in) {
		return nil, p.fail("unexpected text after the end of the request")
	}
	return out, nil
}

const (
	maxJSONNesting = limits.JSONDepth
	// maxJSONWire bounds the wire format, which can be larger than the JSON body: a number of one digit takes nine bytes on the
	// wire.
	maxJSONWire = limits.IngestDecompressed
)

// jsonParser reads JSON and writes protobuf as it goes. The first error stops it. Enclosing levels add their part of the path to
// the error.
type jsonParser struct {
	in      []byte
	at      int
	depth   int
	scratch []byte
	// most is the size of the wire format above which the parser sets tooLarge and gives up.
	most     int
	tooLarge bool
	// spare is the number of bytes that may still be moved for repeated fields.
	spare int
}

func (p *jsonParser) fail(reason string) *Error {
	return &Error{Reason: reason + " (at byte " + strconv.Itoa(p.at) + ")"}
}

func (p *jsonParser) space() {
	for p.at < len(p.in) {
		switch p.in[p.at] {
		case ' ', '\t', '\r', '\n':
			p.at++
		default:
			return
		}
	}
}

// peek returns the next byte after white space, or 0 at the end.
func (p *jsonParser) peek() byte {
	p.space()
	if p.at < len(p.in) {
		return p.in[p.at]
	}
	return 0
}

func (p *jsonParser) take(c byte) bool {
	if p.peek() != c {
		return false
	}
	p.at++
	return true
}

func (p *jsonParser) null() bool {
	if p.peek() == 'n' && p.word("null") {
		return true
	}
	return false
}

func (p *jsonParser) word(s string) bool {
	if len(p.in)-p.at < len(s) || string(p.in[p.at:p.at+len(s)]) != s {
		return false
	}
	p.at += len(s)
	return true
}

func (p *jsonParser) enter() *Error {
	if p.depth++; p.depth > maxJSONNesting {
		return p.fail("nested more than " + strconv.Itoa(maxJSONNesting) + " deep")
	}
	return nil
}

// extent is the range where a field was written. If the field is repeated, that range is cut out.
type extent struct{ from, to int }

// message appends the fields of the next object.
func (p *jsonParser) message(dst []byte, m message) ([]byte, *Error) {
	if !p.take('{') {
		return nil, p.fail("must be an object")
	}
	if err := p.enter(); err != nil {
		return nil, err
	}
	fields := schema[m]
	var written [16]extent
	var given uint32
	guess := 0
	for first := true; !p.take('}'); first = false {
		if !first && !p.take(',') {
			return nil, p.fail("expected a comma or }")
		}
		if p.peek() != '"' {
			return nil, p.fail("expected a field name in quotes")
		}
		name, err := p.text()
		if err != nil {
			return nil, err
		}
		index := findJSON(fields, name, guess)
		if index < 0 {
			if err := p.colon(); err != nil {
				return nil, err
			}
			if err := p.ignore(); err != nil {
				return nil, within(err, string(name))
			}
			continue
		}
		guess = index + 1
		f := &fields[index]
		if err := p.colon(); err != nil {
			return nil, err
		}
		if given&(1<<index) != 0 {
			if p.spare -= len(dst) - written[index].from; p.spare < 0 {
				return nil, within(p.fail("fields are given again too often"), f.json)
			}
			dst = cutOut(dst, &written, index)
		}
		given |= 1 << index
		from := len(dst)
		if !p.null() {
			if dst, err = p.field(dst, f); err != nil {
				return nil, within(err, f.json)
			}
		}
		written[index] = extent{from, len(dst)}
	}
	p.depth--
	return dst, nil
}

func (p *jsonParser) colon() *Error {
	if !p.take(':') {
		return p.fail("expected a colon")
	}
	return nil
}

// findJSON finds a field by its JSON name. Exporters write fields in one order, so the guess is nearly always right.
func findJSON(fields []field, name []byte, guess int) int {
	if guess < len(fields) && fields[guess].json == string(name) {
		return guess
	}
	for i := range fields {
		if fields[i].json == string(name) {
			return i
		}
	}
	return -1
}

func within(err *Error, name string) *Error {
	err.prepend(name)
	return err
}

func (p *jsonParser) field(dst []byte, f *field) ([]byte, *Error) {
	if !f.repeated {
		return p.value(dst, f)
	}
	if !p.take('[') {
		return nil, p.fail("must be an array")
	}
	if err := p.enter(); err != nil {
		return nil, err
	}
	for i := 0; !p.take(']'); i++ {
		if i > 0 && !p.take(',') {
			return nil, p.fail("expected a comma or ]")
		}
		if p.peek() == 'n' {
			return nil, within(p.fail("null is not allowed in an array"), "["+strconv.Itoa(i)+"]")
		}
		var err *Error
		if dst, err = p.value(dst, f); err != nil {
			return nil, within(err, "["+strconv.Itoa(i)+"]")
		}
	}
	p.depth--
	return dst, nil
}

// value appends one value with its tag.
func (p *jsonParser) value(dst []byte, f *field) ([]byte, *Error) {
	if len(dst) > p.most {
		p.tooLarge = true
		return nil, p.fail("the request is too large")
	}
	dst = binary.AppendUvarint(dst, uint64(f.number)<<3|f.kind.wire())
	switch f.kind {
	case kindMessage:
		from, deep := len(dst), p.depth >= longLengths
		dst = keepLength(dst, deep)
		dst, err := p.message(dst, f.of)
		if err != nil {
			return nil, err
		}
		return setLength(dst, from, deep), nil
	case kindString:
		s, err := p.quoted()
		if err != nil {
			return nil, err
		}
		dst = binary.AppendUvarint(dst, uint64(len(s)))
		return append(dst, s...), nil
	case kindID, kindBytes:
		s, err := p.quoted()
		if err != nil {
			return nil, err
		}
		return p.appendBytes(dst, s, f.kind)
	case kindBool:
		p.space()
		switch {
		case p.word("true"):
			return append(dst, 1), nil
		case p.word("false"):
			return append(dst, 0), nil
		}
		return nil, p.fail("must be true or false")
	case kindDouble:
		v, err := p.double()
		if err != nil {
			return nil, err
		}
		return binary.LittleEndian.AppendUint64(dst, math.Float64bits(v)), nil
	default:
		return p.integer(dst, f.kind)
	}
}

func (p *jsonParser) appendBytes(dst, s []byte, k kind) ([]byte, *Error) {
	if k == kindID {
		dst = binary.AppendUvarint(dst, uint64(hex.DecodedLen(len(s))))
		from := len(dst)
		dst = append(dst, s...)
		n, err := hex.Decode(dst[from:], s)
		if err != nil {
			return nil, p.fail("must be hexadecimal digits, two for each byte")
		}
		return dst[:from+n], nil
	}
	enc := base64.StdEncoding
	if strings.ContainsAny(string(s), "-_") {
		enc = base64.URLEncoding
	}
	if len(s)%4 != 0 {
		enc = enc.WithPadding(base64.NoPadding)
	}
	decoded, err := enc.AppendDecode(nil, s)
	if err != nil {
		return nil, p.fail("must be base64")
	}
	dst = binary.AppendUvarint(dst, uint64(len(decoded)))
	return append(dst, decoded...), nil
}
