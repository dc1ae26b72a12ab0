// Package scraping has the tools for scrape targets.
package scraping

import "github.com/svc-observability/svc/server/mcp/tool"

// Tools makes the tools of this set, in the order in which they are listed.
func Tools() []tool.Maker {
	return []tool.Maker{
		newCreateScrapeTarget,
		newUpdateScrapeTarget,
		newDeleteScrapeTarget,
	}
}
