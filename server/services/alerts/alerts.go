// Package alerts answers the methods of alerts: destinations with their test messages, and deliveries.
package alerts

import (
	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/publicid"
	"github.com/svc-observability/svc/server/storeerr"
)

// unavailable is the answer to every failure of the store.
func unavailable() storeerr.Answer {
	return storeerr.Answer{Tag: apierr.AlertPersistence, Message: "Alerts cannot be read or changed at the moment. Try again."}
}

// destination describes the errors of an alert destination.
func destination() storeerr.Resource {
	return storeerr.Resource{
		Prefix: publicid.AlertDestination, ID: "an alert destination", Invalid: apierr.AlertValidation, Unavailable: unavailable(),
		NotFound: storeerr.Answer{Tag: apierr.AlertDestinationNotFound, Message: "This organization has no such alert destination."},
	}
}
