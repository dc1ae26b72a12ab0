// Package refusal gives what a service refuses its error of the contract: an id that is none, and what the store says of a call.
package refusal

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/publicid"
	"github.com/svc-observability/svc/server/store"
)

// Resource is what the errors of one kind of thing in the store have in common.
type Resource struct {
	// Prefix is that of its public ids; ID says whose they are, as in "an API key".
	Prefix, ID string
	// NotFound is for ids that the organization does not have: those of others and unknown ones give the same answer.
	NotFound Answer
	// Unavailable is for everything that is not the caller's fault.
	Unavailable Answer
	// Invalid is the tag of input that breaks a rule of the store, when there is such input.
	Invalid apierr.Tag
}

// Answer is a tag with its message.
type Answer struct {
	Tag     apierr.Tag
	Message string
}

// Target returns the caller and the id that the field `id` of the request names.
func (r Resource) Target(ctx context.Context, id string) (*principal.Principal, uuid.UUID, error) {
	caller, err := principal.Caller(ctx)
	if err != nil {
		return nil, uuid.Nil, err
	}
	key, err := r.Decode("id", id)
	return caller, key, err
}

// Decode reads the id that a field of the request holds.
func (r Resource) Decode(field, id string) (uuid.UUID, error) {
	key, err := publicid.Decode(r.Prefix, id)
	if err != nil {
		return uuid.Nil, apierr.New(apierr.InvalidRequest, fmt.Sprintf("%s is not the id of %s: %v.", field, r.ID, err), apierr.Param(field))
	}
	return key, nil
}

// Failure is the error for what the store, or a function that the store called, returned.
func (r Resource) Failure(ctx context.Context, err error) error {
	var known *apierr.Error
	var invalid *store.InvalidError
	switch {
	case errors.As(err, &known):
		return known
	case errors.As(err, &invalid) && r.Invalid != 0:
		return Invalid(r.Invalid, invalid)
	case errors.Is(err, store.ErrNotFound) && r.NotFound.Tag != 0:
		return apierr.New(r.NotFound.Tag, r.NotFound.Message, apierr.Param("id"), apierr.Cause(err))
	case ctx.Err() != nil:
		return apierr.From(ctx.Err())
	default:
		return apierr.New(r.Unavailable.Tag, r.Unavailable.Message, apierr.Cause(err))
	}
}

// Invalid tells what is wrong with an input, and names every field.
func Invalid(tag apierr.Tag, err *store.InvalidError) error {
	first := err.Violations[0]
	all := make([]apierr.Violation, len(err.Violations))
	for i, v := range err.Violations {
		all[i] = apierr.Violation{Field: v.Field, Message: v.Reason}
	}
	return apierr.New(tag, fmt.Sprintf("`%s` %s.", first.Field, first.Reason), apierr.Param(first.Field), apierr.Violations(all...))
}
