package framing

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// wire is one side of a connection: it gives the input in parts, then the end, and keeps what is written.
type wire struct {
	input   []byte
	part    int
	written bytes.Buffer
	closed  chan struct{}
}

func (w *wire) Read(p []byte) (int, error) {
	if len(w.input) == 0 {
		return 0, io.EOF
	}
	n := copy(p[:min(len(p), w.part)], w.input)
	w.input = w.input[n:]
	return n, nil
}

func (w *wire) Write(p []byte) (int, error) { return w.written.Write(p) }
func (w *wire) Close() error {
	select {
	case <-w.closed:
	default:
		close(w.closed)
	}
	return nil
}
func (w *wire) LocalAddr() net.Addr              { return &net.TCPAddr{} }
func (w *wire) RemoteAddr() net.Addr             { return &net.TCPAddr{} }
func (w *wire) SetDeadline(time.Time) error      { return nil }
func (w *wire) SetReadDeadline(time.Time) error  { return nil }
func (w *wire) SetWriteDeadline(time.Time) error { return nil }

// single is a listener with one connection.
type single struct {
	conn net.Conn
	done chan struct{}
}

func (s *single) Accept() (net.Conn, error) {
	if c := s.conn; c != nil {
		s.conn = nil
		return c, nil
	}
	<-s.done
	return nil, net.ErrClosed
}
func (s *single) Close() error   { return nil }
func (s *single) Addr() net.Addr { return &net.TCPAddr{} }

// message is a request as a server understands it.
type message struct{ line, body string }

// serve gives the input to net/http and returns the requests that its handler read to the end, and all answers.
func serve(input []byte, part int, strict bool) (got []message, answers string) {
	w := &wire{input: slices.Clone(input), part: part, closed: make(chan struct{})}
	var l net.Listener = &single{conn: w, done: w.closed}
	if strict {
		l = Listen(l, false)
	}
	s := &http.Server{
		MaxHeaderBytes: 64 << 10, DisableGeneralOptionsHandler: true,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			text, err := io.ReadAll(r.Body)
			if err != nil {
				http.Error(w, "bad body", http.StatusBadRequest)
				return
			}
			got = append(got, message{r.Method + " " + r.RequestURI, string(text)})
			w.WriteHeader(http.StatusNoContent)
		}),
	}
	_ = s.Serve(l) // ends when the connection is closed
	return got, w.written.String()
}

// follow scans the input in parts. It returns the bytes that pass and the offsets at which a request ends.
func follow(input []byte, part int) (passed int, ends []int) {
	s := &scanner{}
	for passed < len(input) {
		next := input[passed:min(len(input), passed+part)]
		before := s.at
		n := s.scan(next)
		passed += n
		if n > 0 && s.at == requestLine && before != requestLine {
			ends = append(ends, passed)
		}
		if s.at == refused {
			break
		}
	}
	return passed, ends
}

const host = "Host: x\r\n"

