package pages

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"strings"

	"google.golang.org/grpc/status"

	optionsv1 "github.com/svc-observability/svc/gen/svc/options/v1"
	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/limits"
)

var (
	//go:embed templates
	templates embed.FS
	//go:embed pages.css
	style []byte
)

const stylePath = "/assets/pages.css"

// styleVersion changes with the style sheet, so browsers may cache the style sheet forever.
func styleVersion() string {
	sum := sha256.Sum256(style)
	return hex.EncodeToString(sum[:6])
}

func serveStyle(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "text/css; charset=utf-8")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-cache")
	if r.URL.Query().Get("v") == styleVersion() {
		h.Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	h.Set("Content-Length", strconv.Itoa(len(style)))
	// This fails only when the browser is gone.
	_, _ = w.Write(style)
}

// views are the templates by name, each within the frame.
type views map[string]*template.Template

func parseViews() (views, error) {
	frame, err := template.New("frame.html").Funcs(template.FuncMap{"limit": limits.Named}).ParseFS(templates, "templates/frame.html")
	if err != nil {
		return nil, fmt.Errorf("pages: %w", err)
	}
	files, err := templates.ReadDir("templates")
	if err != nil {
		return nil, fmt.Errorf("pages: %w", err)
	}
	out := views{}
	for _, f := range files {
		name := strings.TrimSuffix(f.Name(), ".html")
		if name == "frame" {
			continue
		}
		t, err := frame.Clone()
		if err == nil {
			t, err = t.ParseFS(templates, path.Join("templates", f.Name()))
		}
		if err != nil {
			return nil, fmt.Errorf("pages: %w", err)
		}
		out[name] = t
	}
	return out, nil
}

// Page is the input of a template.
type Page struct {
	// View names the template.
	View  string
	Title string
	// Error and Notice stand at the top.
	Error, Notice string
	Viewer        *Viewer
	// Data is the data of the view.
	Data any
	// Wide gives the page more room than a card.
	Wide bool
	// Back and BackText are the only link of a message. If they are empty, it leads to the first page.
	Back, BackText string

	// Form is the hidden field of every form.
	Form template.HTML
	// Style is the address of the style sheet.
	Style string
	// refresh is the address that the browser goes to by itself.
	refresh string
}

// Refresh is the content of the element that makes the browser go elsewhere.
func (p Page) Refresh() string {
	if p.refresh == "" {
		return ""
	}
	return "0;url=" + p.refresh
}

// Render writes a page.
func (p *Pages) Render(w http.ResponseWriter, r *http.Request, status int, page Page) {
	token := p.formToken(p.browser(w, r), r)
	page.Form = template.HTML(`<input type="hidden" name="` + formField + `" value="` + token + `">`) //nolint:gosec // base64url of our own
	page.Style = stylePath + "?v=" + styleVersion()
	var out bytes.Buffer
	view, ok := p.views[page.View]
	if !ok {
		view = p.views["message"]
	}
	if err := view.ExecuteTemplate(&out, "frame.html", page); err != nil {
		p.log.ErrorContext(r.Context(), "a page was not rendered", "view", page.View, "error", err)
		http.Error(w, "Something failed on our side.", http.StatusInternalServerError)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Length", strconv.Itoa(out.Len()))
	w.WriteHeader(status)
	// This fails only when the browser is gone.
	_, _ = w.Write(out.Bytes())
}

// Leave sends the browser to an address outside of this server after a form. It uses a page instead of a redirect: the browser
// would refuse a redirect, since forms may lead to this server only.
func (p *Pages) Leave(w http.ResponseWriter, r *http.Request, to *url.URL, whither string) {
	switch strings.ToLower(to.Scheme) {
	case "", "javascript", "data", "vbscript", "blob", "file", "about":
		p.Render(
			w,
			r,
			http.StatusBadRequest,
			Page{View: "message", Title: "Not possible", Error: "The next address is not one that a browser may open."},
		)
		return
	}
	p.Render(w, r, http.StatusOK, Page{
		View: "leave", Title: "Continue to " + whither, refresh: to.String(),
		Data: struct {
			To      template.URL
			Whither string
		}{template.URL(to.String()), whither}, //nolint:gosec // the scheme was looked at
	})
}

// failure is an error in the form in which a page shows it.
type failure struct {
	status int
	tag    apierr.Tag
	// param is the field of the request that caused the failure. It is empty if no single field did.
	param      string
	message    string
	retryAfter int
}

// needed says which passwords are accepted. subject is the first words of the sentence.
func needed(subject string) string {
	return fmt.Sprintf("%s must have at least %d characters and at most %s bytes.", subject, limits.MinPasswordLength,
		limits.Number(limits.MaxPasswordBytes))
}

// failureOf reads the error of a call over the loopback, or of a package below. An error without details is a defect, so its text
// stays private.
func failureOf(err error) failure {
	for _, detail := range status.Convert(err).Details() {
		if d, ok := detail.(*optionsv1.ErrorDetail); ok {
			tag, _ := apierr.Lookup(d.GetTag())
			return failure{
				status: int(d.GetStatus()), tag: tag, param: d.GetParam(), message: d.GetMessage(),
				retryAfter: int(d.GetRetryAfterSeconds()),
			}
		}
	}
	e := apierr.From(err)
	return failure{
		status: int(apierr.Spec(e.Tag).GetStatus()), tag: e.Tag, param: e.Param, message: e.Message,
		retryAfter: e.RetryAfterSeconds(),
	}
}

// explain shows a failure on a page that the person can use again, and answers with the status of the failure.
func (p *Pages) explain(w http.ResponseWriter, r *http.Request, page Page, f failure) {
	if f.retryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(f.retryAfter))
	}
	page.Error = f.message
	p.Render(w, r, f.status, page)
}

// fail shows a failure on a page of its own.
func (p *Pages) fail(w http.ResponseWriter, r *http.Request, v *Viewer, err error) {
	f := failureOf(err)
	if f.status >= http.StatusInternalServerError {
		p.log.WarnContext(r.Context(), "a page failed", "path", r.URL.Path, "error", err)
	}
	p.explain(w, r, Page{View: "message", Title: "That did not work", Viewer: v}, f)
}
