package apikeys

import (
	"fmt"
	"slices"
	"strings"

	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/principal"
)

// families lists what a scope can name (product-facts.md 0.9). Keys may be made for families whose methods come later, so this
// is not read from the contract.
func families() []string {
	return []string{
		"agent_feedback", "alerts", "anomalies", "api_keys", "attribute_mappings", "audit_log", "dashboards", "environments", "error_events", "error_issues",
		"events", "ingest_keys", "instrumentation", "integrations", "investigations", "logs", "metrics", "organization", "scrape_targets",
		"service_map", "services", "session_replays", "traces",
	}
}

// checkScopes returns nil, full access, when none are given.
func checkScopes(scopes []string) ([]string, error) {
	if len(scopes) == 0 {
		return nil, nil
	}
	known := families()
	for i, s := range scopes {
		if s == "*" {
			continue
		}
		family, access, _ := strings.Cut(s, ":")
		if !slices.Contains(known, family) || access != "read" && access != "write" {
			return nil, apierr.New(apierr.InvalidRequest,
				fmt.Sprintf("scopes[%d] is %q. A scope is * or <family>:read or <family>:write, where <family> is one of %s.", i, clip(s), strings.Join(known, ", ")),
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

// mayGrant refuses to give a caller a secret that can do more than the caller can: otherwise a key limited to api_keys:write
// would be as good as a full one.
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