// refusals are requests that are refused, by what is wrong with them. `|` is the end of a line.
var refusals = map[string]string{
	"length and coding":           "POST / HTTP/1.1|Host: x|Content-Length: 5|Transfer-Encoding: chunked||0||",
	"coding and length":           "POST / HTTP/1.1|Host: x|Transfer-Encoding: chunked|Content-Length: 5||0||",
	"upper case":                  "POST / HTTP/1.1|Host: x|TRANSFER-ENCODING: chunked|CONTENT-LENGTH: 5||0||",
	"length and other coding":     "POST / HTTP/1.1|Host: x|Content-Length: 5|Transfer-Encoding: identity||hello",
	"two lengths":                 "POST / HTTP/1.1|Host: x|Content-Length: 5|Content-Length: 6||hello!",
	"two equal lengths":           "POST / HTTP/1.1|Host: x|Content-Length: 5|Content-Length: 5||hello",
	"list of lengths":             "POST / HTTP/1.1|Host: x|Content-Length: 5, 5||hello",
	"empty length":                "POST / HTTP/1.1|Host: x|Content-Length:||",
	"signed length":               "POST / HTTP/1.1|Host: x|Content-Length: +5||hello",
	"hexadecimal length":          "POST / HTTP/1.1|Host: x|Content-Length: 0x5||hello",
	"long length":                 "POST / HTTP/1.1|Host: x|Content-Length: 9223372036854775808||hello",
	"coding in HTTP/1.0":          "POST / HTTP/1.0|Host: x|Transfer-Encoding: chunked||0||",
	"bare LF in request line":     "GET / HTTP/1.1\nHost: x||",
	"bare LF in field":            "GET / HTTP/1.1|Host: x\n|",
	"bare LF at end of head":      "GET / HTTP/1.1|Host: x|\n",
	"bare LF before request":      "\nGET / HTTP/1.1|Host: x||",
	"bare CR in field":            "GET / HTTP/1.1|Host: x|A: b\rContent-Length: 5||",
	"doubled CR":                  "GET / HTTP/1.1|Host: x\r||",
	"folded line":                 "GET / HTTP/1.1|Host: x|A: b| Content-Length: 5||",
	"folded line with tab":        "GET / HTTP/1.1|Host: x|A: b|\tc||",
	"folded first line":           "GET / HTTP/1.1| Host: x||",
	"folded coding":               "POST / HTTP/1.1|Host: x|Transfer-Encoding:| chunked||0||",
	"blank before colon":          "POST / HTTP/1.1|Host: x|Transfer-Encoding : chunked||0||",
	"blank in name":               "GET / HTTP/1.1|Host: x|A B: c||",
	"no colon":                    "GET / HTTP/1.1|Host: x|A||",
	"no name":                     "GET / HTTP/1.1|Host: x|: b||",
	"no version":                  "GET /|Host: x||",
	"blank behind version":        "GET / HTTP/1.1 |Host: x||",
	"version 2 without a preface": "GET / HTTP/2.0|Host: x||",
	"preface without HTTP/2":      "PRI * HTTP/2.0||SM||",
	"chunk size with 0x":          "POST / HTTP/1.1|Host: x|Transfer-Encoding: chunked||0x5|hello|0||",
	"chunk size with sign":        "POST / HTTP/1.1|Host: x|Transfer-Encoding: chunked||+5|hello|0||",
	"chunk size with blank":       "POST / HTTP/1.1|Host: x|Transfer-Encoding: chunked|| 5|hello|0||",
	"blank behind chunk size":     "POST / HTTP/1.1|Host: x|Transfer-Encoding: chunked||5 |hello|0||",
	"empty chunk size":            "POST / HTTP/1.1|Host: x|Transfer-Encoding: chunked|||hello|0||",
	"long chunk size":             "POST / HTTP/1.1|Host: x|Transfer-Encoding: chunked||10000000000000005|hello|0||",
	"bare LF at chunk size":       "POST / HTTP/1.1|Host: x|Transfer-Encoding: chunked||5\nhello|0||",
	"bare LF in extension":        "POST / HTTP/1.1|Host: x|Transfer-Encoding: chunked||5;a\nhello|0||",
	"bare CR in extension":        "POST / HTTP/1.1|Host: x|Transfer-Encoding: chunked||5;a\rb|hello|0||",
	"bare LF behind chunk":        "POST / HTTP/1.1|Host: x|Transfer-Encoding: chunked||5|hello\n0||",
	"chunk longer than its size":  "POST / HTTP/1.1|Host: x|Transfer-Encoding: chunked||5|hello!|0||",
	"bare LF behind last chunk":   "POST / HTTP/1.1|Host: x|Transfer-Encoding: chunked||0|\n",
	"bare LF in trailer":          "POST / HTTP/1.1|Host: x|Transfer-Encoding: chunked||0|A: b\n\nGET /evil HTTP/1.1|Host: x||",
	"folded trailer":              "POST / HTTP/1.1|Host: x|Transfer-Encoding: chunked||0|A: b| c||",
	"length in trailer":           "POST / HTTP/1.1|Host: x|Transfer-Encoding: chunked||0|Content-Length: 5||",
	"unknown coding":              "POST / HTTP/1.1|Host: x|Transfer-Encoding: xchunked||",
	"two codings":                 "POST / HTTP/1.1|Host: x|Transfer-Encoding: gzip, chunked||0||",
	"coding twice":                "POST / HTTP/1.1|Host: x|Transfer-Encoding: chunked|Transfer-Encoding: chunked||0||",
	"vertical tab before coding":  "POST / HTTP/1.1|Host: x|Transfer-Encoding: \vchunked||0||",
	"control byte in length":      "POST / HTTP/1.1|Host: x|Content-Length: \v5||hello",
}

