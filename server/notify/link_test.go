package notify

import "testing"

func TestLinks(t *testing.T) {
	l := Links{BaseURL: "https://svc.example.com", Org: "org_1"}
	for got, want := range map[string]string{
		l.Incident("inc_1"):                 "https://svc.example.com/alerts/incidents/inc_1?org=org_1",
		l.Rule("rule_1"):                    "https://svc.example.com/alerts/rules/rule_1?org=org_1",
		l.Issue("iss/../1"):                 "https://svc.example.com/errors/iss%2F..%2F1?org=org_1",
		l.Issue(""):                         "",
		Links{Org: "org_1"}.Incident("inc"): "",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
