package warehouse

import (
	"strconv"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"

	"github.com/svc-observability/svc/server/limits"
)

// Limits bound one read. A read beyond one of them fails with ErrTimeout, ErrMemory or ErrTooCostly.
type Limits struct {
	Time       time.Duration
	Memory     uint64 // bytes; aggregation and sorting go to disk before that
	RowsToRead uint64
	ResultRows uint64
	// ResultBytes bounds the size of the result, which the server holds in memory.
	ResultBytes uint64
}

// DefaultLimits fit the reads of the API.
func DefaultLimits() Limits {
	return Limits{
		Time: limits.ReadTime, Memory: limits.ReadMemory, RowsToRead: 2_000_000_000, ResultRows: 1_000_000,
		ResultBytes: limits.ReadResult,
	}
}

func (l Limits) withDefaults() Limits {
	d := DefaultLimits()
	if l.Time <= 0 {
		l.Time = d.Time
	}
	if l.Memory == 0 {
		l.Memory = d.Memory
	}
	if l.RowsToRead == 0 {
		l.RowsToRead = d.RowsToRead
	}
	if l.ResultRows == 0 {
		l.ResultRows = d.ResultRows
	}
	if l.ResultBytes == 0 {
		l.ResultBytes = d.ResultBytes
	}
	return l
}

func (l Limits) settings() clickhouse.Settings {
	number := func(n uint64) string { return strconv.FormatUint(n, 10) }
	return clickhouse.Settings{
		"readonly":                                     "2",
		"max_execution_time":                           strconv.FormatFloat(l.Time.Seconds(), 'f', -1, 64),
		"max_memory_usage":                             number(l.Memory),
		"max_bytes_before_external_group_by":           number(l.Memory / 2),
		"max_bytes_before_external_sort":               number(l.Memory / 2),
		"max_rows_to_read":                             number(l.RowsToRead),
		"max_result_rows":                              number(l.ResultRows),
		"max_result_bytes":                             number(l.ResultBytes),
		"result_overflow_mode":                         "throw",
		"cancel_http_readonly_queries_on_client_close": "1",
	}
}
