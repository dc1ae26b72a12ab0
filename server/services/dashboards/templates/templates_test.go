package templates

import (
	"bytes"
	"encoding/json"
	"errors"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/testing/protocmp"

	"github.com/svc-observability/svc/server/golden"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/wirejson"
)

func TestNames(t *testing.T) {
	want := []string{
		"service-health", "error-tracking", "platform-overview", "http-endpoints", "top-errors", "metric-overview", "blank", "jvm-runtime",
		"nodejs-runtime",
		"grpc-service", "postgres-overview", "mongodb-overview", "redis-overview", "mysql-overview", "host-metrics", "kubernetes-cluster",
		"kubernetes-pod",
		"kafka-overview", "nats-overview", "rabbitmq-overview",
	}
	slug, key := regexp.MustCompile(`^[a-z][a-z0-9-]*$`), regexp.MustCompile(`^[a-z][a-z0-9_]*$`)
	var got []string
	for _, template := range All() {
		got = append(got, template.Slug)
		if Find(template.Slug) == nil || !slug.MatchString(template.Slug) {
			t.Errorf("%s cannot be found, or has a bad name", template.Slug)
		}
		for _, p := range template.Parameters {
			if !key.MatchString(p.Key) || p.Label == "" || p.Description == "" {
				t.Errorf("%s: parameter %+v", template.Slug, p)
			}
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("templates (-want +got):\n%s", diff)
	}
	if Find("nope") != nil {
		t.Error("an unknown template is found")
	}
}

// TestLongValue checks that the name of a dashboard has room for the longest value: the value is cut, not the name of the template.
func TestLongValue(t *testing.T) {
	template := Find("service-health")
	for n, want := range map[int]string{
		limits.TemplateValue: strings.Repeat("é", limits.DashboardName-len([]rune(" — "+template.Name))) + " — " + template.Name,
		3:                    "ééé — " + template.Name,
	} {
		if got := template.Build(map[string]string{"service_name": strings.Repeat("é", n)}).GetName(); got != want {
			t.Errorf("a value of %d characters gives the name %q, want %q", n, got, want)
		}
	}
}

// TestGolden pins the dashboard of each template with every parameter given.
func TestGolden(t *testing.T) {
	for _, template := range All() {
		values := map[string]string{}
		for _, p := range template.Parameters {
			values[p.Key] = p.Placeholder
		}
		if err := template.Check(values, true); err != nil {
			t.Errorf("%s: the placeholders are refused: %v", template.Slug, err)
		}
		text, err := wirejson.Marshal(template.Build(values))
		if err != nil {
			t.Fatal(err)
		}
		var pretty bytes.Buffer
		if err := json.Indent(&pretty, text, "", " "); err != nil {
			t.Fatal(err)
		}
		pretty.WriteByte('\n')
		golden.Compare(t, template.Slug+".json", pretty.String())
	}
}

// TestParameters checks that a parameter reaches every query, quoted, and that without it no query is filtered.
func TestParameters(t *testing.T) {
	const hostile = `a"b\c'd`
	for _, template := range All() {
		values := map[string]string{"metric_name": "m", "metric_type": "gauge"}
		last := ""
		for _, p := range template.Parameters {
			if len(p.Values) == 0 && p.Key != "metric_name" {
				values[p.Key], last = hostile, p.Key
			}
		}
		first, again := template.Build(values), template.Build(values)
		if diff := cmp.Diff(first, again, protocmp.Transform()); diff != "" {
			t.Errorf("%s: built twice (-first +second):\n%s", template.Slug, diff)
		}
		for _, w := range template.Build(nil).Widgets {
			for _, q := range w.DataSource.Queries {
				if strings.Contains(q.GetWhereClause(), "service.name") || strings.Contains(q.GetWhereClause(), "resource.") {
					t.Errorf("%s, %s: filtered by nothing: %s", template.Slug, w.Id, q.GetWhereClause())
				}
			}
		}
		if last == "" {
			continue
		}
		for _, w := range first.Widgets {
			for _, q := range w.DataSource.Queries {
				if !strings.Contains(q.GetWhereClause(), `= "a\"b\\c'd"`) {
					t.Errorf("%s, %s: not filtered: %s", template.Slug, w.Id, q.GetWhereClause())
				}
			}
			if w.DataSource.Sql != nil && !strings.Contains(w.DataSource.GetSql(), `ServiceName = 'a"b\\c\'d'`) {
				t.Errorf("%s, %s: not filtered: %s", template.Slug, w.Id, w.DataSource.GetSql())
			}
		}
	}
}

func TestCheckParameters(t *testing.T) {
	overview := Find("metric-overview")
	for name, test := range map[string]struct {
		values   map[string]string
		complete bool
		key      string
		missing  bool
	}{
		"preview of nothing": {nil, false, "", false},
		"nothing":            {nil, true, "metric_name", true},
		"blank":              {map[string]string{"metric_name": " ", "metric_type": "sum"}, true, "metric_name", true},
		"one of two":         {map[string]string{"metric_name": "m"}, true, "metric_type", true},
		"both":               {map[string]string{"metric_name": "m", "metric_type": "sum"}, true, "", false},
		"unknown":            {map[string]string{"metric": "m"}, false, "metric", false},
		"another type":       {map[string]string{"metric_type": "summary"}, false, "metric_type", false},
		"control character":  {map[string]string{"metric_name": "a\nb"}, false, "metric_name", false},
		"long":               {map[string]string{"metric_name": strings.Repeat("x", 201)}, false, "metric_name", false},
	} {
		err := overview.Check(test.values, test.complete)
		var bad *ParameterError
		if test.key == "" && err != nil || test.key != "" && (!errors.As(err, &bad) || bad.Key != test.key || bad.Missing != test.missing) {
			t.Errorf("%s: %v, want %s missing=%v", name, err, test.key, test.missing)
		}
	}
}
