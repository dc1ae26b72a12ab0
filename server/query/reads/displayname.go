package reads

import "strings"

// DisplayName is the name of a request's span in lists. If the name says only the verb, as "GET" or "http.server GET" do, and the
// route is known, it is "VERB route". Filters match the span's own name.
func DisplayName(name, method, route string) string {
	if route == "" {
		return name
	}
	verb, server := strings.CutPrefix(name, "http.server ")
	switch {
	case bareVerb(verb):
		verb = strings.ToUpper(verb)
	case server && method != "":
		verb = method
	default:
		return name
	}
	return verb + " " + route
}

func bareVerb(s string) bool {
	switch strings.ToUpper(s) {
	case "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "CONNECT", "TRACE", "QUERY":
		return true
	default:
		return false
	}
}
