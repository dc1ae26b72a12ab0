package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/svc-observability/svc/server/bootstrap"
	"github.com/svc-observability/svc/server/config"
)

func (c *cli) sendTest() *cobra.Command {
	var t sendTest
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "send-test",
		Short: "Send a trace, a log record and a metric, and find them again",
		Long: `Send a trace, a log record and a metric through the public OTLP endpoint with an ingest key, and find them again over REST with
an API key. If a step fails, the command names it and exits with 1.

Addresses and keys come from the flags, else from SVC_INGEST_KEY and SVC_API_KEY, else from the bootstrap file.`,
		Example: `  svc send-test --bootstrap-file ./data/keys.json
  SVC_INGEST_KEY=… SVC_API_KEY=… svc send-test --base-url https://svc.example.com --ingest-url https://otlp.example.com`,
		Args: args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := c.load(cmd)
			if err != nil {
				return err
			}
			if err := t.complete(cfg, c.environ); err != nil {
				return err
			}
			t.progress = func(text string) { fmt.Fprintln(c.stderr, "send-test: "+text) }
			ctx, cancel := context.WithTimeout(cmd.Context(), t.timeout)
			defer cancel()
			result, err := t.run(ctx)
			if err != nil {
				return err
			}
			if asJSON {
				return c.printJSON(result)
			}
			_, err = fmt.Fprintf(c.stdout, "Success: trace %s, a log record and metric %s were found %s after they were sent.\n",
				result.TraceID, result.Metric, time.Duration(result.FoundAfterMS)*time.Millisecond)
			return err
		},
	}
	settings(cmd, "data-dir", "bootstrap-file", "api-addr", "ingest-addr", "otlp-grpc-addr", "public-url", "ingest-public-url")
	cmd.Flags().StringVar(&t.baseURL, "base-url", "", "URL of the API (default: the bootstrap file's, else the running server's)")
	cmd.Flags().StringVar(&t.ingestURL, "ingest-url", "", "URL of OTLP over HTTP (default: as above)")
	cmd.Flags().StringVar(&t.apiKey, "api-key", "", "API key to read with (SVC_API_KEY)")
	cmd.Flags().StringVar(&t.ingestKey, "ingest-key", "", "ingest key to send with (SVC_INGEST_KEY)")
	cmd.Flags().DurationVar(&t.timeout, "timeout", 30*time.Second, "time limit for the whole test")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// sendTest is one run: the addresses for sending and reading, and the credentials.
type sendTest struct {
	baseURL, ingestURL string
	apiKey, ingestKey  string
	timeout            time.Duration
	progress           func(string)
}

// sendTestResult names the telemetry that was sent, so that a person can look at it.
type sendTestResult struct {
	TraceID      string `json:"trace_id"`
	Service      string `json:"service_name"`
	Metric       string `json:"metric_name"`
	FoundAfterMS int64  `json:"found_after_ms"`
}

// complete fills in the values that no flag has set.
func (t *sendTest) complete(cfg config.Config, environ []string) error {
	var file bootstrap.File
	if cfg.BootstrapFile != "" {
		text, err := os.ReadFile(cfg.BootstrapFile)
		if err != nil {
			return cfg.Invalid("bootstrap-file", err.Error())
		}
		if err := json.Unmarshal(text, &file); err != nil {
			return cfg.Invalid("bootstrap-file", "svc serve did not write this JSON: "+err.Error())
		}
	}
	at := serverAddresses(cfg)
	variable := func(name string) string {
		for _, pair := range environ {
			if value, ok := strings.CutPrefix(pair, name+"="); ok {
				return value
			}
		}
		return ""
	}
	fill := func(to *string, from ...string) {
		for _, text := range from {
			if *to == "" {
				*to = text
			}
		}
	}
	fill(&t.baseURL, file.BaseURL, at.BaseURL)
	fill(&t.ingestURL, file.IngestURL, at.IngestURL)
	fill(&t.apiKey, variable("SVC_API_KEY"), file.APIKey)
	fill(&t.ingestKey, variable("SVC_INGEST_KEY"), file.PrivateKey, file.PublicKey)
	t.baseURL, t.ingestURL = strings.TrimRight(t.baseURL, "/"), strings.TrimRight(t.ingestURL, "/")
	switch {
	case t.ingestKey == "":
		return &usageError{errors.New("no ingest key: give --ingest-key, SVC_INGEST_KEY or --bootstrap-file")}
	case t.apiKey == "":
		return &usageError{errors.New("no API key: give --api-key, SVC_API_KEY or --bootstrap-file")}
	case t.timeout <= 0:
		return &usageError{errors.New("--timeout must be above zero")}
	}
	return nil
}

// run sends a trace, a log and a metric, then looks for each. Every error names the step.
func (t *sendTest) run(ctx context.Context) (sendTestResult, error) {
	sample := newSample(time.Now())
	start := time.Now()
	steps := []struct {
		name string
		do   func(context.Context) error
	}{
		{"send the trace", func(ctx context.Context) error { return t.send(ctx, "/v1/traces", sample.traces()) }},
		{"send the log record", func(ctx context.Context) error { return t.send(ctx, "/v1/logs", sample.logs()) }},
		{"send the metric", func(ctx context.Context) error { return t.send(ctx, "/v1/metrics", sample.metrics()) }},
		{"find the trace", func(ctx context.Context) error { return t.find(ctx, sample.findTrace) }},
		{"find the log record", func(ctx context.Context) error { return t.find(ctx, sample.findLog) }},
		{"find the metric", func(ctx context.Context) error { return t.find(ctx, sample.findMetric) }},
	}
	for i, step := range steps {
		began := time.Now()
		if err := step.do(ctx); err != nil {
			return sendTestResult{}, fmt.Errorf("step %d of %d, %s: %w", i+1, len(steps), step.name, err)
		}
		t.progress(fmt.Sprintf("%d/%d %s: ok (%d ms)", i+1, len(steps), step.name, time.Since(began).Milliseconds()))
	}
	return sendTestResult{
		TraceID:      sample.traceHex(),
		Service:      sampleService,
		Metric:       sample.metric,
		FoundAfterMS: time.Since(start).Milliseconds(),
	}, nil
}
