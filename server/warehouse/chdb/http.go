package chdb

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync"
)

// pidHeader carries the process id, so that a supervisor knows that its own child answers.
const pidHeader = "X-Svc-Pid"

const (
	maxStatementBytes = 16 << 20
	insertBufferBytes = 1 << 20
	maxDrainBytes     = 256 << 20
)

// handler speaks the part of the ClickHouse HTTP interface that clickhouse-go and plain posts of rows need. It refuses the rest
// (sessions, compression, external tables) with a ClickHouse exception.
type handler struct {
	engine  *Engine
	log     *slog.Logger
	buffers sync.Pool
}

func newHandler(e *Engine, log *slog.Logger) *handler {
	return &handler{engine: e, log: log, buffers: sync.Pool{New: func() any {
		b := make([]byte, insertBufferBytes)
		return &b
	}}}
}

func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.URL.Path == "/ping":
		w.Header().Set(pidHeader, strconv.Itoa(os.Getpid()))
		_, _ = io.WriteString(w, "Ok.\n")
	case r.URL.Path != "/":
		http.Error(w, "There is no handle "+r.URL.Path, http.StatusNotFound)
	case r.Method != http.MethodPost && r.Method != http.MethodGet:
		w.Header().Set("Allow", "GET, POST")
		http.Error(w, "Use GET or POST.", http.StatusMethodNotAllowed)
	default:
		h.serveQuery(w, r)
	}
}

func (h *handler) serveQuery(w http.ResponseWriter, r *http.Request) {
	out := &response{w: w, flush: http.NewResponseController(w)}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	summary, err := h.run(ctx, out, r)
	if err == nil {
		out.finish(summary)
		return
	}
	if errors.Is(context.Cause(r.Context()), errRestarting) {
		out.fail(exceptionf(CodeRestarting, "The engine restarts. Send the statement again."))
		return
	}
	if r.Context().Err() != nil {
		// The client no longer reads. Abort, so that a partial answer cannot pass for a complete one.
		panic(http.ErrAbortHandler)
	}
	var ex *Exception
	if !errors.As(err, &ex) {
		ex = exceptionf(codeUnknownException, "%s", err)
	}
	out.fail(ex)
}

func (h *handler) run(ctx context.Context, out *response, r *http.Request) (Summary, error) {
	st, revision, err := parseURL(r.URL.Query())
	if err != nil {
		return Summary{}, err
	}
	if r.Method == http.MethodGet && st.Settings["readonly"] == "" {
		st.Settings["readonly"] = "2" // as in ClickHouse: a GET changes nothing
	}
	if enc := r.Header.Get("Content-Encoding"); enc != "" && enc != "identity" {
		return Summary{}, exceptionf(codeNotImplemented,
			"The embedded engine takes no compressed requests: Content-Encoding is %s. (NOT_IMPLEMENTED)", enc)
	}
	if strings.HasPrefix(r.Header.Get("Content-Type"), "multipart/") {
		return Summary{}, exceptionf(codeNotImplemented, "The embedded engine takes no external tables. (NOT_IMPLEMENTED)")
	}
	out.queryID = st.queryID
	if out.queryID == "" {
		out.queryID = rand.Text()
	}

	if st.SQL != "" && firstWord(st.SQL) == "INSERT" {
		if statement, format, ok := splitInsert(st.SQL); ok {
			if len(st.Params) > 0 {
				return Summary{}, exceptionf(codeNotImplemented, "The embedded engine takes no parameters in an INSERT with data. (NOT_IMPLEMENTED)")
			}
			st.SQL, st.Format = statement, format
			buf := h.buffers.Get().(*[]byte)
			defer h.buffers.Put(buf)
			summary, err := h.engine.Insert(ctx, st.Statement, r.Body, *buf)
			if err != nil {
				// Read the rest of the body: the client sends until it is done, and a reset of the connection could lose an earlier answer.
				_, _ = io.CopyBuffer(io.Discard, io.LimitReader(r.Body, maxDrainBytes), *buf)
			}
			return summary, err
		}
	}
	body, err := io.ReadAll(http.MaxBytesReader(nil, r.Body, maxStatementBytes))
	if err != nil {
		return Summary{}, exceptionf(codeBadArguments, "Cannot read the statement: %s", err)
	}
	if len(body) > 0 {
		if st.SQL != "" {
			st.SQL += "\n"
		}
		st.SQL += string(body)
	}
	if strings.TrimSpace(st.SQL) == "" {
		return Summary{}, exceptionf(codeSyntaxError, "Syntax error: Empty query. (SYNTAX_ERROR)")
	}
	out.format = st.Format
	if isHello(st.SQL) && st.Format == "Native" {
		return Summary{}, out.write(helloBlock(h.engine.lib.version(), revision))
	}
	if r.Header.Get("X-ClickHouse-User") == TenantUser {
		result, summary, err := h.engine.RunConfined(ctx, st.Statement)
		if err != nil {
			return Summary{}, err
		}
		return summary, out.whole(result, summary)
	}
	return h.engine.Run(ctx, st.Statement, out.write)
}

type request struct {
	Statement
	queryID string
}

