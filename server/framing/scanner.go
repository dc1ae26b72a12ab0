package framing

import "bytes"

// state is where the next byte of a connection belongs.
type state uint8

const (
	requestLine state = iota
	fieldLine
	body
	chunkSize
	chunkData
	chunkEnd
	trailerLine
	prefaceBlank // the three lines of the preface of HTTP/2 behind its request line
	prefaceSM
	prefaceEnd
	passing // HTTP/2, whose frames have lengths
	refused
)

const (
	// maxLine bounds the part of a line that is kept between two reads. net/http answers far shorter heads with 431.
	maxLine = 1 << 20
	// maxDecimal and maxHex are the digits of the longest lengths, which fit a uint64. net/http refuses a Content-Length above an int64.
	maxDecimal, maxHex = 19, 15
	// maxBlanks is the number of empty lines that may stand before a request line. net/http skips four bytes.
	maxBlanks = 2
)

// scanner follows the bytes of one connection.
type scanner struct {
	at    state
	http2 bool // the connection may turn out to be HTTP/2
	begun bool // a request line was seen

	// The head that is being read.
	blanks uint8
	old    bool // HTTP/1.0
	sized  bool // with Content-Length
	coded  bool // with Transfer-Encoding
	other  bool // the coding is not "chunked" alone: net/http answers 501

	left uint64 // bytes of the body or of the chunk that are still to come
	part []byte // start of a line whose end comes with a later read
	room [128]byte
}

// scan follows the next bytes of the connection, and returns how many of them the server may see: all, or those before the end of
// the line that is refused.
func (s *scanner) scan(p []byte) int {
	for i := 0; i < len(p); {
		switch s.at {
		case passing:
			return len(p)
		case refused:
			return i
		case body, chunkData:
			n := min(s.left, uint64(len(p)-i))
			s.left -= n
			i += int(n)
			if s.left > 0 {
				return i
			}
			if s.at == body {
				s.at = requestLine
			} else {
				s.at = chunkEnd
			}
		default:
			end := bytes.IndexByte(p[i:], '\n')
			if end < 0 {
				if !s.keep(p[i:]) {
					return i
				}
				return len(p)
			}
			line := p[i : i+end]
			if len(s.part) > 0 {
				line = append(s.part, line...)
				s.part = nil
			}
			if !s.line(line) {
				s.at = refused
				return i + end
			}
			i += end + 1
		}
	}
	return len(p)
}

// keep remembers the start of a line.
func (s *scanner) keep(p []byte) bool {
	if len(s.part)+len(p) > maxLine {
		s.at = refused
		return false
	}
	if s.part == nil {
		s.part = s.room[:0]
	}
	s.part = append(s.part, p...)
	return true
}

// line reads a line without its line feed, and says whether it is strict.
func (s *scanner) line(b []byte) bool {
	if cr := bytes.IndexByte(b, '\r'); cr < 0 || cr != len(b)-1 {
		return false // a bare line feed, or a bare carriage return
	}
	b = b[:len(b)-1]
	//exhaustive:enforce
	switch s.at {
	case requestLine:
		return s.request(b)
	case fieldLine:
		if len(b) == 0 {
			s.endHead()
			return true
		}
		return s.field(b)
	case chunkSize:
		return s.chunk(b)
	case chunkEnd:
		s.at = chunkSize
		return len(b) == 0
	case trailerLine:
		if len(b) == 0 {
			s.at = requestLine
			return true
		}
		return trailer(b)
	case prefaceBlank:
		s.at = prefaceSM
		return len(b) == 0
	case prefaceSM:
		s.at = prefaceEnd
		return string(b) == "SM"
	case prefaceEnd:
		s.at = passing
		return len(b) == 0
	case body, chunkData, passing, refused: // these have no lines
	}
	return false
}

