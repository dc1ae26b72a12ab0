// Package web serves the web application: its first page and its files. `make ui` builds both from server/web/ui into dist, which the
// program embeds. A program without them works, and Built reports false.
//
// The application calls only methods of the API, as any client does. This package knows neither people nor data.
package web

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"html"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strconv"
	"strings"

	"github.com/svc-observability/svc/server/packed"
)

//go:embed all:dist
var dist embed.FS

// FilesPath is the path under which the files of the application are served.
const FilesPath = "/ui/"

// policy lets a page of the application load scripts, styles and data of this server only. Text never becomes a script or markup: no
// policy for trusted types exists.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; font-src 'self'; connect-src 'self'; " +
	"frame-src 'self'; base-uri 'none'; form-action 'self'; " + shownBy + "; require-trusted-types-for 'script'; trusted-types 'none'"

// playerPage is the page in which recordings of sessions play, in a frame of the application. Recorded pages bring inline styles and
// pictures. They reach no network, and they run no script: the player shows them in a sandbox, and the policy refuses scripts of pages.
const (
	playerPage   = "player.html"
	playerPolicy = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src data: blob:; font-src data:; " +
		"base-uri 'none'; form-action 'none'; frame-ancestors 'self'"
)

// shownBy is the part of the policy that says which pages may show this one in a frame.
const shownBy = "frame-ancestors 'none'"

// App is the built application. It is safe for concurrent use.
type App struct {
	files  fs.FS
	index  []byte
	player []byte // empty in an application without it
	etag   string
}

// ErrNotBuilt says that the program holds no application.
var ErrNotBuilt = errors.New("web: the program was built without the web application")

// Settings are the facts about this server that the first page holds, because no method of the API has them.
type Settings struct {
	// Version is that of the program. IngestURL is the address to which exporters send.
	Version, IngestURL string
}

// Built returns the application that the program embeds, or ErrNotBuilt.
func Built(s Settings) (*App, error) {
	files, err := fs.Sub(dist, "dist")
	if err != nil {
		return nil, fmt.Errorf("web: %w", err)
	}
	return New(files, s)
}

// New returns the application in a folder: index.html, player.html, and every other file as NAME.br and NAME.gz.
func New(files fs.FS, s Settings) (*App, error) {
	index, err := fs.ReadFile(files, "index.html")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrNotBuilt
	}
	if err != nil {
		return nil, fmt.Errorf("web: %w", err)
	}
	for name, value := range map[string]string{"SVC_VERSION": s.Version, "SVC_INGEST_URL": s.IngestURL} {
		index = bytes.ReplaceAll(index, []byte("%"+name+"%"), []byte(html.EscapeString(value)))
	}
	player, err := fs.ReadFile(files, playerPage)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("web: %w", err)
	}
	sum := sha256.Sum256(append(bytes.Clone(index), player...))
	return &App{files: files, index: index, player: player, etag: `"` + hex.EncodeToString(sum[:12]) + `"`}, nil
}

// Version names the build. It changes with every file of the application.
func (a *App) Version() string { return strings.Trim(a.etag, `"`) }

// Page answers with the first page of the application, which every address of the application shows.
func (a *App) Page(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Frame-Options", "DENY")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=()")
	h.Set("Cache-Control", "no-cache")
	h.Set("ETag", a.etag)
	if r.Header.Get("If-None-Match") == a.etag {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Length", strconv.Itoa(len(a.index)))
	write(w, r, a.index)
}

// Head is the part of a shared page that previews of its link show.
type Head struct {
	Title, Description string
	// Picture is the address of an image; empty for none.
	Picture string
	// Embeddable lets pages of other sites show the page in a frame.
	Embeddable bool
}

// tags are the elements that stand in the place of the title.
func (h Head) tags() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "<title>%s · svc</title>", html.EscapeString(h.Title))
	tag := func(key, name, value string) {
		if value != "" {
			fmt.Fprintf(&b, `<meta %s="%s" content="%s" />`, key, name, html.EscapeString(value))
		}
	}
	tag("name", "description", h.Description)
	tag("property", "og:type", "website")
	tag("property", "og:site_name", "svc")
	tag("property", "og:title", h.Title)
	tag("property", "og:description", h.Description)
	tag("property", "og:image", h.Picture)
	if h.Picture != "" {
		tag("name", "twitter:card", "summary_large_image")
	}
	return b.Bytes()
}

// SharedPage answers with the page of a share link. Its address is a secret: the page is not kept, not indexed, and no request of it
// names it.
func (a *App) SharedPage(w http.ResponseWriter, r *http.Request, status int, head Head) {
	h := w.Header()
	rules := policy
	h.Set("X-Frame-Options", "DENY")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	if head.Embeddable {
		rules = strings.Replace(policy, shownBy, "frame-ancestors *", 1)
		h.Del("X-Frame-Options")
		h.Set("Cross-Origin-Resource-Policy", "cross-origin")
	}
	h.Set("Content-Security-Policy", rules)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=()")
	h.Set("X-Robots-Tag", "noindex")
	h.Set("Cache-Control", "no-store")
	body := bytes.Replace(a.index, []byte("<title>svc</title>"), head.tags(), 1)
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	write(w, r, body)
}

// Files serves the files under FilesPath. Their names hold a hash of their content, so browsers keep them. The page of recordings is also
// under this path.
func (a *App) Files(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Content-Security-Policy", "default-src 'none'")
	h.Set("Vary", "Accept-Encoding")
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		h.Set("Allow", "GET, HEAD")
		h.Set("Cache-Control", "no-store")
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	name := strings.TrimPrefix(r.URL.Path, FilesPath)
	if name == playerPage && len(a.player) > 0 {
		a.playerFrame(w, r)
		return
	}
	body, encoding, err := packed.Read(a.files, name, r.Header.Get("Accept-Encoding"))
	if err != nil {
		h.Set("Cache-Control", "no-store")
		http.Error(w, "This server has no such file.", http.StatusNotFound)
		return
	}
	if encoding != "" {
		h.Set("Content-Encoding", encoding)
	}
	kind := mime.TypeByExtension(path.Ext(name))
	switch path.Ext(name) { // the tables of an operating system differ
	case ".js":
		kind = "text/javascript; charset=utf-8"
	case ".css":
		kind = "text/css; charset=utf-8"
	case ".svg":
		kind = "image/svg+xml"
	}
	h.Set("Content-Type", kind)
	h.Set("Cache-Control", "public, max-age=31536000, immutable")
	h.Set("Content-Length", strconv.Itoa(len(body)))
	write(w, r, body)
}

// playerFrame answers with the page in which recordings play.
func (a *App) playerFrame(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Security-Policy", playerPolicy)
	h.Set("X-Frame-Options", "SAMEORIGIN")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=()")
	h.Set("Cache-Control", "no-cache")
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Length", strconv.Itoa(len(a.player)))
	write(w, r, a.player)
}

func write(w http.ResponseWriter, r *http.Request, body []byte) {
	if r.Method != http.MethodHead {
		// This fails only when the browser is gone.
		_, _ = w.Write(body)
	}
}