// parseURL reads a statement from URL parameters. A parameter that is neither part of the interface nor `param_…` is a setting.
func parseURL(q url.Values) (st request, revision int, err error) {
	st.Format = "TabSeparated"
	st.Settings, st.Params = map[string]string{}, map[string]string{}
	for name, values := range q {
		value := values[len(values)-1]
		switch name {
		case "query":
			st.SQL = value
		case "database":
			st.Database = value
		case "default_format":
			st.Format = value
		case "query_id":
			st.queryID = value
		case "client_protocol_version":
			if revision, err = strconv.Atoi(value); err != nil {
				return st, 0, exceptionf(codeBadArguments, "client_protocol_version is not a number. (BAD_ARGUMENTS)")
			}
		case "user", "password", "quota_key", "wait_end_of_query", "buffer_size":
			// Ignored: there is one user, who can reach the socket, and output is streamed as it arrives.
		case "session_id", "session_timeout", "session_check", "role":
			return st, 0, exceptionf(codeNotImplemented, "The embedded engine has no %s. (NOT_IMPLEMENTED)", name)
		case "compress", "decompress":
			if value != "0" && value != "" {
				return st, 0, exceptionf(codeNotImplemented, "The embedded engine does not compress: %s must be 0. (NOT_IMPLEMENTED)", name)
			}
		default:
			if param, ok := strings.CutPrefix(name, "param_"); ok {
				st.Params[param] = value
			} else {
				st.Settings[name] = value
			}
		}
	}
	return st, revision, nil
}

// response writes output as it arrives. The first part fixes the status, so a later exception is a block in the body.
type response struct {
	w       http.ResponseWriter
	flush   *http.ResponseController
	queryID string
	format  string
	tag     string
	started bool
}

func (o *response) start() {
	o.started = true
	o.tag = rand.Text()[:16]
	head := o.w.Header()
	head.Set("Content-Type", contentType(o.format))
	head.Set("X-ClickHouse-Query-Id", o.queryID)
	head.Set("X-ClickHouse-Format", o.format)
	head.Set("X-ClickHouse-Timezone", "UTC")
	head.Set("X-ClickHouse-Exception-Tag", o.tag)
}

func (o *response) write(part []byte) error {
	if !o.started {
		o.start()
	}
	_, err := o.w.Write(part)
	return err
}

func (o *response) finish(s Summary) {
	if o.started {
		return
	}
	o.start()
	o.summarize(s)
	o.w.Header().Set("Content-Length", "0")
	o.w.WriteHeader(http.StatusOK)
}

// whole answers with a complete result.
func (o *response) whole(result []byte, s Summary) error {
	o.start()
	o.summarize(s)
	o.w.Header().Set("Content-Length", strconv.Itoa(len(result)))
	o.w.WriteHeader(http.StatusOK)
	_, err := o.w.Write(result)
	return err
}

func (o *response) summarize(s Summary) {
	text, err := json.Marshal(map[string]string{
		"read_rows": strconv.FormatUint(s.ReadRows, 10), "read_bytes": strconv.FormatUint(s.ReadBytes, 10),
		"written_rows": strconv.FormatUint(s.WrittenRows, 10), "written_bytes": strconv.FormatUint(s.WrittenBytes, 10),
	})
	if err == nil {
		o.w.Header().Set("X-ClickHouse-Summary", string(text))
	}
}

func (o *response) fail(ex *Exception) {
	if !o.started {
		o.start()
		o.w.Header().Set("Content-Type", "text/plain; charset=UTF-8")
		o.w.Header().Set("X-ClickHouse-Exception-Code", strconv.Itoa(ex.Code))
		o.w.WriteHeader(exceptionStatus(ex.Code))
		_, _ = io.WriteString(o.w, ex.Message+"\n")
		return
	}
	message := strings.TrimSpace(ex.Message)
	if len(message) > 15<<10 {
		message = message[:15<<10]
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "\r\n__exception__\r\n%s\r\n%s\n%d %s\r\n__exception__\r\n", o.tag, message, len(message)+1, o.tag)
	_, _ = o.w.Write(b.Bytes())
	_ = o.flush.Flush()
}

func contentType(format string) string {
	switch {
	case strings.HasPrefix(format, "JSONEachRow"), strings.HasPrefix(format, "JSONCompactEachRow"):
		return "application/x-ndjson; charset=UTF-8"
	case strings.HasPrefix(format, "JSON"):
		return "application/json; charset=UTF-8"
	case strings.HasPrefix(format, "CSV"):
		return "text/csv; charset=UTF-8"
	case strings.HasPrefix(format, "TabSeparated"), strings.HasPrefix(format, "TSV"):
		return "text/tab-separated-values; charset=UTF-8"
	default:
		return "application/octet-stream"
	}
}

// exceptionStatus is the HTTP status that ClickHouse uses for a code.
func exceptionStatus(code int) int {
	switch code {
	case 60, 81, 16: // unknown table, database, column
		return http.StatusNotFound
	case 62, codeUnknownFormat, codeBadArguments, 6, 26, 27, 38, 41, 43, 47, 53, 115, 117:
		return http.StatusBadRequest
	case 158, 160, 396: // too many rows, too slow, too many result rows
		return http.StatusForbidden
	case 159:
		return http.StatusRequestTimeout
	case codeNotImplemented:
		return http.StatusNotImplemented
	case codeTooManyConnections, CodeOrganizationBusy, CodeRestarting, 241:
		return http.StatusServiceUnavailable
	default:
		return http.StatusInternalServerError
	}
}
