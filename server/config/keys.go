package config

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/svc-observability/svc/server/limits"
)

// Kind is the kind of values that a key accepts.
type Kind string

// Kinds of keys.
const (
	KindPath     Kind = "path"
	KindAddress  Kind = "address"
	KindURL      Kind = "URL"
	KindDSN      Kind = "URL with password"
	KindName     Kind = "name"
	KindRoles    Kind = "list"
	KindList     Kind = "networks"
	KindChoice   Kind = "choice"
	KindText     Kind = "text"
	KindSecret   Kind = "secret"
	KindPEM      Kind = "private key"
	KindDuration Kind = "duration"
	KindSize     Kind = "size"
	KindCount    Kind = "number"
)

// Key is one setting.
type Key struct {
	Name    string // in the file; with two dashes, the flag
	Kind    Kind
	Default string // as a person would write it
	Help    string // one sentence without a full stop
	Choices []string
	Min     int64 // of sizes and counts; of secrets, characters

	assign func(c *Config, text string) error
}

// Env is the environment variable of the key.
func (k Key) Env() string { return envPrefix + strings.ToUpper(strings.ReplaceAll(k.Name, "-", "_")) }

// Flag is the command line flag of the key, with its dashes.
func (k Key) Flag() string { return "--" + k.Name }

// Secret reports whether the value must not be printed. Such a key also has a variable that ends in _FILE and names a file
// whose first line is the value.
func (k Key) Secret() bool { return k.Kind == KindSecret || k.Kind == KindPEM || k.Kind == KindDSN }

const (
	envPrefix     = "SVC_"
	envTestPrefix = "SVC_TEST_"
	envConfigFile = "SVC_CONFIG"
	envFileSuffix = "_FILE"
)

// OtherVariables are SVC_ variables that are not settings. Commands that call a running server (`svc send-test`, `svc traces`) read the
// keys, its address and the format of answers, and a server tells the process of the engine that it supervises it.
func OtherVariables() []string {
	return []string{
		"SVC_API_KEY", "SVC_API_TOKEN", "SVC_API_URL", "SVC_FORMAT", "SVC_INGEST_KEY", "SVC_ORG_ID", "SVC_WAREHOUSE_SUPERVISED",
	}
}

