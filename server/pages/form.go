package pages

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"net/http"

	"github.com/svc-observability/svc/server/limits"
)

// formField is the name of the hidden field that proves that a form is ours.
const formField = "form_token"

// browser returns the secret that forms are bound to. If the browser has no secret yet, it sets one.
func (p *Pages) browser(w http.ResponseWriter, r *http.Request) string {
	if v := p.cookieValue(r, "form"); len(v) == base64.RawURLEncoding.EncodedLen(32) {
		return v
	}
	var b [32]byte
	_, _ = rand.Read(b[:]) // never fails: the program ends instead
	v := base64.RawURLEncoding.EncodeToString(b[:])
	p.setCookie(w, "form", v, limits.FormLifetime)
	return v
}

// formToken is bound to the browser and to the session, so a form from before a sign-in is void after it.
func (p *Pages) formToken(browser string, r *http.Request) string {
	return p.cfg.Hasher.Hash("web form " + browser + " " + p.cookieValue(r, "session"))
}

var errForeignForm = errors.New("pages: the form is not ours")

// checkForm checks that a form was sent from one of our pages in this browser. It checks the headers in which browsers name the
// origin, and the token.
func (p *Pages) checkForm(r *http.Request) error {
	if err := p.origins.Check(r); err != nil {
		return errForeignForm
	}
	if err := r.ParseForm(); err != nil {
		return err
	}
	browser := p.cookieValue(r, "form")
	if browser == "" || subtle.ConstantTimeCompare([]byte(r.PostForm.Get(formField)), []byte(p.formToken(browser, r))) != 1 {
		return errForeignForm
	}
	return nil
}

// ReadForm reads and checks the form of a request. If it returns false, it has answered the request.
func (p *Pages) ReadForm(w http.ResponseWriter, r *http.Request) bool {
	err := p.checkForm(r)
	if err == nil {
		return true
	}
	page := Page{
		View:  "message",
		Title: "Please try again",
		Error: "The form was not accepted: it is too old, or your browser does not keep cookies. Go back, reload the page, and send the form again.",
	}
	status := http.StatusForbidden
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		status, page.Error = http.StatusRequestEntityTooLarge, "The form is too large."
	case !errors.Is(err, errForeignForm):
		status, page.Error = http.StatusBadRequest, "The form cannot be read."
	}
	p.Render(w, r, status, page)
	return false
}
