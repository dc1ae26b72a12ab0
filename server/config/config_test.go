package config

import (
	"errors"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"
)

// flags parses a command line with every key's flag.
func flags(t *testing.T, args ...string) *pflag.FlagSet {
	t.Helper()
	fs := pflag.NewFlagSet("test", pflag.ContinueOnError)
	AddFlags(fs)
	if err := fs.Parse(args); err != nil {
		t.Fatal(err)
	}
	return fs
}

func write(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "svc.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// values are the printable settings that differ from the defaults.
func values(cfg Config) map[string]string {
	out := map[string]string{}
	for _, e := range cfg.Changed() {
		out[e.Name] = e.Value + " <- " + string(e.Source)
	}
	return out
}

func TestDefaults(t *testing.T) {
	cfg := Default()
	cfg.resolved = nil
	want := Config{
		DataDir: "./data", APIAddr: "127.0.0.1:8080", IngestAddr: "127.0.0.1:4318", OTLPGRPCAddr: "127.0.0.1:4317",
		Region: "us", Roles: Roles{"api", "ingest", "worker"}, LogFormat: "text", ShutdownTimeout: 30 * time.Second,
		OIDC:   OIDC{Scopes: []string{"openid", "email", "profile"}, Label: "single sign-on"},
		GitHub: GitHub{URL: "https://github.com"}, Slack: Slack{URL: "https://slack.com"}, Discord: Discord{URL: "https://discord.com"},
		VercelURL:   "https://api.vercel.com",
		RailwayURL:  "https://backboard.railway.com",
		GitLab:      GitLab{URL: "https://gitlab.com"},
		PlanetScale: PlanetScale{URL: "https://api.planetscale.com", AuthURL: "https://auth.planetscale.com"},
		Limits: Limits{
			QueueMaxBytes: 16 << 30, QueueSegmentBytes: 64 << 20, IngestMaxBodyBytes: 20 << 20, IngestMaxDecompressedBytes: 128 << 20,
			BatchMaxRows: 100_000, BatchMaxAge: time.Second, RESTMaxBodyBytes: 4 << 20, GRPCMaxMessageBytes: 64 << 20,
			SourceCacheMaxBytes: 2 << 30,
		},
	}
	if diff := cmp.Diff(want, cfg, cmp.AllowUnexported(Config{})); diff != "" {
		t.Error(diff)
	}
}

// A flag beats the environment, which beats the file, key by key.
func TestPrecedence(t *testing.T) {
	path := write(t, "region: from-file\nlog-level: warn\napi-addr: 127.0.0.1:1\nroles: [api, worker]\nbatch-max-rows: 3\n")
	cfg, err := Load(Sources{
		File: path,
		Environ: []string{
			"SVC_REGION=from-env", "SVC_LOG_LEVEL=error", "HOME=/root", "SVC_TEST_ANYTHING=1", "SVC_API_KEY=x", "SVC_CONFIG=/nonexistent",
		},
		Flags: flags(t, "--region", "from-flag"),
	})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"region":         "from-flag <- flag --region",
		"log-level":      "error <- environment variable SVC_LOG_LEVEL",
		"api-addr":       "127.0.0.1:1 <- file " + path,
		"roles":          "api,worker <- file " + path,
		"batch-max-rows": "3 <- file " + path,
	}
	if diff := cmp.Diff(want, values(cfg)); diff != "" {
		t.Error(diff)
	}
	if cfg.Region != "from-flag" || cfg.LogLevel.String() != "ERROR" || cfg.Roles.Has(RoleIngest) || cfg.Limits.BatchMaxRows != 3 {
		t.Errorf("%+v", cfg)
	}
}

func TestConfigFileFromEnvironment(t *testing.T) {
	cfg, err := Load(Sources{Environ: []string{"SVC_CONFIG=" + write(t, "region: eu")}})
	if err != nil || cfg.Region != "eu" {
		t.Errorf("%q, %v", cfg.Region, err)
	}
}