// Keys returns the table of all settings. Flags, variables, file keys and the documentation come from it.
func Keys() []Key {
	return []Key{
		{
			Name: "data-dir", Kind: KindPath, Default: "./data",
			Help:   "folder for all data of svc; only one server can run on it",
			assign: text(func(c *Config) *string { return &c.DataDir }),
		},
		{
			Name: "api-addr", Kind: KindAddress, Default: "127.0.0.1:8080",
			Help:   "address of the API: REST, Connect, gRPC, gRPC-Web, MCP, health; port 0 picks a free port",
			assign: text(func(c *Config) *string { return &c.APIAddr }),
		},
		{
			Name: "ingest-addr", Kind: KindAddress, Default: "127.0.0.1:4318",
			Help:   "address of OTLP over HTTP",
			assign: text(func(c *Config) *string { return &c.IngestAddr }),
		},
		{
			Name: "otlp-grpc-addr", Kind: KindAddress, Default: "127.0.0.1:4317",
			Help:   "address of OTLP over gRPC",
			assign: text(func(c *Config) *string { return &c.OTLPGRPCAddr }),
		},
		{
			Name: "region", Kind: KindName, Default: "us",
			Help:   "region of this installation, recorded in its database at the first start; keys of another region are refused (401)",
			assign: text(func(c *Config) *string { return &c.Region }),
		},
		{
			Name: "bootstrap-file", Kind: KindPath,
			Help:   "JSON file to which svc writes its addresses, and at the first start also the keys (mode 0600); later starts keep the keys",
			assign: text(func(c *Config) *string { return &c.BootstrapFile }),
		},
		{
			Name: "warehouse-url", Kind: KindDSN,
			Help: "HTTP interface of a ClickHouse server (`clickhouse://`, `clickhouses://` with TLS), with `cluster=`, `quorum=` and several " +
				"hosts (`a:8123,b:8123`) for a cluster (docs/scale.md); empty: the embedded engine",
			assign: dsn(func(c *Config) *DSN { return &c.WarehouseURL }, "clickhouse", "clickhouses", "http", "https"),
		},
		{
			Name: "database-url", Kind: KindDSN,
			Help:   "PostgreSQL server (`postgres://`); empty: SQLite in the data folder",
			assign: dsn(func(c *Config) *DSN { return &c.DatabaseURL }, "postgres", "postgresql"),
		},
		{
			Name: "redis-url",
			Kind: KindDSN,
			Help: "Redis server (`redis://`, `rediss://` with TLS) in which all API nodes count requests, sign-in attempts and running reads " +
				"together; empty: each node counts its own",
			assign: dsn(func(c *Config) *DSN { return &c.RedisURL }, "redis", "rediss"),
		},
		{
			Name: "public-url", Kind: KindURL,
			Help:   "URL at which clients reach the API, if a proxy is in front of it; empty: derived from `api-addr`",
			assign: link(func(c *Config) *string { return &c.PublicURL }),
		},
		{
			Name: "ingest-public-url", Kind: KindURL,
			Help:   "URL at which exporters reach OTLP over HTTP; empty: derived from `ingest-addr`",
			assign: link(func(c *Config) *string { return &c.IngestPublicURL }),
		},
		{
			Name: "trusted-proxies", Kind: KindList,
			Help:   "networks (`10.0.0.0/8,fd00::/8`) of proxies whose X-Forwarded-For header is trusted; empty: no proxy is trusted",
			assign: func(c *Config, s string) (err error) { c.TrustedProxies, err = parsePrefixes(s); return err },
		},
		{
			Name: "country-header", Kind: KindText,
			Help:   "header in which trusted proxies name the country of the caller (`CF-IPCountry`), for the audit log; empty: no country",
			assign: text(func(c *Config) *string { return &c.CountryHeader }),
		},
		{
			Name: "egress-ca-file", Kind: KindPath,
			Help: "file of certificates (PEM) that scrape targets are checked against, besides the authorities of the system; empty: those of " +
				"the system alone",
			assign: text(func(c *Config) *string { return &c.EgressCAFile }),
		},
		{
			Name: "egress-networks", Kind: KindList,
			Help: "networks (`10.0.0.0/8`) that URLs of users may lead to although they are not public, for webhooks and scrape targets; empty: " +
				"public addresses only",
			assign: func(c *Config, s string) (err error) { c.EgressNetworks, err = parsePrefixes(s); return err },
		},
		{
			Name: "heartbeat-url", Kind: KindSecret, // its path is the secret
			Help:   "URL of a monitor outside (`https://…`) that is requested each minute while alert rules are evaluated in time; empty: none",
			assign: dsn(func(c *Config) *DSN { return &c.HeartbeatURL }, "https", "http"),
		},
		{
			Name: "smtp-url", Kind: KindDSN,
			Help:   "mail server for alerts by e-mail (`smtp://user:password@host:587`, `smtps://` with TLS from the start); empty: no e-mail",
			assign: dsn(func(c *Config) *DSN { return &c.SMTPURL }, "smtp", "smtps"),
		},
		{
			Name: "mail-from", Kind: KindText,
			Help:   "sender of e-mail (`svc <alerts@example.com>`); needed with `smtp-url`",
			assign: text(func(c *Config) *string { return &c.MailFrom }),
		},
		{
			Name: "roles", Kind: KindRoles, Default: "api,ingest,worker", Choices: allRoles(),
			Help:   "parts of svc that this process runs",
			assign: func(c *Config, s string) (err error) { c.Roles, err = parseRoles(s); return err },
		},
		{
			Name: "chdb-lib", Kind: KindPath,
			Help:   "path of `libchdb.so`; empty: svc searches beside the binary, then in the caches, then in the folders of the system",
			assign: text(func(c *Config) *string { return &c.ChdbLib }),
		},
		{
			Name: "log-level", Kind: KindChoice, Default: "info", Choices: []string{"debug", "info", "warn", "error"},
			Help:   "lowest level that is logged",
			assign: func(c *Config, s string) error { return c.LogLevel.UnmarshalText([]byte(s)) },
		},
		{
			Name: "log-format", Kind: KindChoice, Default: "text", Choices: []string{"text", "json"},
			Help:   "format of the log on stderr",
			assign: text(func(c *Config) *string { return &c.LogFormat }),
		},
		{
			Name: "secret-key", Kind: KindSecret, Min: 32,
			Help:   "key of all keyed hashes, 32 characters or more, the same on every node; empty: the first start creates one in the data folder",
			assign: func(c *Config, s string) (err error) { c.SecretKey, err = parseSecretKey(s); return err },
		},
		{
			Name: "oidc-issuer",
			Kind: KindURL,
			Help: "issuer URL of an OpenID Connect provider for sign-in (`https://`, on this machine also `http://`); register the client there " +
				"with the redirect URI `PUBLIC_URL/login/oidc/callback`; empty: passwords only",
			assign: issuer(func(c *Config) *string { return &c.OIDC.Issuer }),
		},
		{
			Name: "oidc-client-id", Kind: KindText,
			Help:   "id of the client that is registered at the provider",
			assign: text(func(c *Config) *string { return &c.OIDC.ClientID }),
		},
		{
			Name: "oidc-client-secret", Kind: KindSecret,
			Help:   "secret of that client; empty: the client has no secret",
			assign: secret(func(c *Config) *Secret { return &c.OIDC.ClientSecret }),
		},
		{
			Name: "oidc-scopes", Kind: KindText, Default: "openid,email,profile",
			Help:   "scopes to request; `openid` and the scope of the verified email address are required",
			assign: words(func(c *Config) *[]string { return &c.OIDC.Scopes }),
		},
		{
			Name: "oidc-label", Kind: KindText, Default: "single sign-on",
			Help:   "name of the provider on the sign-in page, after “Continue with”",
			assign: text(func(c *Config) *string { return &c.OIDC.Label }),
		},
		{
			Name: "oidc-join-organization",
			Kind: KindText,
			Help: "organization (id or slug) that people with an address of `oidc-join-domains` join at their first sign-in; empty: only " +
				"invited people can sign in",
			assign: text(func(c *Config) *string { return &c.OIDC.JoinOrganization }),
		},
		{
			Name: "oidc-join-domains", Kind: KindText,
			Help:   "domains (`example.com,example.org`) whose verified addresses may join `oidc-join-organization`",
			assign: domains(func(c *Config) *[]string { return &c.OIDC.JoinDomains }),
		},
		{
			Name: "github-url", Kind: KindURL, Default: "https://github.com",
			Help:   "GitHub, or the GitHub Enterprise Server, whose repositories organizations may connect",
			assign: origin(func(c *Config) *string { return &c.GitHub.URL }),
		},
		{
			Name: "github-app-id", Kind: KindText,
			Help:   "number of the GitHub App that is registered for this server; the six `github-` settings are given together, or not at all",
			assign: appID(func(c *Config) *int64 { return &c.GitHub.AppID }),
		},
		{
			Name: "github-slug", Kind: KindText,
			Help:   "name of that app in the address of its page",
			assign: slug(func(c *Config) *string { return &c.GitHub.Slug }),
		},
		{
			Name: "github-client-id", Kind: KindText,
			Help:   "client id of that app",
			assign: text(func(c *Config) *string { return &c.GitHub.ClientID }),
		},
		{
			Name: "github-client-secret", Kind: KindSecret,
			Help:   "client secret of that app",
			assign: secret(func(c *Config) *Secret { return &c.GitHub.ClientSecret }),
		},
		{
			Name: "github-private-key", Kind: KindPEM,
			Help:   "private key of that app: RSA, PEM, with line ends or with `\\n` for each",
			assign: func(c *Config, s string) (err error) { c.GitHub.PrivateKey, err = parsePrivateKey(s); return err },
		},
		{
			Name: "github-webhook-secret", Kind: KindSecret,
			Help:   "secret with which that app signs deliveries; its webhook address is `PUBLIC_URL/integrations/github/webhook`",
			assign: secret(func(c *Config) *Secret { return &c.GitHub.WebhookSecret }),
		},
		{
			Name: "gitlab-url", Kind: KindURL, Default: "https://gitlab.com",
			Help:   "GitLab, or a GitLab server of your own, whose projects organizations may connect",
			assign: secureOrigin(func(c *Config) *string { return &c.GitLab.URL }),
		},
		{
			Name: "gitlab-client-id", Kind: KindText,
			Help: "application id of the OAuth application that is registered at GitLab for this server; it and `gitlab-client-secret` are " +
				"given together, or not at all",
			assign: text(func(c *Config) *string { return &c.GitLab.ClientID }),
		},
		{
			Name: "gitlab-client-secret", Kind: KindSecret,
			Help:   "secret of that application",
			assign: secret(func(c *Config) *Secret { return &c.GitLab.ClientSecret }),
		},
		{
			Name: "slack-url", Kind: KindURL, Default: "https://slack.com",
			Help:   "Slack, whose workspaces organizations may connect",
			assign: secureOrigin(func(c *Config) *string { return &c.Slack.URL }),
		},
		{
			Name: "slack-client-id", Kind: KindText,
			Help: "client id of the Slack app that is registered for this server; its three settings `slack-client-id`, `slack-client-secret` " +
				"and `slack-signing-secret` are given together, or not at all",
			assign: text(func(c *Config) *string { return &c.Slack.ClientID }),
		},
		{
			Name: "slack-client-secret", Kind: KindSecret,
			Help:   "client secret of that app",
			assign: secret(func(c *Config) *Secret { return &c.Slack.ClientSecret }),
		},
		{
			Name: "slack-signing-secret", Kind: KindSecret,
			Help:   "secret with which Slack signs deliveries to that app; the address for its events is `PUBLIC_URL/integrations/slack/webhook`",
			assign: secret(func(c *Config) *Secret { return &c.Slack.SigningSecret }),
		},
		{
			Name: "discord-url", Kind: KindURL, Default: "https://discord.com",
			Help:   "Discord, whose servers organizations may connect",
			assign: secureOrigin(func(c *Config) *string { return &c.Discord.URL }),
		},
		{
			Name: "discord-application-id", Kind: KindText,
			Help: "id of the application that is registered at Discord for this server; its four settings `discord-application-id`, " +
				"`discord-client-secret`, `discord-public-key` and `discord-bot-token` are given together, or not at all",
			assign: matching(decimalID, "it is the number on the page of the application",
				func(c *Config) *string { return &c.Discord.ApplicationID }),
		},
		{
			Name: "discord-client-secret", Kind: KindSecret,
			Help:   "client secret of that application, from its page OAuth2",
			assign: secret(func(c *Config) *Secret { return &c.Discord.ClientSecret }),
		},
		{
			Name: "discord-public-key", Kind: KindText,
			Help: "public key of that application, with which its interactions are checked; the address for them is " +
				"`PUBLIC_URL/integrations/discord/webhook`",
			assign: matching(publicKey, "it is the 64 hexadecimal digits on the page of the application",
				func(c *Config) *string { return &c.Discord.PublicKey }),
		},
		{
			Name: "discord-bot-token", Kind: KindSecret,
			Help:   "token of the bot of that application, from its page Bot",
			assign: secret(func(c *Config) *Secret { return &c.Discord.BotToken }),
		},
		{
			Name: "railway-url", Kind: KindURL, Default: "https://backboard.railway.com",
			Help:   "server of the API of Railway, whose accounts organizations may connect with a token; empty: they cannot",
			assign: origin(func(c *Config) *string { return &c.RailwayURL }),
		},
		{
			Name: "vercel-url", Kind: KindURL, Default: "https://api.vercel.com",
			Help:   "API of Vercel, whose accounts organizations may connect with a token; empty: they cannot",
			assign: origin(func(c *Config) *string { return &c.VercelURL }),
		},
		{
			Name: "planetscale-url", Kind: KindURL, Default: "https://api.planetscale.com",
			Help:   "API of PlanetScale, whose organizations may be connected",
			assign: origin(func(c *Config) *string { return &c.PlanetScale.URL }),
		},
		{
			Name: "planetscale-auth-url", Kind: KindURL, Default: "https://auth.planetscale.com",
			Help:   "server of PlanetScale at which people give access",
			assign: origin(func(c *Config) *string { return &c.PlanetScale.AuthURL }),
		},
		{
			Name: "planetscale-client-id", Kind: KindText,
			Help: "client id of the OAuth application that is registered at PlanetScale for this server; it and `planetscale-client-secret` are " +
				"given together, or not at all",
			assign: text(func(c *Config) *string { return &c.PlanetScale.ClientID }),
		},
		{
			Name: "planetscale-client-secret", Kind: KindSecret,
			Help:   "client secret of that application",
			assign: secret(func(c *Config) *Secret { return &c.PlanetScale.ClientSecret }),
		},
		{
			Name: "integrations-proxy", Kind: KindDSN,
			Help:   "proxy for requests to the providers that the settings name; empty: that of `HTTPS_PROXY` and `NO_PROXY`",
			assign: func(c *Config, s string) (err error) { c.IntegrationsProxy, err = parseProxy(s); return err },
		},
		{
			Name: "source-cache-max-bytes", Kind: KindSize, Default: "2GiB", Min: 16 << 20,
			Help:   "largest size of the copies of source code in the data folder, which searches read; the oldest go first",
			assign: size(func(c *Config) *Size { return &c.Limits.SourceCacheMaxBytes }),
		},
		{
			Name: "shutdown-timeout", Kind: KindDuration, Default: "30s",
			Help:   "how long a stop may take; telemetry that cannot be stored in this time stays in the queue for the next start",
			assign: duration(func(c *Config) *time.Duration { return &c.ShutdownTimeout }),
		},
		{
			Name: "ingest-nodes", Kind: KindCount, Default: "0", Min: 0,
			Help: "number of nodes with the role `ingest`, which share the rate limits of custom ingest keys; 0 counts the nodes that share the " +
				"database",
			assign: count(func(c *Config) *int { return &c.IngestNodes }),
		},
		{
			Name: "queue-max-bytes", Kind: KindSize, Default: Size(limits.Queue).String(), Min: 1 << 20,
			Help:   "largest size of the durable queue; when it is full, exporters must retry later",
			assign: size(func(c *Config) *Size { return &c.Limits.QueueMaxBytes }),
		},
		{
			Name:    "queue-max-bytes-per-org",
			Kind:    KindSize,
			Default: "0",
			Help: "space in the durable queue for the data of one organization that is not in the warehouse yet; when it is full, the exporters " +
				"of the organization must retry later. A small value keeps the data of others fresh during a flood; a large one bridges a longer " +
				"outage of the warehouse. 0: " + limits.Size(
				limits.QueueOfOrganization,
			) + ", or a quarter of `queue-max-bytes` if that is less",
			assign: size(func(c *Config) *Size { return &c.Limits.QueueMaxBytesPerOrg }),
		},
		{
			Name: "queue-segment-bytes", Kind: KindSize, Default: "64MiB", Min: 64 << 10,
			Help:   "size of one file of the durable queue",
			assign: size(func(c *Config) *Size { return &c.Limits.QueueSegmentBytes }),
		},
		{
			Name: "ingest-max-body-bytes", Kind: KindSize, Default: Size(limits.IngestBody).String(), Min: 1 << 10,
			Help:   "largest OTLP request over HTTP, as received",
			assign: size(func(c *Config) *Size { return &c.Limits.IngestMaxBodyBytes }),
		},
		{
			Name: "ingest-max-decompressed-bytes", Kind: KindSize, Default: Size(limits.IngestDecompressed).String(), Min: 1 << 10,
			Help:   "largest OTLP request after decompression",
			assign: size(func(c *Config) *Size { return &c.Limits.IngestMaxDecompressedBytes }),
		},
		{
			Name: "batch-max-rows", Kind: KindCount, Default: "100000", Min: 1,
			Help:   "number of rows at which a block is written to the warehouse",
			assign: count(func(c *Config) *int { return &c.Limits.BatchMaxRows }),
		},
		{
			Name: "batch-max-age", Kind: KindDuration, Default: "1s",
			Help:   "age at which a block is written to the warehouse",
			assign: duration(func(c *Config) *time.Duration { return &c.Limits.BatchMaxAge }),
		},
		{
			Name: "insert-parallelism", Kind: KindCount, Default: "0",
			Help: "number of blocks that are written to the warehouse at the same time; 0: one for each " + strconv.Itoa(limits.CoresOfInsert) +
				" cores of this machine, at least one",
			assign: count(func(c *Config) *int { return &c.Limits.InsertParallelism }),
		},
		{
			Name: "warehouse-max-memory-bytes", Kind: KindSize, Default: "0",
			Help: "memory of the embedded engine; 0: a quarter of this machine's memory, at least " + limits.Size(limits.EngineMemoryLeast) +
				" and at most " + limits.Size(limits.EngineMemoryMost),
			assign: size(func(c *Config) *Size { return &c.Limits.WarehouseMaxMemoryBytes }),
		},
		{
			Name:    "rest-max-body-bytes",
			Kind:    KindSize,
			Default: Size(limits.RESTBody).String(),
			Min:     1 << 10,
			Help:    "largest body of a REST or MCP request, also after decompression; over gRPC and Connect it applies to methods that need no credential",
			assign:  size(func(c *Config) *Size { return &c.Limits.RESTMaxBodyBytes }),
		},
		{
			Name: "grpc-max-message-bytes", Kind: KindSize, Default: Size(limits.GRPCMessage).String(), Min: 1 << 10,
			Help:   "largest message over gRPC, of OTLP and of the API, and over Connect; for the API also after decompression",
			assign: size(func(c *Config) *Size { return &c.Limits.GRPCMaxMessageBytes }),
		},
	}
}

// AddFlags registers the flags of the named keys, of all keys when none is named. Values stay text here: Load checks them,
// so that a bad flag gets the same answer as a bad variable.
func AddFlags(fs *pflag.FlagSet, names ...string) {
	for _, key := range Keys() {
		if len(names) > 0 && !slices.Contains(names, key.Name) {
			continue
		}
		// In the help of a flag, a word in back quotes would name the value.
		help := strings.ReplaceAll(key.Help, "`", "")
		fs.Var(&flagValue{kind: key.Kind, text: key.Default}, key.Name, help+" ("+key.Env()+")")
	}
}

// flagValue shows the kind of its key in the help text.
type flagValue struct {
	kind Kind
	text string
}

func (v *flagValue) String() string     { return v.text }
func (v *flagValue) Set(s string) error { v.text = s; return nil }
func (v *flagValue) Type() string       { return strings.ReplaceAll(string(v.kind), " with password", "") }
