// Package source describes source hosts: repositories, commits, files and runs of CI, whatever the provider. The packages of the providers
// implement Host; services use it.
package source

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"
	"time"
)

// Host reads the repositories of one connected account. A repository is named by owner and name, a commit by its whole SHA-1. Errors are
// *integrations.Problem.
type Host interface {
	// Repository reads a repository by its id at the host. With the ETag of an earlier answer, an unchanged repository is answered by
	// changed=false and costs nothing of the account's quota.
	Repository(ctx context.Context, externalID, etag string) (r Repository, changed bool, err error)
	// Resolve finds the commit of a branch, tag or commit (7 digits or more).
	Resolve(ctx context.Context, repository, ref string) (sha string, err error)
	// HasBranch reports whether a branch exists.
	HasBranch(ctx context.Context, repository, branch string) (bool, error)
	Commit(ctx context.Context, repository, sha string) (Commit, error)
	// Archive is the tree of a commit as a gzipped tar with one folder at the top. The caller closes it. Its errors hold no address: that
	// of an archive is a credential.
	Archive(ctx context.Context, repository, sha string) (io.ReadCloser, error)
	// File reads a file of a commit, at most limit bytes.
	File(ctx context.Context, repository, sha, path string, limit int64) (File, error)
	// Compare compares two commits, and returns at most a number of commits.
	Compare(ctx context.Context, repository, base, head string, commits int) (Comparison, error)
	// CommitsOf lists the commits that changed a file, newest first.
	CommitsOf(ctx context.Context, repository string, l CommitList) ([]Commit, error)
	// Changes lists the files that a commit changed.
	Changes(ctx context.Context, repository, sha string) ([]FileChange, error)
	// PullRequest reads a pull request. With the ETag of an earlier answer, an unchanged one is answered by changed=false.
	PullRequest(ctx context.Context, repository string, number int64, etag string) (p PullRequest, changed bool, err error)
	// PullRequests lists pull requests, the last changed first. With the ETag of an earlier answer, an unchanged list is answered by
	// Unchanged.
	PullRequests(ctx context.Context, repository string, l PullRequestList) (PullRequestPage, error)
	// PullRequestCommits are the messages of the commits of a pull request, at most 100.
	PullRequestCommits(ctx context.Context, repository string, number int64) ([]string, error)
	// Deployments lists deployments, newest first. A problem Forbidden: the account does not let us read them.
	Deployments(ctx context.Context, repository string, l DeploymentList) ([]Deployment, error)
	// Contains reports whether a revision is a commit, or a descendant of it.
	Contains(ctx context.Context, repository, revision, commit string) (bool, error)
	// Runs lists runs of CI, newest first.
	Runs(ctx context.Context, repository string, f RunFilter) ([]Run, error)
	// FileURL, and the other URLs, are pages for people.
	FileURL(repository, sha, path string) string
}

// Binder is a host that can read a repository by its id, so another one that takes the name over is not read instead.
type Binder interface {
	// Bind says which repository a name means.
	Bind(repository, externalID string)
}

// Bind tells a host which repository a name means, if the host can use it.
func Bind(h Host, repository, externalID string) {
	if b, ok := h.(Binder); ok {
		b.Bind(repository, externalID)
	}
}

// Tools are the tools of the MCP server that read from source hosts.
func Tools() []string {
	return []string{"list_source_repositories", "search_source_code", "read_source_file", "ci_runs", "compare_commits"}
}

// Repository is a repository at a host.
type Repository struct {
	ExternalID, FullName, HTMLURL, DefaultBranch, ETag string
	Private, Archived                                  bool
}

// Commit is a commit.
type Commit struct {
	SHA, Message, HTMLURL                string
	AuthorName, AuthorEmail, AuthorLogin string
	AuthoredAt, CommittedAt              time.Time
	// Parents is 0 for the first commit, and 2 or more for a merge.
	Parents int
}

// CommitList selects commits that changed a file, from a commit back. A zero Since does not filter.
type CommitList struct {
	From, Path string
	Since      time.Time
	Limit      int
}

// Kinds of files.
const (
	KindText      = "text"
	KindBinary    = "binary"
	KindLFS       = "lfs_pointer"
	KindSymlink   = "symlink"
	KindSubmodule = "submodule"
)

// File is a file of a commit. Only a text has a content.
type File struct {
	Kind, SHA string
	Size      int64
	Content   []byte
}

// Comparison is the difference of two commits. Commits are oldest first.
type Comparison struct {
	Status, MergeBase, HTMLURL string
	Ahead, Behind              int
	Commits                    []Commit
	Files                      []FileChange
	// Truncated says that commits or files are missing.
	Truncated bool
}

// FileChange is a change of a file in a comparison.
type FileChange struct {
	Path, PreviousPath, Status, Patch string
	Additions, Deletions              int
}

