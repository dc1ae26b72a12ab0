package warehouse_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/svc-observability/svc/server/warehouse"
	"github.com/svc-observability/svc/server/warehouse/warehousetest"
)

// TestKindsOfCodes: every ClickHouse code that tells its cause has the matching kind. The names are the engine's own.
func TestKindsOfCodes(t *testing.T) {
	t.Parallel()
	w := warehousetest.Shared(t)
	for _, tt := range []struct {
		kind  error
		codes map[int]string
	}{
		{warehouse.ErrTimeout, map[int]string{159: "TIMEOUT_EXCEEDED", 160: "TOO_SLOW", 209: "SOCKET_TIMEOUT"}},
		{warehouse.ErrMemory, map[int]string{241: "MEMORY_LIMIT_EXCEEDED"}},
		{warehouse.ErrTooCostly, map[int]string{158: "TOO_MANY_ROWS", 307: "TOO_MANY_BYTES", 396: "TOO_MANY_ROWS_OR_BYTES"}},
		{warehouse.ErrUnavailable, map[int]string{
			202: "TOO_MANY_SIMULTANEOUS_QUERIES", 203: "NO_FREE_CONNECTION", 210: "NETWORK_ERROR", 225: "NO_ZOOKEEPER", 242: "TABLE_IS_READ_ONLY",
			252: "TOO_MANY_PARTS", 279: "ALL_CONNECTION_TRIES_FAILED", 999: "KEEPER_EXCEPTION",
		}},
		{warehouse.ErrAuth, map[int]string{
			192: "UNKNOWN_USER", 193: "WRONG_PASSWORD", 194: "REQUIRED_PASSWORD", 195: "IP_ADDRESS_NOT_ALLOWED", 516: "AUTHENTICATION_FAILED",
		}},
		{warehouse.ErrConfig, map[int]string{
			115: "UNKNOWN_SETTING", 164: "READONLY", 180: "THERE_IS_NO_PROFILE", 291: "DATABASE_ACCESS_DENIED", 344: "SUPPORT_IS_DISABLED",
			446: "FUNCTION_NOT_ALLOWED", 452: "SETTING_CONSTRAINT_VIOLATION", 497: "ACCESS_DENIED", 511: "UNKNOWN_ROLE", 701: "CLUSTER_DOESNT_EXIST",
		}},
		{warehouse.ErrSchema, map[int]string{
			8: "THERE_IS_NO_COLUMN", 10: "NOT_FOUND_COLUMN_IN_BLOCK", 16: "NO_SUCH_COLUMN_IN_TABLE", 46: "UNKNOWN_FUNCTION",
			47: "UNKNOWN_IDENTIFIER",
			50: "UNKNOWN_TYPE", 60: "UNKNOWN_TABLE", 63: "UNKNOWN_AGGREGATE_FUNCTION", 81: "UNKNOWN_DATABASE",
		}},
		{warehouse.ErrMalformed, map[int]string{
			34: "TOO_MANY_ARGUMENTS_FOR_FUNCTION", 35: "TOO_FEW_ARGUMENTS_FOR_FUNCTION", 42: "NUMBER_OF_ARGUMENTS_DOESNT_MATCH", 62: "SYNTAX_ERROR",
			179: "MULTIPLE_EXPRESSIONS_FOR_ALIAS", 184: "ILLEGAL_AGGREGATION", 207: "AMBIGUOUS_IDENTIFIER", 215: "NOT_AN_AGGREGATE",
			352: "AMBIGUOUS_COLUMN_NAME", 456: "UNKNOWN_QUERY_PARAMETER", 457: "BAD_QUERY_PARAMETER",
		}},
		{warehouse.ErrOther, map[int]string{
			43: "ILLEGAL_TYPE_OF_ARGUMENT", 49: "LOGICAL_ERROR", 53: "TYPE_MISMATCH", 153: "ILLEGAL_DIVISION",
			4711: "",
		}},
	} {
		for code, name := range tt.codes {
			if got := warehouse.KindOfCode(code); !errors.Is(got, tt.kind) {
				t.Errorf("code %d (%s) is %v, want %v", code, name, got, tt.kind)
			}
			var got string
			if err := w.QueryRow(t.Context(), "org_kinds", fmt.Sprintf("SELECT errorCodeToName(%d) WHERE {org:String} != ''", code), nil,
				&got); err != nil || got != name {
				t.Errorf("code %d is called %s, %v, want %s", code, got, err, name)
			}
		}
	}
}

// TestKindsOfAnswers checks the kinds of real failures of the engine and of the connection to it.
func TestKindsOfAnswers(t *testing.T) {
	w := warehousetest.Shared(t)
	type number struct {
		N uint64 `ch:"n"`
	}
	read := func(sql string, args ...warehouse.Arg) error {
		rows, err := w.Query(t.Context(), "org_kinds", sql, args...)
		if err != nil {
			return err
		}
		defer func() { _ = rows.Close() }()
		for rows.Next() {
			var row number
			if err := rows.ScanStruct(&row); err != nil {
				return err
			}
		}
		return rows.Err()
	}
	for name, tt := range map[string]struct {
		err  error
		kind error
	}{
		"unknown table":      {read("SELECT n FROM no_such_table WHERE {org:String} != ''"), warehouse.ErrSchema},
		"unknown column":     {read("SELECT no_such_column AS n FROM spans WHERE OrgId = {org:String}"), warehouse.ErrSchema},
		"unknown function":   {read("SELECT no_such_function(1) AS n WHERE {org:String} != ''"), warehouse.ErrSchema},
		"unknown database":   {read("SELECT n FROM nowhere.spans WHERE {org:String} != ''"), warehouse.ErrSchema},
		"no statement":       {read("SELEC {org:String}"), warehouse.ErrMalformed},
		"a value is missing": {read("SELECT {n:UInt64} AS n WHERE {org:String} != ''"), warehouse.ErrMalformed},
		"a value of another type": {
			read("SELECT {n:UInt64} AS n WHERE {org:String} != ''", warehouse.Named("n", "x")),
			warehouse.ErrMalformed,
		},
		"an invalid value": {
			read("SELECT {n:UInt64} AS n WHERE {org:String} != ''", warehouse.Named("n", struct{}{})),
			warehouse.ErrMalformed,
		},
		"a write":                       {read("INSERT INTO spans (OrgId) VALUES ({org:String})"), warehouse.ErrConfig},
		"a column of another type":      {read("SELECT 'x' AS n WHERE {org:String} != ''"), warehouse.ErrDecode},
		"another column":                {read("SELECT 1 AS m WHERE {org:String} != ''"), warehouse.ErrDecode},
		"no place for the organization": {read("SELECT 1 AS n"), warehouse.ErrScope},
	} {
		var e *warehouse.Error
		if !errors.As(tt.err, &e) || !errors.Is(tt.err, tt.kind) {
			t.Errorf("%s: %v, want %v", name, tt.err, tt.kind)
		}
	}
	if _, err := w.Query(t.Context(), "", "SELECT {org:String}"); !errors.Is(err, warehouse.ErrScope) {
		t.Errorf("for no organization: %v", err)
	}
	if _, err := w.SelectConfined(t.Context(), "org'", "SELECT 1", warehouse.DefaultTenantLimits()); !errors.Is(err, warehouse.ErrScope) {
		t.Errorf("SQL for an organization that cannot have any: %v", err)
	}
}