func lines(s string) []byte { return []byte(strings.ReplaceAll(s, "|", "\r\n")) }

// TestRefused: a request that is refused has one answer, 400 or 501, in whatever parts it comes. Nothing behind it is read, and a
// request before it is answered as always.
func TestRefused(t *testing.T) {
	for name, text := range refusals {
		for _, before := range []string{"", "GET /before HTTP/1.1|Host: x||"} {
			for _, part := range []int{1, 7, 4096} {
				input := lines(before + text + "GET /second HTTP/1.1|Host: x||")
				got, answers := serve(input, part, true)
				want := 1
				if before != "" {
					want = 2
				}
				statuses := strings.Count(answers, "HTTP/1.1 ")
				last := answers[max(0, strings.LastIndex(answers, "HTTP/1.1 ")):]
				if len(got) != want-1 || statuses != want || !strings.HasPrefix(last, "HTTP/1.1 400") && !strings.HasPrefix(last, "HTTP/1.1 501") {
					t.Errorf("%s, after %q, in parts of %d: served %q, answers %q", name, before, part, got, answers)
				}
				if !strings.Contains(last, "Connection: close") {
					t.Errorf("%s: the connection is kept: %q", name, last)
				}
			}
		}
	}
}

// accepted are requests that are valid, with the body of each.
var accepted = map[string][]message{
	"GET / HTTP/1.1|Host: x||":                           {{"GET /", ""}},
	"GET / HTTP/1.0||":                                   {{"GET /", ""}},
	"GET /a HTTP/1.1|Host: x||GET /b HTTP/1.1|Host: x||": {{"GET /a", ""}, {"GET /b", ""}},
	"POST / HTTP/1.1|Host: x|Content-Length: 5||helloGET /b HTTP/1.1|Host: x||": {
		{"POST /", "hello"},
		{"GET /b", ""},
	},
	"POST / HTTP/1.1|Host: x|content-length:005\t ||hello||GET /b HTTP/1.1|Host: x||": {
		{"POST /", "hello"},
		{"GET /b", ""},
	},
	"POST / HTTP/1.1|Host: x|Content-Length: 0||GET /b HTTP/1.1|Host: x||": {
		{"POST /", ""},
		{"GET /b", ""},
	},
	"POST / HTTP/1.1|Host: x|Transfer-Encoding: chunked||5|hello|A;n=\"v\";m|0123456789|0||": {{"POST /", "hello0123456789"}},
	"POST / HTTP/1.1|Host: x|transfer-encoding:CHUNKED||005|\r\n\n\x00x|000|A: b|C:||GET /b HTTP/1.1|Host:||": {
		{"POST /", "\r\n\n\x00x"},
		{"GET /b", ""},
	},
	"PUT / HTTP/1.1|Host: x|Expect: 100-continue|Content-Length: 2||hi":                  {{"PUT /", "hi"}},
	"GET / HTTP/1.1|Host: x|Empty:|Latin: \xe9|X-Content-Length: 5|Content-Length-: 6||": {{"GET /", ""}},
	"OPTIONS * HTTP/1.1|Host: x||":                      {{"OPTIONS *", ""}},
	"GET http://x/ HTTP/1.1|Host: x||":                  {{"GET http://x/", ""}},
	"GET / HTTP/1.1|Host: x|!#$%&'*+-.^_`~0aZ: token||": {{"GET /", ""}},
}