// Every key can be set in each of the three ways, to a value that is not its default. All ways give the same result.
func TestEveryKeyEveryWay(t *testing.T) {
	other := map[Kind]string{
		KindPath: "/srv/x", KindAddress: "0.0.0.0:0", KindURL: "https://svc.example.com/", KindName: "eu", KindRoles: "worker,api",
		KindSecret: strings.Repeat("k", 32), KindDuration: "1m30s", KindSize: "5MB", KindCount: "7", KindList: "10.0.0.0/8,::1",
		KindText: "openid,words", KindPEM: oneLine(privateKey(t)),
	}
	app := map[string]string{
		"SVC_GITLAB_CLIENT_ID": "l", "SVC_GITLAB_CLIENT_SECRET": "s",
		"SVC_PLANETSCALE_CLIENT_ID": "p", "SVC_PLANETSCALE_CLIENT_SECRET": "s",
		"SVC_DISCORD_APPLICATION_ID": "1", "SVC_DISCORD_CLIENT_SECRET": "s", "SVC_DISCORD_PUBLIC_KEY": strings.Repeat("0", 64),
		"SVC_DISCORD_BOT_TOKEN": "t",
		"SVC_SLACK_CLIENT_ID":   "1.2", "SVC_SLACK_CLIENT_SECRET": "s", "SVC_SLACK_SIGNING_SECRET": "s",
		"SVC_GITHUB_APP_ID": "7", "SVC_GITHUB_SLUG": "a", "SVC_GITHUB_CLIENT_ID": "b", "SVC_GITHUB_CLIENT_SECRET": "c",
		"SVC_GITHUB_PRIVATE_KEY": oneLine(privateKey(t)), "SVC_GITHUB_WEBHOOK_SECRET": "d",
	}
	// These settings need others beside them.
	company := map[string]string{
		"SVC_OIDC_ISSUER": "https://id.example.com", "SVC_OIDC_CLIENT_ID": "svc", "SVC_OIDC_JOIN_ORGANIZATION": "acme",
		"SVC_OIDC_JOIN_DOMAINS": "example.com",
	}
	for _, key := range Keys() {
		text := other[key.Kind]
		switch key.Name {
		case "warehouse-url":
			text = "clickhouse://u:pw@host:8123/db"
		case "database-url":
			text = "postgres://u:pw@host/db"
		case "redis-url":
			text = "rediss://u:pw@host:6379/1"
		case "heartbeat-url":
			text = "https://monitor.example.com/beat/secret"
		case "smtp-url":
			text = "smtp://u:pw@host:587"
		case "log-level":
			text = "debug"
		case "log-format":
			text = "json"
		case "queue-max-bytes":
			text = "32GB"
		case "ingest-max-body-bytes":
			text = "1MiB"
		case "ingest-max-decompressed-bytes":
			text = "32MiB"
		case "oidc-join-domains":
			text = "Example.com,example.org"
		case "github-app-id":
			text = "4711"
		case "discord-application-id":
			text = "110000000000000001"
		case "discord-public-key":
			text = strings.Repeat("ab", 32)
		case "github-slug":
			text = "svc-acme"
		case "integrations-proxy":
			text = "http://u:pw@proxy:3128"
		case "source-cache-max-bytes":
			text = "64MiB"
		}
		var environ []string
		for name, value := range company {
			if strings.HasPrefix(key.Name, "oidc-") && name != key.Env() {
				environ = append(environ, name+"="+value)
			}
		}
		for name, value := range app {
			group := strings.ToUpper(key.Name[:strings.IndexByte(key.Name+"-", '-')])
			if strings.HasPrefix(name, "SVC_"+group+"_") && name != key.Env() {
				environ = append(environ, name+"="+value)
			}
		}
		if text == "" {
			t.Fatalf("%s: the test has no value for kind %q", key.Name, key.Kind)
		}
		var got []Config
		for _, src := range []Sources{
			{Flags: flags(t, key.Flag(), text), Environ: environ},
			{Environ: append(environ, key.Env()+"="+text)},
			{File: write(t, key.Name+": "+text), Environ: environ},
		} {
			cfg, err := Load(src)
			if err != nil {
				t.Errorf("%s: %v", key.Name, err)
				continue
			}
			cfg.resolved = nil
			got = append(got, cfg)
		}
		if len(got) < 3 {
			continue
		}
		all := cmp.Options{cmp.AllowUnexported(Config{}), cmp.Comparer(func(a, b netip.Prefix) bool { return a == b })}
		if diff := cmp.Diff(got[0], got[1], all) + cmp.Diff(got[0], got[2], all); diff != "" {
			t.Errorf("%s is not the same everywhere: %s", key.Name, diff)
		}
		fresh := Default()
		fresh.resolved = nil
		if cmp.Equal(got[0], fresh, all) {
			t.Errorf("%s changes nothing", key.Name)
		}
	}
}

