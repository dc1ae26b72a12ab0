package pages

import (
	"bytes"
	"image/png"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/auth"
	"github.com/svc-observability/svc/server/integrations"
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

// FuzzNext checks that the sign-in always leads to a path of this server, in every way in which a browser may read the address.
func FuzzNext(f *testing.F) {
	for _, s := range []string{
		"/", "/cli?code=A", "//evil", "/\\evil", "/%2f%2fevil", "/..//evil", "https://evil", "/a/../..//b", "/\t/e",
		"/%0a//e", "/?x=//e", "/;//e", "/:80", "/login%2foidc",
	} {
		f.Add(s)
	}
	base, err := url.Parse("https://svc.test/login")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got := safeNext(text)
		u, err := base.Parse(got)
		if err != nil || u.Host != "svc.test" || u.Scheme != "https" || !strings.HasPrefix(got, "/") || strings.HasPrefix(got, "//") ||
			strings.ContainsAny(got, "\\\r\n\t ") {
			t.Errorf("%q leads to %q (%v)", text, got, err)
		}
		if again := safeNext(got); again != got {
			t.Errorf("%q leads to %q, and that to %q", text, got, again)
		}
	})
}

// TestLeave checks that a page leads to addresses that a browser opens as a page or passes to a program, and never runs as a
// script.
func TestLeave(t *testing.T) {
	p := newPages(t, "http://svc.test")
	for address, ok := range map[string]bool{
		"https://id.example/auth?a=1&b=%22%3E%3Cscript%3E": true, "http://127.0.0.1:33418/callback?code=x": true,
		"cursor://anysphere.cursor/callback?code=x": true,
		"javascript:alert(1)":                       false, "JavaScript:alert(1)": false, "data:text/html,x": false, "vbscript:x": false,
		"//evil.example": false,
		"/local":         false,
	} {
		u, err := url.Parse(address)
		if err != nil {
			t.Fatal(err)
		}
		w := httptest.NewRecorder()
		p.Leave(w, httptest.NewRequest(http.MethodPost, "/x", nil), u, "Some <app>")
		text := w.Body.String()
		if leads := strings.Contains(text, `http-equiv="refresh"`); leads != ok || (w.Code == 200) != ok || strings.Contains(text, "<script") ||
			strings.Contains(text, "Some <app>") {
			t.Errorf("%s: %d %s", address, w.Code, text)
		}
	}
}

// TestViews renders every template without data of its own, so that a defect in a template shows here first.
func TestViews(t *testing.T) {
	p := newPages(t, "https://svc.test")
	for name, data := range map[string]any{
		"login": loginData{}, "account": accountData{Password: true}, "invite": inviteData{}, "home": homeData{}, "message": nil,
		"cli": cliData{Step: "confirm", Choices: []cliChoice{{Admin: true}, {}}}, "leave": struct{ To, Whither string }{"https://x.test", "X"},
		"integration": integrationData{Step: "choose", Accounts: []integrations.Account{{Name: "a"}, {Name: "<b>"}}},
		"consent":     consentData{Program: "Some <app>", Access: []string{"Read traces"}, Choices: []cliChoice{{Admin: true}, {}}},
	} {
		for _, viewer := range []*Viewer{nil, {}} {
			if (name == "home" || name == "account") && viewer == nil {
				continue // these redirect people who are not signed in
			}
			w := httptest.NewRecorder()
			p.Render(w, httptest.NewRequest(http.MethodGet, "/", nil), http.StatusOK, Page{View: name, Title: "T", Data: data, Viewer: viewer})
			if w.Code != 200 || !strings.Contains(w.Body.String(), "</html>") || strings.Contains(w.Body.String(), "ZgotmplZ") {
				t.Errorf("%s: %d %s", name, w.Code, w.Body)
			}
		}
	}
	if len(p.views) != 9 {
		t.Errorf("%d templates, of which 9 are looked at", len(p.views))
	}
}

