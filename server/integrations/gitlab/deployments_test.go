package gitlab_test

import (
	"context"
	"testing"
	"time"

	"github.com/svc-observability/svc/server/integrations"
	"github.com/svc-observability/svc/server/source"
)

// A preview is an environment of a branch, or one that stops by itself. The tier says nothing about that.
func TestPreviews(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	p := b.lab.AddProject(t, "ada/shop", map[string]string{"README.md": "# Shop\n"})
	sha, ends := p.Git(t, "rev-parse", "HEAD"), b.now.Add(time.Hour)
	want := map[string]bool{"production": false, "development": false, "review/fix-7": true, "trial": true}
	for environment := range want {
		d := b.lab.Deploy(p, sha, environment, "success", b.now)
		b.lab.Change(func() {
			if environment == "trial" {
				d.AutoStop = &ends
			}
		})
	}
	host, err := b.app.Host(b.connect(t), func(_ context.Context, c integrations.Connection) (integrations.Connection, error) {
		return c,
			nil
	})
	if err != nil {
		t.Fatal(err)
	}
	list, err := host.Deployments(t.Context(), "ada/shop", source.DeploymentList{Since: b.now.Add(-time.Hour), Newest: 10})
	if err != nil || len(list) != len(want) {
		t.Fatalf("%d deployments: %v", len(list), err)
	}
	for _, d := range list {
		if d.Preview != want[d.Environment] {
			t.Errorf("%s is a preview: %t", d.Environment, d.Preview)
		}
	}
}
