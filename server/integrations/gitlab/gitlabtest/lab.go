// Package gitlabtest is a stand-in for a GitLab server: the endpoints that package gitlab uses, over real git repositories on disk. It
// checks the application, the PKCE verifier, tokens and their scopes, rotates refresh tokens, and answers in pages, with limits, as GitLab
// does.
package gitlabtest

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/svc-observability/svc/server/source/gittest"
)

// The registration of the application.
const (
	ClientID     = "application-id-of-svc"
	ClientSecret = "gloas-secret-of-the-application"
)

// Access levels of members.
const (
	Guest     = 10
	Reporter  = 20
	Developer = 30
)

// Lab is the stand-in.
type Lab struct {
	URL string
	// Life is the life of access tokens.
	Life time.Duration
	// Left is the value of RateLimit-Remaining, of 2000.
	Left int
	// Plain leaves out the headers that describe a raw file.
	Plain bool

	mu sync.Mutex
	// person is who is signed in at the lab in the browser.
	person   string
	people   map[string]int64
	projects []*Project
	codes    map[string]code
	// access holds access tokens, refresh the pairs by their refresh tokens.
	access, refresh map[string]*grant
	blocked         map[string]bool
	fault           func(*http.Request) int
	cut             func(*http.Request) bool
	requests        map[string]int
	nextID          int64
	deny            bool
}

// Project is a project with its git repository.
type Project struct {
	*gittest.Repository

	ID                int64
	FullName          string
	Visibility        string
	Archived, Deleted bool
	// Members are the access levels of people, direct or by a group.
	Members map[string]int
	// Pipelines are the runs of CI, newest first.
	Pipelines []Pipeline

	merges  []*Merge
	deploys []*Deployment
}

// Pipeline is a run of CI.
type Pipeline struct {
	ID                int64
	Name, Status, Ref string
	SHA               string
	// FailedJob and Reason name what failed; empty without a failure.
	FailedJob, Reason string
}

// New starts a lab that ends with the test.
func New(t testing.TB) *Lab {
	t.Helper()
	l := &Lab{
		Life: 2 * time.Hour, Left: 1990, person: "ada", people: map[string]int64{}, codes: map[string]code{}, access: map[string]*grant{},
		refresh: map[string]*grant{}, blocked: map[string]bool{}, requests: map[string]int{}, nextID: 100,
	}
	server := httptest.NewServer(l.mux())
	t.Cleanup(server.Close)
	l.URL = server.URL
	return l
}

// AddProject makes a private project with one commit that has the files. The person who is signed in develops it.
func (l *Lab) AddProject(t testing.TB, name string, files map[string]string) *Project {
	t.Helper()
	return l.AddGit(name, gittest.New(t, files))
}

// AddGit makes a private project of a repository. The person who is signed in develops it.
func (l *Lab) AddGit(name string, git *gittest.Repository) *Project {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.nextID++
	p := &Project{Repository: git, ID: l.nextID, FullName: name, Visibility: "private", Members: map[string]int{l.person: Developer}}
	l.projects = append(l.projects, p)
	return p
}

// Change changes the state of the lab.
func (l *Lab) Change(change func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	change()
}

// SignIn makes a person the one whose browser visits the lab.
func (l *Lab) SignIn(person string) { l.Change(func() { l.person = person }) }

// Deny makes the person refuse the next authorizations.
func (l *Lab) Deny(deny bool) { l.Change(func() { l.deny = deny }) }

// Block blocks a person, as an administrator of the server does.
func (l *Lab) Block(person string, blocked bool) { l.Change(func() { l.blocked[person] = blocked }) }

// Fault makes requests fail with the status that the function returns, unless it is 0.
func (l *Lab) Fault(of func(*http.Request) int) { l.Change(func() { l.fault = of }) }

// Cut ends the answers for which the function is true in their middle.
func (l *Lab) Cut(of func(*http.Request) bool) { l.Change(func() { l.cut = of }) }

