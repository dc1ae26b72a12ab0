package rpc

import (
	"fmt"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/fieldmaskpb"

	optionsv1 "github.com/svc-observability/svc/gen/svc/options/v1"
	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/contract"
	"github.com/svc-observability/svc/server/wirejson"
)

// completeMask makes the update_mask of a request name exactly the fields that change, so that a service only has to walk it. A
// request without a mask changes the fields that it sets (AIP-134). A field that the mask names and the request does not set is
// cleared. That is refused, unless the field is clearable, or is a list or a map.
func completeMask(m *contract.Method, msg protoreflect.Message) error {
	field := msg.Descriptor().Fields().ByName("update_mask")
	if field == nil || !wirejson.IsUpdateMask(field) {
		return nil
	}
	names := msg.Descriptor().Fields()
	changeable := func(f protoreflect.FieldDescriptor) bool {
		if f == nil || f == field || m.HTTP.Source(string(f.Name())) != contract.InBody {
			return false
		}
		spec, _ := proto.GetExtension(f.Options(), optionsv1.E_Field).(*optionsv1.FieldSpec)
		return !spec.GetPrecondition()
	}
	if !msg.Has(field) {
		var mask fieldmaskpb.FieldMask
		for i := range names.Len() {
			if f := names.Get(i); changeable(f) && msg.Has(f) {
				mask.Paths = append(mask.Paths, string(f.Name()))
			}
		}
		msg.Set(field, protoreflect.ValueOfMessage(mask.ProtoReflect()))
		return nil
	}
	mask, _ := msg.Get(field).Message().Interface().(*fieldmaskpb.FieldMask)
	named := map[string]bool{}
	for _, path := range mask.GetPaths() {
		f := names.ByName(protoreflect.Name(path))
		if !changeable(f) {
			return apierr.New(apierr.InvalidRequest, fmt.Sprintf("`update_mask` names `%s`, which cannot be changed.", path),
				apierr.Param("update_mask"))
		}
		named[path] = true
		if msg.Has(f) || f.IsList() || f.IsMap() || !f.HasPresence() {
			continue
		}
		if spec, _ := proto.GetExtension(f.Options(), optionsv1.E_Field).(*optionsv1.FieldSpec); !spec.GetClearable() {
			return apierr.New(apierr.InvalidRequest, fmt.Sprintf("`%s` cannot be cleared.", path), apierr.Param(path))
		}
	}
	for i := range names.Len() {
		if f := names.Get(i); changeable(f) && msg.Has(f) && !named[string(f.Name())] {
			msg.Clear(f) // a field that does not change must not break a rule
		}
	}
	return nil
}
