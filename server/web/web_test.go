package web

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/svc-observability/svc/server/auth"
)

func newPages(t *testing.T, base string) *Pages {
	t.Helper()
	hasher, err := auth.NewHasher([]byte(strings.Repeat("p", auth.PepperSize)))
	if err != nil {
		t.Fatal(err)
	}
	p, err := New(Config{BaseURL: base, Hasher: hasher, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// FuzzNext: what the sign-in leads to is always a path of this server, however a browser may read it.
func FuzzNext(f *testing.F) {
	for _, s := range []string{"/", "/cli?code=A", "//evil", "/\\evil", "/%2f%2fevil", "/..//evil", "https://evil", "/a/../..//b", "/\t/e", "/%0a//e", "/?x=//e", "/;//e", "/:80", "/login%2foidc"} {
		f.Add(s)
	}
	base, err := url.Parse("https://svc.test/login")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got := safeNext(text)
		u, err := base.Parse(got)
		if err != nil || u.Host != "svc.test" || u.Scheme != "https" || !strings.HasPrefix(got, "/") || strings.HasPrefix(got, "//") || strings.ContainsAny(got, "\\\r\n\t ") {
			t.Errorf("%q leads to %q (%v)", text, got, err)
		}
		if again := safeNext(got); again != got {
			t.Errorf("%q leads to %q, and that to %q", text, got, again)
		}
	})
}

// TestLeave: a page leads to addresses that a browser opens as a page or hands to a program, and never runs one as a script.
func TestLeave(t *testing.T) {
	p := newPages(t, "http://svc.test")
	for address, ok := range map[string]bool{
		"https://id.example/auth?a=1&b=%22%3E%3Cscript%3E": true, "http://127.0.0.1:33418/callback?code=x": true, "cursor://anysphere.cursor/callback?code=x": true,
		"javascript:alert(1)": false, "JavaScript:alert(1)": false, "data:text/html,x": false, "vbscript:x": false, "//evil.example": false, "/local": false,
	} {
		u, err := url.Parse(address)
		if err != nil {
			t.Fatal(err)
		}
		w := httptest.NewRecorder()
		p.Leave(w, httptest.NewRequest(http.MethodPost, "/x", nil), u, "Some <app>")
		text := w.Body.String()
		if leads := strings.Contains(text, `http-equiv="refresh"`); leads != ok || (w.Code == 200) != ok || strings.Contains(text, "<script") || strings.Contains(text, "Some <app>") {
			t.Errorf("%s: %d %s", address, w.Code, text)
		}
	}
}

// TestViews: every template shows what a page without data of its own has, so a defect in one cannot wait for its day.
func TestViews(t *testing.T) {
	p := newPages(t, "https://svc.test")
	for name, data := range map[string]any{
		"login": loginData{}, "account": accountData{Password: true}, "invite": inviteData{}, "home": homeData{}, "message": nil,
		"cli": cliData{Step: "confirm", Choices: []cliChoice{{Admin: true}, {}}}, "leave": struct{ To, Whither string }{"https://x.test", "X"},
		"consent": consentData{Program: "Some <app>", Access: []string{"Read traces"}, Choices: []cliChoice{{Admin: true}, {}}},
	} {
		for _, viewer := range []*Viewer{nil, {}} {
			if (name == "home" || name == "account") && viewer == nil {
				continue // they send who is not signed in away
			}
			w := httptest.NewRecorder()
			p.Render(w, httptest.NewRequest(http.MethodGet, "/", nil), http.StatusOK, Page{View: name, Title: "T", Data: data, Viewer: viewer})
			if w.Code != 200 || !strings.Contains(w.Body.String(), "</html>") || strings.Contains(w.Body.String(), "ZgotmplZ") {
				t.Errorf("%s: %d %s", name, w.Code, w.Body)
			}
		}
	}
	if len(p.views) != 8 {
		t.Errorf("%d templates, of which 8 are looked at", len(p.views))
	}
}
