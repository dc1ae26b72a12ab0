package frames_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-observability/svc/server/source/frames"
)

func TestRepositoryOfOrigin(t *testing.T) {
	for _, c := range []struct{ url, name, host, want string }{
		{"https://github.com/acme/shop", "", "github.com", "acme/shop"},
		{"https://GitHub.com/acme/shop.git/", "", "github.com", "acme/shop"},
		{"git@github.com:acme/shop.git", "", "github.com", "acme/shop"},
		{"ssh://git@github.com:22/acme/shop.git", "", "github.com", "acme/shop"},
		{"https://gitlab.example/group/sub/shop", "", "gitlab.example", "group/sub/shop"},
		{"", "acme/shop", "", "acme/shop"},
		{"not a url", "acme/shop", "", "acme/shop"},
		{"", "shop", "", ""}, // the owner is not known
		{"https://github.com/", "acme/shop", "", ""},
		{"", "", "", ""},
	} {
		host, name := frames.Origin{RepositoryURL: c.url, RepositoryName: c.name}.Repository()
		if host != c.host || name != c.want {
			t.Errorf("%q %q: %q %q, want %q %q", c.url, c.name, host, name, c.host, c.want)
		}
	}
}

func TestReferencesOfOrigin(t *testing.T) {
	for _, c := range []struct {
		o    frames.Origin
		want []frames.Reference
	}{
		{frames.Origin{Commit: "ABCDEF1", Version: "1.2.0"}, []frames.Reference{{"abcdef1", "exact"}, {"1.2.0", "tag"}, {"v1.2.0", "tag"}}},
		{frames.Origin{Version: "v2"}, []frames.Reference{{"v2", "tag"}}},
		{frames.Origin{Version: "0a1b2c3d"}, []frames.Reference{{"0a1b2c3d", "exact"}, {"0a1b2c3d", "tag"}, {"v0a1b2c3d", "tag"}}},
		{frames.Origin{Commit: "main"}, nil}, // a branch is no commit
		{frames.Origin{Version: "--upload-pack"}, nil},
		{frames.Origin{}, nil},
	} {
		if d := cmp.Diff(c.want, c.o.References()); d != "" {
			t.Errorf("%+v (-want +got):\n%s", c.o, d)
		}
	}
}
