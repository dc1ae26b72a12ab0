package e2e

import (
	"bytes"
	"fmt"
	"image/png"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-observability/svc/server/testkit"
)

// text sends a GET request and returns the text of the answer, which must have the status 200.
func (c restClient) text(path string) string {
	c.t.Helper()
	req, err := http.NewRequestWithContext(c.t.Context(), http.MethodGet, c.s.BaseURL+path, nil)
	if err != nil {
		c.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+c.key)
	status, text := roundTrip(c.t, req)
	if status != http.StatusOK {
		c.t.Fatalf("GET %s: %d: %s", path, status, text)
	}
	return string(text)
}

// sharePicture fetches the picture of a link like a program that previews it.
func sharePicture(t *testing.T, s *testkit.Server, path, etag string, want int) (http.Header, []byte) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.BaseURL+path, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("If-None-Match", etag)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != want {
		t.Fatalf("%s: %d %v, want %d", path, res.StatusCode, err, want)
	}
	return res.Header, body
}

// TestDashboardShares follows a link to a dashboard and one to a widget, from their creation to their end.
func TestDashboardShares(t *testing.T) {
	s := testkit.Shared(t).NewOrganization(t, "Shares")
	c := restClient{t, s, s.APIKey}
	made := c.call("POST", "/v2/dashboards", `{"name":"Shared","widgets":[`+statWidget("a b/c", 0)+`]}`, 200)
	board := "/v2/dashboards/" + fmt.Sprint(made["id"])
	widget := board + "/widgets/a%20b%2Fc/share"
	for _, path := range []string{board + "/share", widget} {
		if got := c.text(path); got != "null" {
			t.Errorf("before it is shared: %s", got)
		}
		if got := tagOf(c.call("POST", path+"/rotate", "", 404)); got != "@svc/http/errors/ShareNotFoundError" {
			t.Errorf("rotation before it is shared: %v", got)
		}
	}
	if got := c.text(board + "/shares"); got != "[]" {
		t.Errorf("no links: %s", got)
	}
	if got := tagOf(c.call("PUT", board+"/widgets/nope/share", `{"mode":"public"}`, 404)); got != "@svc/http/errors/ShareWidgetNotFoundError" {
		t.Errorf("a widget that is not there: %v", got)
	}
	if got := tagOf(c.call("PUT", board+"/share", `{"mode":"everybody"}`, 400)); got != "@svc/http/v2/InvalidRequestError" {
		t.Errorf("an unknown mode: %v", got)
	}

	first := c.call("PUT", board+"/share", `{"mode":"org"}`, 200)
	token := fmt.Sprint(first["token"])
	if len(token) != 43 || !strings.HasSuffix(token, fmt.Sprint(first["token_suffix"])) || first["mode"] != "org" ||
		first["widget_id"] != nil ||
		first["dashboard_id"] != made["id"] || first["object"] != "dashboard_share" {
		t.Errorf("shared: %v", first)
	}
	again := c.call("PUT", board+"/share", `{"mode":"public"}`, 200)
	if again["token"] != first["token"] || again["id"] != first["id"] || again["mode"] != "public" {
		t.Errorf("another mode: %v", again)
	}
	if read := c.call("GET", board+"/share", "", 200); !cmp.Equal(read, again) {
		t.Errorf("read: %v, want %v", read, again)
	}
	rotated := c.call("POST", board+"/share/rotate", "", 200)
	if rotated["token"] == first["token"] || rotated["id"] != first["id"] {
		t.Errorf("rotated: %v", rotated)
	}
	part := c.call("PUT", widget, `{"mode":"public"}`, 200)
	if part["widget_id"] != "a b/c" || part["token"] == rotated["token"] {
		t.Errorf("widget: %v", part)
	}
	list := c.text(board + "/shares")
	if !strings.HasPrefix(list, `[{"id":"dshr_`) || strings.Count(list, `"object":"dashboard_share"`) != 2 {
		t.Errorf("links: %s", list)
	}

	// The database does not contain the tokens, and neither does the audit log.
	audit := c.text("/v2/audit_log?resource_type=dashboard_share")
	for _, id := range []string{`"widget_id":null`, `"widget_id":"a b/c"`} {
		if !strings.Contains(audit, id) {
			t.Errorf("the audit log does not say %s: %s", id, audit)
		}
	}
	if strings.Contains(audit, fmt.Sprint(rotated["token"])) || strings.Count(audit, `"action":"dashboard_share.`) != 4 {
		t.Errorf("audit log: %s", audit)
	}

	o := testkit.Shared(t).NewOrganization(t, "No shares")
	stranger := restClient{t, o, o.APIKey}
	for _, request := range [][3]string{
		{"GET", board + "/shares", ""},
		{"GET", board + "/share", ""},
		{"PUT", board + "/share", `{"mode":"public"}`},
		{"POST", board + "/share/rotate", ""},
		{"DELETE", board + "/share", ""},
		{"GET", widget, ""},
		{"PUT", widget, `{"mode":"public"}`},
		{"POST", widget + "/rotate", ""},
		{"DELETE", widget, ""},
	} {
		if got := tagOf(stranger.call(request[0], request[1], request[2], 404)); got != "@svc/http/errors/DashboardNotFoundError" {
			t.Errorf("%s %s of another organization: %v", request[0], request[1], got)
		}
	}

	for range 2 {
		gone := c.call("DELETE", widget, "", 200)
		if gone["deleted"] != true || gone["dashboard_id"] != made["id"] || gone["object"] != "dashboard_share" {
			t.Errorf("revoked: %v", gone)
		}
		c.call("DELETE", board+"/share", "", 200)
	}
	if got := c.text(board + "/shares"); got != "[]" {
		t.Errorf("after the revocation: %s", got)
	}
}