func (s *scanner) request(b []byte) bool {
	if len(b) == 0 {
		s.blanks++
		return s.blanks <= maxBlanks
	}
	first := !s.begun && s.blanks == 0
	s.begun = true
	if first && s.http2 && string(b) == "PRI * HTTP/2.0" {
		s.at = prefaceBlank
		return true
	}
	const version = " HTTP/1."
	at := len(b) - len(version) - 1
	if at < 1 || string(b[at:len(b)-1]) != version {
		return false
	}
	minor := b[len(b)-1]
	s.at, s.blanks = fieldLine, 0
	s.old, s.sized, s.coded, s.other, s.left = minor == '0', false, false, false, 0
	return '0' <= minor && minor <= '9'
}

// field reads a line of the head.
func (s *scanner) field(b []byte) bool {
	name, value, ok := split(b)
	switch {
	case !ok:
		return false
	case equal(name, "content-length"):
		if s.sized || s.coded {
			return false
		}
		s.sized = true
		s.left, ok = decimal(value)
		return ok
	case equal(name, "transfer-encoding"):
		if s.sized || s.old {
			return false
		}
		s.other = s.coded || !equal(value, "chunked")
		s.coded = true
	}
	return true
}

// trailer checks a line behind the last chunk. A field there that says how long a body is comes too late.
func trailer(b []byte) bool {
	name, _, ok := split(b)
	return ok && !equal(name, "content-length") && !equal(name, "transfer-encoding")
}

func (s *scanner) endHead() {
	switch {
	case s.other:
		s.at = refused // net/http answers 501; nothing behind this head may be read
	case s.coded:
		s.at = chunkSize
	case s.left > 0:
		s.at = body
	default:
		s.at = requestLine
	}
}

// chunk reads the line before the data of a chunk.
func (s *scanner) chunk(b []byte) bool {
	var n uint64
	digits := 0
	for digits < len(b) {
		d := hex(b[digits])
		if d > 15 {
			break
		}
		n = n<<4 | uint64(d)
		if digits++; digits > maxHex {
			return false
		}
	}
	if digits == 0 || !extension(b[digits:]) {
		return false
	}
	s.left, s.at = n, chunkData
	if n == 0 {
		s.at = trailerLine
	}
	return true
}

// extension checks the part of the line behind the size of a chunk: nothing, or a semicolon and printable text.
func extension(b []byte) bool {
	if len(b) == 0 {
		return true
	}
	if b = bytes.TrimLeft(b, " \t"); len(b) == 0 || b[0] != ';' {
		return false
	}
	for _, c := range b {
		if c < ' ' && c != '\t' || c == 0x7f {
			return false
		}
	}
	return true
}

// split parts a field line into its name, which is a token, and its value without the blanks around it. A folded line starts with a
// blank, which is not a token; neither is a name with a blank before the colon.
func split(b []byte) (name, value []byte, ok bool) {
	for i, c := range b {
		if c == ':' {
			return b[:i], trim(b[i+1:]), i > 0
		}
		if !token[c] {
			return nil, nil, false
		}
	}
	return nil, nil, false
}

func trim(b []byte) []byte {
	for len(b) > 0 && (b[0] == ' ' || b[0] == '\t') {
		b = b[1:]
	}
	for len(b) > 0 && (b[len(b)-1] == ' ' || b[len(b)-1] == '\t') {
		b = b[:len(b)-1]
	}
	return b
}

// equal compares a text with a lower-case one of ASCII letters and hyphens.
func equal(b []byte, lower string) bool {
	if len(b) != len(lower) {
		return false
	}
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			c |= 0x20
		}
		if c != lower[i] {
			return false
		}
	}
	return true
}

func decimal(b []byte) (n uint64, ok bool) {
	for _, c := range b {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + uint64(c-'0')
	}
	return n, len(b) > 0 && len(b) <= maxDecimal
}

func hex(c byte) byte {
	switch {
	case '0' <= c && c <= '9':
		return c - '0'
	case 'a' <= c && c <= 'f':
		return c - 'a' + 10
	case 'A' <= c && c <= 'F':
		return c - 'A' + 10
	}
	return 0xff
}

// token has the bytes of a token of RFC 9110, section 5.6.2.
var token = func() (t [256]bool) {
	for _, c := range []byte("!#$%&'*+-.^_`|~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz") {
		t[c] = true
	}
	return t
}()
