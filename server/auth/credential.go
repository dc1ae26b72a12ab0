package auth

import (
	"strings"
)

// Headers in canonical form, so that they can be read from the map.
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
)

// kindOf reads the prefix and the shape; text of any other shape was never handed out, so it costs no lookup.
func kindOf(token string) credentialKind {
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
	if len(token) != prefixLength+secretLength {
		return false
	}
	for i := prefixLength; i < len(token); i++ {
		c := token[i]
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '-' && c != '_' {
			return false
		}
	}
	return true
}

// bearer reads `Bearer <token>`; the word is compared without case.
func bearer(value string) (token string, ok bool) {
	scheme, token, found := strings.Cut(value, " ")
	if !found || !strings.EqualFold(scheme, "Bearer") {
		return "", false
	}
	token = strings.Trim(token, " ")
	return token, token != "" && !strings.ContainsAny(token, " \t,")
}