func TestBadInput(t *testing.T) {
	directory := t.TempDir()
	for _, tc := range []struct {
		name string
		src  Sources
		want []string // in the message
	}{
		{"address", Sources{Flags: flags(t, "--api-addr", "nonsense")}, []string{"api-addr", "flag --api-addr", `"nonsense"`, "host:port"}},
		{"port too high", Sources{Flags: flags(t, "--api-addr", "127.0.0.1:65536")}, []string{"api-addr", "0 to 65535"}},
		{"port by name", Sources{Flags: flags(t, "--api-addr", "127.0.0.1:http")}, []string{"api-addr"}},
		{"URL as address", Sources{Flags: flags(t, "--api-addr", "http://h:80")}, []string{"api-addr"}},
		{
			"duration",
			Sources{Environ: []string{"SVC_SHUTDOWN_TIMEOUT=soon"}},
			[]string{"shutdown-timeout", "SVC_SHUTDOWN_TIMEOUT", `"soon"`, "30s"},
		},
		{"duration zero", Sources{Environ: []string{"SVC_BATCH_MAX_AGE=0s"}}, []string{"batch-max-age", "above zero"}},
		{"size", Sources{File: write(t, "queue-max-bytes: much")}, []string{"queue-max-bytes", "svc.yaml", `"much"`, "64MiB"}},
		{"size negative", Sources{File: write(t, "queue-max-bytes: -1")}, []string{"queue-max-bytes"}},
		{"size too large", Sources{File: write(t, "queue-max-bytes: 9000000TiB")}, []string{"queue-max-bytes"}},
		{"size too small", Sources{File: write(t, "queue-segment-bytes: 1KiB")}, []string{"queue-segment-bytes", "at least 64KiB"}},
		{"number", Sources{Flags: flags(t, "--batch-max-rows", "1.5")}, []string{"batch-max-rows", "whole number"}},
		{"number zero", Sources{Flags: flags(t, "--batch-max-rows", "0")}, []string{"batch-max-rows", "at least 1"}},
		{"role", Sources{Flags: flags(t, "--roles", "api,cook")}, []string{"roles", "cook", "worker"}},
		{"empty", Sources{Flags: flags(t, "--data-dir", "")}, []string{"data-dir", "empty"}},
		{"choice", Sources{Flags: flags(t, "--log-level", "loud")}, []string{"log-level", "loud", "debug, info, warn, error"}},
		{"region", Sources{Flags: flags(t, "--region", "US East")}, []string{"region", "lower-case"}},
		{"public URL", Sources{Flags: flags(t, "--public-url", "svc.example.com")}, []string{"public-url", "https://svc.example.com"}},
		{"public URL with query", Sources{Flags: flags(t, "--public-url", "https://x/?a=1")}, []string{"public-url", "query"}},
		{"database scheme", Sources{Flags: flags(t, "--database-url", "mysql://h/d")}, []string{"database-url", "mysql", "postgres"}},
		{"secret too short", Sources{Environ: []string{"SVC_SECRET_KEY=short"}}, []string{"secret-key", "SVC_SECRET_KEY", "32"}},
		{"unknown variable", Sources{Environ: []string{"SVC_API_ADDRES=x"}}, []string{"SVC_API_ADDRES", "nearest is SVC_API_ADDR "}},
		{"file of a setting that is no secret", Sources{Environ: []string{"SVC_REGION_FILE=x"}}, []string{"SVC_REGION_FILE"}},
		{
			"secret file missing",
			Sources{Environ: []string{"SVC_SECRET_KEY_FILE=/nonexistent"}},
			[]string{"secret-key", "SVC_SECRET_KEY_FILE", "/nonexistent"},
		},
		{"secret twice", Sources{Environ: []string{"SVC_SECRET_KEY_FILE=/x", "SVC_SECRET_KEY=y"}}, []string{"secret-key", "set one of them"}},
		{"unknown key", Sources{File: write(t, "api_adr: x")}, []string{"api_adr", "nearest is api-addr "}},
		{"nested key", Sources{File: write(t, "limits:\n  batch-max-rows: 2")}, []string{"limits.batch-max-rows", "nearest is batch-max-rows "}},
		{"nested list", Sources{File: write(t, "roles: [[api]]")}, []string{"roles"}},
		{"no YAML", Sources{File: write(t, "a: b: c")}, []string{"svc.yaml"}},
		{"no file", Sources{File: "/nonexistent/svc.yaml"}, []string{"/nonexistent/svc.yaml"}},
		{"a folder", Sources{File: directory}, []string{directory}},
		{"same address twice", Sources{Flags: flags(t, "--ingest-addr", "127.0.0.1:8080")}, []string{"ingest-addr", "api-addr", "own address"}},
		{"segment above queue", Sources{Flags: flags(t, "--queue-max-bytes", "1MiB")}, []string{"queue-segment-bytes", "queue-max-bytes"}},
		{"body above decompressed", Sources{Flags: flags(t, "--ingest-max-decompressed-bytes", "1MiB")}, []string{"ingest-max-body-bytes"}},
		{
			"all at once",
			Sources{Environ: []string{"SVC_NOPE=1", "SVC_NADA=2"}, File: write(t, "nix: 3")},
			[]string{"SVC_NOPE", "SVC_NADA", "nix"},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := Load(tc.src)
			var bad *Error
			if !errors.As(err, &bad) {
				t.Fatalf("got %v, want an *Error", err)
			}
			for _, want := range tc.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("the message lacks %q: %v", want, err)
				}
			}
		})
	}
}

func TestTableIsSound(t *testing.T) {
	var seen []string
	for _, key := range Keys() {
		if slices.Contains(seen, key.Name) || strings.ToLower(key.Name) != key.Name || strings.Contains(key.Name, "_") || key.Help == "" {
			t.Errorf("key %q", key.Name)
		}
		seen = append(seen, key.Name)
		for _, reserved := range append(OtherVariables(), envConfigFile) {
			if key.Env() == reserved || strings.HasPrefix(key.Env(), envTestPrefix) {
				t.Errorf("%s is reserved", key.Env())
			}
		}
	}
}
