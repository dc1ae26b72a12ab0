package otlp

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/bits"
	"strconv"
)

// number reads the next JSON number and returns its text.
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

// numberLength returns the length of the JSON number at the beginning of b, or 0.
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

// numeral reads a number, with or without quotes.
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

// integer appends a whole number in the encoding of the field's kind.
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
	v, negative, ok := whole(s)
	limit := uint64(1) << (size - 1)
	switch {
	case !ok:
		return 0, false
	case negative:
		return -int64(v), v <= limit
	default:
		return int64(v), v < limit
	}
}

func unsigned(s []byte, size int) (uint64, bool) {
	v, negative, ok := whole(s)
	return v, ok && (!negative || v == 0) && v <= math.MaxUint64>>(64-size)
}

// whole reads a number without a remaining fraction, in any notation: 5, 5.0, 1.7637e18, 50e-1. JavaScript and some libraries
// write times in this way. The result is exact, where a double would not be.
func whole(s []byte) (v uint64, negative, ok bool) {
	if len(s) == 0 || numberLength(s) != len(s) {
		return 0, false, false
	}
	if s[0] == '-' {
		negative, s = true, s[1:]
	}
	if len(s) < maxDigits {
		if v, err := strconv.ParseUint(string(s), 10, 64); err == nil {
			return v, negative, true
		}
	}
	mantissa, exponent, _ := bytes.Cut(s, []byte("e"))
	if len(mantissa) == len(s) {
		mantissa, exponent, _ = bytes.Cut(s, []byte("E"))
	}
	before, after, _ := bytes.Cut(mantissa, []byte("."))
	after = bytes.TrimRight(after, "0")
	if len(after) == 0 {
		trimmed := bytes.TrimRight(before, "0")
		if len(trimmed) == 0 {
			return 0, negative, true
		}
		return scaled(trimmed, nil, powerOfTen(exponent)+len(before)-len(trimmed), negative)
	}
	return scaled(bytes.TrimLeft(before, "0"), after, powerOfTen(exponent)-len(after), negative)
}

// scaled joins the digits before and after the point to one number and multiplies it by a power of ten.
func scaled(before, after []byte, power int, minus bool) (v uint64, negative, ok bool) {
	if power < 0 || power >= maxDigits {
		return 0, false, false
	}
	for _, digits := range [][]byte{before, after} {
		for _, c := range digits {
			if v, ok = timesTen(v, uint64(c-'0')); !ok {
				return 0, false, false
			}
		}
	}
	for range power {
		if v, ok = timesTen(v, 0); !ok {
			return 0, false, false
		}
	}
	return v, minus, true
}

// maxDigits is the number of decimal digits of the largest 64-bit number.
const maxDigits = 20

func timesTen(v, digit uint64) (uint64, bool) {
	high, low := bits.Mul64(v, 10)
	sum, carry := bits.Add64(low, digit, 0)
	return sum, high == 0 && carry == 0
}

// powerOfTen reads an exponent. An exponent outside 32 bits becomes the smallest or largest 32-bit number, because no body has
// that many digits.
func powerOfTen(s []byte) int {
	if len(s) == 0 {
		return 0
	}
	n, err := strconv.ParseInt(string(s), 10, 32)
	if err != nil && s[0] == '-' {
		return math.MinInt32
	}
	if err != nil {
		return math.MaxInt32
	}
	return int(n)
}
