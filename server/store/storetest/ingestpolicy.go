package storetest

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/store"
)

func testAttributeMappings(t *testing.T, f *fixture) {
	ctx := t.Context()
	org, _ := f.org(t)
	other, _ := f.org(t)
	changes, unsubscribe := watch(f)
	create := func(in store.NewAttributeMapping) store.AttributeMapping {
		t.Helper()
		m, err := f.CreateAttributeMapping(ctx, org, in)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	first := create(store.NewAttributeMapping{
		Name: " a ", SourceContext: store.AttributeMappingSourceContextSpan, SourceKey: " x ",
		TargetKey: " y ", Operation: store.AttributeMappingOperationMove,
	})
	want := store.AttributeMapping{
		ID: first.ID, Org: org, Name: "a", SourceContext: "span", SourceKey: "x", TargetKey: "y", Operation: "move", Enabled: true,
		CreatedAt: f.now().UTC(), UpdatedAt: f.now().UTC(),
	}
	if diff := cmp.Diff(want, first); diff != "" {
		t.Errorf("created (-want +got):\n%s", diff)
	}
	// Created at the same time. The key of a resource may keep its name, because the target is elsewhere.
	second := create(store.NewAttributeMapping{
		Name: "b", SourceContext: store.AttributeMappingSourceContextResource, SourceKey: "z",
		TargetKey: "z", Operation: store.AttributeMappingOperationCopy, Enabled: new(false),
	})
	f.advance(time.Second)
	want.Enabled, want.TargetKey, want.UpdatedAt = false, "w", f.now().UTC()
	for range 2 { // the second changes nothing
		got, err := f.EditAttributeMapping(ctx, org, first.ID, store.AttributeMappingEdit{Enabled: store.Set(false), TargetKey: store.Set("w ")})
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("edited: %v (-want +got):\n%s", err, diff)
		}
		f.advance(time.Second)
	}
	if list, err := f.ListAttributeMappings(ctx, org); err != nil || !cmp.Equal([]store.AttributeMapping{want, second}, list) {
		t.Errorf("list: %v %s", err, cmp.Diff([]store.AttributeMapping{want, second}, list))
	}
	for name, tc := range map[string]struct {
		edit store.AttributeMappingEdit
		want string
	}{
		"name": {store.AttributeMappingEdit{Name: store.Set("")}, "name must not be empty"},
		"source": {
			store.AttributeMappingEdit{SourceContext: store.Set(store.AttributeMappingSourceContext("log"))},
			`source_context must be one of span, resource, not "log"`,
		},
		"source key": {store.AttributeMappingEdit{SourceKey: store.Set(" ")}, "source_key must not be empty"},
		"long key": {
			store.AttributeMappingEdit{TargetKey: store.Set(strings.Repeat("ä", limits.MappingKeyLength+1))},
			"target_key has 201 characters; at most 200 are allowed",
		},
		"target": {store.AttributeMappingEdit{TargetKey: store.Set("")}, "target_key must not be empty"},
		"same": {
			store.AttributeMappingEdit{TargetKey: store.Set(" x")},
			"target_key must differ from source_key when source_context is span",
		},
		"reserved": {
			store.AttributeMappingEdit{TargetKey: store.Set("Svc_a")},
			"target_key is reserved: names that begin with svc_, and org_id, are written by the server",
		},
		"operation": {
			store.AttributeMappingEdit{Operation: store.Set(store.AttributeMappingOperation("swap"))},
			`operation must be one of copy, move, not "swap"`,
		},
	} {
		_, err := f.EditAttributeMapping(ctx, org, first.ID, tc.edit)
		wantInvalid(t, name, err, tc.want)
	}
	_, err := f.CreateAttributeMapping(ctx, org, store.NewAttributeMapping{})
	wantInvalid(t, "create", err, `name must not be empty; source_key must not be empty; target_key must not be empty; `+
		`source_context must be one of span, resource, not ""; operation must be one of copy, move, not ""`)
	_, err = f.CreateAttributeMapping(ctx, "org_none", store.NewAttributeMapping{
		Name: "n", SourceContext: "span", SourceKey: "a",
		TargetKey: "b", Operation: "copy",
	})
	wantError(t, err, store.ErrNotFound)

	_, err = f.GetAttributeMapping(ctx, other, first.ID)
	wantError(t, err, store.ErrNotFound)
	_, err = f.EditAttributeMapping(ctx, other, first.ID, store.AttributeMappingEdit{Enabled: store.Set(true)})
	wantError(t, err, store.ErrNotFound)
	wantError(t, f.DeleteAttributeMapping(ctx, other, first.ID), store.ErrNotFound)
	wantError(t, f.DeleteAttributeMapping(ctx, org, uuid.New()), store.ErrNotFound)
	if got, err := f.GetAttributeMapping(ctx, org, first.ID); err != nil || got != want {
		t.Errorf("another organization changed it: %v %s", err, cmp.Diff(want, got))
	}
	if list, err := f.ListAttributeMappings(ctx, other); err != nil || len(list) != 0 {
		t.Errorf("the other organization lists %d, %v", len(list), err)
	}
	if err := f.DeleteAttributeMapping(ctx, org, first.ID); err != nil {
		t.Error(err)
	}
	_, err = f.GetAttributeMapping(ctx, org, first.ID)
	wantError(t, err, store.ErrNotFound)
	change := store.Change{Subject: store.SubjectIngestPolicy, Org: org}
	expect(t, changes, unsubscribe, change, change, change, change)
}

