package apikeys

import (
	"fmt"
	"slices"
	"strings"

	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/principal"
)

// later lists families whose methods do not exist yet. Keys may already be made for them.
func later() []string {
	return []string{"anomalies", "events"}
}

// families returns the families that a scope can name: the families of the contract and those of later.
func families(served []string) []string {
	all := append(later(), served...)
	slices.Sort(all)
	return slices.Compact(all)
}

// checkScopes returns nil, which is full access, when the request has no scopes.
func checkScopes(scopes, known []string) ([]string, error) {
	if len(scopes) == 0 {
		return nil, nil
	}
	for i, s := range scopes {
		if s == "*" {
			continue
		}
		family, access, _ := strings.Cut(s, ":")
		if !slices.Contains(known, family) || access != "read" && access != "write" {
			return nil, apierr.New(apierr.InvalidRequest,
				fmt.Sprintf("scopes[%d] is %q. A scope is * or <family>:read or <family>:write, where <family> is one of %s.", i, clip(s),
					strings.Join(known, ", ")),
				apierr.Param(fmt.Sprintf("scopes[%d]", i)))
		}
	}
	return slices.Clone(scopes), nil
}

func clip(s string) string {
	if r := []rune(s); len(r) > 80 {
		return string(r[:80]) + "…"
	}
	return s
}

// mayGrant refuses to give a caller a secret that can do more than the caller can. Otherwise a key limited to api_keys:write would
// be as good as a full key.
func mayGrant(caller *principal.Principal, scopes []string) error {
	if caller.Scopes == nil || caller.Kind == principal.KindSession || caller.HasScope("*") {
		return nil
	}
	if scopes == nil {
		return apierr.New(apierr.InsufficientScope,
			"Full access (*) cannot be given by a key that does not have it. Name scopes that the calling key holds.", apierr.Param("scopes"))
	}
	for i, s := range scopes {
		family, access, _ := strings.Cut(s, ":")
		if s == "*" || !caller.Allows(family, access == "write") {
			return apierr.New(apierr.InsufficientScope,
				fmt.Sprintf("The scope %s cannot be given by a key that does not hold it.", s), apierr.Param(fmt.Sprintf("scopes[%d]", i)))
		}
	}
	return nil
}
