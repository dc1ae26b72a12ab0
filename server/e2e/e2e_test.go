// Package e2e tests the server from outside, through real clients: exporters, Connect, gRPC, REST, MCP, the command line.
package e2e

import (
	"os"
	"testing"

	"github.com/svc-observability/svc/server/testkit"
)

func TestMain(m *testing.M) { os.Exit(testkit.Main(m)) }