// TestAccepted: valid requests arrive unchanged, in whatever parts they come.
func TestAccepted(t *testing.T) {
	for text, want := range accepted {
		input := lines(text)
		for part := range 70 {
			got, answers := serve(input, part+1, true)
			if !slices.Equal(got, want) {
				t.Errorf("%q in parts of %d: %q, answers %q", text, part+1, got, answers)
			}
		}
		if passed, ends := follow(input, 1); passed != len(input) || len(ends) != len(want) {
			t.Errorf("%q: %d of %d bytes pass, ends %d", text, passed, len(input), ends)
		}
	}
}

// TestLongHead: net/http answers a head that is too long, even if the head never ends.
func TestLongHead(t *testing.T) {
	for _, head := range []string{
		"GET / HTTP/1.1\r\n" + host + "A: " + strings.Repeat("x", 300<<10) + "\r\n\r\n",
		strings.Repeat("x", 2<<20),
	} {
		if _, answers := serve([]byte(head), 4096, true); !strings.HasPrefix(answers, "HTTP/1.1 431") {
			t.Errorf("answers %.80q", answers)
		}
	}
	s := &scanner{}
	if n := s.scan(bytes.Repeat([]byte("x"), maxLine+1)); n != 0 || s.at != refused {
		t.Errorf("a line without an end: %d bytes pass", n)
	}
}

// TestUnreadBody: a handler that leaves the body unread does not make the next request start in it.
func TestUnreadBody(t *testing.T) {
	for name, head := range map[string]string{
		"short body":   "POST /first HTTP/1.1|Host: x|Content-Length: 36||GET /inside HTTP/1.1|Host: inside||  ",
		"100-continue": "POST /first HTTP/1.1|Host: x|Expect: 100-continue|Content-Length: 36||GET /inside HTTP/1.1|Host: inside||  ",
		"long body": "POST /first HTTP/1.1|Host: x|Content-Length: 1000000||GET /inside HTTP/1.1|Host: inside||" +
			strings.Repeat(" ", 999_966),
	} {
		w := &wire{input: lines(head + "GET /second HTTP/1.1|Host: x||"), part: 4096, closed: make(chan struct{})}
		var paths []string
		s := &http.Server{Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { paths = append(paths, r.URL.Path) })}
		_ = s.Serve(Listen(&single{conn: w, done: w.closed}, false))
		if slices.Contains(paths, "/inside") || paths[0] != "/first" {
			t.Errorf("%s: served %q", name, paths)
		}
	}
}

// TestHTTP2: a connection that starts with the whole preface of HTTP/2 is left alone, and only where HTTP/2 is spoken.
func TestHTTP2(t *testing.T) {
	two := &http.Protocols{}
	two.SetHTTP1(true)
	two.SetUnencryptedHTTP2(true)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &http.Server{Protocols: two, ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		fmt.Fprintf(w, "%s %d", r.Proto, len(text))
	})}
	go func() { _ = s.Serve(Listen(l, true)) }()
	defer s.Close()
	for proto, p := range map[string]func(*http.Protocols){
		"HTTP/1.1": func(p *http.Protocols) { p.SetHTTP1(true) }, "HTTP/2.0": func(p *http.Protocols) { p.SetUnencryptedHTTP2(true) },
	} {
		protocols := &http.Protocols{}
		p(protocols)
		c := &http.Client{Transport: &http.Transport{Protocols: protocols}}
		for range 3 {
			for _, body := range []io.Reader{
				strings.NewReader(strings.Repeat("\nx", 100_000)),
				struct{ io.Reader }{strings.NewReader(strings.Repeat("\nx", 100_000))},
			} {
				res, err := c.Post("http://"+l.Addr().String(), "text/plain", body)
				if err != nil {
					t.Fatal(err)
				}
				text, _ := io.ReadAll(res.Body)
				_ = res.Body.Close()
				if want := proto + " 200000"; string(text) != want {
					t.Errorf("got %q, want %q", text, want)
				}
			}
		}
		c.CloseIdleConnections()
	}
	for name, text := range map[string]string{
		"half of a preface":          "PRI * HTTP/2.0||GET / HTTP/1.1|Host: x||",
		"preface behind a request":   "GET / HTTP/1.1|Host: x||PRI * HTTP/2.0||SM||",
		"preface behind empty lines": "||PRI * HTTP/2.0||SM||",
	} {
		s := &scanner{http2: true}
		if input := lines(text); s.scan(input) == len(input) || s.at != refused {
			t.Errorf("%s passes", name)
		}
	}
}

