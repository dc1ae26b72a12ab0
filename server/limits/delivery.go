package limits

import "time"

// Messages to the destinations of alerts.
const (
	DestinationURL     = 2048
	DestinationSecret  = 1000
	DestinationMembers = 10
	// NotificationText is for each title and body of a notification template.
	NotificationText = 4000
	// MailSubject is for the subject of an e-mail. DigestGroups is how many groups a message about several incidents names.
	MailSubject  = 200
	DigestGroups = 20
	// DestinationTests are test messages of an organization in DestinationTestsPeriod.
	DestinationTests       = 10
	DestinationTestsPeriod = time.Minute

	DeliveryTimeout = 15 * time.Second
	// DeliveryRedirects is how many redirects a message follows.
	DeliveryRedirects = 5
	// DeliveryAnswer is how much of an answer is kept, DeliveryAnswerBytes how much is read.
	DeliveryAnswer      = 500
	DeliveryAnswerBytes = 64 << 10
	DeliveryAttempts    = 5
	// DeliveryRetry is the pause after the first attempt. Each further pause is twice as long, up to DeliveryRetryLongest.
	DeliveryRetry        = time.Minute
	DeliveryRetryLongest = 15 * time.Minute
	// DeliveryRetryAfter is the longest pause that a destination can ask for.
	DeliveryRetryAfter = time.Hour
	// DeliveryThrottled is how long a destination can put off a message without an attempt being counted.
	DeliveryThrottled = time.Hour
	// DeliveryBreaker is the failures in a row that pause a destination; DeliveryRefusals those that disable it.
	DeliveryBreaker  = 3
	DeliveryRefusals = 3
	// DeliverySends is how many messages of one organization are under way at once, DeliveryDestinationSends those of one destination.
	DeliverySends            = 8
	DeliveryDestinationSends = 4
)

func deliveries() []Limit {
	return []Limit{
		characters("DestinationURL", DestinationURL, "The URL of an alert destination has at most %s."),
		characters("DestinationSecret", DestinationSecret, "A key, token or signing secret of an alert destination has at most %s."),
		count("DestinationMembers", DestinationMembers, "An e-mail destination has at most %s members."),
		characters("NotificationText", NotificationText, "The title and the body of a notification template have at most %s each."),
		characters("MailSubject", MailSubject, "The subject of an e-mail has at most %s. A longer one is cut."),
		count("DigestGroups", DigestGroups, "A message about several incidents names at most %s groups."),
		rate("DestinationTests", DestinationTests, DestinationTestsPeriod, "Test messages to alert destinations: each organization may make %s."),
		lasts("DeliveryTimeout", DeliveryTimeout, "A destination must answer within %s."),
		count("DeliveryRedirects", DeliveryRedirects, "A message follows at most %s redirects (307 and 308)."),
		characters("DeliveryAnswer", DeliveryAnswer, "A delivery keeps at most %s of the answer of a destination."),
		size("DeliveryAnswerBytes", DeliveryAnswerBytes, "At most %s of the answer of a destination are read."),
		count("DeliveryAttempts", DeliveryAttempts, "A message is tried at most %s times."),
		lasts("DeliveryRetry", DeliveryRetry, "The second attempt follows the first after %s. Each further pause is twice as long."),
		lasts("DeliveryRetryLongest", DeliveryRetryLongest, "The pause between two attempts, and that of a failing destination, is at most %s."),
		lasts("DeliveryRetryAfter", DeliveryRetryAfter, "A destination can ask for a pause (`Retry-After`) of at most %s."),
		lasts("DeliveryThrottled", DeliveryThrottled, "An answer of 429 does not count as an attempt until the message is %s old."),
		count("DeliveryBreaker", DeliveryBreaker, "%s failures in a row pause a destination."),
		count("DeliveryRefusals", DeliveryRefusals, "%s refusals in a row disable a destination; so does one answer of 410."),
		count("DeliverySends", DeliverySends, "An organization has at most %s messages under way at once."),
		count("DeliveryDestinationSends", DeliveryDestinationSends, "A destination has at most %s messages under way at once."),
	}
}
