package chdb

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Engine is the one ClickHouse engine of this process. Open it once; after Close the library cannot be used again.
type Engine struct {
	lib      *library
	cfg      EngineConfig
	anchor   *connection // keeps the engine alive, which stops when its last connection closes
	settings map[string]bool
	args     []string
	repaired int // number of tokens without a part, removed at boot

	slots   chan struct{}
	places  *places
	writing atomic.Int64 // statements that are no reads of an organization
	// stuck is called once, with the first read that did not end when it was cancelled. It is nil for an engine without a process
	// of its own.
	stuck func(read)
	// ending is true once the process ends, because of a signal or a stuck read.
	ending atomic.Bool
	tags   atomic.Uint64
	mu     sync.Mutex
	idle   []*connection // oldest first
}

const maxIdleConnections = 32

// Summary counts the rows and bytes that a statement read and wrote.
type Summary struct {
	ReadRows, ReadBytes, WrittenRows, WrittenBytes uint64
}

// Statement is one statement with everything that determines its result.
type Statement struct {
	SQL string
	// Format is the format of an insert's body, and the output format of a statement that does not name one.
	Format   string
	Database string
	// Settings are ClickHouse query settings by name.
	Settings map[string]string
	// Params are values for {name:Type} placeholders, TSV-escaped as over HTTP.
	Params map[string]string
}

