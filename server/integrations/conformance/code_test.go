package conformance

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/svc-observability/svc/server/integrations"
	"github.com/svc-observability/svc/server/source"
	"github.com/svc-observability/svc/server/source/gittest"
)

const lfs = "version https://git-lfs.github.com/spec/v1\noid " +
	"sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\nsize 12345\n"

// TestFiles checks that files of each kind are recognized, and that the archive has the same files.
func TestFiles(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, b *bench, git *gittest.Repository) {
		ctx := t.Context()
		big := strings.Repeat("a line of a long file\n", 60_000)
		git.Link(t, "link", "checkout/cart.go")
		git.Commit(t, "Kinds", map[string]string{
			"big.txt": big, "model.bin": lfs, "one line": "no end", "a/b.c/ü ?.md": "# x\n",
			"empty/none": "\n",
		})
		git.Submodule(t, "vendor/lib", strings.Repeat("ab", 20))
		git.Git(t, "commit", "-q", "-m", "Submodule")
		head := git.Git(t, "rev-parse", "HEAD")
		for path, want := range map[string]struct{ kind, text string }{
			"checkout/cart.go": {source.KindText, cart}, "README.md": {source.KindText, "# Shop\n"}, "one line": {source.KindText, "no end"},
			"a/b.c/ü ?.md": {source.KindText, "# x\n"}, "logo.png": {source.KindBinary, ""}, "model.bin": {source.KindLFS, ""},
			"big.txt": {source.KindText, big}, "link": {source.KindSymlink, ""}, "vendor/lib": {source.KindSubmodule, ""},
		} {
			f, err := b.host.File(ctx, repo, head, path, 10<<20)
			if err != nil || f.Kind != want.kind || string(f.Content) != want.text {
				t.Errorf("%s: %s, %d bytes, %v; want %s", path, f.Kind, len(f.Content), err, want.kind)
				continue
			}
			if blob := git.Git(t, "rev-parse", head+":"+path); f.SHA != blob {
				t.Errorf("%s: the id is %s, want %s", path, f.SHA, blob)
			}
			if want.text != "" && f.Size != int64(len(want.text)) {
				t.Errorf("%s: size %d", path, f.Size)
			}
		}
		if f, err := b.host.File(ctx, repo, head, "big.txt", 1000); err != nil || f.Kind != source.KindBinary || f.Content != nil ||
			f.Size != int64(len(big)) {
			t.Errorf("a file above the limit: %+v %v", f, err)
		}
		for _, path := range []string{"nothing", "checkout", "checkout/nothing", "README.md/x"} {
			_, err := b.host.File(ctx, repo, head, path, 1<<20)
			wantKind(t, path, err, integrations.NotFound)
		}

		files := filesOf(t, readAll(t, must[io.ReadCloser](t)(b.host.Archive(ctx, repo, head))))
		names := slices.Sorted(maps.Keys(files))
		if want := "README.md a/b.c/ü ?.md big.txt checkout/cart.go empty/none link logo.png model.bin one line"; strings.Join(names,
			" ") != want {
			t.Errorf("the archive has %q, want %q", names, want)
		}
		if files["checkout/cart.go"] != cart || files["model.bin"] != lfs || files["link"] != "-> checkout/cart.go" {
			t.Errorf("the archive: %q", files["link"])
		}
		archive, err := b.host.Archive(ctx, repo, "0123456789012345678901234567890123456789")
		if err == nil {
			_ = archive.Close()
			t.Error("an archive of an unknown commit")
		}
	})
}

// filesOf reads an archive with one folder at the top.
func filesOf(t *testing.T, text []byte) map[string]string {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	out, tops := map[string]string{}, map[string]bool{}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		top, name, _ := strings.Cut(h.Name, "/")
		switch h.Typeflag {
		case tar.TypeReg:
			content, err := io.ReadAll(r)
			if err != nil {
				t.Fatal(err)
			}
			out[name] = string(content)
		case tar.TypeSymlink:
			out[name] = "-> " + h.Linkname
		default:
			continue
		}
		tops[top] = true
	}
	if len(tops) != 1 {
		t.Errorf("the archive has %d folders at the top", len(tops))
	}
	return out
}

