package activity_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/svc-observability/svc/server/ingest/activity"
	"github.com/svc-observability/svc/server/warehouse/blocks"
)

// BenchmarkWalk reports the time for a line of each kind, with varied values.
func BenchmarkWalk(b *testing.B) {
	const lines = 1000
	for kind, format := range map[activity.Kind]string{
		activity.SessionReplays: `{"session_id":"s_%[1]d","start_time":"2026-03-10 11:00:00.250","status":"ended","version":2,"url_initial":"https://shop.example/cart?x=%[1]d",` +
			`"user_agent":"Mozilla/5.0","browser_name":"Firefox","os_name":"Linux","device_type":"desktop","service_name":"web","page_views":3,"resource_attributes":{"service.version":"1.4.0"}}`,
		activity.SessionEvents: `{"session_id":"s_1","timestamp":"2026-03-10 11:00:00.250","seq":%[1]d,"type":"network","url":"https://shop.example/","net_method":"GET",` +
			`"net_url":"https://shop.example/api/%[1]d","net_status":200,"net_duration_ms":12,"trace_id":"5b8efff798038103d269b633813fc60c"}`,
		activity.ProductEvents: `{"name":"order placed","timestamp":"2026-03-10T11:00:00Z","user_id":"u_%[1]d","service_name":"shop","url":"https://shop.example/cart","attributes":{"total":12.5,"currency":"EUR"}}`,
	} {
		var body strings.Builder
		for i := range lines {
			fmt.Fprintf(&body, format+"\n", i)
		}
		b.Run(fmt.Sprintf("%s_%d", kind, kind), func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(body.Len()))
			var set blocks.Set
			for b.Loop() {
				set.Reset()
				if result, err := activity.Walk(b.Context(), kind, []byte(body.String()), stamp(), &set); err != nil || result.Accepted != lines {
					b.Fatalf("%+v, %v", result, err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*lines), "ns/line")
		})
	}
}
