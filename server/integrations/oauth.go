package integrations

import (
	"encoding/json"
	"net/url"
	"strings"
)

// AuthorizeURL adds the request for a code to the page on which a person agrees (RFC 6749 section 4.1.1, with the challenge of RFC 7636).
func AuthorizeURL(page *url.URL, clientID string, scopes []string, state, challenge, redirectURI string) string {
	u := *page
	u.RawQuery = url.Values{
		"client_id": {clientID}, "response_type": {"code"}, "redirect_uri": {redirectURI}, "state": {state},
		"scope": {strings.Join(scopes, " ")}, "code_challenge": {challenge}, "code_challenge_method": {"S256"},
	}.Encode()
	return u.String()
}

// TokenProblem knows the errors of a server of logins (RFC 6749 section 5.2). Settings are those with the id and the secret of our client.
// It returns nil for another answer, which is judged by its status.
func TokenProblem(name, settings string, body []byte) *Problem {
	var said struct{ Error string }
	_ = json.Unmarshal(body, &said)
	switch said.Error {
	case "invalid_grant":
		return NewProblem(Suspended, nil, "%s no longer accepts our access. An administrator connects the account again.", name)
	case "invalid_client":
		return NewProblem(Unauthorized, nil, "%s does not know this server: the operator's settings %s are not those of the application.",
			name, settings)
	}
	return nil
}
