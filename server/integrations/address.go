package integrations

import "net/url"

// AddressProblem says why a provider could not send browsers back to an address: it takes https, and http on this machine only.
func AddressProblem(base string) string {
	u, err := url.Parse(base)
	switch {
	case err != nil:
		return "The address of this server cannot be read. Its operator sets public-url."
	case u.Scheme == "https", u.Hostname() == "localhost", u.Hostname() == "127.0.0.1", u.Hostname() == "::1":
		return ""
	}
	return "The address of this server, " + base +
		", is not https, so a provider does not send browsers back to it. Its operator sets public-url."
}