// TestNoAllocation: following requests whose lines come whole allocates nothing, and neither does the start of a short line.
func TestNoAllocation(t *testing.T) {
	input := lines("POST /v1/logs HTTP/1.1|Host: x|Content-Type: application/x-protobuf|Content-Length: 5||helloGET / HT")
	rest := lines("TP/1.1|Host: x||")
	s := &scanner{}
	if n := testing.AllocsPerRun(100, func() {
		if s.scan(input) != len(input) || s.scan(rest) != len(rest) {
			t.Fatal("refused")
		}
	}); n > 0 {
		t.Errorf("%g allocations", n)
	}
}

// reader is one of many ways in which programs read requests. All must agree on the bytes that pass.
type reader struct{ lengthWins, bareLF, folds, looseNames, looseHex bool }

var errOpen = errors.New("the request does not end here")

// next reads one request and returns its body.
func (p reader) next(r *bufio.Reader) (string, error) {
	line := func() (string, error) {
		text, err := r.ReadString('\n')
		if err != nil {
			return "", errOpen
		}
		if p.bareLF {
			return strings.TrimSuffix(strings.TrimSuffix(text, "\n"), "\r"), nil
		}
		for !strings.HasSuffix(text, "\r\n") {
			more, err := r.ReadString('\n')
			if err != nil {
				return "", errOpen
			}
			text += more
		}
		return strings.TrimSuffix(text, "\r\n"), nil
	}
	first, err := "", error(nil)
	for first == "" && err == nil {
		first, err = line()
	}
	if err != nil {
		return "", err
	}
	length, chunked, last := 0, false, ""
	set := func() {
		name, value, _ := strings.Cut(last, ":")
		if p.looseNames {
			name = strings.TrimSpace(name)
		}
		value = strings.TrimSpace(value)
		switch strings.ToLower(name) {
		case "content-length":
			length, _ = strconv.Atoi(value)
		case "transfer-encoding":
			chunked = strings.Contains(strings.ToLower(value), "chunked")
		}
	}
	for {
		text, err := line()
		if err != nil {
			return "", err
		}
		if p.folds && text != "" && (text[0] == ' ' || text[0] == '\t') {
			last += text
			continue
		}
		set()
		last = text
		if text == "" {
			break
		}
	}
	if chunked && (!p.lengthWins || length == 0) {
		return p.chunks(r, line)
	}
	b := make([]byte, min(length, r.Size()))
	if length > len(b) {
		return "", errOpen
	}
	if _, err := io.ReadFull(r, b); err != nil {
		return "", errOpen
	}
	return string(b), nil
}

func (p reader) chunks(r *bufio.Reader, line func() (string, error)) (string, error) {
	var b []byte
	for {
		text, err := line()
		if err != nil {
			return "", err
		}
		size, _, _ := strings.Cut(text, ";")
		size = strings.TrimSpace(size)
		if p.looseHex {
			size = strings.TrimPrefix(strings.TrimPrefix(size, "+"), "0x")
		}
		n, err := strconv.ParseUint(size, 16, 20)
		if err != nil {
			return "", errOpen
		}
		if n == 0 {
			break
		}
		part := make([]byte, n)
		if _, err := io.ReadFull(r, part); err != nil {
			return "", errOpen
		}
		b = append(b, part...)
		if _, err := line(); err != nil {
			return "", err
		}
	}
	for {
		if text, err := line(); err != nil || text == "" {
			return string(b), err
		}
	}
}

