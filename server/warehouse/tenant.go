package warehouse

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/warehouse/confine"
)

// TenantLimits bound one statement of a tenant.
type TenantLimits struct {
	Time       time.Duration
	Memory     uint64 // bytes; aggregation and sorting go to disk before that
	RowsToRead uint64
	// Wait bounds the time in which the statement waits for others. Zero means TenantPatience.
	Wait time.Duration
	// MaxRows bounds the rows of the result. The result says whether there were more.
	MaxRows int
	// MaxBytes bounds the size of the result as JSON.
	MaxBytes int
}

// DefaultTenantLimits are the limits of a statement that a person waits for.
func DefaultTenantLimits() TenantLimits {
	return TenantLimits{
		Time: limits.SQLTime, Memory: limits.SQLMemory, RowsToRead: limits.SQLRowsRead, MaxRows: limits.DefaultSQLRows,
		MaxBytes: limits.SQLResult,
	}
}

// TenantResult is the result of a tenant's statement.
type TenantResult struct {
	Columns []SQLColumn // names and types
	// Rows holds one JSON array for each row. 64-bit integers and decimals are strings, so that nothing rounds them. Times are RFC
	// 3339.
	Rows      []json.RawMessage
	Truncated bool
	ReadRows  uint64
	ReadBytes uint64
	Elapsed   time.Duration
}

// Errors of SelectConfined, besides the errors of Query and *confine.Refusal.
var (
	// ErrTenantBusy means that the maximum number of statements of the organization is already running.
	ErrTenantBusy = errors.New("too many statements of the organization run at once")
	// ErrTenantNotSetUp means that the ClickHouse server has no role for tenants' statements, or svc may not make users there.
	ErrTenantNotSetUp = errors.New("the warehouse is not set up for the SQL of tenants")
	// ErrResultTooLarge means that the result has more bytes than the limit allows.
	ErrResultTooLarge = errors.New("the result of the statement is too large")
)

// orgPattern matches the ids of organizations that can be part of a database name.
var orgPattern = regexp.MustCompile(`^[A-Za-z0-9_]{1,128}$`)

// SelectConfined runs a SELECT that a tenant wrote, over the rows of the organization and nothing else. The statement is not
// trusted. Package confine checks and wraps it, and the engine runs it under row policies as a user without rights. Errors of the
// engine are *Error and must not be shown, because their text can contain stored values.
func (w *Warehouse) SelectConfined(ctx context.Context, org principal.OrgID, sql string, limits TenantLimits) (*TenantResult, error) {
	if err := w.usable(); err != nil {
		return nil, err
	}
	t, err := w.confined(ctx, org, sql)
	if err != nil {
		return nil, err
	}
	release, err := w.tenantSlots.take(ctx, org, cmp.Or(limits.Wait, TenantPatience))
	if err != nil {
		return nil, err
	}
	defer release()
	return w.runTenant(ctx, org, t.sql, limits)
}

// tenantStatement is a statement that both guards have passed.
type tenantStatement struct {
	sql     string
	checked *confine.Checked
}

// confined checks a tenant's statement and wraps it.
func (w *Warehouse) confined(ctx context.Context, org principal.OrgID, sql string) (*tenantStatement, error) {
	if !orgPattern.MatchString(string(org)) {
		return nil, scopeError("the organization %q cannot have SQL of its own", org)
	}
	if w.endpoint.socket == "" && (w.endpoint.tenantRole == "" || len(w.tenantKey) == 0) {
		return nil, ErrTenantNotSetUp
	}
	schema, err := w.tenantSchema(ctx)
	if err != nil {
		return nil, ofOurs(err)
	}
	prepared, refusal := schema.guard.Prepare(sql)
	if refusal != nil {
		return nil, refusal
	}
	tree, err := w.tree(ctx, org, prepared.SQL)
	if err != nil {
		return nil, syntaxError(err, prepared.SQL)
	}
	checked, refusal := schema.guard.Check(prepared, tree)
	if refusal != nil {
		return nil, refusal
	}
	tables, refusal := w.definitions(schema, checked.Tables)
	if refusal != nil {
		return nil, refusal
	}
	composed := confine.Compose(prepared, tables)
	tree, err = w.tree(ctx, org, composed)
	if err != nil {
		return nil, &confine.Refusal{
			Code: confine.DisallowedStatement, Message: "The statement cannot be confined to the organization; write it more simply.",
		}
	}
	if refusal := confine.VerifyComposed(checked, tree, tables); refusal != nil {
		return nil, refusal
	}
	return &tenantStatement{composed, checked}, nil
}

