package otlp

import (
	"encoding/binary"
	"math"
	"strconv"
)

// number reads the JSON number that comes next and returns its text.
func (p *jsonParser) number() ([]byte, *Error) {
	p.space()
	n := numberLength(p.in[p.at:])
	if n == 0 {
		return nil, p.fail("must be a JSON value")
	}
	s := p.in[p.at : p.at+n]
	p.at += n
	return s, nil
}

// numberLength is the length of the number that b begins with, by the grammar of JSON; 0 when there is none.
func numberLength(b []byte) int {
	i := 0
	digits := func() bool {
		from := i
		for i < len(b) && b[i] >= '0' && b[i] <= '9' {
			i++
		}
		return i > from
	}
	if i < len(b) && b[i] == '-' {
		i++
	}
	if i < len(b) && b[i] == '0' {
		i++
	} else if !digits() {
		return 0
	}
	if i < len(b) && b[i] == '.' {
		i++
		if !digits() {
			return 0
		}
	}
	if i < len(b) && (b[i] == 'e' || b[i] == 'E') {
		i++
		if i < len(b) && (b[i] == '+' || b[i] == '-') {
			i++
		}
		if !digits() {
			return 0
		}
	}
	return i
}

// numeral reads a number that may stand in quotes.
func (p *jsonParser) numeral() ([]byte, *Error) {
	if p.peek() != '"' {
		return p.number()
	}
	return p.text()
}

func (p *jsonParser) double() (float64, *Error) {
	s, err := p.numeral()
	if err != nil {
		return 0, err
	}
	switch string(s) {
	case "NaN":
		return math.NaN(), nil
	case "Infinity":
		return math.Inf(1), nil
	case "-Infinity":
		return math.Inf(-1), nil
	}
	v, bad := strconv.ParseFloat(string(s), 64)
	if bad != nil || numberLength(s) != len(s) {
		return 0, p.fail(`must be a number, "NaN", "Infinity" or "-Infinity"`)
	}
	return v, nil
}

// integer appends a whole number in the encoding of its kind.
func (p *jsonParser) integer(dst []byte, k kind) ([]byte, *Error) {
	if k == kindEnum && p.peek() == '"' {
		return nil, p.fail("must be the number of the enum value: OTLP JSON does not allow names")
	}
	s, err := p.numeral()
	if err != nil {
		return nil, err
	}
	switch k {
	case kindUint32, kindFixed32, kindUint64, kindFixed64:
		size := 64
		if k == kindUint32 || k == kindFixed32 {
			size = 32
		}
		v, ok := unsigned(s, size)
		if !ok {
			return nil, p.fail("must be a whole number from 0 to " + strconv.FormatUint(math.MaxUint64>>(64-size), 10))
		}
		switch k {
		case kindFixed32:
			return binary.LittleEndian.AppendUint32(dst, uint32(v)), nil
		case kindFixed64:
			return binary.LittleEndian.AppendUint64(dst, v), nil
		default:
			return binary.AppendUvarint(dst, v), nil
		}
	}
	size := 32
	if k == kindInt64 || k == kindSfixed64 {
		size = 64
	}
	v, ok := signed(s, size)
	if !ok {
		return nil, p.fail("must be a whole number of " + strconv.Itoa(size) + " bits")
	}
	switch k {
	case kindSfixed64:
		return binary.LittleEndian.AppendUint64(dst, uint64(v)), nil
	case kindSint32:
		return binary.AppendUvarint(dst, uint64(uint32(v)<<1^uint32(v>>31))), nil
	default:
		return binary.AppendUvarint(dst, uint64(v)), nil
	}
}

func signed(s []byte, size int) (int64, bool) {
	if numberLength(s) != len(s) {
		return 0, false
	}
	if v, err := strconv.ParseInt(string(s), 10, size); err == nil {
		return v, true
	}
	v, ok := exact(s)
	if !ok || (size == 32 && (v < math.MinInt32 || v > math.MaxInt32)) {
		return 0, false
	}
	return v, true
}

func unsigned(s []byte, size int) (uint64, bool) {
	if numberLength(s) != len(s) {
		return 0, false
	}
	if v, err := strconv.ParseUint(string(s), 10, size); err == nil {
		return v, true
	}
	v, ok := exact(s)
	if !ok || v < 0 || (size == 32 && v > math.MaxUint32) {
		return 0, false
	}
	return uint64(v), true
}

// exact reads whole numbers that are written like 1e3 or 5.0, as far as a double holds them exactly.
func exact(s []byte) (int64, bool) {
	v, err := strconv.ParseFloat(string(s), 64)
	if err != nil || v != math.Trunc(v) || math.Abs(v) > 1<<53 {
		return 0, false
	}
	return int64(v), true
}
