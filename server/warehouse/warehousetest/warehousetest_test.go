package warehousetest_test

import (
	"os"
	"testing"

	"github.com/svc-observability/svc/server/warehouse/warehousetest"
)

func TestMain(m *testing.M) { os.Exit(warehousetest.Main(m)) }

func TestEmbedded(t *testing.T) { warehousetest.Run(t, warehousetest.Shared(t)) }

func TestServer(t *testing.T) { warehousetest.Run(t, warehousetest.Server(t)) }
