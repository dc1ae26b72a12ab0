// Package storeerr turns an id that cannot be read, and a failure of the store, into an error of the contract.
package storeerr

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

// Resource describes the errors of one kind of resource in the store.
type Resource struct {
	// Prefix begins its public ids. ID is its name with an article, as in "an API key".
	Prefix, ID string
	// NotFound is for ids that the organization does not have. An id of another organization and an unknown id give the same
	// answer.
	NotFound Answer
	// Taken is for a value that must be unique and that another resource has. The tag says which field it is. It is zero if nothing is
	// unique.
	Taken Answer
	// Unavailable is for every failure that the caller did not cause.
	Unavailable Answer
	// Invalid is the tag for input that breaks a rule of the store; zero if the store has no such rule.
	Invalid apierr.Tag
}

// Answer is a tag with its message.
type Answer struct {
	Tag     apierr.Tag
	Message string
}

// Target returns the caller, and the id in the request's field `id`.
func (r Resource) Target(ctx context.Context, id string) (*principal.Principal, uuid.UUID, error) {
	caller, err := principal.Caller(ctx)
	if err != nil {
		return nil, uuid.Nil, err
	}
	key, err := r.Decode("id", id)
	return caller, key, err
}

// Decode reads the id in a field of the request.
func (r Resource) Decode(field, id string) (uuid.UUID, error) {
	key, err := publicid.Decode(r.Prefix, id)
	if err != nil {
		return uuid.Nil, apierr.New(apierr.InvalidRequest, fmt.Sprintf("%s is not the id of %s: %v.", field, r.ID, err), apierr.Param(field))
	}
	return key, nil
}

// Failure returns the error of the contract for an error of the store, or of a function that the store called.
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
	case errors.Is(err, store.ErrConflict) && r.Taken.Tag != 0:
		return apierr.New(r.Taken.Tag, r.Taken.Message, apierr.Cause(err))
	case ctx.Err() != nil:
		return apierr.From(ctx.Err())
	default:
		return apierr.New(r.Unavailable.Tag, r.Unavailable.Message, apierr.Cause(err))
	}
}

// Invalid names every field of an input that breaks a rule.
func Invalid(tag apierr.Tag, err *store.InvalidError) error {
	first := err.Violations[0]
	all := make([]apierr.Violation, len(err.Violations))
	for i, v := range err.Violations {
		all[i] = apierr.Violation{Field: v.Field, Message: v.Reason}
	}
	return apierr.New(tag, fmt.Sprintf("`%s` %s.", first.Field, first.Reason), apierr.Param(first.Field), apierr.Violations(all...))
}
