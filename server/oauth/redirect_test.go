package oauth

import "testing"

func TestCheckRedirect(t *testing.T) {
	for text, ok := range map[string]bool{
		"https://app.test/cb": true, "https://app.test": true, "https://app.test:8443/cb?x=1": true, "HTTPS://app.test/cb": true,
		"http://localhost/cb": true, "http://localhost:3000/": true, "http://127.0.0.1:33418": true, "http://[::1]:5/cb": true,
		"cursor://anysphere.cursor-mcp/oauth/callback": true, "vscode://vscode.github-authentication": true, "com.example.app:/oauth": true,
		"com.example.app:oauth": true,

		"https://*.app.test/cb": false, "https://app.test/*": false, "http://localhost:*/cb": false, "cursor://*/cb": false,
		"": false, "/cb": false, "app.test/cb": false, "//app.test/cb": false, "https://": false, "https:///cb": false,
		"https:app.test/cb": false, "https://:443/cb": false,
		"http://app.test/cb": false, "http://localhost.evil.test/cb": false, "http://evil.test/localhost": false, "http://127.0.0.2/cb": false,
		"http://127.1/cb":   false,
		"http://0.0.0.0/cb": false, "http://[::1%25lo]/cb": false, "http:localhost/cb": false, "http://localhost@evil.test/": false,
		"http://2130706433/cb":     false,
		"https://user@app.test/cb": false, "https://user:pass@app.test/cb": false, "https://@app.test/cb": false,
		"https://app.test/cb#x": false, "https://app.test/cb#": false, "cursor://x#y": false,
		`https://app.test\@evil.test/`: false, `https:\\evil.test`: false, "https://app.test/ cb": false, " https://app.test/cb": false,
		"https://app.test/\ncb": false,
		"https://app.test/\x00": false, "https://app.test/\x7f": false, "https://аpp.test/cb": false, "https://app.test/ä": false,
		"https://%D0%B0pp.test/cb": false,
		"javascript:alert(1)":      false, "JavaScript:alert(1)": false, "java\tscript:alert(1)": false, "data:text/html,x": false,
		"vbscript:x": false, "blob:https://app.test/x": false,
		"file:///etc/passwd": false, "about:blank": false, "view-source:https://app.test/": false, "ftp://app.test/": false,
		"mailto:a@app.test": false, "ws://app.test/": false,
	} {
		if reason := checkRedirect(text); (reason == "") != ok {
			t.Errorf("%q: %q", text, reason)
		}
	}
	long := "https://app.test/"
	for len(long) <= maxURI {
		long += "x"
	}
	if checkRedirect(long) == "" || checkRedirect(long[:maxURI]) != "" {
		t.Error("the bound of the length is not kept")
	}
}

func TestSameRedirect(t *testing.T) {
	for _, tc := range []struct {
		registered, given string
		same              bool
	}{
		{"https://app.test/cb", "https://app.test/cb", true},
		{"https://app.test/cb", "https://app.test/cb/", false},
		{"https://app.test/cb", "https://app.test:443/cb", false},
		{"https://app.test/cb", "https://APP.test/cb", false},
		{"https://app.test/cb", "HTTPS://app.test/cb", false},
		{"https://app.test/cb", "https://app.test/cb?", false},
		{"https://app.test/cb", "https://app.test/CB", false},
		{"https://app.test/cb", "http://app.test/cb", false},
		{"http://localhost/cb", "http://localhost:1/cb", true},
		{"http://localhost:3000/cb", "http://localhost:4000/cb", true},
		{"http://127.0.0.1:1/cb", "http://127.0.0.1:65535/cb", true},
		{"http://[::1]/cb", "http://[::1]:7/cb", true},
		{"http://localhost/cb", "http://127.0.0.1/cb", false},
		{"http://localhost/cb", "http://[::1]/cb", false},
		{"http://localhost/cb", "http://localhost/cb/", false},
		{"http://localhost/cb", "http://localhost:1/%63b", false},
		{"http://localhost/cb", "http://localhost:1/cb?x=1", false},
		{"http://localhost/cb?x=1", "http://localhost:1/cb?x=1", true},
		{"http://localhost/cb", "http://localhost:1/cb#x", false},
		{"http://localhost/cb", "http://user@localhost:1/cb", false},
		{"http://localhost/cb", "https://localhost/cb", false},
		{"https://localhost/cb", "https://localhost:1/cb", false},
		{"http://localhost/cb", "http://localhost.evil.test/cb", false},
		{"cursor://a/cb", "cursor://a:1/cb", false},
	} {
		if sameRedirect(tc.registered, tc.given) != tc.same {
			t.Errorf("%s and %s: not %v", tc.registered, tc.given, tc.same)
		}
	}
}
