package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-observability/svc/server/auth"
	"github.com/svc-observability/svc/server/bootstrap"
	"github.com/svc-observability/svc/server/config"
	"github.com/svc-observability/svc/server/installation"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/publicid"
	"github.com/svc-observability/svc/server/store"
)

// operator runs admin commands on one data folder.
type operator struct {
	t   *testing.T
	dir string
	org bootstrap.File
}

func newOperator(t *testing.T) *operator {
	t.Helper()
	o := &operator{t: t, dir: t.TempDir()}
	o.decode(&o.org, "org", "create", "First")
	return o
}

func (o *operator) run(list ...string) (code int, stdout, stderr string) {
	o.t.Helper()
	return invoke(o.t, nil, append(append([]string{"admin"}, list...), "--data-dir", o.dir)...)
}

// decode runs a command that must succeed and decodes its JSON.
func (o *operator) decode(to any, list ...string) {
	o.t.Helper()
	code, stdout, stderr := o.run(append(list, "--json")...)
	if code != 0 {
		o.t.Fatalf("svc admin %s: exit code %d, %s", strings.Join(list, " "), code, stderr)
	}
	d := json.NewDecoder(strings.NewReader(stdout))
	d.DisallowUnknownFields()
	if err := d.Decode(to); err != nil {
		o.t.Fatalf("svc admin %s: %v in %s", strings.Join(list, " "), err, stdout)
	}
}

// fails runs a command that must fail with the given exit code and text.
func (o *operator) fails(code int, says string, list ...string) {
	o.t.Helper()
	got, stdout, stderr := o.run(list...)
	if got != code || !strings.Contains(stderr, says) || stdout != "" {
		o.t.Errorf("svc admin %s: exit code %d, %q, %q; want %d, %q", strings.Join(list, " "), got, stdout, stderr, code, says)
	}
}

// shows runs a command without --json, whose output must hold the texts.
func (o *operator) shows(texts []string, list ...string) {
	o.t.Helper()
	code, stdout, stderr := o.run(list...)
	if code != 0 {
		o.t.Fatalf("svc admin %s: exit code %d, %s", strings.Join(list, " "), code, stderr)
	}
	for _, text := range texts {
		if !strings.Contains(stdout, text) {
			o.t.Errorf("svc admin %s: %q is missing in\n%s", strings.Join(list, " "), text, stdout)
		}
	}
}

