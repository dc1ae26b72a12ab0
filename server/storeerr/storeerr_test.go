package storeerr_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/publicid"
	"github.com/svc-observability/svc/server/store"
	"github.com/svc-observability/svc/server/storeerr"
)

func keys() storeerr.Resource {
	return storeerr.Resource{
		Prefix: publicid.IngestKey, ID: "an ingest key", Invalid: apierr.IngestKeyValidation,
		NotFound:    storeerr.Answer{Tag: apierr.IngestKeyNotFound, Message: "No such key."},
		Unavailable: storeerr.Answer{Tag: apierr.IngestKeyPersistence, Message: "Not now."},
	}
}

func TestFailure(t *testing.T) {
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	known := apierr.New(apierr.ParameterInvalid, "said already", apierr.Param("name"))
	invalid := &store.InvalidError{Violations: []store.Violation{
		{Field: "name", Reason: "must not be empty"},
		{Field: "expires_at", Reason: "is past"},
	}}
	without := keys()
	without.Invalid, without.NotFound = 0, storeerr.Answer{}
	unique := keys()
	unique.Taken = storeerr.Answer{Tag: apierr.IngestAttributeMappingValidation, Message: "Taken."}
	for name, tc := range map[string]struct {
		ctx      context.Context
		resource storeerr.Resource
		err      error
		tag      apierr.Tag
		param    string
		message  string
	}{
		"known":              {t.Context(), keys(), fmt.Errorf("edit: %w", known), apierr.ParameterInvalid, "name", "said already"},
		"known, caller gone": {gone, keys(), known, apierr.ParameterInvalid, "name", "said already"},
		"invalid": {
			t.Context(), keys(), fmt.Errorf("create: %w", invalid), apierr.IngestKeyValidation, "name",
			"`name` must not be empty.",
		},
		"no tag for invalid":   {t.Context(), without, invalid, apierr.IngestKeyPersistence, "", "Not now."},
		"not found":            {t.Context(), keys(), fmt.Errorf("get: %w", store.ErrNotFound), apierr.IngestKeyNotFound, "id", "No such key."},
		"no tag for not found": {t.Context(), without, store.ErrNotFound, apierr.IngestKeyPersistence, "", "Not now."},
		"taken": {
			t.Context(), unique, fmt.Errorf("create: %w", store.ErrConflict), apierr.IngestAttributeMappingValidation, "",
			"Taken.",
		},
		"no tag for taken": {t.Context(), keys(), store.ErrConflict, apierr.IngestKeyPersistence, "", "Not now."},
		"caller gone": {
			gone, keys(), errors.New("interrupted"), apierr.RequestCanceled, "",
			"The caller ended the request before the answer was ready.",
		},
		"anything else": {t.Context(), keys(), errors.New("disk I/O error"), apierr.IngestKeyPersistence, "", "Not now."},
	} {
		t.Run(name, func(t *testing.T) {
			var got *apierr.Error
			if !errors.As(tc.resource.Failure(tc.ctx, tc.err), &got) || got.Tag != tc.tag || got.Param != tc.param || got.Message != tc.message {
				t.Errorf("%+v", got)
			}
			if name == "invalid" && !cmp.Equal(got.Violations, []apierr.Violation{
				{Field: "name", Message: "must not be empty"},
				{Field: "expires_at", Message: "is past"},
			}) {
				t.Errorf("violations %v", got.Violations)
			}
		})
	}
}

func TestTarget(t *testing.T) {
	id := uuid.New()
	public := publicid.Encode(publicid.IngestKey, id)
	if _, _, err := keys().Target(t.Context(), public); err == nil {
		t.Error("a call without a caller has a target")
	}
	caller := &principal.Principal{Org: "org_a"}
	ctx := principal.WithResult(t.Context(), principal.Result{Principal: caller})
	if p, key, err := keys().Target(ctx, public); err != nil || p != caller || key != id {
		t.Errorf("%v, %v, %v", p, key, err)
	}
	for _, bad := range []string{"", "ingk_", publicid.Encode(publicid.APIKey, id)} {
		_, _, err := keys().Target(ctx, bad)
		var e *apierr.Error
		if !errors.As(err, &e) || e.Tag != apierr.InvalidRequest || e.Param != "id" {
			t.Errorf("%q: %v", bad, err)
		}
	}
}
