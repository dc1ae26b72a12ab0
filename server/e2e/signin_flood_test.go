package e2e

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/svc-observability/svc/server/testkit"
)

// guesses sends wrong passwords until it is stopped.
type guesses struct {
	stop   context.CancelFunc
	wg     sync.WaitGroup
	mu     sync.Mutex
	answer map[int]int // by status
	other  string      // an unexpected answer
}

const guessers = 32

// guess begins the flood. Each sender waits for its answer, and then for the pause. address returns the address that a guess
// comes from, account the account that it is for.
func guess(p *testkit.Process, pause time.Duration, address, account func() string) *guesses {
	ctx, cancel := context.WithCancel(context.Background())
	g := &guesses{stop: cancel, answer: map[int]int{}}
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: guessers}}
	for range guessers {
		g.wg.Go(func() {
			for ctx.Err() == nil {
				body := fmt.Sprintf(`{"email":%q,"password":"wrong %d"}`, account(), rand.Int())
				req, err := http.NewRequestWithContext(ctx, http.MethodPost, p.BaseURL+"/v2/session", strings.NewReader(body))
				if err != nil {
					panic(err)
				}
				req.Header.Set("Content-Type", "application/json")
				req.Header.Set("X-Forwarded-For", address())
				res, err := client.Do(req)
				if err != nil {
					continue // the flood was stopped, or the count below is too small
				}
				text, _ := io.ReadAll(res.Body)
				_ = res.Body.Close()
				g.mu.Lock()
				g.answer[res.StatusCode]++
				if res.StatusCode != 401 && (res.StatusCode != 429 || res.Header.Get("Retry-After") == "") {
					g.other = fmt.Sprintf("%d %s", res.StatusCode, text)
				}
				g.mu.Unlock()
				select {
				case <-ctx.Done():
				case <-time.After(pause):
				}
			}
		})
	}
	return g
}

func (g *guesses) end() {
	g.stop()
	g.wg.Wait()
}

// beside holds the results of other callers during the flood.
type beside struct {
	p50, p99 time.Duration
	memory   int64
}

// readBeside reads over REST for a while, as often as one key may, and records the memory of the server.
func readBeside(tb testing.TB, p *testkit.Process, d time.Duration) (out beside) {
	tb.Helper()
	var took []time.Duration
	for began := time.Now(); time.Since(began) < d; time.Sleep(110 * time.Millisecond) {
		req, err := http.NewRequestWithContext(tb.Context(), http.MethodGet, p.BaseURL+"/v2/api_keys", http.NoBody)
		if err != nil {
			tb.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+p.APIKey)
		started := time.Now()
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			tb.Fatal(err)
		}
		_, err = io.Copy(io.Discard, res.Body)
		_ = res.Body.Close()
		if took = append(took, time.Since(started)); err != nil || res.StatusCode != http.StatusOK {
			tb.Fatalf("a read beside the flood: %d, %v", res.StatusCode, err)
		}
		out.memory = max(out.memory, rss(tb, p.Pid()))
	}
	slices.Sort(took)
	out.p50, out.p99 = took[len(took)/2], took[len(took)*99/100]
	return out
}

func anywhere() string { return fmt.Sprintf("2001:db8:%x:%x::1", rand.N(1<<16), rand.N(1<<16)) }
func anybody() string  { return fmt.Sprintf("nobody%d@example.com", rand.Int()) }

// signInFrom signs the administrator in with the right password.
func signInFrom(tb testing.TB, p *testkit.Process, address string) (status int) {
	tb.Helper()
	req, err := http.NewRequestWithContext(tb.Context(), http.MethodPost, p.BaseURL+"/v2/session",
		strings.NewReader(signInBody(p.AdminEmail, p.AdminPassword, "")))
	if err != nil {
		tb.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("X-Forwarded-For", address)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		tb.Fatal(err)
	}
	_ = res.Body.Close()
	return res.StatusCode
}