func TestAdminIngestKeys(t *testing.T) {
	o := newOperator(t)
	var key, got ingestKeyJSON
	o.decode(&key, "ingest-key", "create", " edge ", "--signals", "traces, logs", "--rate-limit", "2.5", "--attribute", "team=a=b",
		"--attribute-if-missing", "zone=x", "--expires", "30d", "--description", "of the edge")
	if !strings.HasPrefix(key.Secret, auth.PrefixCustomKey) || !strings.HasPrefix(key.Secret, strings.TrimSuffix(key.KeyPrefix, "...")) {
		t.Errorf("secret %q, prefix %q", key.Secret, key.KeyPrefix)
	}
	rate := 2.5
	want := key
	want.Object, want.Kind, want.Name, want.Enabled, want.AllowedSignals, want.RateLimitPerSecond = "ingest_key", "custom", "edge", true,
		[]string{"traces", "logs"}, &rate
	want.Description = nullable("of the edge")
	want.ResourceAttributes = []attributeJSON{{"team", "a=b", "always_set"}, {"zone", "x", "if_missing"}}
	if diff := cmp.Diff(want, key); diff != "" || key.ExpiresAt == nil || time.Until(*key.ExpiresAt).Round(time.Hour) != 30*24*time.Hour {
		t.Errorf("created, expires %v (-want +got):\n%s", key.ExpiresAt, diff)
	}
	want.Secret = ""
	o.decode(&got, "ingest-key", "show", key.ID, "--org", o.org.OrgID)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("show (-want +got):\n%s", diff)
	}
	got = ingestKeyJSON{}
	o.decode(&got, "ingest-key", "edit", key.ID, "--name", "cdn", "--rate-limit", "none", "--expires", "never", "--no-attributes",
		"--description", "")
	want.Name, want.RateLimitPerSecond, want.ExpiresAt, want.ResourceAttributes, want.Description, want.UpdatedAt = "cdn", nil, nil,
		[]attributeJSON{}, nil, got.UpdatedAt
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("edit (-want +got):\n%s", diff)
	}
	o.shows([]string{"disabled"}, "ingest-key", "disable", key.ID)
	o.shows([]string{"active"}, "ingest-key", "enable", key.ID, "--org", "first")
	got = ingestKeyJSON{}
	o.decode(&got, "ingest-key", "roll", key.ID)
	if got.ID != key.ID || got.Secret == "" || got.Secret == key.Secret || got.RotatedAt == nil {
		t.Errorf("rolled %+v", got)
	}
	o.shows([]string{"KIND", "public", "private", "custom", "traces,logs", key.ID}, "ingest-key", "list")
	o.shows([]string{"svc_sk_", "shown only this once"}, "ingest-key", "roll-default", "private")

	o.fails(2, "--signals must name at least one of traces, logs", "ingest-key", "create", "a")
	o.fails(2, `--signals "spans" is not a signal`, "ingest-key", "create", "a", "--signals", "spans")
	o.fails(2, "--attribute: the key is reserved", "ingest-key", "create", "a", "--signals", "logs", "--attribute", "svc_x=1")
	o.fails(2, "NAME must not be empty", "ingest-key", "create", " ", "--signals", "logs")
	o.fails(2, "--name must not be empty", "ingest-key", "edit", key.ID, "--name", "")
	o.fails(2, "exclude each other", "ingest-key", "edit", key.ID, "--no-attributes", "--attribute", "a=b")
	o.fails(1, `no organization "nobody"; there is first`, "ingest-key", "list", "--org", "nobody")
	o.shows([]string{"Deleted " + key.ID}, "ingest-key", "delete", key.ID)
	o.fails(1, "organization first has no ingest key "+key.ID, "ingest-key", "show", key.ID)
	o.fails(1, "organization first has no custom ingest key "+key.ID, "ingest-key", "delete", key.ID)

	// With a second organization, the command needs --org.
	var second bootstrap.File
	o.decode(&second, "org", "create", "Second")
	o.fails(2, "--org is required: there are 2 organizations (first, second)", "ingest-key", "list")
	o.shows([]string{"private"}, "ingest-key", "list", "--org", second.OrgID)

	// Without the server's pepper the command makes no secret, because the server would not accept it.
	if err := os.Rename(filepath.Join(o.dir, "secrets"), filepath.Join(o.dir, "elsewhere")); err != nil {
		t.Fatal(err)
	}
	o.fails(1, "does not exist, and the server would not accept a secret that was made without it", "ingest-key", "create", "a", "--signals",
		"logs", "--org", "first")
	o.shows([]string{"private"}, "ingest-key", "list", "--org", "first")
}