// OpenEngine boots the engine on its data folder.
func OpenEngine(cfg EngineConfig) (*Engine, error) {
	cfg = cfg.withDefaults()
	if cfg.DataDir == "" {
		return nil, errors.New("the engine needs a data folder")
	}
	dir, err := filepath.Abs(cfg.DataDir)
	if err != nil {
		return nil, err
	}
	cfg.DataDir = dir
	for _, d := range []string{dir, filepath.Join(dir, "tmp"), filepath.Join(dir, "user_files"), filepath.Join(dir, "backups")} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			return nil, fmt.Errorf("cannot make the warehouse folder: %w", err)
		}
	}
	var configFile string
	var repaired int
	err = withFolderLock(dir, func() (err error) {
		if configFile, err = cfg.writeConfig(); err == nil {
			repaired, err = repairDeduplication(dir)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	path, err := Locate(cfg.LibraryPath)
	if err != nil {
		return nil, err
	}
	lib, err := loadLibrary(path)
	if err != nil {
		return nil, err
	}
	e := &Engine{
		lib: lib, cfg: cfg, repaired: repaired, slots: make(chan struct{}, cfg.MaxConnections), places: newPlaces(time.Now, readPauses(dir)),
	}
	e.args = []string{
		"svc",
		"--path=" + dir,
		"--config-file=" + configFile,
		"--max_server_memory_usage=" + strconv.FormatUint(cfg.MaxServerMemory, 10),
		"--mark_cache_size=" + strconv.FormatUint(cfg.MarkCache, 10),
		"--index_mark_cache_size=" + strconv.FormatUint(cfg.IndexMarkCache, 10),
		"--backups.allowed_path=" + filepath.Join(dir, "backups"),
	}
	output, err := captureStderr(func() error {
		var err error
		e.anchor, err = connect(lib, e.args)
		return err
	})
	if err != nil {
		return nil, bootError(dir, output, err)
	}
	if err := e.prepare(); err != nil {
		e.anchor.close()
		return nil, fmt.Errorf("cannot prepare the warehouse in %s: %w", dir, err)
	}
	return e, nil
}

// ErrLocked says that another process uses the data folder.
var ErrLocked = errors.New("locked by another process")

// ErrCannotOpen says that the engine refuses the data folder.
var ErrCannotOpen = errors.New("the engine cannot open its data folder")

var logPrefix = regexp.MustCompile(`(?m)^.*?(Code: \d+\.)`)

func bootError(dir, output string, err error) error {
	output = strings.TrimSpace(output)
	if strings.Contains(output, "Another server instance") || strings.Contains(output, "Cannot lock file") {
		return lockedError(dir)
	}
	if output == "" {
		output = err.Error()
	}
	first, _, _ := strings.Cut(logPrefix.ReplaceAllString(output, "$1"), "\n")
	return fmt.Errorf("%w %s: %s", ErrCannotOpen, dir, first)
}

func (e *Engine) prepare() error {
	if _, _, err := e.anchor.exec("CREATE DATABASE IF NOT EXISTS "+quoteName(e.cfg.Database), "TSV", params{}); err != nil {
		return err
	}
	// Row policies depend on the database: in any other database the system tables are empty.
	if _, _, err := e.anchor.exec("USE "+quoteName(e.cfg.Database), "TSV", params{}); err != nil {
		return err
	}
	_, out, err := e.anchor.exec("SELECT name FROM system.settings", "TSV", params{})
	if err != nil {
		return err
	}
	e.settings = map[string]bool{}
	for name := range strings.Lines(string(out)) {
		e.settings[strings.TrimSpace(name)] = true
	}
	return nil
}

// Close ends the engine. Every statement must have ended.
func (e *Engine) Close() {
	e.mu.Lock()
	idle := e.idle
	e.idle = nil
	e.mu.Unlock()
	for _, c := range idle {
		c.close()
	}
	e.anchor.close()
	// libchdb 26.7.3 reports a failure here once it has opened a MergeTree table, because threads of its pools stay until the
	// process ends. Tables are closed and parts are written by then, so ignore the failure.
	_ = e.lib.shutdown()
}

func (st Statement) params() params {
	var p params
	for _, name := range slices.Sorted(maps.Keys(st.Params)) {
		p.names, p.values = append(p.names, name), append(p.values, st.Params[name])
	}
	return p
}

// writes counts a statement that must end before the engine may. The returned function ends it.
func (e *Engine) writes() func() {
	e.writing.Add(1)
	return func() { e.writing.Add(-1) }
}

// Run executes a statement without data and passes its output to write as it arrives. When write fails or ctx ends, Run kills the
// statement.
func (e *Engine) Run(ctx context.Context, st Statement, write func([]byte) error) (Summary, error) {
	of := read{organization: st.organization()}
	if of.organization != "" && st.Params[WorkParameter] != "" {
		done, err := e.places.takeForWork(ctx, of.organization, placePatience)
		if err != nil {
			return Summary{}, err
		}
		defer done()
		st = ranked(st, 0)
	} else if of.organization != "" {
		before, done, err := e.places.take(ctx, of.organization, false, placePatience)
		if err != nil {
			return Summary{}, err
		}
		defer done()
		st = ranked(st, before)
	} else {
		defer e.writes()()
	}
	c, err := e.acquire(ctx, st)
	if err != nil {
		return Summary{}, err
	}
	reusable := false
	defer func() { e.release(c, reusable) }()
	class, statements, err := c.classify(st.SQL)
	if err != nil {
		return Summary{}, err
	}
	if statements > 1 {
		return Summary{}, exceptionf(codeSyntaxError, "Syntax error (Multi-statements are not allowed). (SYNTAX_ERROR)")
	}
	if class == ClassControl && isSelect(st.SQL) {
		return Summary{}, exceptionf(codeNotImplemented, "INTO OUTFILE is not allowed: the output goes to the client. (NOT_IMPLEMENTED)")
	}
	guard := e.guard(ctx, c, of)
	var s Summary
	if class == ClassReadOnly && streamable(st.SQL) {
		s, err = c.copyStream(st, write)
		reusable = err == nil
	} else {
		var out []byte
		s, out, err = c.exec(st.SQL, st.Format, st.params())
		if err == nil && len(out) > 0 {
			err = write(out)
		}
	}
	if guard() && err != nil {
		return s, errors.Join(context.Cause(ctx), err)
	}
	return s, err
}

// streamable reports whether a reading statement is a SELECT. The engine does not stream other reading statements (SHOW,
// DESCRIBE, EXPLAIN, …).
func streamable(sql string) bool {
	switch firstWord(sql) {
	case "SHOW", "DESCRIBE", "DESC", "EXPLAIN", "EXISTS", "CHECK":
		return false
	}
	return true
}

func isSelect(sql string) bool {
	word := firstWord(sql)
	return word == "SELECT" || word == "WITH" || word == "FROM"
}

func (c *connection) copyStream(st Statement, write func([]byte) error) (Summary, error) {
	s, err := c.stream(st.SQL, st.Format, st.params())
	if err != nil {
		return Summary{}, err
	}
	defer s.close()
	for {
		part, err := s.next()
		if errors.Is(err, io.EOF) {
			return s.read, nil
		}
		if err != nil {
			return Summary{}, err
		}
		if err := write(part); err != nil {
			return Summary{}, err
		}
	}
}

// Insert runs an INSERT statement (without FORMAT and data) whose rows are body, in the statement's format.
func (e *Engine) Insert(ctx context.Context, st Statement, body io.Reader, buf []byte) (Summary, error) {
	defer e.writes()()
	c, err := e.acquire(ctx, st)
	if err != nil {
		return Summary{}, err
	}
	// A connection with an insert's deduplication token serves that one insert.
	reusable := st.Settings["insert_deduplication_token"] == ""
	defer func() { e.release(c, reusable) }()
	guard := e.guard(ctx, c, read{})
	s, err := c.insert(st.SQL, st.Format, body, buf)
	if guard() && err != nil {
		return s, errors.Join(context.Cause(ctx), err)
	}
	return s, err
}
