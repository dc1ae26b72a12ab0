package reads

import "testing"

func TestDisplayName(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ name, method, route, want string }{
		{"GET", "GET", "/x/{id}", "GET /x/{id}"},
		{"GET", "", "/x/{id}", "GET /x/{id}"},
		{"get", "", "/x", "GET /x"},
		{"http.server GET", "GET", "/t", "GET /t"},
		{"http.server /t", "POST", "/t", "POST /t"},
		{"http.server /t", "", "/t", "http.server /t"},
		{"GET", "GET", "", "GET"},
		{"http.server GET", "GET", "", "http.server GET"},
		{"GET /a", "GET", "/b", "GET /a"},
		{"checkout", "POST", "/checkout", "checkout"},
		{"http.client GET", "GET", "/t", "http.client GET"},
		{"", "GET", "/t", ""},
	} {
		if got := DisplayName(tc.name, tc.method, tc.route); got != tc.want {
			t.Errorf("DisplayName(%q, %q, %q) = %q, want %q", tc.name, tc.method, tc.route, got, tc.want)
		}
	}
}
