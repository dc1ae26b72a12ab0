package drain

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

func TestMask(t *testing.T) {
	for in, want := range map[string]string{
		"user 42 logged in":      "user <num> logged in",
		"took 12.5ms, 3% of 10s": "took <num>, <num> of <num>",
		"took=12ms":              "took=<num>",
		"id=7b5d7c1e-3b0f-4c86-9d0e-0a9f6c1d2e3f done": "id=<uuid> done",
		"7B5D7C1E-3B0F-4C86-9D0E-0A9F6C1D2E3F":         "<uuid>",
		"from 10.0.0.7:5432 and 192.168.1.1":           "from <ip> and <ip>",
		"dial tcp 10.0.0.7:5432: refused":              "dial tcp <ip>:<num>: refused",
		"peer [2001:db8::1]:443, ::1":                  "peer <ip>, <ip>",
		"trace 4bf92f3577b34da6a3ce929d0e0e4736":       "trace <hex>",
		"addr 0xDEADbeef":                              "addr <hex>",
		"mail to ada@example.com.":                     "mail to <email>.",
		"<ada.l+x@mail.example.com>":                   "<<email>>",
		"order-1042 at node_7f3a9c21":                  "order-<num> at node_<hex>",
		"/v1/things/77/items/8":                        "/v1/things/<num>/items/<num>",
		`{"ms":12,"ok":true}`:                          `{"ms":<num>,"ok":true}`,
		"plain words stay":                             "plain words stay",
		"deadbeef":                                     "deadbeef",
		"größe 3µs":                                    "größe <num>",
		"http2 sha256 stay":                            "http2 sha256 stay",
		"":                                             "",
		strings.Repeat("w ", maxWords+9):               strings.Repeat("w ", maxWords) + Wildcard,
	} {
		if got := strings.Join(Words(in), " "); got != want {
			t.Errorf("%q becomes %q, want %q", in, got, want)
		}
	}
}

// Messages made from templates are grouped by these templates, whatever their order.
func TestTemplatesAreFound(t *testing.T) {
	templates := map[string]func(r *rand.Rand) string{
		"cart <uuid> saved in <num>": func(r *rand.Rand) string {
			return fmt.Sprintf("cart %08x-0000-4000-8000-%012x saved in %dms", r.Uint32(), r.Uint64()>>16, r.IntN(900))
		},
		"user <*> signed in from <ip>": func(r *rand.Rand) string {
			return fmt.Sprintf("user %s signed in from 10.0.%d.%d", []string{"ada", "bob", "eve", "joe"}[r.IntN(4)], r.IntN(256), r.IntN(256))
		},
		"payment declined: <*>": func(r *rand.Rand) string {
			return "payment declined: " + []string{"funds", "expired", "fraud"}[r.IntN(3)]
		},
		"cache warmed": func(*rand.Rand) string { return "cache warmed" },
		"GET /v1/things/<num> <num> <num>": func(r *rand.Rand) string {
			return fmt.Sprintf("GET /v1/things/%d 200 %dms", r.IntN(1e6),
				r.IntN(99))
		},
	}
	r := rand.New(rand.NewPCG(1, 2))
	var tree Tree
	count := map[*Pattern]int{}
	var names []string
	for name := range templates {
		names = append(names, name)
	}
	want := map[string]int{}
	for range 5000 {
		name := names[r.IntN(len(names))]
		want[name]++
		count[tree.Add(templates[name](r))]++
	}
	got := map[string]int{}
	for p, n := range count {
		got[p.Template()] += n
	}
	for name, n := range want {
		if got[name] != n {
			t.Errorf("%q: %d messages, want %d", name, got[name], n)
		}
	}
	if len(got) != len(want) {
		t.Errorf("patterns: %v", got)
	}
}

func TestSameTimestampsDoNotSplit(t *testing.T) {
	var tree Tree
	for i := range 60 {
		tree.Add(fmt.Sprintf("2026-11-21T10:00:%02dZ worker started", i))
	}
	if n := len(tree.Patterns()); n != 1 {
		t.Errorf("%d patterns: %q", n, tree.Patterns()[0].Template())
	}
}

// Messages of great variety are bounded in the tree and in memory.
func TestBounds(t *testing.T) {
	var tree Tree
	for i := range 3 * maxPatterns {
		tree.Add(fmt.Sprintf("%s %s %s", letters(i), letters(i*7), letters(i*13)))
	}
	if n := len(tree.Patterns()); n > maxPatterns+1 {
		t.Errorf("%d patterns", n)
	}
	for _, n := range tree.lengths {
		if len(n.children) > maxChildren {
			t.Errorf("%d children", len(n.children))
		}
	}
}

func letters(i int) string {
	var b strings.Builder
	for n := i + 1; n > 0; n /= 26 {
		b.WriteByte(byte('g' + n%20))
	}
	return b.String()
}

func FuzzAdd(f *testing.F) {
	f.Add("user 42 from 10.0.0.1 \xff <*> @ :: 0x")
	f.Fuzz(func(t *testing.T, s string) {
		var tree Tree
		p := tree.Add(s)
		if again := tree.Add(s); again != p {
			t.Errorf("%q is %q, and then %q", s, p.Template(), again.Template())
		}
	})
}

func BenchmarkAdd(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	messages := make([]string, 10000)
	for i := range messages {
		messages[i] = fmt.Sprintf("request %d of user-%d served %s in %dms from 10.0.%d.%d", i, r.IntN(5000), letters(r.IntN(50)), r.IntN(900),
			r.IntN(256), r.IntN(256))
	}
	for b.Loop() {
		var tree Tree
		for _, m := range messages {
			tree.Add(m)
		}
	}
}
