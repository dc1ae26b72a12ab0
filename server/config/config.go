// Package config holds the settings of svc: one table of keys, read from defaults, a YAML file, the environment and flags,
// in this order, so that a flag beats the environment, which beats the file.
//
// Every key has one name: `data-dir` in the file is `--data-dir` on the command line and `SVC_DATA_DIR` in the environment.
// Nothing is ignored silently: an unknown key or variable, or a value that is not allowed, is an *Error that says where it
// came from, and the process exits with code 2. Variables that begin with SVC_TEST_ belong to the test suite; they and
// those of OtherVariables are left alone.
package config

import (
	"log/slog"
	"net/netip"
	"time"

	"github.com/spf13/pflag"
)

// Config is the whole configuration, validated. Load makes it; the zero value is not usable.
type Config struct {
	DataDir       string // folder of everything that svc stores
	APIAddr       string // REST, Connect, gRPC, gRPC-Web, MCP, health
	IngestAddr    string // OTLP over HTTP
	OTLPGRPCAddr  string // OTLP over gRPC
	Region        string
	BootstrapFile string // empty: no file is written
	WarehouseURL  DSN    // empty: the embedded engine
	DatabaseURL   DSN    // empty: SQLite in the data folder
	RedisURL      DSN    // where API nodes count requests and sign-in attempts together; empty: each node counts its own

	PublicURL       string // URL of the API for clients, without a trailing slash; empty: from the address
	IngestPublicURL string // URL of ingest for exporters, without a trailing slash; empty: from the address

	TrustedProxies  []netip.Prefix // their X-Forwarded-For header is trusted
	CountryHeader   string         // in which they name the country of the caller
	EgressCAFile    string
	EgressNetworks  []netip.Prefix // URLs of users may lead there although the addresses are not public
	HeartbeatURL    DSN            // monitor that gets a call after each evaluated minute of alert rules; empty: none
	SMTPURL         DSN            // mail server for alerts; empty: no e-mail
	MailFrom        string         // sender of e-mail
	Roles           Roles
	ChdbLib         string // path of libchdb.so; empty: searched
	LogLevel        slog.Level
	LogFormat       string // "text" or "json"
	SecretKey       Secret // key of all keyed hashes; empty: DataDir/secrets/pepper, made at the first start
	ShutdownTimeout time.Duration
	IngestNodes     int // number of nodes that share the rate limits of ingest keys; 0 counts them

	OIDC OIDC

	GitHub            GitHub
	GitLab            GitLab
	Slack             Slack
	Discord           Discord
	RailwayURL        string // empty: organizations cannot connect Railway
	PlanetScale       PlanetScale
	VercelURL         string // empty: organizations cannot connect Vercel
	IntegrationsProxy DSN    // URL of the proxy to providers; empty: that of the environment

	Limits Limits

	resolved map[string]resolved
}

// OIDC is the OpenID Connect provider for sign-in. Without an issuer there is no provider.
type OIDC struct {
	Issuer       string
	ClientID     string
	ClientSecret Secret // empty: a client without one
	Scopes       []string
	Label        string // of the button on the sign-in page
	// JoinOrganization and JoinDomains are set together: a person who signs in with a verified address of these domains becomes a member.
	JoinOrganization string
	JoinDomains      []string
}

// Limits bounds the requests and the memory of one process.
type Limits struct {
	QueueMaxBytes              Size
	QueueMaxBytesPerOrg        Size // 0: 1 GiB, or a quarter of QueueMaxBytes when that is less
	QueueSegmentBytes          Size
	IngestMaxBodyBytes         Size // as received
	IngestMaxDecompressedBytes Size
	BatchMaxRows               int
	BatchMaxAge                time.Duration
	InsertParallelism          int  // blocks that are inserted at once; 0: by the cores of the machine
	WarehouseMaxMemoryBytes    Size // 0: the engine decides by the machine's
	RESTMaxBodyBytes           Size
	GRPCMaxMessageBytes        Size
	SourceCacheMaxBytes        Size
}

// Sources are the inputs of Load.
type Sources struct {
	Environ []string       // as os.Environ
	Flags   *pflag.FlagSet // flags that AddFlags registered; nil: no flags
	File    string         // the --config flag; empty: $SVC_CONFIG, else no file
}

// Load reads, merges and validates the configuration. Its error joins one *Error per problem, so that one run names them all.
func Load(src Sources) (Config, error) {
	merged, err := merge(src)
	if err != nil {
		return Config{}, err
	}
	cfg := Config{resolved: merged}
	if err := cfg.assign(); err != nil {
		return Config{}, err
	}
	return cfg, cfg.validate()
}

// Default is the configuration of a start without any setting.
func Default() Config {
	cfg, err := Load(Sources{})
	if err != nil {
		panic("config: the default configuration is invalid: " + err.Error()) // a test loads it: only a broken table gets here
	}
	return cfg
}
