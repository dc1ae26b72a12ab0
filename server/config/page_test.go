package config

import (
	"testing"

	"github.com/svc-observability/svc/server/golden"
)

// TestConfigurationPage compares the table in docs/configuration.md with the table of keys.
func TestConfigurationPage(t *testing.T) {
	golden.Section(t, "../../docs/configuration.md", "configuration", MarkdownTable())
}
