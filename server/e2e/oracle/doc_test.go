// Package oracle_test compares the figures of the server with an evaluation of its own. Random telemetry goes in over OTLP, and the
// figures come back over REST and MCP. The evaluation knows what was sent and the definitions of the contract. It imports no package
// that reads the warehouse.
package oracle_test

import (
	"os"
	"testing"

	"github.com/svc-observability/svc/server/testkit"
)

func TestMain(m *testing.M) { os.Exit(testkit.Main(m)) }