func TestAdminIngestPolicy(t *testing.T) {
	o := newOperator(t)
	var one, two mappingJSON
	o.decode(&one, "mapping", "create", "route", "--source-key", " http.target ", "--target-key", "http.route", "--operation", "move")
	o.decode(&two, "mapping", "create", "team", "--source-context", "resource", "--source-key", "team", "--target-key", "team", "--disabled")
	want := mappingJSON{
		Object: "attribute_mapping", ID: one.ID, Name: "route", SourceContext: "span", SourceKey: "http.target", TargetKey: "http.route",
		Operation: "move", Enabled: true, CreatedAt: one.CreatedAt, UpdatedAt: one.UpdatedAt,
	}
	if diff := cmp.Diff(want, one); diff != "" || two.Enabled || two.Operation != "copy" || two.SourceContext != "resource" {
		t.Errorf("second %+v, first (-want +got):\n%s", two, diff)
	}
	o.shows([]string{"http.other", "false"}, "mapping", "edit", one.ID, "--target-key", "http.other", "--disable")
	o.fails(2, "--target-key must differ from source_key", "mapping", "edit", one.ID, "--target-key", "http.target")
	o.fails(2, "--source-key must not be empty; --target-key must not be empty", "mapping", "create", "a")
	o.fails(2, "exclude each other", "mapping", "edit", one.ID, "--enable", "--disable")
	var list []mappingJSON
	o.decode(&list, "mapping", "list")
	if len(list) != 2 || list[0].ID != one.ID || list[0].TargetKey != "http.other" || list[1].ID != two.ID {
		t.Errorf("list %+v", list)
	}
	o.shows([]string{"Deleted"}, "mapping", "delete", one.ID)
	o.fails(1, "has no attribute mapping", "mapping", "delete", one.ID)

	o.shows([]string{"every span is kept"}, "sampling", "show")
	o.shows([]string{"0.25", "from 1500 ms"}, "sampling", "set", "--trace-sample-ratio", "0.25", "--always-keep-slow-spans-ms", "1500")
	var sampling samplingJSON
	o.decode(&sampling, "sampling", "set", "--always-keep-error-spans=false")
	if sampling.TraceSampleRatio != 0.25 || sampling.AlwaysKeepErrorSpans || sampling.AlwaysKeepSlowSpansMS == nil {
		t.Errorf("sampling %+v", sampling)
	}
	if code, _, stderr := o.run("sampling", "set", "--trace-sample-ratio", "0"); code != 0 ||
		!strings.Contains(stderr, "was changed to 1e-06") {
		t.Errorf("ratio 0: %d %s", code, stderr)
	}
	o.fails(2, "--always-keep-slow-spans-ms must be from 1", "sampling", "set", "--always-keep-slow-spans-ms", "0")
	o.shows([]string{"every span is kept"}, "sampling", "reset")

	o.fails(1, "has no plan", "plan", "show")
	o.fails(1, "has no plan", "plan", "get") // the name in the API
	o.fails(2, `unknown command "fetch" for "svc admin plan"`, "plan", "fetch")
	o.fails(1, "has no plan", "plan", "remove")
	var plan planJSON
	o.decode(&plan, "plan", "set", "--name", "pro", "--limit", "traces.items=1M", "--limit", "logs.bytes=10GB", "--limit", "logs.items=5",
		"--active=false")
	million, five, size := int64(1_000_000), int64(5), int64(10_000_000_000)
	if diff := cmp.Diff(planJSON{
		Object: "plan", Name: "pro", Limits: []planLimitJSON{{Signal: "traces", Items: &million}, {Signal: "logs", Items: &five, Bytes: &size}},
		UpdatedAt: plan.UpdatedAt,
	}, plan); diff != "" {
		t.Errorf("plan (-want +got):\n%s", diff)
	}
	o.shows([]string{"inactive: nothing is accepted", "1 000 000", "10 000 000 000", "unlimited"}, "plan", "show")
	o.fails(2, `--limit: the signal "spans" is not a signal`, "plan", "set", "--name", "p", "--limit", "spans.items=1")
	o.shows([]string{"nothing is limited"}, "plan", "remove")

	var connector map[string]any
	o.decode(&connector, "connector", "create", "site", "--zone", "example.com", "--ingest-public-url", "https://in.example.com")
	id := fmt.Sprint(connector["id"])
	if connector["object"] != "logpush_connector" || connector["service_name"] != "cloudflare/example.com" || connector["enabled"] != true ||
		connector["destination_conf"] != fmt.Sprint("https://in.example.com/v1/logpush/cloudflare/http_requests/", id, "?secret=",
			connector["secret"]) {
		t.Errorf("connector %+v", connector)
	}
	o.shows([]string{"Secret", "Destination"}, "connector", "roll", id)
	o.shows([]string{"false"}, "connector", "disable", id)
	o.shows([]string{"true"}, "connector", "enable", id)
	o.fails(2, "--zone must not be empty", "connector", "create", "a", "--zone", " ")
	o.shows([]string{id, "example.com"}, "connector", "list")
	o.shows([]string{"Deleted"}, "connector", "delete", id)
	o.fails(1, "has no log push connector", "connector", "roll", id)
}