// unionDefault is the meaning of a plain UNION, the same as in standard SQL.
const unionDefault = "DISTINCT"

// orgParam is the parameter that holds the organization in the definitions of the tables.
const orgParam = "svc_org"

// definitions makes the subqueries that stand for the offered tables.
func (w *Warehouse) definitions(schema *tenantSchema, names []string) ([]confine.Table, *confine.Refusal) {
	var out []confine.Table
	for _, name := range names {
		t, ok := schema.tables[name]
		if !ok {
			return nil, &confine.Refusal{Code: confine.DisallowedTable, Message: "The table `" + name + "` does not exist in this warehouse yet."}
		}
		columns := make([]string, len(t.Columns))
		for i, c := range t.Columns {
			columns[i] = "`" + c.Name + "`"
		}
		source := w.endpoint.database + "." + t.source()
		final := ""
		if t.latest {
			final = " FINAL"
		}
		out = append(out, confine.Table{
			Name: name, Source: source,
			Select: "SELECT " + strings.Join(columns, ", ") + " FROM " + source + final + " WHERE OrgId = {" + orgParam + ":String}",
		})
	}
	return out, nil
}

// tree asks the engine how it reads a statement. It runs nothing.
func (w *Warehouse) tree(ctx context.Context, org principal.OrgID, sql string) (*confine.Node, error) {
	params := url.Values{
		"database": {w.endpoint.database}, "default_format": {"TabSeparatedRaw"}, "readonly": {"1"}, "max_execution_time": {"5"},
		"param_" + orgParam: {string(org)},
		"max_parser_depth":  {"300"}, "union_default_mode": {unionDefault},
	}
	res, err := w.post(ctx, params, strings.NewReader("EXPLAIN AST "+sql))
	if err != nil {
		return nil, err
	}
	defer func() { _ = res.Body.Close() }()
	var out bytes.Buffer
	if err := copyAnswer(ctx, &out, res); err != nil {
		return nil, err
	}
	node, err := confine.ParseTree(strings.Split(strings.TrimRight(out.String(), "\n"), "\n"))
	if err != nil {
		return nil, &confine.Refusal{
			Code: confine.DisallowedStatement, Message: "The statement has a form that cannot be checked; write it more simply.",
		}
	}
	return node, nil
}

var (
	positionPattern = regexp.MustCompile(`failed at position (\d+)`)
	codesOfSyntax   = map[int]bool{62: true, 26: true, 27: true, 306: true, 167: true, 168: true, 498: true, 456: true, 36: true, 48: true}
)

// syntaxError turns the engine's error about a statement that it cannot parse into a refusal. It uses only the position from the
// text of the error.
func syntaxError(err error, sql string) error {
	var e *Error
	if !errors.As(err, &e) || !codesOfSyntax[e.Code] {
		return err
	}
	at := -1
	if m := positionPattern.FindStringSubmatch(e.Message); m != nil {
		if n, err := strconv.Atoi(m[1]); err == nil {
			at = n - 1 - len("EXPLAIN AST ")
		}
	}
	return confine.SyntaxError(sql, at)
}

func (l TenantLimits) params() url.Values {
	number := func(n uint64) string { return strconv.FormatUint(n, 10) }
	return url.Values{
		"max_execution_time":                           {strconv.FormatFloat(l.Time.Seconds(), 'f', -1, 64)},
		"timeout_overflow_mode":                        {"throw"},
		"max_memory_usage":                             {number(l.Memory)},
		"max_bytes_before_external_group_by":           {number(l.Memory / 2)},
		"max_bytes_before_external_sort":               {number(l.Memory / 2)},
		"max_temporary_data_on_disk_size_for_query":    {number(l.Memory)},
		"max_rows_to_read":                             {number(l.RowsToRead)},
		"read_overflow_mode":                           {"throw"},
		"max_result_rows":                              {"1000000"},
		"max_result_bytes":                             {number(uint64(4 * l.MaxBytes))},
		"result_overflow_mode":                         {"throw"},
		"limit":                                        {strconv.Itoa(l.MaxRows + 1)},
		"max_threads":                                  {"1"},
		"union_default_mode":                           {unionDefault},
		"max_subquery_depth":                           {"50"},
		"max_parser_depth":                             {"300"},
		"enable_global_with_statement":                 {"1"},
		"use_query_cache":                              {"0"},
		"allow_introspection_functions":                {"0"},
		"cancel_http_readonly_queries_on_client_close": {"1"},
		"output_format_json_quote_64bit_integers":      {"1"},
		"output_format_json_quote_decimals":            {"1"},
		"output_format_json_quote_denormals":           {"1"},
		"output_format_json_validate_utf8":             {"1"},
		"date_time_output_format":                      {"iso"},
		"session_timezone":                             {"UTC"},
		"wait_end_of_query":                            {"1"}, // so that no failure follows half a result
		"default_format":                               {"JSONCompactEachRowWithNamesAndTypes"},
	}
}