// TestTemplateFigures checks that templates take their bounds and times from the table of limits.
func TestTemplateFigures(t *testing.T) {
	figure := regexp.MustCompile(`(?:min|max)(?:length)?="\d+|(?i)\d[\d,]*[ -](?:seconds?|minutes?|hours?|days?|characters|bytes|[KMG]i?B)\b`)
	files, err := templates.ReadDir("templates")
	if err != nil {
		t.Fatal(err)
	}
	bounds := 0
	for _, f := range files {
		text, err := templates.ReadFile("templates/" + f.Name())
		if err != nil {
			t.Fatal(err)
		}
		bounds += bytes.Count(text, []byte(`{{(limit "`))
		for _, got := range figure.FindAllString(string(text), -1) {
			t.Errorf(`templates/%s has %q; write it with {{(limit "Name").Text}}`, f.Name(), got)
		}
	}
	if bounds < 10 {
		t.Errorf("%d limits were found", bounds)
	}
}

// TestDrawCard checks that every title and layout of a dashboard gives a picture of the required size. Each part changes the
// picture, and neither long texts nor tiles leave their area.
func TestDrawCard(t *testing.T) {
	f, err := parseFonts()
	if err != nil {
		t.Fatal(err)
	}
	tile := func(x, y, w, h float64, visualization, title, section string) *svcv2.ShareOgTile {
		return &svcv2.ShareOgTile{X: x, Y: y, W: w, H: h, Visualization: visualization, Title: &title, Section: &section}
	}
	seen := map[string]string{}
	for name, card := range map[string]*svcv2.ShareOgCard{
		"empty":        {},
		"title":        {Title: "Checkout"},
		"description":  {Title: "Checkout", Description: new("Orders and payments.")},
		"organization": {Title: "Checkout", Org: &svcv2.ShareOgOrganization{Name: "Acme"}},
		"long":         {Title: strings.Repeat("Wide ", 2000), Description: new(strings.Repeat("x", 10_000))},
		"odd":          {Title: "a\nb\x00\u202e 数据 😀 \xff"},
		"one":          {Title: "Checkout", Tiles: []*svcv2.ShareOgTile{tile(0, 0, 6, 4, "chart", "Requests", "")}},
		"kinds": {Title: "Checkout", Tiles: []*svcv2.ShareOgTile{
			tile(0, 0, 4, 6, "chart", "A", ""), tile(4, 0, 4, 6, "hbar", "B", ""), tile(8, 0, 4, 6, "table", "C", ""),
			tile(0, 6, 4, 6, "pie", "D", ""), tile(4, 6, 4, 6, "stat", "E", ""),
		}},
		"sections": {Title: "Checkout", Tiles: []*svcv2.ShareOgTile{
			tile(0, 0, 6, 4, "chart", "A", "one"), tile(0, 0, 6, 4, "chart", "B", "one"),
			tile(0, 0, 6, 4, "chart", "C", "two"),
		}},
		"absurd": {Title: "Checkout", Tiles: []*svcv2.ShareOgTile{
			tile(-5, -5, 1e9, 1e9, "pie", "B", ""),
			tile(0, 9999, 12, 10_000, "chart", "A", ""), tile(0, 0, 0, 0, "stat", "", ""),
		}},
	} {
		b, err := drawCard(f, card)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		picture, err := png.Decode(bytes.NewReader(b))
		if err != nil || picture.Bounds().Dx() != pictureWidth || picture.Bounds().Dy() != pictureHeight || len(b) > 100_000 {
			t.Errorf("%s: %d bytes, %v", name, len(b), err)
			continue
		}
		if other, twice := seen[string(b)]; twice {
			t.Errorf("%s and %s look the same", name, other)
		}
		seen[string(b)] = name
		for y := range pictureHeight { // the margin stays empty
			if name != "absurd" && (picture.At(pictureMargin-4, y) != picture.At(0, 0) ||
				picture.At(pictureWidth-pictureMargin+4, y) != picture.At(0, 0)) {
				t.Errorf("%s: something stands in the margin at %d", name, y)
				break
			}
		}
	}
}