// Requests counts the requests to a path so far, for example `/api/v4/projects`.
func (l *Lab) Requests(prefix string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := 0
	for path, count := range l.requests {
		if strings.HasPrefix(path, prefix) {
			n += count
		}
	}
	return n
}

// Sign returns the headers of a delivery that is signed as Standard Webhooks says.
func Sign(secret, id string, at time.Time, body []byte) http.Header {
	key, _ := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	seconds := strconv.FormatInt(at.Unix(), 10)
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(id + "." + seconds + "."))
	mac.Write(body)
	h := http.Header{}
	h.Set("Webhook-Id", id)
	h.Set("Webhook-Timestamp", seconds)
	h.Set("Webhook-Signature", "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	return h
}

func (l *Lab) mux() http.Handler {
	mux := http.NewServeMux()
	l.oauth(mux)
	l.lists(mux)
	l.code(mux)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		l.mu.Lock()
		l.requests[r.URL.EscapedPath()]++
		fault, cut, left := l.fault, l.cut, l.Left
		l.mu.Unlock()
		w.Header().Set("RateLimit-Limit", "2000")
		w.Header().Set("RateLimit-Remaining", strconv.Itoa(left))
		w.Header().Set("RateLimit-Reset", strconv.FormatInt(time.Now().Add(time.Minute).Unix(), 10))
		if fault != nil {
			if status := fault(r); status != 0 {
				refuse(w, status, "planned fault")
				return
			}
		}
		if cut != nil && cut(r) {
			w = &cutting{ResponseWriter: w}
		}
		mux.ServeHTTP(w, r)
	})
}

// cutting says that a body is longer than it is.
type cutting struct {
	http.ResponseWriter
	begun bool
}

func (c *cutting) Write(b []byte) (int, error) {
	if !c.begun {
		c.begun = true
		c.Header().Set("Content-Length", strconv.Itoa(len(b)+10))
	}
	return c.ResponseWriter.Write(b)
}

func answer(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v)
}

// refuse answers an error as the API does.
func refuse(w http.ResponseWriter, status int, message string) {
	if status == http.StatusTooManyRequests {
		w.Header().Set("Retry-After", "7")
		w.WriteHeader(status)
		_, _ = w.Write([]byte("Retry later\n"))
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]string{"message": fmt.Sprintf("%d %s", status, message)})
}

// unchanged sets the ETag of an answer, and answers 304 if the request has it.
func unchanged(w http.ResponseWriter, r *http.Request, v any) bool {
	text, _ := json.Marshal(v)
	sum := sha256.Sum256(text)
	etag := `W/"` + hex.EncodeToString(sum[:16]) + `"`
	w.Header().Set("ETag", etag)
	if r.Header.Get("If-None-Match") != etag {
		return false
	}
	w.WriteHeader(http.StatusNotModified)
	return true
}

// page returns the bounds of a page of a list, and its headers.
func (l *Lab) page(w http.ResponseWriter, r *http.Request, n int, counted bool) (from, to int) {
	q := r.URL.Query()
	number := func(name string, or int) int {
		if v, err := strconv.Atoi(q.Get(name)); err == nil && v > 0 {
			return v
		}
		return or
	}
	size, page := min(number("per_page", 20), 100), number("page", 1)
	from, to = min((page-1)*size, n), min(page*size, n)
	next := ""
	if to < n {
		next = strconv.Itoa(page + 1)
		q.Set("page", next)
		w.Header().Set("Link", fmt.Sprintf(`<%s%s?%s>; rel="next"`, l.URL, r.URL.EscapedPath(), q.Encode()))
	}
	w.Header().Set("X-Page", strconv.Itoa(page))
	w.Header().Set("X-Per-Page", strconv.Itoa(size))
	w.Header().Set("X-Next-Page", next)
	if counted {
		w.Header().Set("X-Total", strconv.Itoa(n))
	}
	return from, to
}
