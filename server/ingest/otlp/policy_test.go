package otlp_test

import (
	"math/rand/v2"
	"testing"

	"github.com/svc-observability/svc/server/ingest/otlp"
	"github.com/svc-observability/svc/server/warehouse/blocks"
)

// policyKeys are keys that the generated and the odd requests use, including hot keys, and some keys that these requests do not
// use.
func policyKeys() []string {
	return []string{
		"http.route", "http.target", "url.path", "server.address", "net.peer.name", "SampleRate", "http.status_code", "http.response.status_code",
		"http.method", "http.request.method", "url.full", "http.url", "a", "b", "k1", "k30", "db.namespace", "db.client.wait_ms", "db.cached",
		"k8s.pod.name", "service.name", "team", "svc_org_id", "new", "newer", "", "svc.product_event.name", "svc.product_event.prop.b",
		"http.response.status_code2",
	}
}

// chosenMappings returns a list of mappings. Each three bytes of b choose one.
func chosenMappings(b []byte) (all []otlp.Mapping) {
	keys := policyKeys()
	for ; len(b) >= 3 && len(all) < 64; b = b[3:] {
		all = append(all, otlp.Mapping{
			Context: otlp.MappingContext(b[0] & 1), Move: b[0]&2 != 0,
			Source: keys[int(b[1])%len(keys)], Target: keys[int(b[2])%len(keys)],
		})
	}
	return all
}

func policyStamps() []*otlp.Stamp {
	r := rand.New(rand.NewPCG(3, 3))
	var all []*otlp.Stamp
	for i := range 4 {
		b := make([]byte, 3*[]int{0, 5, 0, 30}[i])
		for j := range b {
			b[j] = byte(r.Uint32())
		}
		s := fullStamp()
		s.Mappings = chosenMappings(b)
		if i >= 2 {
			s.NoProductEvents = i == 2
			s.Sampling = otlp.Sampling{Ratio: 0.3, KeepErrors: i == 3, KeepSlowNano: uint64(i-2) * 280e6}
		}
		if len(s.Mappings) > 0 || s.Sampling.Enabled() {
			all = append(all, s)
		}
	}
	return all
}

func FuzzPolicies(f *testing.F) {
	r := rand.New(rand.NewPCG(2, 2))
	f.Add(body(f, otlp.Traces, 3), []byte{0, 1, 2, 3, 2, 1, 2, 5, 7}, 0.5, true, uint64(1e8))
	f.Add(otlp.Scramble(otlp.Traces, body(f, otlp.Traces, 2), r), []byte{2, 5, 0, 0, 3, 5}, 0.01, false, uint64(0))
	for _, in := range oddWires(otlp.Traces) {
		if len(in) < 4096 {
			f.Add(in, []byte{0, 12, 0, 2, 3, 4, 1, 19, 5}, 0.9, false, uint64(1))
		}
	}
	set := &blocks.Set{}
	f.Fuzz(func(t *testing.T, in, mappings []byte, ratio float64, keepErrors bool, keepSlow uint64) {
		s := fullStamp()
		s.Mappings = chosenMappings(mappings)
		s.Sampling = otlp.Sampling{Ratio: ratio, KeepErrors: keepErrors, KeepSlowNano: keepSlow}
		compareWith(t, otlp.Traces, in, s, set)
	})
}