// FuzzFraming: whatever the bytes are, and in whatever parts they come, net/http reads the same requests from those that pass, every
// other reader agrees with it, and net/http alone reads no other request from input that passes whole.
func FuzzFraming(f *testing.F) {
	for text := range accepted {
		f.Add(lines(text), 4096)
		f.Add(lines(text), 3)
	}
	for _, text := range refusals {
		f.Add(lines(text+"GET /second HTTP/1.1|Host: x||"), 5)
	}
	f.Fuzz(func(t *testing.T, input []byte, part int) {
		if part = part%5000 + 1; part < 1 || len(input) > 64<<10 {
			return
		}
		passed, ends := follow(input, 1)
		s := &scanner{}
		whole := 0
		for whole < len(input) && s.at != refused {
			whole += s.scan(input[whole:min(len(input), whole+part)])
		}
		if whole != passed {
			t.Fatalf("%d bytes pass in parts of %d, %d one by one", whole, part, passed)
		}
		got, answers := serve(input, part, true)
		if len(got) > len(ends) {
			t.Fatalf("net/http served %q, but only %d requests end, at %d; answers %q", got, len(ends), ends, answers)
		}
		start := 0
		for i, m := range got {
			end := ends[i]
			for variant := range 32 {
				p := reader{variant&1 != 0, variant&2 != 0, variant&4 != 0, variant&8 != 0, variant&16 != 0}
				r := bufio.NewReaderSize(bytes.NewReader(input[start:end]), 64<<10)
				text, err := p.next(r)
				if err != nil || text != m.body {
					t.Fatalf("request %d, %q: %+v reads %q, net/http %q: %v", i, input[start:end], p, text, m.body, err)
				}
				if rest := r.Buffered(); rest > 0 {
					t.Fatalf("request %d, %q: %+v leaves %d bytes", i, input[start:end], p, rest)
				}
			}
			start = end
		}
		if passed == len(input) {
			if alone, _ := serve(input, part, false); !slices.Equal(alone, got) {
				t.Fatalf("net/http alone serves %q, here %q", alone, got)
			}
		}
	})
}

// FuzzValid makes valid requests from random bytes: net/http gets them as they are.
func FuzzValid(f *testing.F) {
	f.Add([]byte("\x01\x05hello\x02\x03abc\x01"), 17)
	f.Add(bytes.Repeat([]byte("\x03\x09\n\r\n0\r\n\r\nx"), 20), 1)
	f.Fuzz(func(t *testing.T, seed []byte, part int) {
		if part = part%5000 + 1; part < 1 || len(seed) > 4096 {
			return
		}
		take := func(n int) []byte {
			n = min(n, len(seed))
			b := seed[:n]
			seed = seed[n:]
			return b
		}
		digit := func() int {
			if b := take(1); len(b) > 0 {
				return int(b[0])
			}
			return 0
		}
		var input bytes.Buffer
		var want []message
		for i := 0; len(seed) > 0; i++ {
			kind := digit()
			m := message{line: fmt.Sprintf("POST /%d", i)}
			fmt.Fprintf(&input, "%s HTTP/1.1\r\n%s", m.line, host)
			for range kind >> 4 & 3 {
				fmt.Fprintf(&input, "X-%x:%s%x\r\n", take(3), strings.Repeat(" ", digit()%3), take(9))
			}
			switch kind & 3 {
			case 0:
				input.WriteString("\r\n")
			case 1:
				text := take(digit())
				fmt.Fprintf(&input, "Content-Length: %d\r\n\r\n%s", len(text), text)
				m.body = string(text)
			default:
				input.WriteString("Transfer-Encoding: chunked\r\n\r\n")
				for range digit() % 5 {
					text := take(digit())
					if len(text) == 0 {
						continue
					}
					ext := []string{"", ";a", ";a=b", ";a=\"b c\""}[digit()%4]
					fmt.Fprintf(&input, "%0*x%s\r\n%s\r\n", 1+digit()%4, len(text), ext, text)
					m.body += string(text)
				}
				input.WriteString("0\r\n")
				if kind&4 != 0 {
					input.WriteString("X-Sum: abc\r\n")
				}
				input.WriteString("\r\n")
			}
			want = append(want, m)
		}
		got, answers := serve(input.Bytes(), part, true)
		if !slices.Equal(got, want) {
			t.Fatalf("%q\nserved %q\nwant %q\nanswers %q", input.Bytes(), got, want, answers)
		}
	})
}
