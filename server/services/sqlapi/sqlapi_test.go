package sqlapi_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/services/sqlapi"
	"github.com/svc-observability/svc/server/warehouse/warehousetest"
)

func TestMain(m *testing.M) { os.Exit(warehousetest.Main(m)) }

// slow takes longer than a statement may run.
const slow = "SELECT sum(sipHash64(number, sipHash128(number, 1), sipHash128(number, 2), SHA512(toString(number)))) FROM numbers(400000000)"

func TestSql(t *testing.T) {
	w := warehousetest.New(t)
	s := sqlapi.New(w, time.Now)
	at := time.Now().UTC().Add(-time.Hour)
	for org, body := range map[string]string{"org_one": "hello", "org_two": "secret words"} {
		for i := range 5 {
			if err := w.InsertRows(t.Context(), "logs", []string{"OrgId", "Timestamp", "ServiceName", "Body"},
				[][]any{{org, at.Add(time.Duration(i) * time.Minute), "web", body}}, ""); err != nil {
				t.Fatal(err)
			}
		}
	}
	one := warehousetest.As(t.Context(), "org_one")
	run := func(sql string) (*svcv2.SqlResult, error) { return s.RunSql(one, &svcv2.RunSqlRequest{Sql: sql}) }

	most := int32(2)
	res, err := s.RunSql(one, &svcv2.RunSqlRequest{
		Sql: "SELECT Timestamp, Body, toInt64(9007199254740993) AS big, map('a', 1) AS m, [1.5, nan] AS a, NULL AS n, true AS b, " +
			"toDecimal64('1.10', 2) AS d FROM logs WHERE $__timeFilter(Timestamp) ORDER BY Timestamp",
		MaxRows: &most,
	})
	if err != nil {
		t.Fatal(err)
	}
	if res.GetRowCount() != 2 || !res.GetTruncated() || len(res.GetRows()) != 2 || len(res.GetColumns()) != 8 ||
		res.GetStatistics().GetRowsRead() < 5 || res.GetGranularitySeconds() != 900 {
		t.Errorf("%d rows, truncated %t, %v", res.GetRowCount(), res.GetTruncated(), res.GetStatistics())
	}
	if got := fmt.Sprint(res.GetRows()[0].AsSlice()[1:]); got != "[hello 9007199254740993 map[a:1] [1.5 nan] <nil> true 1.1]" {
		t.Errorf("values %s", got)
	}
	if text := res.GetRows()[0].AsSlice()[0].(string); !strings.HasPrefix(text, at.Format("2006-01-02T15:04:05")) ||
		!strings.HasSuffix(text, "Z") {
		t.Errorf("time %s", text)
	}
	if res.GetColumns()[2].GetType() != "Int64" || res.GetColumns()[2].GetName() != "big" {
		t.Errorf("column %v", res.GetColumns()[2])
	}

	for sql, want := range map[string]struct {
		tag  apierr.Tag
		says string
	}{
		"SELECT Bodi FROM logs":                                    {apierr.WarehouseInvalidSql, "`Bodi` is not a column. Did you mean `Body`?"},
		"SELECT count() FROM log":                                  {apierr.WarehouseInvalidSql, "Did you mean `logs`?"},
		"SELECT coutn() FROM logs":                                 {apierr.WarehouseInvalidSql, "Did you mean `count`"},
		"SELECT Body, count() FROM logs GROUP BY Body WITH TOTALS": {apierr.WarehouseInvalidSql, "WITH TOTALS at line 1"},
		"SELECT FROM WHERE":                                        {apierr.WarehouseInvalidSql, "cannot be parsed"},
		"SELECT 1 +":                                               {apierr.WarehouseInvalidSql, "cannot be parsed"},
		"DROP TABLE logs":                                          {apierr.WarehouseInvalidSql, "must begin with SELECT"},
		"SELECT 1; SELECT 2":                                       {apierr.WarehouseInvalidSql, "Only one statement"},
		"SELECT 1 SETTINGS max_threads = 4":                        {apierr.WarehouseInvalidSql, "SETTINGS"},
		"SELECT * FROM logs FORMAT CSV":                            {apierr.WarehouseInvalidSql, "FORMAT"},
		"SELECT * FROM system.tables":                              {apierr.WarehouseInvalidSql, "not offered"},
		"SELECT toUInt8(Body) FROM logs":                           {apierr.WarehouseInvalidSql, "cannot be read as the type"},
		"SELECT Body, count() FROM logs":                           {apierr.WarehouseInvalidSql, "neither in GROUP BY"},
		"SELECT CAST(1 AS Foo)":                                    {apierr.WarehouseInvalidSql, "type of data that does not exist"},
		"SELECT CAST(Body, concat('UInt', '8')) FROM logs":         {apierr.WarehouseInvalidSql, "must be written as text"},
		"SELECT quantile(2)(SeverityNumber) FROM logs":             {apierr.WarehouseInvalidSql, "out of the range"},
		"SELECT toIPv4(Body) FROM logs":                            {apierr.WarehouseInvalidSql, "cannot be read as the type"},
		"SELECT toUUID(Body) FROM logs":                            {apierr.WarehouseInvalidSql, "cannot be read as the type"},
		"SELECT CAST(Body AS Enum8('a' = 1)) FROM logs":            {apierr.WarehouseInvalidSql, "cannot be read as the type"},
		"SELECT Body::Bool FROM logs":                              {apierr.WarehouseInvalidSql, "cannot be read as the type"},
		"SELECT base64Decode('***')":                               {apierr.WarehouseInvalidSql, "cannot be read as the type"},
		"SELECT '{'::JSON":                                         {apierr.WarehouseInvalidSql, "cannot be read as the type"},
		"SELECT runningDifference(SeverityNumber) FROM logs":       {apierr.WarehouseInvalidSql, "Window functions"},
		`SELECT Body LIKE 'a\\' FROM logs`:                         {apierr.WarehouseInvalidSql, "escape sequence"},
		"SELECT $__nope":                                           {apierr.WarehouseInvalidSql, "no macro $__nope"},
		"SELECT count() FROM numbers(1000000000000)":               {apierr.WarehouseQuotaExceeded, ""},
		"SELECT groupArray(number) FROM numbers(400000000)":        {apierr.WarehouseQuotaExceeded, ""},
		"SELECT arrayJoin(range(20)) AS i, concat(repeat('x', 900000), toString(i))": {apierr.WarehouseQuotaExceeded, ""},
	} {
		_, err := run(sql)
		var e *apierr.Error
		if !errors.As(err, &e) || e.Tag != want.tag || !strings.Contains(e.Message, want.says) ||
			want.tag == apierr.WarehouseInvalidSql && e.Param != "sql" {
			t.Errorf("%s: %v", sql, err)
			continue
		}
		if strings.Contains(e.Message, "hello") || strings.Contains(e.Message, "DB::Exception") {
			t.Errorf("%s: the error shows a stored value or the engine's text: %s", sql, e.Message)
		}
	}

	tables, err := s.ListSqlTables(one, &svcv2.ListSqlTablesRequest{})
	if err != nil || len(tables.GetData()) < 12 {
		t.Fatalf("%v, %v", tables, err)
	}
	for _, table := range tables.GetData() {
		if len(table.GetColumns()) == 0 || len(table.GetSortKey()) == 0 || table.GetSortKey()[0] != "OrgId" {
			t.Errorf("%s: columns %v, sort key %v", table.GetName(), table.GetColumns(), table.GetSortKey())
		}
		if _, err := run(table.GetExample()); err != nil {
			t.Errorf("the example of %s: %v", table.GetName(), err)
		}
	}
	name := "lgos"
	if _, err := s.ListSqlTables(one, &svcv2.ListSqlTablesRequest{Table: &name}); err == nil || !strings.Contains(err.Error(), "`logs`") {
		t.Errorf("an unknown table: %v", err)
	}

	t.Run("a caller who leaves", func(t *testing.T) {
		ctx, cancel := context.WithCancel(one)
		time.AfterFunc(300*time.Millisecond, cancel)
		begun := time.Now()
		_, err := s.RunSql(ctx, &svcv2.RunSqlRequest{Sql: slow})
		if took := time.Since(begun); !errors.Is(err, context.Canceled) || took > 5*time.Second {
			t.Errorf("%v after %s", err, took)
		}
		// The engine no longer runs it.
		deadline := time.Now().Add(10 * time.Second)
		for {
			var out strings.Builder
			if err := w.RawQuery(t.Context(), "SELECT count() FROM system.processes WHERE query LIKE '%sum(sipHash64%' AND query NOT LIKE "+
				"'%processes%'", "TSV", &out); err != nil {
				t.Fatal(err)
			}
			if out.String() == "0\n" {
				break
			}
			if time.Now().After(deadline) {
				t.Fatalf("%s statements still run", out.String())
			}
			time.Sleep(50 * time.Millisecond)
		}
	})
	t.Run("many at once", func(t *testing.T) {
		var wg sync.WaitGroup
		var mu sync.Mutex
		busy := 0
		for range 6 {
			wg.Go(func() {
				_, err := run(slow)
				var e *apierr.Error
				mu.Lock()
				defer mu.Unlock()
				switch {
				case errors.As(err, &e) && e.Tag == apierr.RateLimit:
					busy++
				case !errors.As(err, &e) || e.Tag != apierr.QueryEngineTimeout:
					t.Error(err)
				}
			})
		}
		// Another organization does not wait for them.
		time.Sleep(200 * time.Millisecond)
		if _, err := s.RunSql(warehousetest.As(t.Context(), "org_two"), &svcv2.RunSqlRequest{Sql: "SELECT count() FROM logs"}); err != nil {
			t.Errorf("another organization: %v", err)
		}
		wg.Wait()
		if busy != 3 {
			t.Errorf("%d statements of 6 were refused, want the 3 beyond what may run at once", busy)
		}
	})
}
