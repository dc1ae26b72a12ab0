package warehouse_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/svc-observability/svc/server/warehouse/warehousetest"
)

// Each failed span makes one error event: those of older versions, which have no fingerprint, through the stack, the others with their
// fingerprint. An exception of a log record makes one as well; an exception on a span that did not fail makes none.
func TestErrorViews(t *testing.T) {
	t.Parallel()
	e := warehousetest.NewEngine(t)
	at := time.Now().UTC().Truncate(time.Second).Unix()
	spans := fmt.Sprintf(`INSERT INTO spans (OrgId, Timestamp, TraceId, SpanId, SpanName, ServiceName, StatusCode, StatusMessage, DurationNano, SampleRate,
			EventsTimestamp, EventsName, EventsAttributes, ErrorFingerprint, ErrorFrame, ErrorLabel, ErrorVariant)
		SELECT 'org_a', toDateTime64(%[1]d, 9, 'UTC'), 't', toString(number), 'GET /', 'shop', if(number = 4, 'Ok', 'Error'), 'no', 5, 2,
			[toDateTime64(%[1]d, 9, 'UTC') + toIntervalSecond(number), toDateTime64(0, 9, 'UTC')], [if(number = 3, 'retry', 'exception'), 'exception'],
			[map('exception.type', 'Out', 'exception.message', 'of stock'), map('exception.type', 'Second')],
			[0, 7, 7, 8, 7][number + 1], 'shop.pay', 'Named', 'app' FROM numbers(5)`, at)
	logs := fmt.Sprintf(`INSERT INTO logs (OrgId, Timestamp, TraceId, SpanId, EventName, ServiceName, LogAttributes, ErrorFingerprint, ErrorFrame, ErrorLabel, ErrorVariant)
		SELECT 'org_a', toDateTime64(%d, 9, 'UTC'), 'l', toString(number), 'app.crash', 'shop', map('exception.type', 'Crash', 'exception.message', 'bad'),
			number * 9, 'shop.boot', 'Crash', 'app' FROM numbers(2)`, at)
	for _, sql := range []string{spans, logs} {
		if err := e.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	got := raw(t, e.Warehouse, `SELECT TraceId, SpanId, if(SpanId = '0' AND Source = '', FingerprintHash > 9, FingerprintHash), ErrorLabel, TopFrame, ExceptionType, ExceptionMessage,
		toUnixTimestamp(toDateTime(OccurredAt)) - `+fmt.Sprint(at)+`, DurationNano, SampleRate, HasException, Source FROM error_events ORDER BY TraceId, SpanId`)
	const want = "l\t1\t9\tCrash\tshop.boot\tCrash\tbad\t0\t0\t1\ttrue\tlog\n" +
		"t\t0\t1\tOut\t\tOut\tof stock\t0\t5\t2\ttrue\t\n" +
		"t\t1\t7\tNamed\tshop.pay\tOut\tof stock\t1\t5\t2\ttrue\t\n" +
		"t\t2\t7\tNamed\tshop.pay\tOut\tof stock\t2\t5\t2\ttrue\t\n" +
		"t\t3\t8\tNamed\tshop.pay\tSecond\tno\t" + "%d" + "\t5\t2\ttrue\t\n"
	if expected := fmt.Sprintf(want, -at); got != expected {
		t.Errorf("got\n%s\nwant\n%s", got, expected)
	}
}

// An insert that is repeated with its token, as the queue repeats one after a crash, makes no error event twice: neither of two views of
// one table takes the token of the other.
func TestErrorViewsOnce(t *testing.T) {
	t.Parallel()
	e := warehousetest.NewEngine(t)
	sql := fmt.Sprintf(`INSERT INTO spans (OrgId, Timestamp, TraceId, SpanId, StatusCode, StatusMessage, ErrorFingerprint) SETTINGS insert_deduplication_token = 'one', deduplicate_blocks_in_dependent_materialized_views = 1
		SELECT 'org_a', toDateTime64(%d, 9, 'UTC'), 't', toString(number), 'Error', 'no', number * 5 FROM numbers(2)`, time.Now().Unix())
	for range 2 {
		if err := e.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
		if got := raw(t, e.Warehouse, "SELECT count(), uniqExact(FingerprintHash) FROM error_events"); got != "2\t2\n" {
			t.Fatalf("error events: %q", got)
		}
	}
}
