package wirejson

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/fieldmaskpb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
)

func TestUpdateMask(t *testing.T) {
	name, off := "new", false
	for text, want := range map[string]*svcv2.UpdateAttributeMappingRequest{
		`{}`: {UpdateMask: &fieldmaskpb.FieldMask{}},
		`{"name":"new","enabled":false}`: {
			Name: &name, Enabled: &off, UpdateMask: &fieldmaskpb.FieldMask{Paths: []string{"name", "enabled"}},
		},
	} {
		got := &svcv2.UpdateAttributeMappingRequest{}
		if err := Unmarshal([]byte(text), got); err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if diff := cmp.Diff(want, got, protocmp.Transform()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
	}
	for text, path := range map[string]string{
		`{"name":null}`:                         "name", // not clearable
		`{"update_mask":"name","name":"x"}`:     "update_mask",
		`{"update_mask":{"paths":["name"]}}`:    "update_mask",
		`{"name":"a","name":"b"}`:               "name",
		`{"source_context":"span","nam":"abc"}`: "nam",
	} {
		err := Unmarshal([]byte(text), &svcv2.UpdateAttributeMappingRequest{})
		var bad *DecodeError
		if !errors.As(err, &bad) || bad.Path() != path {
			t.Errorf("%s: %v, want a problem at %s", text, err, path)
		}
	}
	// A written message does not contain its mask.
	text, err := Marshal(&svcv2.UpdateAttributeMappingRequest{Name: &name, UpdateMask: &fieldmaskpb.FieldMask{Paths: []string{"name"}}})
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"id":"","name":"new","source_context":null,"source_key":null,"target_key":null,"operation":null,"enabled":null}`; string(text) != want {
		t.Errorf("written as %s, want %s", text, want)
	}
}

// TestPrecondition checks that a precondition field is read, and that the mask does not name it.
func TestPrecondition(t *testing.T) {
	got := &svcv2.UpdateDashboardRequest{}
	if err := Unmarshal([]byte(`{"description":null,"expected_updated_at":"2026-01-01T00:00:00Z"}`), got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"description"}, got.GetUpdateMask().GetPaths()); diff != "" || got.GetExpectedUpdatedAt() == nil {
		t.Errorf("condition %v, mask (-want +got):\n%s", got.GetExpectedUpdatedAt(), diff)
	}
}
