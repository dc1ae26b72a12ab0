// Package limits holds every bound that a user of the product can meet, once: retention, windows, rates, sizes of bodies, parts of a
// dashboard, lengths of texts.
//
// Code uses the constants. Messages, descriptions of tools and the OpenAPI document write a value with Days, Size, Number or Lasts, so
// a sentence cannot disagree with the check beside it. The warehouse migrations take their TTL from Retention. Table lists all limits for
// docs/limits.md; a test compares both.
//
// Comments in .proto files contain the figures as plain text, because generated clients show these comments unchanged. TestFigures of
// server/contract reads the comments of all messages, enums, services and files. Its table binds each number in them to its constant, or
// lists it as a figure that is not a limit, with the reason. It passes over the number of a rule of the same field, which TestBounds binds.
// When a constant changes, the test names each comment that is now wrong. TestDefaults reads the numbers of fields that a request leaves
// out, as in "20 when left out". TestDocumentFigures does the same for the pages of docs/ that people write by hand, with one list of
// figures for each page.
//
// These numbers stay in the package that uses them, because no caller can tell them from another choice: sizes of buffers, pools and
// caches, pauses of background loops, parameters of one algorithm (the score of a match, the steps of a search), and numbers
// that others set, such as the longest message of a chat provider or the parts of a wire format.
package limits

import (
	"fmt"
	"strings"
	"time"
)

// Day is 24 hours.
const Day = 24 * time.Hour

// Unit says how the value of a limit is written.
type Unit int

// Units of limits.
const (
	Duration   Unit = iota // nanoseconds, as in time.Duration
	Bytes                  // written in MiB, KiB or GiB where the value divides
	Characters             // Unicode code points, as buf.validate counts min_len and max_len
	Count                  // a number of things, which the sentence names
)

// Limit is a line of the table.
type Limit struct {
	// Name is the identifier of the constant.
	Name string
	// Value is the limit in Unit.
	Value int64
	Unit  Unit
	// Period is the time in which Value requests are allowed; zero for a limit that is not a rate.
	Period time.Duration
	// About is a sentence for users, with the value in it.
	About string
	// Setting is the name of the setting that changes the value; empty for a fixed limit.
	Setting string
}

// Text writes the value: `7 days`, `20 MiB`, `200 characters`, `1,500`.
func (l Limit) Text() string {
	//exhaustive:enforce
	switch l.Unit {
	case Duration:
		return Lasts(time.Duration(l.Value))
	case Bytes:
		return Size(l.Value)
	case Characters:
		return Number(l.Value) + " characters"
	case Count:
		if l.Period > 0 {
			return Number(l.Value) + " requests in " + Seconds(l.Period)
		}
		return Number(l.Value)
	default:
		return Number(l.Value)
	}
}

// Group is a part of the table under one heading.
type Group struct {
	Title  string
	Limits []Limit
}

// Table returns all limits, in the order in which documents show them.
func Table() []Group {
	return []Group{
		{"Retention", retention()},
		{"Windows", windows()},
		{"Credentials", lifetimes()},
		{"Rates", rates()},
		{"Requests", requests()},
		{"Ingest", ingest()},
		{"Attributes and texts of telemetry", texts()},
		{"Product events and sessions", events()},
		{"Queries", queries()},
		{"Parts of answers", answers()},
		{"The audit of a setup", audit()},
		{"Values that a request leaves out", defaults()},
		{"Dashboards", dashboards()},
		{"SQL", sql()},
		{"Tools of assistants", tools()},
		{"Settings of an organization", settings()},
		{"Scrape targets", scraping()},
		{"Integrations and source code", source()},
		{"Start and stop of a server", startStop()},
		{"Background work", work()},
		{"Messages of alerts", deliveries()},
		{"Charts in messages", charts()},
		{"Alerts", alerts()},
		{"Error issues", issues()},
		{"Command line", commandLine()},
	}
}

// Named returns the limit of a name, for tags and templates, which cannot name a constant.
func Named(name string) (Limit, error) {
	for _, g := range Table() {
		for _, l := range g.Limits {
			if l.Name == name {
				return l, nil
			}
		}
	}
	return Limit{}, fmt.Errorf("limits: there is no limit %q", name)
}

// about sets the sentence. A period of one is written without its number: every minute.
func (l Limit) about(sentence string) Limit {
	l.About = strings.ReplaceAll(fmt.Sprintf(sentence, l.Text()), "very 1 ", "very ")
	return l
}

// set names the setting that changes the limit.
func (l Limit) set(name string) Limit {
	l.Setting = name
	return l
}

func lasts(name string, d time.Duration, sentence string) Limit {
	return Limit{Name: name, Value: int64(d), Unit: Duration}.about(sentence)
}

func size(name string, n int64, sentence string) Limit {
	return Limit{Name: name, Value: n, Unit: Bytes}.about(sentence)
}

func characters(name string, n int64, sentence string) Limit {
	return Limit{Name: name, Value: n, Unit: Characters}.about(sentence)
}

func count(name string, n int64, sentence string) Limit {
	return Limit{Name: name, Value: n, Unit: Count}.about(sentence)
}

func rate(name string, n int64, period time.Duration, sentence string) Limit {
	return Limit{Name: name, Value: n, Unit: Count, Period: period}.about(sentence)
}