// TestPublicShare checks what a link shows to a person without a credential, and when it stops.
func TestPublicShare(t *testing.T) {
	s := testkit.Shared(t).NewOrganization(t, "Public shares")
	c, nobody := restClient{t, s, s.APIKey}, restClient{t, s, ""}
	made := c.call("POST", "/v2/dashboards", `{"name":"Open","description":"For all","sections":[{"id":"s","title":"Part"}],"widgets":[`+
		statWidget("w1", 0)+`,`+statWidget("w2", 4)+`]}`, 200)
	board := "/v2/dashboards/" + fmt.Sprint(made["id"])
	token := func(share map[string]any) string { return fmt.Sprintf(`{"token":%q}`, share["token"]) }
	const resolve = "/v2/share/resolve"
	missing := nobody.call("POST", resolve, `{"token":"nobody-knows-this-token"}`, 404)
	if tagOf(missing) != "@svc/http/errors/ShareNotFoundError" {
		t.Errorf("an unknown token: %v", missing)
	}
	if got := tagOf(nobody.call("POST", resolve, `{"token":"short"}`, 400)); got != "@svc/http/v2/InvalidRequestError" {
		t.Errorf("no token: %v", got)
	}

	share := c.call("PUT", board+"/share", `{"mode":"public"}`, 200)
	open := nobody.call("POST", resolve, token(share), 200)
	shown := open["dashboard"].(map[string]any)
	if open["mode"] != "public" || open["scope"] != "dashboard" || open["embeddable"] != false || shown["name"] != "Open" ||
		len(shown["widgets"].([]any)) != 2 {
		t.Errorf("open: %v", open)
	}
	if text := fmt.Sprint(open); strings.Contains(text, "aggregation") || strings.Contains(text, s.OrgID) || strings.Contains(text, "dash_") {
		t.Errorf("the link shows more than is drawn: %s", text)
	}
	meta := nobody.call("POST", "/v2/share/og-meta", token(share), 200)
	ogID := strings.TrimPrefix(fmt.Sprint(meta["image_path"]), "/share/og/")
	card := nobody.call("POST", "/v2/share/og-card", fmt.Sprintf(`{"og_id":%q}`, ogID), 200)
	if meta["title"] != "Open" || meta["description"] != "For all" || card["widget_count"] != 2.0 || len(card["tiles"].([]any)) != 2 ||
		card["org"].(map[string]any)["name"] != "Public shares" {
		t.Errorf("preview: %v %v", meta, card)
	}
	header, picture := sharePicture(t, s, fmt.Sprint(meta["image_path"]), "", 200)
	if config, err := png.DecodeConfig(bytes.NewReader(picture)); err != nil || config.Width != 1200 || config.Height != 630 {
		t.Errorf("the picture: %v %v", config, err)
	}
	if header.Get("Content-Type") != "image/png" || header.Get("Cache-Control") != "public, max-age=300" ||
		header.Get("X-Robots-Tag") != "noindex" || header.Get("Set-Cookie") != "" {
		t.Errorf("headers of the picture: %v", header)
	}
	sharePicture(t, s, fmt.Sprint(meta["image_path"]), header.Get("ETag"), 304)
	sharePicture(t, s, "/share/og/"+fmt.Sprint(share["token"]), "", 404) // the token is not its id
	if diff := cmp.Diff(missing, nobody.call("POST", resolve, fmt.Sprintf(`{"token":%q}`, ogID), 404)); diff != "" {
		t.Errorf("the id of the card opens the link: %s", diff)
	}

	// A shared widget shows only while its dashboard is shared, and is never more open than the dashboard.
	widget := c.call("PUT", board+"/widgets/w2/share", `{"mode":"public"}`, 200)
	part := nobody.call("POST", resolve, token(widget), 200)
	if part["scope"] != "widget" || part["embeddable"] != true || len(part["dashboard"].(map[string]any)["widgets"].([]any)) != 1 ||
		strings.Contains(fmt.Sprint(part), "Open") {
		t.Errorf("widget: %v", part)
	}
	c.call("PUT", board+"/share", `{"mode":"org"}`, 200)
	if header, _ := sharePicture(t, s, fmt.Sprint(meta["image_path"]), "", 403); header.Get("Cache-Control") != "no-store" {
		t.Errorf("the picture of a link for the organization: %v", header)
	}
	for _, who := range []restClient{nobody, c} { // an API key is not a session
		for _, body := range []string{token(widget), token(share)} {
			if got := tagOf(who.call("POST", resolve, body, 403)); got != "@svc/http/errors/ShareSignInRequiredError" {
				t.Errorf("a link for the organization: %v", got)
			}
		}
	}
	rotated := c.call("POST", board+"/share/rotate", "", 200)
	c.call("PUT", board+"/share", `{"mode":"public"}`, 200)
	nobody.call("POST", resolve, token(rotated), 200)
	c.call("PATCH", board, `{"widgets":[`+statWidget("w1", 0)+`]}`, 200)
	for name, body := range map[string]string{"rotated": token(share), "widget gone": token(widget)} {
		if diff := cmp.Diff(missing, nobody.call("POST", resolve, body, 404)); diff != "" {
			t.Errorf("%s (-unknown +got):\n%s", name, diff)
		}
	}
	c.call("DELETE", board+"/share", "", 200)
	if diff := cmp.Diff(missing, nobody.call("POST", resolve, token(rotated), 404)); diff != "" {
		t.Errorf("revoked (-unknown +got):\n%s", diff)
	}
}

