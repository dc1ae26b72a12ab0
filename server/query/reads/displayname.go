package reads

import "strings"

// DisplayName is how a request's span is called in lists: "VERB route" for a name that says no more than the verb, as "GET" or "http.server GET",
// when the route is known. Filters take the name itself.
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
