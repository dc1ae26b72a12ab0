package rpc

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/types/known/fieldmaskpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/contract"
)

func TestCompleteMask(t *testing.T) {
	c, err := contract.Load()
	if err != nil {
		t.Fatal(err)
	}
	m, ok := c.ByProcedure("/svc.v2.AttributeMappingsService/UpdateAttributeMapping")
	if !ok {
		t.Fatal("the method is gone: choose another update")
	}
	name, blank := "new", ""
	mask := func(paths ...string) *fieldmaskpb.FieldMask { return &fieldmaskpb.FieldMask{Paths: paths} }
	for title, test := range map[string]struct {
		req   *svcv2.UpdateAttributeMappingRequest
		want  []string
		param string
	}{
		"no mask: what is set": {
			&svcv2.UpdateAttributeMappingRequest{Id: "amap_1", Name: &name, SourceKey: &blank},
			[]string{"name", "source_key"},
			"",
		},
		"nothing set":                    {&svcv2.UpdateAttributeMappingRequest{Id: "amap_1"}, nil, ""},
		"an empty mask changes nothing":  {&svcv2.UpdateAttributeMappingRequest{Name: &name, UpdateMask: mask()}, nil, ""},
		"a mask":                         {&svcv2.UpdateAttributeMappingRequest{Name: &name, UpdateMask: mask("name")}, []string{"name"}, ""},
		"an unknown field":               {&svcv2.UpdateAttributeMappingRequest{UpdateMask: mask("nam")}, nil, "update_mask"},
		"the id":                         {&svcv2.UpdateAttributeMappingRequest{UpdateMask: mask("id")}, nil, "update_mask"},
		"the mask itself":                {&svcv2.UpdateAttributeMappingRequest{UpdateMask: mask("update_mask")}, nil, "update_mask"},
		"a field that cannot be cleared": {&svcv2.UpdateAttributeMappingRequest{UpdateMask: mask("name")}, nil, "name"},
	} {
		err := completeMask(m, test.req.ProtoReflect())
		var e *apierr.Error
		switch {
		case test.param != "":
			if !errors.As(err, &e) || e.Tag != apierr.InvalidRequest || e.Param != test.param {
				t.Errorf("%s: %v, want a refusal of %s", title, err, test.param)
			}
		case err != nil:
			t.Errorf("%s: %v", title, err)
		default:
			if diff := cmp.Diff(test.want, test.req.GetUpdateMask().GetPaths()); diff != "" {
				t.Errorf("%s (-want +got):\n%s", title, diff)
			}
			if len(test.want) == 0 && test.req.Name != nil && title != "nothing set" {
				t.Errorf("%s: a field that is not to change was left in the request", title)
			}
		}
	}
}

// TestMaskKeepsPrecondition checks that a mask neither needs nor may name the condition of a change, and does not clear it.
func TestMaskKeepsPrecondition(t *testing.T) {
	c, err := contract.Load()
	if err != nil {
		t.Fatal(err)
	}
	m, ok := c.ByProcedure("/svc.v2.DashboardsService/UpdateDashboard")
	if !ok {
		t.Fatal("the method is gone: choose another update with a condition")
	}
	for _, mask := range []*fieldmaskpb.FieldMask{nil, {Paths: []string{"name"}}} {
		req := &svcv2.UpdateDashboardRequest{Name: new("n"), ExpectedUpdatedAt: &timestamppb.Timestamp{Seconds: 1}, UpdateMask: mask}
		if err := completeMask(m, req.ProtoReflect()); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{"name"}, req.GetUpdateMask().GetPaths()); diff != "" || req.GetExpectedUpdatedAt() == nil {
			t.Errorf("mask %v: condition %v, paths (-want +got):\n%s", mask, req.GetExpectedUpdatedAt(), diff)
		}
	}
	req := &svcv2.UpdateDashboardRequest{UpdateMask: &fieldmaskpb.FieldMask{Paths: []string{"expected_updated_at"}}}
	if err := completeMask(m, req.ProtoReflect()); err == nil {
		t.Error("the condition can be named as a change")
	}
}
