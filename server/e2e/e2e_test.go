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
	if len(os.Args) > 1 && os.Args[1] == "warehouse" { // the engine's process, which may be killed
		os.Exit(testkit.Main(m))
	}
	remove, err := trustTests()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := testkit.Main(m)
	if err := walks.close(); err != nil {
		fmt.Fprintln(os.Stderr, "the browser of the walks:", err)
		code = max(code, 1)
	}
	remove()
	os.Exit(code)
}
