package e2e

import (
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/svc-observability/svc/server/testkit"
)

// TestWorkers lets up to three processes share the alerts of ten organizations on one PostgreSQL. The holder of all shards is frozen in the
// middle of its messages, and goes on when two others have its work. Then one of these loses its database, without any sign of it, and the
// other one is killed, so the first is alone; at last there are two. Every incident opens and resolves once, every message has one content,
// every check is stored once, and the process that was frozen writes nothing under its old leases.
func TestWorkers(t *testing.T) {
	t.Parallel()
	r := startTold(t)
	in := startInstallation(t)
	var orgs []*testkit.Server
	for n := range workerOrgs {
		orgs = append(orgs, in.alertingOrg(n, r))
	}
	// A minute is due 20 to 30 seconds after its end. None is due from here to the first takeover.
	for s := time.Now().Second(); s < 30 || s > 35; s = time.Now().Second() {
		time.Sleep(100 * time.Millisecond)
	}
	begun := time.Now()
	minute := begun.UTC().Truncate(time.Minute)
	for _, s := range orgs {
		sendMinute(t, s, minute)
	}
	waitFlushed(t, in.front)
	in.exec(`UPDATE alert_rules SET enabled_at = enabled_at - interval '1 hour'`)
	in.exec(`UPDATE alert_cursors SET evaluated_through = $1, scheduled_through = $1`, minute.Add(-time.Minute))

	// The first process has all shards and begins to tell. One message of each organization is under way when it freezes.
	r.holding(http.StatusInternalServerError, func() bool { return r.held < workerOrgs })
	first, firstNode := in.worker("first", "")
	eventually(t, "a message of each organization", func() bool { return r.waiting() == workerOrgs })
	frozen := time.Now()
	if err := syscall.Kill(first.Pid(), syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	link := startBlackhole(t, in.url.Host)
	_, secondNode := in.worker("second", link.Addr)
	third, thirdNode := in.worker("third", "")
	in.takeover(frozen, firstNode)
	all := workerOrgs * workerServices
	eventually(t, "all triggers", func() bool { return in.sent("trigger") == all })

	// The first process goes on. Each of its requests ends with a failure, although the second process has sent that message.
	const written = `SELECT concat_ws(' ', delivery_key, attempt_number, status, error_message, due_at, attempted_at) FROM deliveries
		WHERE event_type = 'trigger' UNION ALL SELECT concat_ws(' ', id, failure_streak, breaker_failures, breaker_until) FROM alert_destinations ORDER BY 1`
	before := in.rows(written)
	if a, b := in.held(secondNode), in.held(thirdNode); a == 0 || b == 0 {
		t.Errorf("after the takeover, the second process has %d shards and the third %d", a, b)
	}
	r.free()
	if err := syscall.Kill(first.Pid(), syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the end of the work under the old lease", func() bool {
		return !strings.Contains(metricsOf(t, &first.Server), "\nsvc_work_lease_lost_total 0\n") ||
			!strings.Contains(metricsOf(t, &first.Server), "\nsvc_work_fenced_total 0\n")
	})
	eventually(t, "the return of the process that was frozen", func() bool { return in.held(firstNode) > 0 })
	if after := in.rows(written); strings.Join(before, "\n") != strings.Join(after, "\n") {
		t.Errorf("the process that was frozen wrote:\n%s\nbefore:\n%s", strings.Join(after, "\n"), strings.Join(before, "\n"))
	}

	// The next minute has no telemetry, so all incidents resolve. In the middle of that, the first process is left alone.
	r.holding(http.StatusOK, func() bool { return true })
	for end := minute.Add(2 * time.Minute); r.waiting() < 3; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d messages of the next minute are under way\n%s\n%s", r.waiting(), strings.Join(in.rows(`SELECT concat_ws(' ', org_id, evaluated_through, last_error) FROM alert_cursors
				UNION ALL SELECT concat_ws(' ', status, group_key, last_triggered_at, hold_reason, held_since) FROM alert_incidents`), "\n"), first.Log())
		}
	}
	t.Logf("the shards: first %d, second %d, third %d", in.held(firstNode), in.held(secondNode), in.held(thirdNode))
	gone := time.Now()
	link.cut()
	third.Kill()
	r.free()
	in.takeover(gone, secondNode, thirdNode)
	eventually(t, "all resolves", func() bool { return in.sent("resolve") == all })
	link.heal()
	eventually(t, "the return of the process that was cut off", func() bool { return in.held(secondNode) > 0 })
	in.checkOnce(minute)
	r.checkOnce(t, all)
	t.Logf("%s from the first fault to the end", time.Since(begun).Round(time.Second))
}

// sent is the number of messages that arrived, by their records.
func (in *processes) sent(event string) int {
	in.t.Helper()
	return one[int](in, `SELECT count(*) FROM deliveries WHERE status = 'success' AND event_type = $1`, event)
}

// checkOnce compares incidents, messages and checks with those of a single process without faults: every group opened at the minute and
// resolved at the next one.
func (in *processes) checkOnce(minute time.Time) {
	t, all := in.t, workerOrgs*workerServices
	t.Helper()
	if n := one[int](in, `SELECT count(*) FROM alert_incidents WHERE status = 'resolved' AND first_triggered_at = $1 AND resolved_at = $2`,
		minute, minute.Add(time.Minute)); n != all || one[int](in, `SELECT count(*) FROM alert_incidents`) != all {
		t.Errorf("%d incidents opened and resolved at their minutes, want %d of %d", n, all, one[int](in, `SELECT count(*) FROM alert_incidents`))
	}
	if n := one[int](in, `SELECT count(*) FROM deliveries WHERE status = 'success' AND attempt_number = 1`); n != 2*all ||
		one[int](in, `SELECT count(*) FROM deliveries`) != 2*all {
		t.Errorf("%d messages were sent at the first attempt, want %d:\n%s", n, 2*all,
			strings.Join(in.rows(`SELECT concat_ws(' ', delivery_key, attempt_number, status, error_message) FROM deliveries ORDER BY 1`), "\n"))
	}
	eventually(t, "the checks", func() bool { return one[int](in, `SELECT count(*) FROM alert_check_batches`) == 0 })
	const checks = `SELECT count() = uniqExact(RuleId, GroupKey, Timestamp), countIf(IncidentTransition = 'opened'), countIf(IncidentTransition = 'resolved'),
		uniqExactIf(RuleId, Timestamp = parseDateTimeBestEffort('%s')), countIf(Status = 'error') FROM alert_checks`
	out, err := testkit.Command(t, append([]string{
		"admin", "sql", fmt.Sprintf(checks, minute.Add(time.Minute).Format(time.RFC3339)),
		"--data-dir", filepath.Join(in.root, "front"), "--database-url", in.url.String(),
	}, in.args[:2]...)...).Output()
	if want := fmt.Sprintf("1\t%d\t%d\t%d\t0", all, all, workerOrgs); err != nil || strings.TrimSpace(string(out)) != want {
		t.Errorf("the checks: %q (%v), want %q", out, err, want)
	}
}

// checkOnce reads the messages that arrived: each message at least once, always with the same content, and each trigger before its resolve.
func (r *told) checkOnce(t *testing.T, all int) {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	repeated := 0
	for key, bodies := range r.bodies {
		for _, body := range bodies[1:] {
			repeated++
			if body != bodies[0] {
				t.Errorf("%s was told with two contents:\n%s\n%s", key, bodies[0], body)
			}
		}
	}
	triggered := map[string]bool{}
	for _, key := range r.order {
		incident, _, _ := strings.Cut(key, ":")
		if strings.Contains(key, ":trigger:") {
			triggered[incident] = true
		} else if !triggered[incident] {
			t.Errorf("%s came before its trigger", key)
		}
	}
	if len(r.order) != 2*all || len(triggered) != all || repeated < workerOrgs {
		t.Errorf("%d messages about %d incidents, %d of them repeated; want %d about %d", len(r.order), len(triggered), repeated, 2*all, all)
	}
	t.Logf("%d messages, %d requests repeated", len(r.order), repeated)
}
