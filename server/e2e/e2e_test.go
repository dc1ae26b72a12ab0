// Package e2e tests the server from outside, through real clients: exporters, Connect, gRPC, REST, MCP, the command line.
package e2e

import (
	"fmt"
	"os"
	"testing"

	"github.com/svc-observability/svc/server/testkit"
)

func TestMain(m *testing.M) {
	if config := os.Getenv(envFlood); config != "" {
		if err := sendFlood(config); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(testkit.Main(m))
}