func testSamplingPolicies(t *testing.T, f *fixture) {
	ctx := t.Context()
	org, _ := f.org(t)
	other, _ := f.org(t)
	check := func(want store.SamplingPolicy) {
		t.Helper()
		got, err := f.GetSamplingPolicy(ctx, org)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%v (-want +got):\n%s", err, diff)
		}
	}
	check(store.DefaultSamplingPolicy())
	changes, unsubscribe := watch(f)
	if err := f.ResetSamplingPolicy(ctx, org); err != nil {
		t.Error(err)
	}
	created := f.now().UTC()
	for _, tc := range []struct {
		in   store.SamplingPolicyParams
		want float64
	}{
		{store.SamplingPolicyParams{TraceSampleRatio: 0.25, AlwaysKeepSlowSpansMS: new(int64(1500))}, 0.25},
		{store.SamplingPolicyParams{TraceSampleRatio: -3, AlwaysKeepErrorSpans: true}, 1e-6},
		{store.SamplingPolicyParams{TraceSampleRatio: 7, AlwaysKeepSlowSpansMS: new(int64(1))}, 1},
	} {
		want := store.SamplingPolicy{
			TraceSampleRatio: tc.want, AlwaysKeepErrorSpans: tc.in.AlwaysKeepErrorSpans, AlwaysKeepSlowSpansMS: tc.in.AlwaysKeepSlowSpansMS,
			CreatedAt: &created, UpdatedAt: new(f.now().UTC()),
		}
		if got, err := f.PutSamplingPolicy(ctx, org, tc.in); err != nil || !cmp.Equal(want, got) {
			t.Errorf("put: %v %s", err, cmp.Diff(want, got))
		}
		check(want)
		f.advance(time.Minute)
	}
	if got, err := f.GetSamplingPolicy(ctx, other); err != nil || !cmp.Equal(store.DefaultSamplingPolicy(), got) {
		t.Errorf("the other organization has %+v, %v", got, err)
	}
	if err := f.ResetSamplingPolicy(ctx, other); err != nil {
		t.Error(err)
	}
	if err := f.ResetSamplingPolicy(ctx, org); err != nil {
		t.Error(err)
	}
	check(store.DefaultSamplingPolicy())
	change := store.Change{Subject: store.SubjectIngestPolicy, Org: org}
	expect(t, changes, unsubscribe, change, change, change, change)
	_, err := f.PutSamplingPolicy(ctx, org, store.SamplingPolicyParams{TraceSampleRatio: math.NaN(), AlwaysKeepSlowSpansMS: new(int64(0))})
	wantInvalid(t, "put", err, "trace_sample_ratio must be a number from 1e-06 to 1; always_keep_slow_spans_ms must be from 1 to 604800000 "+
		"milliseconds, or null to keep none for its duration")
	_, err = f.PutSamplingPolicy(ctx, "org_none", store.SamplingPolicyParams{TraceSampleRatio: 1})
	wantError(t, err, store.ErrNotFound)
}

func testIngestPolicy(t *testing.T, f *fixture) {
	ctx := t.Context()
	org, _ := f.org(t)
	other, _ := f.org(t)
	mapping := func(name string, disabled bool) store.AttributeMapping {
		t.Helper()
		m, err := f.CreateAttributeMapping(ctx, org, store.NewAttributeMapping{
			Name: name, SourceContext: "resource", SourceKey: "a", TargetKey: "b", Operation: "copy", Enabled: new(!disabled),
		})
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	want := store.IngestPolicy{Mappings: []store.AttributeMapping{mapping("one", false)}, Sampling: store.DefaultSamplingPolicy()}
	mapping("off", true)
	want.Mappings = append(want.Mappings, mapping("two", false))
	check := func(want store.IngestPolicy) {
		t.Helper()
		got, err := f.IngestPolicy(ctx, org)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%v (-want +got):\n%s", err, diff)
		}
	}
	check(want)
	plan, err := f.PutPlan(ctx, org, store.PlanParams{
		Name: "pro", Active: true,
		Limits: []store.PlanLimit{{Signal: "logs", Items: new(int64(1))}},
	})
	if err != nil {
		t.Fatal(err)
	}
	want.Plan = &plan
	if want.Sampling, err = f.PutSamplingPolicy(ctx, org, store.SamplingPolicyParams{TraceSampleRatio: 0.5}); err != nil {
		t.Fatal(err)
	}
	check(want)
	got, err := f.IngestPolicy(ctx, other)
	if diff := cmp.Diff(store.IngestPolicy{Mappings: []store.AttributeMapping{}, Sampling: store.DefaultSamplingPolicy()}, got); err != nil ||
		diff != "" {
		t.Errorf("the other organization: %v (-want +got):\n%s", err, diff)
	}
}
