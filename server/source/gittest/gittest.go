// Package gittest makes small git repositories on disk, which the stand-ins of source hosts serve. Only tests import it.
package gittest

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// Repository is a git repository in a folder of its own.
type Repository struct{ folder string }

// New makes a repository with one commit that has the files, on the branch main.
func New(t testing.TB, files map[string]string) *Repository {
	t.Helper()
	r := &Repository{t.TempDir()}
	r.Git(t, "init", "-q", "-b", "main")
	r.Commit(t, "Begin", files)
	return r
}

// Commit writes files, deletes those with an empty text, and commits. It returns the id of the commit.
func (r *Repository) Commit(t testing.TB, message string, files map[string]string) string {
	t.Helper()
	return r.commit(t, message, files, nil)
}

// CommitAs is Commit for another author, at a time.
func (r *Repository) CommitAs(t testing.TB, author string, at time.Time, message string, files map[string]string) string {
	t.Helper()
	text := at.Format(time.RFC3339)
	return r.commit(t, message, files, []string{"GIT_COMMITTER_DATE=" + text},
		"--author="+author+" <"+strings.ToLower(author)+"@example.com>", "--date="+text)
}

func (r *Repository) commit(t testing.TB, message string, files map[string]string, env []string, args ...string) string {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(r.folder, name)
		if text == "" {
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r.Git(t, "add", "-A")
	if out, err := r.run(t.Context(), env, append([]string{"commit", "-q", "--allow-empty", "-m", message}, args...)...); err != nil {
		t.Fatalf("git commit %v: %v: %s", args, err, out)
	}
	return r.Git(t, "rev-parse", "HEAD")
}

// Branch makes a branch at the newest commit and checks it out.
func (r *Repository) Branch(t testing.TB, name string) { r.Git(t, "checkout", "-q", "-B", name) }

// Tag makes a tag at the newest commit.
func (r *Repository) Tag(t testing.TB, name string) { r.Git(t, "tag", name) }

// Link makes a symbolic link in the folder, for the next commit.
func (r *Repository) Link(t testing.TB, name, target string) {
	t.Helper()
	if err := os.Symlink(target, filepath.Join(r.folder, name)); err != nil {
		t.Fatal(err)
	}
}

// Submodule enters a commit of another repository into the index, for the next commit.
func (r *Repository) Submodule(t testing.TB, name, sha string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Join(r.folder, name), 0o750); err != nil {
		t.Fatal(err)
	}
	r.Git(t, "update-index", "--add", "--cacheinfo", "160000,"+sha+","+name)
}