// PullRequest is a proposed change. State is open, merged or closed. MergeCommit is the commit on the branch it was merged into: that of a
// merge, of a squash, or the last one of a rebase.
type PullRequest struct {
	State, Title, AuthorLogin, MergeCommit, ETag string
	MergedAt                                     time.Time
	// The rest is that of a list only. Head is the newest commit of the branch. Foreign says that the branch is in another repository, so
	// that people without rights in this one may have written the text.
	Number                      int64
	Body, Branch, Head, HTMLURL string
	Foreign                     bool
	UpdatedAt                   time.Time
}

// PullRequestList selects pull requests that changed after a time.
type PullRequestList struct {
	Since time.Time
	ETag  string
	Limit int
}

// PullRequestPage is a list of pull requests with its ETag.
type PullRequestPage struct {
	Unchanged bool
	ETag      string
	List      []PullRequest
}

// States of deployments.
const (
	DeploymentQueued   = "queued"
	DeploymentBuilding = "building"
	DeploymentReady    = "ready"
	DeploymentError    = "error"
	DeploymentCanceled = "canceled"
	// DeploymentRemoved is the state of a deployment that another one has replaced.
	DeploymentRemoved = "removed"
	DeploymentUnknown = "unknown"
)

// DeploymentList selects deployments that began since a time, among the newest. Those of Settled are left out: their state is known.
type DeploymentList struct {
	Since   time.Time
	Settled map[string]bool
	Newest  int
}

// Deployment is a deployment that somebody reported to the host. HostState is the word of the host for the state. Service is empty if the
// host does not know it. ReadyAt is zero for one that never was ready.
type Deployment struct {
	ID, Environment, State, HostState, CommitSHA, Ref, URL, Service string
	// Preview says that it is for a while and not for users.
	Preview            bool
	StartedAt, ReadyAt time.Time
}

// RunFilter selects runs of CI. Zero fields do not filter.
type RunFilter struct {
	Branch, SHA, Status string
	Limit, FailedJobs   int
}

// Run is a run of CI.
type Run struct {
	ID, Name, Status, Conclusion, Branch, SHA, HTMLURL string
	StartedAt, CompletedAt                             time.Time
	FailedJobs                                         []Job
}

// Job is a job of CI that failed.
type Job struct{ Name, FailedStep, HTMLURL string }

// Readers of source code through an account.
const (
	AccessMembers = "members"
	AccessAdmins  = "admins"
	AccessOff     = "off"
)

// Account is the content of the settings of a connected account, as JSON.
type Account struct {
	// ID is the account's id at the provider. It stays when the app is installed again.
	ID string `json:"id,omitempty"`
	// Type is organization or user, Selection is all or selected.
	Type      string `json:"type"`
	Selection string `json:"selection"`
	// Missing lists permissions that the account did not grant, as `actions: read`.
	Missing []string `json:"missing,omitempty"`
	// SettingsURL is the page of the installation.
	SettingsURL string `json:"settings_url"`
	// Limited says that the person who connected the account does not administer it. Only repositories with an id in Allowed count then.
	Limited bool     `json:"limited,omitempty"`
	Allowed []string `json:"allowed,omitempty"`
	// CodeAccess is who may read source code.
	CodeAccess string `json:"code_access"`
}

// Admits reports whether a repository counts, by its id at the provider.
func (a Account) Admits(repository string) bool {
	return !a.Limited || slices.Contains(a.Allowed, repository)
}

// Same reports whether two accounts are one.
func (a Account) Same(other Account) bool { return a.ID != "" && a.ID == other.ID }

// ReadAccount reads the settings of a connected account.
func ReadAccount(settings json.RawMessage) (Account, error) {
	var a Account
	if err := json.Unmarshal(settings, &a); err != nil {
		return Account{}, fmt.Errorf("settings of a source account: %w", err)
	}
	return a, nil
}

// JSON is the form for storage.
func (a Account) JSON() (json.RawMessage, error) {
	text, err := json.Marshal(a)
	if err != nil {
		return nil, fmt.Errorf("settings of a source account: %w", err)
	}
	return text, nil
}

// Reconnected returns the settings of an account that was connected before: the choice of who may read stays.
func (a Account) Reconnected(old json.RawMessage) Account {
	if before, err := ReadAccount(old); err == nil && before.CodeAccess != "" {
		a.CodeAccess = before.CodeAccess
	}
	return a
}

// EscapedPath escapes each part of a path for an address.
func EscapedPath(name string) string {
	parts := strings.Split(name, "/")
	for i, p := range parts {
		parts[i] = url.PathEscape(p)
	}
	return strings.Join(parts, "/")
}

// AccountSettings compares the settings of accounts of a source host, for the part of integrations.Provider about them.
type AccountSettings struct{}

// SameAccount implements integrations.Provider.
func (AccountSettings) SameAccount(before, now json.RawMessage) bool {
	was, err := ReadAccount(before)
	is, failed := ReadAccount(now)
	return err == nil && failed == nil && was.Same(is)
}

// Reconnected implements integrations.Provider.
func (AccountSettings) Reconnected(before, now json.RawMessage) (json.RawMessage, error) {
	account, err := ReadAccount(now)
	if err != nil {
		return nil, err
	}
	return account.Reconnected(before).JSON()
}
