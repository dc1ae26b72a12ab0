package limits

import "time"

// Scrape targets.
const (
	// LeastScrapeInterval and LargestScrapeInterval bound the time between two scrapes of a target.
	LeastScrapeInterval   = 5 * time.Second
	LargestScrapeInterval = 300 * time.Second
	DefaultScrapeInterval = 15 * time.Second
	// ScrapeTimeout is the time of a scrape and of a probe. A scrape of a target with a shorter interval has a second less than the interval.
	ScrapeTimeout = 10 * time.Second
	// ScrapeBody bounds the answer of a target, as sent and after decompression.
	ScrapeBody    = 16 << 20
	ScrapeSamples = 50_000
	ScrapeLabels  = 64
	// ScrapeLabelValue is the size of the value of a label that a target exposes.
	ScrapeLabelValue = 4 << 10
	// ScrapeBuckets bounds the buckets of one side of a native histogram.
	ScrapeBuckets = 1024
	// ScrapeRedirects is how many redirects a scrape follows, all within the origin of the URL.
	ScrapeRedirects = 3
	// ScrapeBackoff bounds the pause after a target answers 429 or 503.
	ScrapeBackoff = 5 * time.Minute
	// ScrapeConnection is the time after which the connection to a target is dialled anew, so that its address is judged again.
	ScrapeConnection = 5 * time.Minute
	// ScrapesInFlight, ScrapesOfOrganization and ScrapesOfHost bound the scrapes that run at once on a node.
	ScrapesInFlight       = 256
	ScrapesOfOrganization = 64
	ScrapesOfHost         = 4
	// ScrapeMemory bounds the bodies of all scrapes that run on a node.
	ScrapeMemory = 64 << 20
	// ScrapeChecks is how many checks of a target are listed.
	ScrapeChecks = 200
	// ScrapeCheckRetention is how long checks are kept.
	ScrapeCheckRetention = 24 * time.Hour
	// ScrapeURL, ScrapeLabelsText and ScrapeCredentials are lengths of settings of a target.
	ScrapeURL         = 2048
	ScrapeLabelsText  = 8192
	ScrapeCredentials = 16384
	// ScrapeTargetLabels is how many labels the setting labels_json of a target has.
	ScrapeTargetLabels = 30
	ScrapeBranches     = 50
	ScrapeBranch       = 200
)

func scraping() []Limit {
	return []Limit{
		lasts("LeastScrapeInterval", LeastScrapeInterval, "A target is scraped at most once in %s."),
		lasts("LargestScrapeInterval", LargestScrapeInterval, "A target is scraped at least once in %s."),
		lasts("DefaultScrapeInterval", DefaultScrapeInterval, "A target without an interval is scraped once in %s."),
		lasts("ScrapeTimeout", ScrapeTimeout,
			"A scrape, and a probe, takes at most %s. With a shorter interval, a scrape has a second less than the interval."),
		size("ScrapeBody", ScrapeBody, "The answer of a target has at most %s, as sent and after decompression."),
		count("ScrapeSamples", ScrapeSamples, "The answer of a target has at most %s samples."),
		count("ScrapeLabels", ScrapeLabels, "A sample of a target has at most %s labels."),
		size("ScrapeLabelValue", ScrapeLabelValue, "The value of a label of a target has at most %s."),
		count("ScrapeBuckets", ScrapeBuckets,
			"A native histogram keeps at most %s buckets of each sign; one with more loses resolution until it fits."),
		count("ScrapeRedirects", ScrapeRedirects, "A scrape follows at most %s redirects, all within the scheme, host and port of the URL."),
		lasts("ScrapeBackoff", ScrapeBackoff, "After a target answers 429 or 503, the next scrape waits at most %s."),
		lasts("ScrapeConnection", ScrapeConnection, "A connection to a target is used for at most %s."),
		count("ScrapesInFlight", ScrapesInFlight, "A node runs at most %s scrapes at once."),
		count("ScrapesOfOrganization", ScrapesOfOrganization, "A node runs at most %s scrapes of one organization at once."),
		count("ScrapesOfHost", ScrapesOfHost, "A node runs at most %s scrapes of one host and port at once."),
		size("ScrapeMemory", ScrapeMemory, "The answers of all scrapes that run on a node have at most %s together; further scrapes wait."),
		count("ScrapeChecks", ScrapeChecks, "The list of a target's checks has the latest %s."),
		lasts("ScrapeCheckRetention", ScrapeCheckRetention, "A check of a target is kept for %s."),
		characters("ScrapeURL", ScrapeURL, "The URL of a target has at most %s."),
		characters("ScrapeLabelsText", ScrapeLabelsText, "The setting `labels_json` of a target has at most %s."),
		characters("ScrapeCredentials", ScrapeCredentials, "The setting `auth_credentials` of a target has at most %s."),
		count("ScrapeTargetLabels", ScrapeTargetLabels, "The setting `labels_json` of a target has at most %s labels."),
		count("ScrapeBranches", ScrapeBranches, "A target lists at most %s branches to scrape, and as many to leave out."),
		characters("ScrapeBranch", ScrapeBranch, "A branch in the settings of a target has at most %s."),
	}
}