// TestCompare: two commits are compared in each direction, and after they went apart.
func TestCompare(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, b *bench, git *gittest.Repository) {
		ctx := t.Context()
		base := git.Git(t, "rev-parse", "HEAD")
		git.Branch(t, "feature/x")
		one := git.Commit(t, "One", map[string]string{"one.txt": "1\n"})
		two := git.Commit(t, "Two", map[string]string{"logo.png": "\x89PNG\x00\x02", "README.md": ""})
		git.Git(t, "checkout", "-q", "main")
		side := git.Commit(t, "Side", map[string]string{"side.txt": "s\n"})

		added := source.FileChange{Path: "one.txt", Status: "added", Additions: 1, Patch: "@@ -0,0 +1 @@\n+1"}
		removed := source.FileChange{Path: "README.md", Status: "removed", Deletions: 1, Patch: "@@ -1 +0,0 @@\n-# Shop"}
		logo := source.FileChange{Path: "logo.png", Status: "modified"}
		for name, c := range map[string]struct {
			base, head, merge, status string
			ahead, behind             int
			commits                   []string
			files                     []source.FileChange
		}{
			"itself":   {base, base, base, "identical", 0, 0, nil, nil},
			"ahead":    {base, two, base, "ahead", 2, 0, []string{one, two}, []source.FileChange{removed, logo, added}},
			"behind":   {two, base, base, "behind", 0, 2, nil, nil},
			"diverged": {side, two, base, "diverged", 2, 1, []string{one, two}, []source.FileChange{removed, logo, added}},
		} {
			got := must[source.Comparison](t)(b.host.Compare(ctx, repo, c.base, c.head, 250))
			var commits []string
			for _, one := range got.Commits {
				commits = append(commits, one.SHA)
			}
			if got.Status != c.status || got.Ahead != c.ahead || got.Behind != c.behind || got.MergeBase != c.merge || got.Truncated ||
				!slices.Equal(commits, c.commits) || got.HTMLURL == "" {
				t.Errorf("%s: %s, %d ahead, %d behind, base %s, truncated %v, commits %v", name, got.Status, got.Ahead, got.Behind,
					got.MergeBase, got.Truncated, commits)
			}
			wantChanges(t, name, got.Files, c.files)
		}
		_, err := b.host.Compare(ctx, repo, base, "0123456789012345678901234567890123456789", 250)
		wantKind(t, "an unknown commit", err, integrations.NotFound)

		git.Git(t, "checkout", "-q", "--orphan", "elsewhere")
		orphan := git.Commit(t, "Elsewhere", nil)
		_, err = b.host.Compare(ctx, repo, base, orphan, 250)
		wantKind(t, "commits without a common one", err, integrations.NotFound)

		git.Git(t, "checkout", "-q", "feature/x")
		for i := range 130 {
			git.Commit(t, fmt.Sprintf("Change %d", i), nil)
		}
		head := git.Git(t, "rev-parse", "HEAD")
		for most, truncated := range map[int]bool{120: true, 250: false} {
			got := must[source.Comparison](t)(b.host.Compare(ctx, repo, base, head, most))
			if len(got.Commits) != min(most, 132) || got.Commits[0].SHA != one || got.Ahead != 132 || got.Truncated != truncated {
				t.Errorf("at most %d of 132 commits: %d, %d ahead, truncated %v", most, len(got.Commits), got.Ahead, got.Truncated)
			}
		}
	})
}

// TestFailures: what a host answers is sorted into the same kinds.
func TestFailures(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, b *bench, git *gittest.Repository) {
		ctx := t.Context()
		head := git.Git(t, "rev-parse", "HEAD")
		for status, kind := range map[int]integrations.Kind{
			401: integrations.Unauthorized, 403: integrations.Forbidden, 404: integrations.NotFound, 429: integrations.RateLimited,
			451: integrations.NotFound, 500: integrations.Upstream, 502: integrations.Upstream, 503: integrations.Upstream,
		} {
			b.fault(status)
			questions := map[string]func() error{
				"resolve": func() error { _, err := b.host.Resolve(ctx, repo, "main"); return err },
				"commit":  func() error { _, err := b.host.Commit(ctx, repo, head); return err },
				"list": func() error {
					_, err := b.host.CommitsOf(ctx, repo, source.CommitList{From: head, Path: "README.md", Limit: 5})
					return err
				},
				"changes":  func() error { _, err := b.host.Changes(ctx, repo, head); return err },
				"file":     func() error { _, err := b.host.File(ctx, repo, head, "README.md", 1000); return err },
				"compare":  func() error { _, err := b.host.Compare(ctx, repo, head, "main", 5); return err },
				"contains": func() error { _, err := b.host.Contains(ctx, repo, head, head); return err },
				"pull":     func() error { _, _, err := b.host.PullRequest(ctx, repo, 1, ""); return err },
				"pulls": func() error {
					_, err := b.host.PullRequests(ctx, repo, source.PullRequestList{Limit: 5})
					return err
				},
				"commits of a pull": func() error { _, err := b.host.PullRequestCommits(ctx, repo, 1); return err },
				"deployments":       func() error { _, err := b.host.Deployments(ctx, repo, source.DeploymentList{Newest: 5}); return err },
				"runs":              func() error { _, err := b.host.Runs(ctx, repo, source.RunFilter{Limit: 5}); return err },
				"archive": func() error {
					r, err := b.host.Archive(ctx, repo, head)
					if err == nil {
						_ = r.Close()
					}
					return err
				},
			}
			for name, ask := range questions {
				p := wantKind(t, fmt.Sprintf("%s with status %d", name, status), ask(), kind)
				if kind == integrations.RateLimited && p.RetryAfter <= 0 {
					t.Errorf("%s: no time to wait", name)
				}
			}
		}
		b.fault(0)
		if _, err := b.host.Resolve(ctx, repo, "main"); err != nil {
			t.Errorf("after the faults: %v", err)
		}
	})
}
