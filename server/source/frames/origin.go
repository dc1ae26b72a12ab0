package frames

import (
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/google/uuid"
)

// Origin is the program of a stack, as telemetry describes it. Each text may be empty.
type Origin struct {
	// RepositoryURL and RepositoryName are vcs.repository.url.full and vcs.repository.name.
	RepositoryURL, RepositoryName string
	// Commit is vcs.ref.head.revision or deployment.commit_sha, Version is service.version.
	Commit, Version string
	// Service and Environment are service.name and deployment.environment.name, At is the time of the stack. Deployments are found by them.
	Service, Environment string
	At                   time.Time
}

// Confidences: how the commit of a file is known.
const (
	// Exact says that telemetry names the commit.
	Exact = "exact"
	// Tag says that a tag has the name of the version.
	Tag = "tag"
	// Deployment says that a hosting platform had deployed the commit.
	Deployment = "deployment"
	// Branch says that the repository has no commit that telemetry names. The file is that of the tracked branch at the time of the read.
	Branch = "branch"
)

// Reference is a name of a commit.
type Reference struct{ Name, Confidence string }

var commitID = regexp.MustCompile(`^[0-9a-fA-F]{7,40}$`)

// References are the names under which the commit of the program is looked up, the surest first. The tracked branch is not among them.
func (o Origin) References() []Reference {
	var list []Reference
	for _, name := range []string{o.Commit, o.Version} {
		if commitID.MatchString(name) {
			list = append(list, Reference{strings.ToLower(name), Exact})
		}
	}
	if v := o.Version; v != "" && !strings.HasPrefix(v, "-") {
		list = append(list, Reference{v, Tag})
		if !strings.HasPrefix(v, "v") {
			list = append(list, Reference{"v" + v, Tag})
		}
	}
	return list
}

// NamesCommit reports whether telemetry names the commit.
func (o Origin) NamesCommit() bool {
	return commitID.MatchString(o.Commit) || commitID.MatchString(o.Version)
}

// Repository is the host and the full name of the repository, such as github.com and acme/shop. Either may be empty; both are if telemetry
// does not name the repository by owner and name.
func (o Origin) Repository() (host, name string) {
	text := strings.TrimSpace(o.RepositoryURL)
	if at := strings.IndexByte(text, '@'); at >= 0 && !strings.Contains(text, "://") { // git@github.com:acme/shop.git
		text = "ssh://" + strings.Replace(text, ":", "/", 1)
	}
	if u, err := url.Parse(text); err == nil && u.Host != "" {
		host, text = strings.ToLower(u.Hostname()), u.Path
	} else {
		text = o.RepositoryName
	}
	text = strings.TrimSuffix(strings.Trim(text, "/"), ".git")
	if strings.Count(text, "/") == 0 {
		return "", ""
	}
	return host, text
}

// Source is the place of a call in a commit.
type Source struct {
	RepositoryID                         uuid.UUID
	Repository, Path, Commit, Confidence string
	// URL is a page for people.
	URL     string
	Context Context
}

// Answer has a source for each call, or nil where no file is proven. If no call has a source and a person can mend the reason, Problem is a
// sentence with that reason.
type Answer struct {
	Sources []*Source
	Problem string
}