func TestAdminUsageAndOutcomes(t *testing.T) {
	o := newOperator(t)
	s, err := store.Open(t.Context(), store.Config{Path: filepath.Join(o.dir, "svc.db")})
	if err != nil {
		t.Fatal(err)
	}
	keys, err := s.ListIngestKeys(t.Context(), principal.OrgID(o.org.OrgID))
	if err != nil {
		t.Fatal(err)
	}
	id, org := publicid.Encode(publicid.IngestKey, keys[0].ID), principal.OrgID(o.org.OrgID)
	day := time.Date(2026, 11, 3, 4, 0, 0, 0, time.UTC)
	use := store.Usage{Requests: 2, Items: 12345, Bytes: 1 << 40}
	err = errors.Join(
		s.AddIngestUsage(t.Context(), []store.UsageDelta{
			{Org: org, Day: day, Signal: "logs", KeyID: id, Usage: use},
			{Org: org, Day: day.AddDate(0, 0, 1), Signal: "logs", KeyID: id, Usage: use},
		}),
		s.PutIngestOutcomes(t.Context(), []store.NodeOutcomes{{Org: org, KeyID: id, Node: "n1", Outcomes: []store.IngestOutcome{
			{At: day, Signal: "logs", Door: "http", Status: 400, Tag: "@svc/ingest/BadRequest", Rejected: 3, Reason: "invalid gzip"},
		}}}),
		s.Close(),
	)
	if err != nil {
		t.Fatal(err)
	}
	var rows []usageJSON
	o.decode(&rows, "usage", "--month", "2026-11", "--by", "key")
	if diff := cmp.Diff([]usageJSON{{Signal: "logs", KeyID: id, Requests: 4, Items: 24690, Bytes: 1 << 41}}, rows); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	o.shows([]string{"DAY", "2026-11-03", "2026-11-04", "12 345", "1 099 511 627 776"}, "usage", "--month", "2026-11", "--by", "day")
	if code, stdout, stderr := o.run("usage", "--month", "2026-10", "--json"); code != 0 || stdout != "[]\n" ||
		!strings.Contains(stderr, "no usage in 2026-10") {
		t.Errorf("%d %q %q", code, stdout, stderr)
	}
	var outcomes []outcomeJSON
	o.decode(&outcomes, "outcomes", "--key", id)
	if len(outcomes) != 1 || outcomes[0].KeyID != id || outcomes[0].Status != 400 || outcomes[0].Agent != nil ||
		*outcomes[0].Reason != "invalid gzip" {
		t.Errorf("outcomes %+v", outcomes)
	}
	o.shows([]string{"STATUS", "400", "invalid gzip"}, "outcomes")
}

func TestParseAmount(t *testing.T) {
	for text, want := range map[string]int64{
		"0": 0, "7": 7, "1k": 1000, "2M": 2_000_000, "3G": 3_000_000_000, "1T": 1_000_000_000_000, "1Ki": 1024, "2GiB": 2 << 30, "5B": 5,
		"1KB": 1000,
		"":    -1, "k": -1, "-1": -1, "1.5G": -1, "1X": -1, "1MM": -1, "1i": -1, "9223372036854775807k": -1, "1 000": -1,
	} {
		got, err := parseAmount(text, true)
		if err != nil {
			got = -1
		}
		if got != want {
			t.Errorf("%q is %d, %v; want %d", text, got, err, want)
		}
	}
	for text := range map[string]bool{"1B": true, "1GB": true} {
		if n, err := parseAmount(text, false); err == nil {
			t.Errorf("%q is %d items", text, n)
		}
	}
}

// envAdmin makes the test binary `svc`, so that a command runs in a process of its own.
const envAdmin = "SVC_TEST_ADMIN_COMMAND"

