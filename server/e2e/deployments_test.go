package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/svc-observability/svc/server/config"
	"github.com/svc-observability/svc/server/integrations/vercel/verceltest"
	"github.com/svc-observability/svc/server/testkit"
)

// TestDeployments: what a hosting platform has deployed shows as markers, and tells which commit threw an error whose telemetry names none.
func TestDeployments(t *testing.T) {
	t.Parallel()
	b := &hostingBench{sourceBench: newSourceHub(t), vercel: verceltest.New(t)}
	b.team = b.vercel.AddTeam("team_acme", "acme", "Acme", "shop")
	b.vercel.Token(vercelToken, "team_acme")
	b.serve(testkit.Start(t, func(c *config.Config) {
		appOf(b.hub)(c)
		vercelOf(b.vercel)(c)
	}))
	good := b.repo.Commit(t, "A server", thrown)
	culprit := b.repo.Commit(t, "Price each item", map[string]string{
		"src/cart.js": strings.Replace(thrown["src/cart.js"], "i.price.amount", "i.price.amount * 1", 1),
	})
	undeployed := b.repo.Commit(t, "Two lines more, not deployed",
		map[string]string{"src/cart.js": "// New.\n// New.\n" + thrown["src/cart.js"]})
	newest := fmt.Sprintf("No file of acme/shop at %.7s is proven", undeployed)
	now := time.Now().UTC()
	deploy := func(id, commit, state, target string, age time.Duration) {
		b.vercel.Deploy(b.team, "shop", id, state, target, now.Add(-age))
		b.vercel.Commit(b.team, commit)
	}
	deploy("dpl_good", good, "READY", "production", 30*time.Hour)
	deploy("dpl_preview", culprit, "READY", "", 3*time.Hour)
	deploy("dpl_bad", culprit, "READY", "production", 2*time.Hour)
	deploy("dpl_next", good, "BUILDING", "production", time.Hour)
	b.sourceBench.connect()
	b.connect(b.rest, vercelToken, "", 200)
	b.sync()

	markers := func(by restClient) string {
		var out []string
		rows, _ := by.call("GET", "/v2/markers?service_name=shop&kind=deploy", "", 200)["data"].([]any)
		for _, r := range rows {
			m, _ := r.(map[string]any)
			at, err := time.Parse(time.RFC3339, fmt.Sprint(m["occurred_at"]))
			if err != nil {
				t.Fatal(err)
			}
			commit, _, _ := strings.Cut(strings.TrimPrefix(fmt.Sprint(m["description"]), "Commit "), " ")
			out = append(out, fmt.Sprintf("%s|%s|%.7s|%s", m["title"], m["url"], commit, now.Sub(at).Round(time.Minute)))
		}
		return strings.Join(out, "\n")
	}
	marker := func(id, commit, age string) string {
		return fmt.Sprintf("shop deployed to production|https://shop-%s.vercel.app|%.7s|%s", id, commit, age)
	}
	want := marker("bad", culprit, "1h59m0s") + "\n" + marker("good", good, "29h59m0s")
	if got := markers(b.rest); got != want {
		t.Errorf("markers:\n%s\nwant:\n%s", got, want)
	}

	// The account is connected again: the markers are still those of before.
	b.rest.call("DELETE", vercelPath, "", 200)
	b.connect(b.rest, vercelToken, "", 200)
	b.sync()
	if got := markers(b.rest); got != want {
		t.Errorf("markers of an account that is connected again:\n%s\nwant:\n%s", got, want)
	}

	// The build ends, and a person deletes a marker: the next synchronization adds the one and does not bring back the other.
	rows, _ := b.rest.call("GET", "/v2/markers?service_name=shop", "", 200)["data"].([]any)
	last, _ := rows[1].(map[string]any)
	b.rest.call("DELETE", "/v2/markers/"+fmt.Sprint(last["id"]), "", 200)
	b.vercel.Change(func() {
		b.team.Deployments[0]["state"], b.team.Deployments[0]["ready"] = "READY", now.Add(time.Hour).UnixMilli()
	})
	b.sync()
	b.sync()
	if got, want := markers(b.rest), marker("next", good, "-1h0m0s")+"\n"+marker("bad", culprit, "1h59m0s"); got != want {
		t.Errorf("markers after a deletion:\n%s\nwant:\n%s", got, want)
	}
	other := b.s.NewOrganization(t, "Beside")
	if got := markers(restClient{t, other, other.APIKey}); got != "" {
		t.Errorf("another organization has markers: %s", got)
	}

	// The deployment that serves names no commit: what runs is not known, and an older commit is not taken for it.
	b.vercel.Change(func() { b.team.Deployments[0]["ready"] = now.Add(-time.Hour).UnixMilli() })
	b.vercel.Commit(b.team, "")
	b.sync()
	early := b.throw("shop", "", stackIn("/srv/shop"))
	eventually(t, "the commit of an older deployment is not taken", func() bool {
		got := b.rest.call("GET", "/v2/error_events/"+early+"?service_name=shop", "", 200)
		return sourceOf(got, 0) == nil && strings.Contains(fmt.Sprint(got["source_problem"]), newest)
	})
	b.vercel.Change(func() { b.team.Deployments[0]["state"] = "CANCELED" })
	b.sync()

	// The telemetry names a version without a tag, no commit and no repository.
	fingerprint := b.throw("shop", resourceText("service.version", "9.9"), stackIn("/srv/shop"))
	var first map[string]any
	eventually(t, "the source is found by the deployment", func() bool {
		first = sourceOf(b.rest.call("GET", "/v2/error_events/"+fingerprint+"?service_name=shop", "", 200), 0)
		return first != nil
	})
	if first["commit_sha"] != culprit || first["confidence"] != "deployment" || first["path"] != "src/cart.js" {
		t.Errorf("the first frame: %v", first)
	}
	// The repository of the project is not connected: those that are connected are searched, as without a deployment.
	b.vercel.Change(func() {
		b.team.Projects[0]["link"] = map[string]any{"type": "github", "org": "acme", "repo": "elsewhere"}
	})
	b.sync()
	if got := sourceOf(b.rest.call("GET", "/v2/error_events/"+fingerprint+"?service_name=shop", "", 200), 0); got["commit_sha"] != culprit {
		t.Errorf("the repository of the project is not connected: %v", got)
	}
	list := issuesOf(t, b.rest, "shop", func(l []map[string]any) bool { return len(l) == 1 && l[0]["occurrence_count"] != 0.0 })
	var found []any
	eventually(t, "the suspects are found", func() bool {
		found, _ = b.rest.call("GET", "/v2/error_issues/"+fmt.Sprint(list[0]["id"]), "", 200)["suspect_commits"].([]any)
		return len(found) > 0
	})
	suspect, _ := found[0].(map[string]any)
	reason := fmt.Sprint(suspect["reason"])
	if len(found) != 1 || suspect["sha"] != culprit || suspect["is_assumed"] != false ||
		!strings.HasSuffix(reason, "It came with "+culprit[:7]+", in which the error began; before ran "+good[:7]+".") {
		t.Errorf("suspects: %v", found)
	}

	// Telemetry that names a commit wins, also one that the repository does not have (yet).
	unknown := b.throw("shop", resourceText("vcs.ref.head.revision", strings.Repeat("ab", 20)), stackIn("/srv/shop"))
	eventually(t, "a commit that is not known is not replaced by a deployment", func() bool {
		got := b.rest.call("GET", "/v2/error_events/"+unknown+"?service_name=shop", "", 200)
		return sourceOf(got, 0) == nil && strings.Contains(fmt.Sprint(got["source_problem"]), newest)
	})

	// Another environment, and another service, have no deployment: the newest commit, in which the lines have moved.
	for _, c := range [][2]string{{"shop", "staging"}, {"worker", "production"}} {
		fingerprint := b.throw(c[0], resourceText("deployment.environment.name", c[1]), stackIn("/srv/shop"))
		eventually(t, c[0]+" in "+c[1]+" has the newest commit", func() bool {
			got := b.rest.call("GET", "/v2/error_events/"+fingerprint+"?service_name="+c[0], "", 200)
			return sourceOf(got, 0) == nil && strings.Contains(fmt.Sprint(got["source_problem"]), newest)
		})
	}
}
