package limits

import "time"

// Product events and sessions.
const (
	EventNameBytes      = 128
	EventAttributes     = 32
	EventAttributeKey   = 64
	EventAttributeValue = 1024
	EventURL            = 2 << 10
	EventPagePath       = 1 << 10
	// EventID is for the ids in a product event. A product event can name a session that is not recorded.
	EventID = 256
	// EventService is for the name of the service that sent a product event, EventHost for the host of its page.
	EventService = 128
	EventHost    = 256
	// RecordedSessionID is for the id that a recorder gives a session. It consists of ASCII letters, digits, _ and -.
	RecordedSessionID = 128
	// SessionText is for free texts of a session and of the events on its timeline, SessionDimension for texts that sessions are grouped
	// by.
	SessionText               = 1 << 10
	SessionDimension          = 128
	SessionTraits             = 24
	SessionResourceAttributes = 64
	// SessionTarget and SessionStack are in characters.
	SessionTarget = 120
	SessionStack  = 4000
	// SessionLength is the longest session.
	SessionLength = 24 * time.Hour
	// SessionPause is the longest time between two events of a session that counts as active time.
	SessionPause = 15 * time.Second
	// A session that was seen for less than SessionBounce without a click is a bounce. One with a single page, at most SessionGlanceClicks and
	// no error is a glance if it was seen for less than SessionGlance; a session of a page without a click that was seen longer is idle.
	SessionBounce       = 5 * time.Second
	SessionGlance       = 30 * time.Second
	SessionGlanceClicks = 2
	// RecordingPage is how many chunks of a recording one page holds.
	RecordingPage = 40
	// RecordingManifest is how many chunks the manifest of a recording lists.
	RecordingManifest = 20_000
	// RecordingPayload is the size of events that always fits on a page, RecordingAnswer the size of the largest page. In recordings, JSON
	// inside of JSON grows by at most a third.
	RecordingPayload = 6_000_000
	RecordingAnswer  = 8_000_000
)

func events() []Limit {
	return []Limit{
		size("EventNameBytes", EventNameBytes, "The name of a product event has 1 to %s. An event with another name is rejected."),
		count("EventAttributes", EventAttributes, "A product event has at most %s attributes. Further ones are left out."),
		size(
			"EventAttributeKey",
			EventAttributeKey,
			"The key of an attribute of a product event has at most %s. Attributes with longer keys are left out.",
		),
		size("EventAttributeValue", EventAttributeValue, "The value of an attribute of a product event has at most %s. Longer ones are cut."),
		size("EventURL", EventURL, "The URL of a product event, or of an event of a session, has at most %s. Longer ones are cut."),
		size("EventPagePath", EventPagePath, "The path of a page has at most %s. Longer ones are cut."),
		size("EventID", EventID, "The id of a visitor, user, group or session in a product event has at most %s. Longer ones are cut."),
		size("EventService", EventService, "The service of a product event has at most %s. A longer name is cut."),
		size("EventHost", EventHost, "The host of the page of a product event has at most %s. A longer one is cut."),
		characters("RecordedSessionID", RecordedSessionID, "The id of a recorded session has at most %s. A longer one is rejected."),
		size("SessionText", SessionText,
			"The first URL, referrer and path of a session, a message and a selector have at most %s. Longer ones are cut."),
		size("SessionDimension", SessionDimension, "The host, service, browser, country, language and campaign of a session have at most %s. "+
			"Longer ones are cut."),
		count("SessionTraits", SessionTraits, "The user of a session has at most %s traits. Further ones are left out."),
		count("SessionResourceAttributes", SessionResourceAttributes,
			"The resource of a session has at most %s attributes. Further ones are left out."),
		characters("SessionTarget", SessionTarget, "The text of the target of a click has at most %s. Longer ones are cut."),
		characters("SessionStack", SessionStack, "The stack trace of an error in a session has at most %s. Longer ones are cut."),
		lasts("SessionLength", SessionLength, "A session lasts at most %s."),
		lasts("SessionPause", SessionPause, "A pause of up to %s between two events of a session counts as active time."),
		lasts("SessionBounce", SessionBounce, "A session without a click that was seen for less than %s is a bounce."),
		lasts("SessionGlance", SessionGlance,
			"A session with at most one page, few clicks and no error that was seen for less than %s is a glance, unless it is a bounce. "+
				"One with at most one page and no click that was seen for longer is idle."),
		count("SessionGlanceClicks", SessionGlanceClicks, "A glance has at most %s clicks."),
		count("RecordingPage", RecordingPage, "A page of a recording has at most %s chunks."),
		count("RecordingManifest", RecordingManifest, "The manifest of a recording lists at most %s chunks."),
		size("RecordingPayload", RecordingPayload, "A page of a recording always holds chunks of %s."),
		size("RecordingAnswer", RecordingAnswer, "A page of a recording takes at most %s as JSON."),
	}
}
