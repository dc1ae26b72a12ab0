package integrations

import "testing"

// TestAddressProblem: providers send browsers back to https, and to http on this machine only.
func TestAddressProblem(t *testing.T) {
	for base, good := range map[string]bool{
		"https://svc.example.com": true, "http://localhost:8080": true, "http://127.0.0.1:8080": true, "http://[::1]:8080": true,
		"http://svc.example.com": false, "http://10.0.0.1": false, "http://localhost.example.com": false, "ftp://localhost.example.com": false,
		"%": false,
	} {
		if got := AddressProblem(base); (got == "") != good {
			t.Errorf("%s: %q", base, got)
		}
	}
}
