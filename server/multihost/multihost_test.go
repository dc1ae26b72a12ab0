package multihost

import (
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	for raw, want := range map[string]string{
		"clickhouse://h":                               "h",
		"postgres:///svc?host=/run":                    "",
		"clickhouse://u:p@a:8123,b:8124,c/db?x=1,2":    "a:8123 b:8124 c",
		"https://[::1]:8443,[fe80::2],h.example:1/a,b": "[::1]:8443 [fe80::2] h.example:1",
		"clickhouse://u:a,b@h:1/db":                    "h:1",
	} {
		u, hosts, err := Parse(raw)
		if err != nil {
			t.Errorf("%s: %v", raw, err)
			continue
		}
		var got []string
		for _, h := range hosts {
			got = append(got, h.Host)
		}
		if strings.Join(got, " ") != want || u.Host != strings.Join(got, ",") {
			t.Errorf("%s: hosts %q of %q, want %q", raw, got, u.Host, want)
		}
	}
	u, _, err := Parse("clickhouse://u:p%40@a:1,b:2/db?cluster=main#x")
	if err != nil || u.String() != "clickhouse://u:p%40@a:1,b:2/db?cluster=main#x" {
		t.Errorf("got %v, %v", u, err)
	}
	for _, raw := range []string{
		"clickhouse://u:secret@a:1,/db", "clickhouse://u:secret@a:1,b:x", "clickhouse://u:secret@a:1,b:1:2", "clickhouse://u:sec%zzret@a,b",
		"clickhouse://u:secret@a b", "clickhouse://u:secret@,a",
	} {
		if _, _, err := Parse(raw); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", raw, err)
		}
	}
}
