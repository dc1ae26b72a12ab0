package auth

import (
	"strings"
)

// These headers are in canonical form, so that they can be read from the map directly.
const (
	headerOrganization = "X-Svc-Org-Id"
)

type credentialKind int

const (
	kindUnknown credentialKind = iota
	kindAPIKey
	kindSession
	kindIngestKey
	kindConnector
	kindOAuth
)

// kindOf reads the prefix and checks the shape. Text of any other shape was never issued, so it costs no lookup.
func kindOf(token string) credentialKind {
	if len(token) == secretLength && isSecret(token) {
		return kindOAuth
	}
	if !wellFormed(token) {
		return kindUnknown
	}
	switch token[:prefixLength] {
	case PrefixAPIKey:
		return kindAPIKey
	case PrefixSession:
		return kindSession
	case PrefixPublicKey, PrefixPrivateKey, PrefixCustomKey:
		return kindIngestKey
	case PrefixConnector:
		return kindConnector
	default:
		return kindUnknown
	}
}

func wellFormed(token string) bool {
	return len(token) == prefixLength+secretLength && isSecret(token[prefixLength:])
}

// isSecret reports whether text is base64url.
func isSecret(text string) bool {
	for i := range len(text) {
		c := text[i]
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '-' && c != '_' {
			return false
		}
	}
	return true
}

// bearer reads `Bearer <token>`. The case of the word does not matter.
func bearer(value string) (token string, ok bool) {
	scheme, token, found := strings.Cut(value, " ")
	if !found || !strings.EqualFold(scheme, "Bearer") {
		return "", false
	}
	token = strings.Trim(token, " ")
	return token, token != "" && !strings.ContainsAny(token, " \t,")
}
