package chdb

import (
	"errors"
	"io"
	"runtime"
	"unsafe"
)

// Class is the kind of a statement, as the engine's own parser classifies it.
type Class uint32

// Classes, the values of chdb_query_class.
const (
	ClassReadOnly Class = iota
	ClassMutating
	ClassMutatingGlobal
	ClassControl
	ClassUnknown
)

// connection runs one statement at a time. It must be closed, never reused, after any error: libchdb 26.7.3 prefixes the
// partial output of a failed statement to the next result on the same connection.
type connection struct {
	lib    *library
	outer  *uintptr // the result of connect; only close uses it
	inner  uintptr  // every other call uses it
	tag    string   // its log_comment, used to kill a running statement
	key    string   // database and settings, for the pool
	broken bool
}

func connect(l *library, args []string) (*connection, error) {
	var pin runtime.Pinner
	defer pin.Unpin()
	argv, _ := cStrings(&pin, args)
	outer := l.connect(int32(len(args)), argv)
	if outer == nil || *outer == 0 {
		return nil, errors.New("the engine refused the connection")
	}
	return &connection{lib: l, outer: outer, inner: *outer}, nil
}

func (c *connection) close() {
	if c.outer != nil {
		c.lib.closeConn(c.outer)
		c.outer, c.inner = nil, 0
	}
}

// params are named values for {name:Type} placeholders of a statement, in the engine's text form (TSV-escaped).
type params struct{ names, values []string }

func (c *connection) exec(sql, format string, p params) (Summary, []byte, error) {
	r := c.call(c.lib.query, sql, format, p)
	if r == 0 {
		c.broken = true
		return Summary{}, nil, exceptionf(codeUnknownException, "the engine gave no result")
	}
	s, out, err := c.lib.result(r)
	if err != nil {
		c.broken = true
	}
	return s, out, err
}

type queryFunc = func(conn uintptr, sql *byte, n uintptr, format *byte, fn uintptr, names **byte, nameLens *uintptr, values **byte,
	valueLens *uintptr, count uintptr) uintptr

func (c *connection) call(f queryFunc, sql, format string, p params) uintptr {
	var pin runtime.Pinner
	defer pin.Unpin()
	names, nameLens := cStrings(&pin, p.names)
	values, valueLens := cStrings(&pin, p.values)
	return f(c.inner, unsafe.StringData(sql), uintptr(len(sql)), unsafe.StringData(format), uintptr(len(format)),
		names, nameLens, values, valueLens, uintptr(len(p.names)))
}

// classify parses a statement without running it.
func (c *connection) classify(sql string) (class Class, statements int, err error) {
	a := queryAnalysis{structSize: uint32(unsafe.Sizeof(queryAnalysis{}))}
	if c.lib.classify(c.inner, unsafe.StringData(sql), uintptr(len(sql)), nil, 0, &a) != 0 {
		c.broken = true
		return ClassUnknown, 0, exceptionf(codeUnknownException, "the engine cannot parse statements on this connection")
	}
	return Class(a.class), int(a.statements), nil
}

// stream is a running SELECT.
type stream struct {
	conn   *connection
	handle uintptr
	chunk  uintptr
	done   bool
	read   Summary
}

func (c *connection) stream(sql, format string, p params) (*stream, error) {
	r := c.call(c.lib.streamQuery, sql, format, p)
	if r == 0 {
		c.broken = true
		return nil, exceptionf(codeUnknownException, "the engine gave no result")
	}
	if text := c.lib.errorText(r); text != "" {
		c.broken = true
		c.lib.destroyResult(r)
		return nil, newException(text)
	}
	return &stream{conn: c, handle: r}, nil
}

// next returns the next part of the output, or io.EOF at the end. The engine owns the bytes; they are valid until the next call.
func (s *stream) next() ([]byte, error) {
	l := s.conn.lib
	s.free()
	if s.done {
		return nil, io.EOF
	}
	s.chunk = l.fetch(s.conn.inner, s.handle)
	if s.chunk == 0 {
		s.done, s.conn.broken = true, true
		return nil, exceptionf(codeUnknownException, "the engine gave no result")
	}
	if text := l.errorText(s.chunk); text != "" {
		s.done, s.conn.broken = true, true
		return nil, newException(text)
	}
	s.read.ReadRows += l.rowsRead(s.chunk)
	s.read.ReadBytes += l.bytesRead(s.chunk)
	n := l.length(s.chunk)
	if n == 0 {
		s.done = true
		return nil, io.EOF
	}
	return unsafe.Slice(l.buffer(s.chunk), n), nil
}

func (s *stream) free() {
	if s.chunk != 0 {
		s.conn.lib.destroyResult(s.chunk)
		s.chunk = 0
	}
}

// close ends the statement. It cancels a stream that has not reached its end. A stream at its end must not be cancelled.
func (s *stream) close() {
	s.free()
	if !s.done {
		s.done, s.conn.broken = true, true
		s.conn.lib.cancelQuery(s.conn.inner, s.handle)
	}
	s.conn.lib.destroyResult(s.handle)
}

// insert feeds body to an INSERT statement (without FORMAT and data). When reading body fails, nothing more is written, but
// blocks that the engine has already stored stay. Callers retry with the same deduplication token.
func (c *connection) insert(sql, format string, body io.Reader, buf []byte) (Summary, error) {
	l := c.lib
	h := l.insert(c.inner, unsafe.StringData(sql), uintptr(len(sql)), unsafe.StringData(format), uintptr(len(format)))
	if h == 0 {
		c.broken = true
		return Summary{}, exceptionf(codeUnknownException, "the engine opened no insert")
	}
	defer l.destroyInsert(h)
	fail := func(err error) (Summary, error) {
		c.broken = true
		l.cancelInsert(h)
		return Summary{}, err
	}
	if text := l.insertError(h); text != "" {
		return fail(newException(text))
	}
	for {
		n, err := body.Read(buf)
		if n > 0 && l.appendInsert(h, &buf[0], uintptr(n)) != 0 {
			return fail(newException(l.insertError(h)))
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return fail(err)
		}
	}
	s, _, err := l.result(l.finishInsert(h))
	if err != nil {
		c.broken = true
	}
	return s, err
}
