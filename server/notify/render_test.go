package notify

import (
	"encoding/json"
	"errors"
	"html"
	"math"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

func event(kind, severity string) Event {
	return Event{
		Type: kind, Incident: Incident{"inc_1", "open", "alrt_1/eu"},
		Rule: Rule{
			ID: "alrt_1", Name: "Errors of checkout", SignalType: "error_rate", Severity: severity, GroupKey: "eu", Comparator: "gt",
			Threshold:     0.05,
			WindowMinutes: 5,
		},
		Observed: Observed{Value: new(0.125), SampleCount: 1024}, LinkURL: "https://svc.example.com/i/1",
		Samples: []Sample{{"abc", "https://svc.example.com/t/abc"}}, SentAt: time.Date(2026, 11, 23, 13, 0, 0, 0, time.UTC),
	}
}

func TestBuiltInText(t *testing.T) {
	e := event(Trigger, "critical")
	if got := e.title(Webhook, plain, plain); got != "🔴 Errors of checkout — Triggered" {
		t.Error(got)
	}
	want := "Error rate is 12.5%, which is above 5% (over 5 minutes, 1,024 samples).\nGroup: eu\nSeverity: critical"
	if got := e.body(Webhook, plain, plain); got != want {
		t.Error(got)
	}
	e.Rule.GroupKey, e.Type = Total, Resolve
	e.Observed.Value = new(0.0)
	want = "Error rate is 0% (over 5 minutes, 1,024 samples). The condition was: above 5%.\nSeverity: critical"
	if got := e.body(Webhook, plain, plain); got != want {
		t.Error(got)
	}
	e.Type, e.Groups = Trigger, make([]Group, 30)
	for i := range e.Groups {
		e.Groups[i] = Group{Key: "g", Observed: Observed{Value: new(0.5)}}
	}
	if got := e.body(Webhook, plain, plain); !strings.Contains(got, "of 30 groups") || !strings.HasSuffix(got, "\ng: 50%\n… and 10 more") {
		t.Error(got)
	}
}

func TestFigure(t *testing.T) {
	for _, c := range []struct {
		signal string
		value  float64
		want   string
	}{
		{"error_rate", 0.0523, "5.23%"},
		{"error_rate", 0.00000123, "0.000123%"},
		{"p95_latency", 812.34, "812.3 ms"},
		{"p99_latency", 2, "2 ms"},
		{"apdex", 0.8, "0.800"},
		{"throughput", 33.333, "33.33 rpm"},
		{"builder_query", 1e18, "1e+18"},
		{"raw_query", -0.5, "-0.5"},
		{"raw_query", 0, "0"},
	} {
		if got := Figure(c.signal, c.value); got != c.want {
			t.Errorf("%s %v: %s, want %s", c.signal, c.value, got, c.want)
		}
	}
}

func TestCheckTemplate(t *testing.T) {
	for text, want := range map[string]string{
		"{{ rule.name }} {{value|default:\"no data\"}} {{#if group}}in {{ group }}{{/if}}": "",
		"{{ rule.nam }}":      "did you mean rule.name?",
		"{{#if grup}}{{/if}}": "did you mean group?",
		"{{#if group}}x":      "without {{/if}}",
		"x{{/if}}":            "without {{#if key}}",
		"{{#if group}}{{#if value}}{{/if}}{{/if}}": "cannot be nested",
		"{{ value":                "{{ without }}",
		"{{ value | upper }}":     "a template may have",
		strings.Repeat("ä", 4001): "at most 4000",
	} {
		err := CheckTemplate("notification_template", &Template{Overrides: map[string]Text{"discord": {Body: text}}})
		switch {
		case want == "" && err != nil, want != "" && err == nil:
			t.Errorf("%.50s: %v", text, err)
		case want != "":
			var f *FieldError
			if !errors.As(err, &f) || f.Field != "notification_template.overrides.discord.body" || !strings.Contains(f.Reason, want) {
				t.Errorf("%.50s: %v, want %s", text, err, want)
			}
		}
	}
	if err := CheckTemplate("t", &Template{Overrides: map[string]Text{"slack": {}}}); err == nil ||
		!strings.Contains(err.Error(), "is not a type") {
		t.Error(err)
	}
}

func TestTemplateOrder(t *testing.T) {
	e := event(Trigger, "warning")
	e.Template = &Template{
		Text: Text{Title: "all: {{ rule.name }}", Body: "{{ links.chat }}"}, Overrides: map[string]Text{Discord: {Title: "{{ severity }}!"}},
	}
	if got := e.title(Discord, plain, plain); got != "warning!" {
		t.Error(got)
	}
	if got := e.title(Telegram, plain, plain); got != "all: Errors of checkout" {
		t.Error(got)
	}
	if got := e.body(Telegram, plain, plain); !strings.HasPrefix(got, "Error rate is") {
		t.Errorf("an empty result became %q, not the built-in text", got)
	}
	p, err := Render(e, Webhook)
	if err != nil || !strings.Contains(string(p.Body), `"template":{"title":"all: Errors of checkout"`) {
		t.Errorf("%s, %v", p.Body, err)
	}
}

func TestRenderIsFinite(t *testing.T) {
	e := event(Trigger, "critical")
	e.Observed.Value, e.Rule.Threshold, e.Rule.ThresholdUpper = new(math.NaN()), math.Inf(1), new(math.Inf(-1))
	e.Groups = []Group{{Key: "\xff", Observed: Observed{Value: new(math.NaN())}}}
	for _, kind := range []string{Webhook, PagerDuty, Discord, Telegram, Email} {
		if _, err := Render(e, kind); err != nil {
			t.Errorf("%s: %v", kind, err)
		}
	}
}

var entity = regexp.MustCompile(`&(amp|lt|gt|#34|#39);`)

// FuzzLimits renders events whose texts are arbitrary, and checks the published limits of each service.
func FuzzLimits(f *testing.F) {
	f.Add("checkout", "eu", "{{ rule.name }} {{ group }}", 1)
	f.Add(strings.Repeat("&<>\"'", 2000), strings.Repeat("👩‍👩‍👧‍👦", 900), "{{ group }}{{ group }}", 40)
	f.Add(strings.Repeat(`\*`, 5000), "\xff\xfe", strings.Repeat("é", 4000), 0)
	f.Fuzz(func(t *testing.T, name, group, template string, groups int) {
		e := event(Trigger, "critical")
		e.Rule.Name, e.Rule.GroupKey = name, group
		e.Template = &Template{Text: Text{Title: template, Body: template}}
		e.Incident.DedupeKey = name + group
		for range groups % 50 {
			e.Groups = append(e.Groups, Group{Key: group})
		}
		for _, kind := range []string{Webhook, PagerDuty, Discord, Telegram, Email} {
			p, err := Render(e, kind)
			if err != nil {
				t.Fatalf("%s: %v", kind, err)
			}
			if !utf8.Valid(p.Body) || !json.Valid(p.Body) {
				t.Fatalf("%s: the body is not valid JSON", kind)
			}
			checkLimits(t, kind, p.Body)
		}
	})
}

// checkLimits checks a request against the limits that the service publishes.
func checkLimits(t *testing.T, kind string, body []byte) {
	t.Helper()
	switch kind {
	case PagerDuty:
		var b pagerDutyEvent
		if err := json.Unmarshal(body, &b); err != nil {
			t.Fatal(err)
		}
		if len(body) > 512<<10 || utf8.RuneCountInString(b.DedupKey) > 255 || utf8.RuneCountInString(b.Payload.Summary) > 1024 ||
			b.Payload.Summary == "" {
			t.Errorf("pagerduty: %d bytes, key %d, summary %d", len(body), len(b.DedupKey), len(b.Payload.Summary))
		}
	case Discord:
		var b discordMessage
		if err := json.Unmarshal(body, &b); err != nil {
			t.Fatal(err)
		}
		em := b.Embeds[0]
		if em.Title == "" || units(em.Title) > 256 || units(em.Description) > 4096 || units(em.Title)+units(em.Description) > 6000 {
			t.Errorf("discord: title %d, description %d", units(em.Title), units(em.Description))
		}
	case Telegram:
		var b telegramMessage
		if err := json.Unmarshal(body, &b); err != nil {
			t.Fatal(err)
		}
		if units(b.Text) > 4096 {
			t.Errorf("telegram: %d", units(b.Text))
		}
		if strings.Contains(entity.ReplaceAllString(b.Text, ""), "&") {
			t.Errorf("telegram: an entity was cut: %.200q", b.Text)
		}
		inner := strings.NewReplacer("<b>", "", "</b>", "", "</a>",
			"").Replace(regexp.MustCompile(`<a href="[^"<>]*">`).ReplaceAllString(b.Text, ""))
		if strings.ContainsAny(inner, "<>") || !utf8.ValidString(html.UnescapeString(b.Text)) {
			t.Errorf("telegram: a tag of a text is not escaped: %.200q", b.Text)
		}
	case Email:
		var b mailBody
		if err := json.Unmarshal(body, &b); err != nil {
			t.Fatal(err)
		}
		if strings.ContainsAny(b.Subject, "\r\n") || utf8.RuneCountInString(b.Subject) > mailSubject {
			t.Errorf("email: subject %q", b.Subject)
		}
	}
}
