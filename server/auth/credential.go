package auth

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
)

// Headers in canonical form, so that they can be read from the map.
const (
	headerOrganization = "X-Svc-Org-Id"
	headerIngestKey    = "X-Svc-Ingest-Key"
)

type credentialKind int

const (
	kindUnknown credentialKind = iota
	kindAPIKey
	kindSession
	kindIngestKey
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

// ErrNoCredential: the request carries no ingest key, or none that can be read.
var ErrNoCredential = errors.New("no ingest key")

// IngestCredential reads the ingest key of an HTTP request: `Authorization: Bearer <key>` or `x-svc-ingest-key: <key>`.
// Errors are ErrNoCredential and safe to show.
func IngestCredential(h http.Header) (string, error) {
	return ingestCredential(h["Authorization"], h[headerIngestKey])
}

// IngestCredentialMetadata is IngestCredential for gRPC metadata, whose names are in lower case.
func IngestCredentialMetadata(md map[string][]string) (string, error) {
	return ingestCredential(md["authorization"], md["x-svc-ingest-key"])
}

func ingestCredential(authorization, key []string) (string, error) {
	if len(authorization) > 1 || len(key) > 1 {
		return "", fmt.Errorf("%w: the header with the key was sent twice", ErrNoCredential)
	}
	var token string
	if len(authorization) == 1 {
		token, _ = bearer(authorization[0])
	}
	if len(key) == 1 {
		direct := strings.TrimSpace(key[0])
		switch {
		case direct == "":
			return "", fmt.Errorf("%w: the x-svc-ingest-key header is empty", ErrNoCredential)
		case token != "" && token != direct:
			return "", fmt.Errorf("%w: Authorization and x-svc-ingest-key name different keys", ErrNoCredential)
		}
		return direct, nil
	}
	switch {
	case token != "":
		return token, nil
	case len(authorization) == 1:
		return "", fmt.Errorf("%w: the Authorization header must be `Bearer`, one space and the key", ErrNoCredential)
	default:
		return "", fmt.Errorf("%w: send it as `Authorization: Bearer <key>` or `x-svc-ingest-key: <key>`", ErrNoCredential)
	}
}