// flooded reports the results of other callers beside a flood of wrong passwords.
func flooded(tb testing.TB, d, pause time.Duration, report func(name string, b beside, answers map[int]int)) {
	p := testkit.StartProcess(tb, filepath.Join(tb.TempDir(), "data"), "--trusted-proxies", "127.0.0.0/8")
	const office = "198.51.100.4"
	if status := signInFrom(tb, p, office); status != http.StatusOK {
		tb.Fatalf("the right password: %d", status)
	}
	report("alone", readBeside(tb, p, d), nil)
	for name, from := range map[string]struct{ address, account func() string }{
		"one address":    {func() string { return "203.0.113.7" }, anybody},
		"one account":    {anywhere, func() string { return "somebody@example.com" }},
		"many addresses": {anywhere, anybody},
	} {
		g := guess(p, pause, from.address, from.account)
		b := readBeside(tb, p, d)
		// A person who signed in from this address before waits in a separate room.
		for range 3 {
			if status := signInFrom(tb, p, office); status != http.StatusOK {
				tb.Errorf("%s: the right password, from an address that is known: %d", name, status)
			}
		}
		g.end()
		if g.other != "" {
			tb.Errorf("%s: a wrong password was answered %s", name, g.other)
		}
		report(name, b, g.answer)
	}
	eventually(tb, "somebody else to sign in after the floods", func() bool {
		return signInFrom(tb, p, "198.51.100.9") == http.StatusOK
	})
	stop(tb, p)
}

// TestSignInFlood sends a flood of wrong passwords: from one address, on one account, or from everywhere on every account. Each
// guess must be answered 401 or 429 with a time to retry. The flood must take bounded memory, and people who are signed in must
// hardly notice it.
func TestSignInFlood(t *testing.T) {
	alone := beside{}
	// At most 640 guesses a second are many times more than the limits allow, and leave processor time to the server. Without a
	// pause, the senders compete with the checks for the processors. On a busy machine, a check then takes longer than a request
	// may.
	flooded(t, 3*time.Second, 50*time.Millisecond, func(name string, b beside, answers map[int]int) {
		t.Logf("%s: reads p50 %v, p99 %v; %d MiB; answers %v", name, b.p50, b.p99, b.memory>>20, answers)
		if name == "alone" {
			alone = b
			return
		}
		if answers[401] == 0 || answers[429] == 0 {
			t.Errorf("%s: answers %v, want some that are checked and some that are not", name, answers)
		}
		if name != "many addresses" && answers[401] > 60 {
			t.Errorf("%s: %d guesses were checked", name, answers[401])
		}
		// One check takes 64 MiB. Half of the processors check at once, and garbage adds to that.
		if grown := b.memory - alone.memory; grown > 400<<20 {
			t.Errorf("%s: the server grew by %d MiB", name, grown>>20)
		}
		if limit := max(20*alone.p50, 250*time.Millisecond); b.p50 > limit {
			t.Errorf("%s: a read takes %v, alone %v", name, b.p50, alone.p50)
		}
	})
}

// BenchmarkSignInFlood runs the same flood for longer.
func BenchmarkSignInFlood(b *testing.B) {
	for b.Loop() {
		flooded(b, 20*time.Second, 0, func(name string, got beside, answers map[int]int) {
			unit := strings.ReplaceAll(name, " ", "-")
			b.ReportMetric(float64(got.p50.Microseconds())/1e3, unit+"-p50-ms")
			b.ReportMetric(float64(got.p99.Microseconds())/1e3, unit+"-p99-ms")
			b.ReportMetric(float64(got.memory>>20), unit+"-MiB")
			for _, status := range []int{401, 429} {
				if answers != nil {
					b.ReportMetric(float64(answers[status])/20, fmt.Sprintf("%s-%d/s", unit, status))
				}
			}
		})
	}
	b.ReportMetric(0, "ns/op")
}