// runTenant runs a composed statement as the organization.
func (w *Warehouse) runTenant(ctx context.Context, org principal.OrgID, sql string, limits TenantLimits) (*TenantResult, error) {
	bounded, cancel := context.WithTimeout(ctx, limits.Time+5*time.Second) // the engine's own limit comes first
	defer cancel()
	as, database, err := w.tenant(bounded, org)
	if err != nil {
		return nil, err
	}
	begun := time.Now()
	params := limits.params()
	params.Set("database", database)
	params.Set("param_"+orgParam, string(org))
	if w.endpoint.cluster != "" {
		// A subquery of IN or JOIN runs once, and every shard gets its rows. Otherwise ClickHouse refuses it (code 288).
		params.Set("distributed_product_mode", "global")
	}
	run := func() (*http.Response, error) {
		return w.postAs(doing(bounded, readingForTenant), as, params, strings.NewReader(sql))
	}
	res, err := run()
	var e *Error
	switch {
	case restarts(err):
		res, err = run()
	case errors.As(err, &e) && (e.Code == codeUnknownDatabase || e.Code == codeAuthentication):
		// An administrator dropped the database or the user, or the key of the passwords has changed.
		if err := w.renewTenant(bounded, org); err != nil {
			return nil, err
		}
		res, err = run()
	}
	if err != nil {
		if errors.As(err, &e) && (e.Code == 202 || errors.Is(err, ErrBusy)) { // earlier statements still run although they were cancelled
			return nil, ErrTenantBusy
		}
		return nil, err
	}
	defer func() { _ = res.Body.Close() }()
	out := &limitedBuffer{most: limits.MaxBytes}
	if err := copyAnswer(bounded, out, res); err != nil {
		if out.over {
			return nil, ErrResultTooLarge
		}
		return nil, err
	}
	result, err := readTenantResult(&out.Buffer, limits.MaxRows)
	if err != nil {
		return nil, err
	}
	result.Elapsed = time.Since(begun)
	result.ReadRows, result.ReadBytes = summaryOf(res.Header)
	return result, nil
}

// limitedBuffer refuses a write that does not fit.
type limitedBuffer struct {
	bytes.Buffer
	most int
	over bool
}

func (b *limitedBuffer) Write(p []byte) (int, error) {
	if b.Len()+len(p) > b.most {
		b.over = true
		return 0, ErrResultTooLarge
	}
	return b.Buffer.Write(p)
}

func readTenantResult(out io.Reader, most int) (*TenantResult, error) {
	lines := bufio.NewReader(out)
	result := &TenantResult{}
	var head [2][]string
	for i := 0; ; i++ {
		line, err := lines.ReadBytes('\n')
		if len(bytes.TrimSpace(line)) > 0 {
			switch {
			case i < 2:
				if err := json.Unmarshal(line, &head[i]); err != nil {
					return nil, decodeError(fmt.Errorf("unexpected answer to a tenant's statement: %w", err))
				}
			case len(result.Rows) == most:
				result.Truncated = true
			default:
				result.Rows = append(result.Rows, json.RawMessage(bytes.TrimSpace(line)))
			}
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
	}
	for i, name := range head[0] {
		c := SQLColumn{Name: name}
		if i < len(head[1]) {
			c.Type = head[1][i]
		}
		result.Columns = append(result.Columns, c)
	}
	return result, nil
}

// summaryOf returns how many rows and bytes a statement read, from the answer's header.
func summaryOf(h http.Header) (rows, bytes uint64) {
	var s struct {
		Rows  string `json:"read_rows"`
		Bytes string `json:"read_bytes"`
	}
	if json.Unmarshal([]byte(h.Get("X-ClickHouse-Summary")), &s) != nil {
		return 0, 0
	}
	rows, _ = strconv.ParseUint(s.Rows, 10, 64)
	bytes, _ = strconv.ParseUint(s.Bytes, 10, 64)
	return rows, bytes
}
