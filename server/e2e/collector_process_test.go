package e2e

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// collectorBinary is the Collector of the module in otelcol, built when it is missing or older than its source.
func collectorBinary(t *testing.T) string {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "make", "-C", root, "--no-print-directory", "otelcol")
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("make otelcol: %v", err)
	}
	return filepath.Join(root, ".cache", "bin", "otelcol")
}

func collectorConfig(exporters []*collectorExporter, key string) string {
	var receivers, senders, pipelines strings.Builder
	for _, e := range exporters {
		fmt.Fprintf(&receivers, "  otlp/%s: {protocols: {http: {endpoint: %q}}}\n", e.name, e.receiver)
		endpoint, settings := e.proxy.Addr, "tls: {insecure: true}"
		// The proxy knows what a cut does to a request only if the request is alone on its connection.
		consumers := 1
		if e.kind == "otlp_http" {
			endpoint, settings, consumers = "http://"+e.proxy.Addr, "encoding: "+e.encoding, 4
		}
		fmt.Fprintf(&senders, `  %s/%s:
    endpoint: %q
    %s
    compression: %s
    timeout: 30s
    headers: {authorization: "Bearer %s"}
    sending_queue: {enabled: true, num_consumers: %d, queue_size: 1000}
    retry_on_failure: {enabled: true, initial_interval: 100ms, max_interval: 1s, max_elapsed_time: 5m}
`, e.kind, e.name, endpoint, settings, e.compression, key, consumers)
		for _, signal := range []string{"traces", "logs", "metrics"} {
			fmt.Fprintf(&pipelines, "    %s/%s: {receivers: [otlp/%s], processors: [batch], exporters: [%s/%s]}\n", signal, e.name, e.name,
				e.kind, e.name)
		}
	}
	return "receivers:\n" + receivers.String() +
		"processors:\n  batch: {timeout: 500ms, send_batch_size: 100, send_batch_max_size: 100}\n" +
		"exporters:\n" + senders.String() +
		"service:\n  telemetry: {metrics: {level: none}, logs: {level: info, sampling: {enabled: false}}}\n  pipelines:\n" + pipelines.String()
}

// startCollector runs the Collector until stop, which ends it cleanly and returns its log.
func startCollector(t *testing.T, binary, config string, exporters []*collectorExporter) (stop func() string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "otelcol.yaml")
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(binary, "--config", file)
	var log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &log, &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	var once sync.Once
	end := func(sig os.Signal) (err error) {
		once.Do(func() {
			_ = cmd.Process.Signal(sig) // it may have ended by itself
			select {
			case err = <-done:
			case <-time.After(20 * time.Second):
				_ = cmd.Process.Kill()
				err = errors.Join(errors.New("it did not stop"), <-done)
			}
		})
		return err
	}
	t.Cleanup(func() {
		_ = end(syscall.SIGKILL)
		if t.Failed() {
			t.Logf("the Collector's log:\n%s", log.String())
		}
	})
	for _, e := range exporters {
		eventually(t, "the Collector to listen", func() bool {
			select {
			case err := <-done:
				done <- err
				t.Fatalf("the Collector ended: %v\n%s", err, log.String())
			default:
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			c, err := (&net.Dialer{}).DialContext(ctx, "tcp", e.receiver)
			if err != nil {
				return false
			}
			return c.Close() == nil
		})
	}
	return func() string {
		t.Helper()
		if err := end(syscall.SIGTERM); err != nil {
			t.Errorf("the Collector: %v", err)
		}
		return log.String()
	}
}