// Git runs git and returns what it prints, without spaces around it.
func (r *Repository) Git(t testing.TB, args ...string) string {
	t.Helper()
	out, err := r.Run(t.Context(), args...)
	if err != nil {
		t.Fatalf("git %v: %v: %s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// Run runs git and returns what it prints.
func (r *Repository) Run(ctx context.Context, args ...string) ([]byte, error) {
	return r.run(ctx, nil, args...)
}

func (r *Repository) run(ctx context.Context, env []string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir = r.folder
	cmd.Env = append(os.Environ(), "GIT_AUTHOR_NAME=Ada", "GIT_AUTHOR_EMAIL=ada@example.com", "GIT_COMMITTER_NAME=Ada",
		"GIT_COMMITTER_EMAIL=ada@example.com", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1")
	cmd.Env = append(cmd.Env, env...)
	return cmd.Output()
}

// Resolve finds the commit of a branch, tag or commit; empty if there is none.
func (r *Repository) Resolve(ctx context.Context, ref string) string {
	out, err := r.Run(ctx, "rev-parse", "--verify", "-q", ref+"^{commit}")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}

// Entry is a commit as git shows it.
type Entry struct {
	SHA, Author, Email, Message string
	// Authored and Committed are times in the form of RFC 3339.
	Authored, Committed string
	Parents             []string
}

// Show describes a commit. ok is false if there is none.
func (r *Repository) Show(ctx context.Context, sha string) (e Entry, ok bool) {
	out, err := r.Run(ctx, "show", "-s", "--format=%H%x00%an%x00%ae%x00%aI%x00%cI%x00%P%x00%B", sha)
	parts := strings.SplitN(string(out), "\x00", 7)
	if err != nil || len(parts) != 7 {
		return Entry{}, false
	}
	return Entry{
		SHA: parts[0], Author: parts[1], Email: parts[2], Authored: parts[3], Committed: parts[4], Parents: strings.Fields(parts[5]),
		Message: strings.TrimSpace(parts[6]),
	}, true
}

// EmptyTree is the id of a tree without files: what is before the first commit.
const EmptyTree = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"

// Change is a file that differs between two commits. Status is added, removed, renamed or modified.
type Change struct {
	Path, Previous, Status, Patch string
	Added, Deleted                int
}

// Changes lists the files that differ, with their patches from the first @@ on.
func (r *Repository) Changes(ctx context.Context, from, to string) []Change {
	list, _ := r.Run(ctx, "diff", "--raw", "-z", "-M", "--abbrev=40", from, to)
	fields := bytes.Split(bytes.TrimSuffix(list, []byte{0}), []byte{0})
	var out []Change
	for i := 0; i+1 < len(fields); i += 2 {
		kind := fields[i][bytes.LastIndexByte(fields[i], ' ')+1:]
		c := Change{Path: string(fields[i+1]), Status: map[byte]string{'A': "added", 'D': "removed", 'R': "renamed"}[kind[0]]}
		names := []string{c.Path}
		if c.Status == "renamed" {
			i++
			c.Previous, c.Path = c.Path, string(fields[i+1])
			names = append(names, c.Path)
		}
		if c.Status == "" {
			c.Status = "modified"
		}
		numbers, _ := r.Run(ctx, append([]string{"diff", "--numstat", "-M", from, to, "--"}, names...)...)
		if n := strings.Fields(string(numbers)); len(n) > 2 {
			c.Added, _ = strconv.Atoi(n[0])
			c.Deleted, _ = strconv.Atoi(n[1])
		}
		patch, _ := r.Run(ctx, append([]string{"diff", "-M", from, to, "--"}, names...)...)
		if _, text, ok := strings.Cut(string(patch), "\n@@"); ok {
			c.Patch = "@@" + text
		}
		out = append(out, c)
	}
	return out
}

// List lists the commits from a commit back that changed a file, newest first; all without a path. An empty since does not filter.
func (r *Repository) List(ctx context.Context, from, path, since string, most int) ([]string, bool) {
	args := []string{"log", "--format=%H", "-n", strconv.Itoa(most)}
	if since != "" {
		args = append(args, "--since="+since)
	}
	args = append(args, from)
	if path != "" {
		args = append(args, "--", path)
	}
	out, err := r.Run(ctx, args...)
	return strings.Fields(string(out)), err == nil
}

// Node is an entry of a folder.
type Node struct {
	Mode, Type, SHA, Path string
	Size                  int64
}

// Tree lists the entries of a folder of a commit; the top for an empty path. ok is false if there is no such folder.
func (r *Repository) Tree(ctx context.Context, sha, folder string) (nodes []Node, ok bool) {
	args := []string{"ls-tree", "-l", "-z", sha}
	if folder != "" {
		args = append(args, "--", strings.TrimSuffix(folder, "/")+"/")
	}
	out, err := r.Run(ctx, args...)
	if err != nil {
		return nil, false
	}
	for line := range bytes.SplitSeq(bytes.TrimSuffix(out, []byte{0}), []byte{0}) {
		head, path, found := strings.Cut(string(line), "\t")
		f := strings.Fields(head)
		if !found || len(f) != 4 {
			continue
		}
		size, _ := strconv.ParseInt(f[3], 10, 64)
		nodes = append(nodes, Node{Mode: f[0], Type: f[1], SHA: f[2], Path: path, Size: size})
	}
	return nodes, len(nodes) > 0
}

// Entry finds a file, link, folder or submodule of a commit.
func (r *Repository) Entry(ctx context.Context, sha, path string) (Node, bool) {
	folder := ""
	if at := strings.LastIndexByte(path, '/'); at >= 0 {
		folder = path[:at]
	}
	nodes, _ := r.Tree(ctx, sha, folder)
	for _, n := range nodes {
		if n.Path == path {
			return n, true
		}
	}
	return Node{}, false
}