// TestShareForTheOrganization checks that a link of the mode org opens for sessions of the organization only, in every read, and
// ends with the dashboard.
func TestShareForTheOrganization(t *testing.T) {
	s := testkit.Shared(t).NewOrganization(t, "Share for us")
	o := testkit.Shared(t).NewOrganization(t, "Not for them")
	c := restClient{t, s, s.APIKey}
	made := c.call("POST", "/v2/dashboards", `{"name":"Ours","widgets":[`+statWidget("w1", 0)+`]}`, 200)
	board := "/v2/dashboards/" + fmt.Sprint(made["id"])
	share := c.call("PUT", board+"/share", `{"mode":"public"}`, 200)
	token := fmt.Sprintf(`{"token":%q}`, share["token"])
	card := fmt.Sprintf(`{"og_id":%q}`, strings.TrimPrefix(fmt.Sprint(restClient{t, s, ""}.call("POST", "/v2/share/og-meta", token,
		200)["image_path"]), "/share/og/"))
	c.call("PUT", board+"/share", `{"mode":"org"}`, 200)
	reads := map[string]string{"/v2/share/resolve": token, "/v2/share/og-meta": token, "/v2/share/og-card": card}

	ours, theirs := signIn(t, s, s.AdminEmail, s.AdminPassword, ""), signIn(t, o, o.AdminEmail, o.AdminPassword, "")
	ended := signIn(t, s, s.AdminEmail, s.AdminPassword, "")
	restClient{t, s, ended}.call("DELETE", "/v2/session", "", 200)
	for path, body := range reads {
		if status, got := as(t, s, ours, "", "POST", path, body); status != 200 {
			t.Errorf("%s with a session: %d %v", path, status, got)
		}
		if status, got := as(t, s, theirs, "", "POST", path, body); status != 403 || tagOf(got) != "@svc/http/errors/ShareWrongOrgError" {
			t.Errorf("%s with a session of another organization: %d %v", path, status, got)
		}
		for what, credential := range map[string]string{
			"nothing": "", "an API key": s.APIKey, "a session that ended": ended,
			"a word": "nonsense",
		} {
			if status, got := as(t, s, credential, "", "POST", path, body); status != 403 ||
				tagOf(got) != "@svc/http/errors/ShareSignInRequiredError" {
				t.Errorf("%s with %s: %d %v", path, what, status, got)
			}
		}
	}
	opened := restClient{t, s, ours}.call("POST", "/v2/share/resolve", token, 200)
	if opened["mode"] != "org" || opened["embeddable"] != false || strings.Contains(fmt.Sprint(opened), "aggregation") {
		t.Errorf("opened: %v", opened)
	}
	c.call("DELETE", board, "", 200)
	for path, body := range reads {
		if status, got := as(t, s, ours, "", "POST", path, body); status != 404 || tagOf(got) != "@svc/http/errors/ShareNotFoundError" {
			t.Errorf("%s after the dashboard: %d %v", path, status, got)
		}
	}
}
