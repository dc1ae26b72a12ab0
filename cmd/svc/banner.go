package main

import (
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"

	"github.com/svc-observability/svc/server/bootstrap"
	"github.com/svc-observability/svc/server/config"
)

// banner shows a person the running server and how to send to it. first holds the credentials of a first start; otherwise it is empty.
func (c *cli) banner(cfg config.Config, at, first bootstrap.File) {
	bold := c.bold()
	var b strings.Builder
	line := func(label, value string) {
		if value != "" {
			fmt.Fprintf(&b, "  %-20s %s\n", label, value)
		}
	}
	fmt.Fprintf(&b, "\n%s\n\n", bold("svc is ready."))
	line("Sign in", at.BaseURL)
	line("API (REST, gRPC)", at.BaseURL)
	if at.BaseURL != "" {
		line("API reference", at.BaseURL+"/v2/docs")
		line("MCP", at.BaseURL+"/mcp")
	}
	line("OTLP over HTTP", at.IngestURL)
	line("OTLP over gRPC", at.OTLPGRPCAddr)
	line("Data folder", cfg.DataDir)
	line("Keys and addresses", cfg.BootstrapFile)
	if first.APIKey != "" && cfg.BootstrapFile != "" {
		// The output of a server is often kept in logs, where secrets must not be.
		fmt.Fprintf(&b, "\n%s\n", bold("The credentials of the first organization are in "+cfg.BootstrapFile+"."))
	} else if first.APIKey != "" {
		fmt.Fprintf(&b, "\n%s\n\n", bold("Keep these credentials of the first organization. svc stores only hashes and cannot show them again."))
		line("Organization", first.OrgID)
		line("API key", first.APIKey)
		line("Private ingest key", first.PrivateKey)
		line("Public ingest key", first.PublicKey)
		line("Sign-in", first.AdminEmail+"  "+first.AdminPassword)
	}
	if at.IngestURL != "" {
		key := first.PrivateKey
		if key == "" || cfg.BootstrapFile != "" {
			key = "YOUR_INGEST_KEY"
		}
		fmt.Fprintf(&b, "\n%s\n\n", bold("Point an OpenTelemetry exporter here:"))
		fmt.Fprintf(&b, "  export OTEL_EXPORTER_OTLP_ENDPOINT=%s\n", at.IngestURL)
		fmt.Fprintf(&b, "  export OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf\n")
		fmt.Fprintf(&b, "  export OTEL_EXPORTER_OTLP_HEADERS=x-svc-ingest-key=%s\n", key)
	}
	fmt.Fprintf(&b, "\nCtrl-C stops the server cleanly.\n\n")
	// Ignore the error: the server runs even if nobody reads the output.
	_, _ = io.WriteString(c.stdout, b.String())
}

// bold returns a function that highlights a heading on a terminal, unless NO_COLOR is set (no-color.org).
func (c *cli) bold() func(string) string {
	out, ok := c.stdout.(*os.File)
	plain := !ok || !term.IsTerminal(int(out.Fd()))
	for _, pair := range c.environ {
		if value, found := strings.CutPrefix(pair, "NO_COLOR="); found && value != "" {
			plain = true
		}
	}
	return func(s string) string {
		if plain {
			return s
		}
		return "\x1b[1m" + s + "\x1b[0m"
	}
}
