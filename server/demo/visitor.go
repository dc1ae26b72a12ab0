package demo

import "time"

// visitor is a person or device that acts in the shop.
type visitor struct {
	id, key, name, group               string // key identifies a browser or an application
	agent, browser, os, device         string
	country, language                  string
	isNew                              bool
	referrer, source, medium, campaign string
	// customer is the customer to whom a machine belongs.
	customer string
}

type device struct{ agent, browser, os, kind string }

func devices() []device {
	return []device{
		{
			"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36", "Chrome", "Windows",
			"desktop",
		},
		{
			"Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/26.1 Safari/605.1.15", "Safari",
			"macOS", "desktop",
		},
		{"Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0", "Firefox", "Linux", "desktop"},
		{"Mozilla/5.0 (iPhone; CPU iPhone OS 26_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/26.1 Mobile/15E148 Safari/604.1", "Safari", "iOS", "mobile"},
		{
			"Mozilla/5.0 (Linux; Android 15; Pixel 9) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Mobile Safari/537.36", "Chrome",
			"Android", "mobile",
		},
		{
			"Mozilla/5.0 (iPad; CPU OS 26_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/26.1 Safari/604.1", "Safari", "iOS",
			"tablet",
		},
	}
}

// visitor returns one of some thousand people. About half visit for the first time.
func (g *slot) visitor(r random, app bool) *visitor {
	v := &visitor{}
	known := r.chance(0.55)
	if known {
		number := 1000 + r.IntN(4000)
		own := newRandom(g.seed, "visitor", int64(number))
		v.id, v.key = "u-"+own.digits(6), own.uuid()
		v.name = pick(own, []string{"Ada", "Bo", "Cleo", "Dana", "Emil", "Fay", "Gus", "Hana"}) + " " + pick(own,
			[]string{"Berg", "Costa", "Dahl", "Evers", "Falk", "Gray"})
		if own.chance(0.2) {
			v.group = pick(own, []string{"northwind", "contoso", "initech", "umbrella"})
		}
		v.describe(own, app)
	} else {
		v.key, v.isNew = r.uuid(), true
		v.describe(r, app)
	}
	switch x := r.Float64(); {
	case x < 0.3:
		v.referrer = "https://www.search.example/results"
	case x < 0.42:
		v.referrer, v.source, v.medium, v.campaign = "https://news.example/letter", "newsletter", "email", "autumn-2026"
	case x < 0.5:
		v.referrer, v.source, v.medium, v.campaign = "https://ads.example/", "ads", "cpc", "tents"
	}
	return v
}

func (v *visitor) describe(r random, app bool) {
	if app {
		v.agent, v.os, v.device = "ShopApp/8.2 (iOS 26.1)", "iOS", "mobile"
		if r.chance(0.55) {
			v.agent, v.os = "ShopApp/8.2 (Android 15)", "Android"
		}
	} else {
		d := pick(r, devices())
		v.agent, v.browser, v.os, v.device = d.agent, d.browser, d.os, d.kind
	}
	v.country = pick(r, []string{"DE", "DE", "DE", "FR", "NL", "PL", "US", "GB", "AT", "ES"})
	v.language = map[string]string{
		"DE": "de-DE", "AT": "de-AT", "FR": "fr-FR", "NL": "nl-NL", "PL": "pl-PL", "ES": "es-ES", "US": "en-US", "GB": "en-GB",
	}[v.country]
}

// stamp formats a time as the browser SDK does.
func stamp(nano int64) string { return time.Unix(0, nano).UTC().Format("2006-01-02 15:04:05.000") }
