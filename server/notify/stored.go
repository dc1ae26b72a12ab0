package notify

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/svc-observability/svc/server/store"
)

// Errors of a stored destination.
var (
	// ErrConfig means that the stored settings cannot be read.
	ErrConfig = errors.New("the stored settings of the destination cannot be read")
	// ErrSecret means that the stored secret cannot be opened.
	ErrSecret = errors.New("the stored secret of the destination cannot be opened")
)

// Stored reads a row without its secrets. The error is ErrConfig.
func Stored(row store.AlertDestination) (Destination, error) {
	d := Destination{Org: row.Org, ID: row.ID, Name: row.Name, Type: row.Type}
	if err := json.Unmarshal(row.Config, &d.Config); err != nil {
		return d, fmt.Errorf("notify: destination %s: %w: %w", row.ID, ErrConfig, err)
	}
	return d, nil
}

// Open reads a row with its secrets. The error is ErrConfig or ErrSecret.
func Open(row store.AlertDestination, seals Seals) (*Destination, error) {
	d, err := Stored(row)
	if err != nil {
		return nil, err
	}
	if row.Secret == nil {
		return &d, nil
	}
	plain, err := seals.Open(row.Secret, d.place())
	if err != nil {
		return nil, fmt.Errorf("notify: destination %s: %w: %w", row.ID, ErrSecret, err)
	}
	if err := json.Unmarshal(plain, &d.Secrets); err != nil {
		return nil, fmt.Errorf("notify: destination %s: %w", row.ID, ErrSecret) // the cause would hold a part of the secret
	}
	return &d, nil
}