// TestAdminBesideServer: a change by `svc admin` in another process takes effect here within a second.
func TestAdminBesideServer(t *testing.T) {
	if text := os.Getenv(envAdmin); text != "" {
		var list []string
		if err := json.Unmarshal([]byte(text), &list); err != nil {
			t.Fatal(err)
		}
		c := &cli{stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr}
		os.Exit(c.run(t.Context(), list))
	}
	o := newOperator(t)
	admin := func(list ...string) {
		t.Helper()
		text, err := json.Marshal(append(append([]string{"admin"}, list...), "--data-dir", o.dir))
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(os.Args[0], "-test.run=^TestAdminBesideServer$")
		cmd.Env = append(os.Environ(), envAdmin+"="+string(text))
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("svc admin %v: %v\n%s", list, err, out)
		}
	}
	s, hasher, err := installation.OpenStore(t.Context(), config.Config{DataDir: o.dir})
	if err != nil {
		t.Fatal(err)
	}
	keys := auth.NewIngest(auth.IngestConfig{Store: s, Hasher: hasher})
	t.Cleanup(func() {
		keys.Close()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	within := func(what string, noticed func() bool) {
		t.Helper()
		start := time.Now() // the other process has just ended, so its commit is earlier
		for !noticed() {
			if time.Since(start) > 30*time.Second {
				t.Fatalf("%s: not noticed", what)
			}
			time.Sleep(time.Millisecond)
		}
		t.Logf("%s: noticed after %s", what, time.Since(start).Round(time.Millisecond))
	}
	var custom ingestKeyJSON
	o.decode(&custom, "ingest-key", "create", "edge", "--signals", "logs")
	for _, secret := range []string{o.org.PublicKey, o.org.PrivateKey, custom.Secret} {
		if _, err := keys.Lookup(t.Context(), secret); err != nil {
			t.Fatal(err)
		}
	}
	admin("ingest-key", "roll-default", "public")
	within("roll of the public key", func() bool {
		_, err := keys.Lookup(t.Context(), o.org.PublicKey)
		return errors.Is(err, auth.ErrUnknownKey)
	})
	admin("ingest-key", "edit", custom.ID, "--signals", "traces", "--rate-limit", "7")
	within("edit of a custom key", func() bool {
		k, err := keys.Lookup(t.Context(), custom.Secret)
		return err == nil && slices.Equal(k.Signals, []string{"traces"}) && *k.RateLimit == 7
	})
	admin("plan", "set", "--name", "p", "--active=false")
	within("plan", func() bool {
		k, err := keys.Lookup(t.Context(), o.org.PrivateKey)
		return err == nil && k.Policy.Plan != nil && !k.Policy.Plan.Active
	})
}

// TestAdminRegion corrects a mistyped region. The command must name the recorded region.
func TestAdminRegion(t *testing.T) {
	t.Parallel()
	o := newOperator(t)
	o.fails(1, "no region is recorded", "region", "show")
	o.fails(1, "no region is recorded", "region", "set", "eu", "--from", "ue")
	s, err := store.Open(t.Context(), store.Config{Path: filepath.Join(o.dir, "svc.db")})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(s.ClaimRegion(t.Context(), "ue"), s.Close()); err != nil {
		t.Fatal(err)
	}
	o.shows([]string{"ue"}, "region", "show")
	o.fails(2, "--from is required", "region", "set", "eu")
	o.fails(2, `"EU" is not a region: give up to 32 lower-case letters`, "region", "set", "EU", "--from", "ue")
	o.fails(2, "give one REGION", "region", "set", "--from", "ue")
	o.fails(1, "--from: the database belongs to another region: ue, not us", "region", "set", "eu", "--from", "us")
	o.shows([]string{"The region is eu, no longer ue. Start every server with --region eu"}, "region", "set", "eu", "--from", "ue")
	var got regionJSON
	o.decode(&got, "region", "get")
	if diff := cmp.Diff(regionJSON{"region", "eu"}, got); diff != "" {
		t.Error(diff)
	}
}
