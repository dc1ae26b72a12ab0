package openapi_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"buf.build/gen/go/bufbuild/protovalidate/protocolbuffers/go/buf/validate"
	"github.com/google/uuid"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/dynamicpb"

	optionsv1 "github.com/svc-observability/svc/gen/svc/options/v1"
	"github.com/svc-observability/svc/server/publicid"
	"github.com/svc-observability/svc/server/wirejson"
)

// TestAnswersFit writes random answers of every operation with the encoder of the server and validates them against the document.
// Null, absent and empty values must occur where the document allows them. Values follow the options of their fields.
func TestAnswersFit(t *testing.T) {
	root, err := jsonschema.UnmarshalJSON(bytes.NewReader(write(t)))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	compiler.DefaultDraft(jsonschema.Draft2020)
	compiler.AssertFormat()
	if err := compiler.AddResource("https://document/", root); err != nil {
		t.Fatal(err)
	}
	for _, m := range load(t).Methods() {
		if m.NoREST {
			continue
		}
		t.Run(m.OperationID, func(t *testing.T) {
			path := strings.NewReplacer("/", "~1", "{", "%7B", "}", "%7D").Replace(m.HTTP.Path)
			s, err := compiler.Compile("https://document/#/paths/" + path + "/" + strings.ToLower(m.HTTP.Method) +
				"/responses/200/content/application~1json/schema")
			if err != nil {
				t.Fatal(err)
			}
			kind, err := protoregistry.GlobalTypes.FindMessageByName(m.Descriptor.Output().FullName())
			if err != nil {
				t.Fatal(err)
			}
			for seed := range uint64(40) {
				message := kind.New()
				fill(message, rand.New(rand.NewPCG(seed, 1)), 0)
				text, err := wirejson.Marshal(message.Interface())
				if err != nil {
					t.Fatal(err)
				}
				v, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
				if err != nil {
					t.Fatal(err)
				}
				if field := m.HTTP.ResponseField; field != "" {
					v = v.(map[string]any)[field]
				}
				if err := s.Validate(v); err != nil {
					t.Fatalf("seed %d: %v\n%s", seed, err, text)
				}
			}
		})
	}
}

// fill sets fields at random. It sets a field that can be unset half of the time.
func fill(m protoreflect.Message, r *rand.Rand, depth int) {
	for i := range m.Descriptor().Fields().Len() {
		f := m.Descriptor().Fields().Get(i)
		rules, _ := proto.GetExtension(f.Options(), validate.E_Field).(*validate.FieldRules)
		optional := f.HasPresence() && !rules.GetRequired()
		if optional && (r.IntN(2) == 0 || depth > 4) {
			continue
		}
		switch {
		case f.IsMap():
			for n := range r.IntN(3) {
				key := protoreflect.ValueOfString(fmt.Sprint("key", n)).MapKey()
				if f.MapValue().Message() != nil {
					v := m.Mutable(f).Map().NewValue()
					fill(v.Message(), r, depth+1)
					m.Mutable(f).Map().Set(key, v)
				} else {
					m.Mutable(f).Map().Set(key, scalarValue(f.MapValue(), rules.GetMap().GetValues(), r))
				}
			}
		case f.IsList():
			least := int(rules.GetRepeated().GetMinItems())
			for range least + r.IntN(3) {
				if f.Message() != nil {
					v := m.Mutable(f).List().NewElement()
					fillValue(v.Message(), r, depth+1)
					m.Mutable(f).List().Append(v)
				} else {
					m.Mutable(f).List().Append(scalarValue(f, rules.GetRepeated().GetItems(), r))
				}
				if rules.GetRepeated().GetUnique() {
					break // a second one could be the same
				}
			}
		case f.Message() != nil:
			fillValue(m.Mutable(f).Message(), r, depth+1)
		default:
			m.Set(f, scalarValue(f, rules, r))
		}
	}
}

func fillValue(m protoreflect.Message, r *rand.Rand, depth int) {
	fields := m.Descriptor().Fields()
	switch m.Descriptor().FullName() {
	case "google.protobuf.Timestamp":
		m.Set(fields.ByName("seconds"), protoreflect.ValueOfInt64(r.Int64N(4e9)))
		m.Set(fields.ByName("nanos"), protoreflect.ValueOfInt32([]int32{0, 5e8, 123_456_000, 1}[r.IntN(4)]))
	case "google.protobuf.Value":
		m.Set(fields.ByName("number_value"), protoreflect.ValueOfFloat64(r.Float64()))
	case "google.protobuf.Struct", "google.protobuf.ListValue": // empty ones
	default:
		fill(m, r, depth)
	}
}

// scalarValue returns a value that the field's options allow in answers.
func scalarValue(f protoreflect.FieldDescriptor, rules *validate.FieldRules, r *rand.Rand) protoreflect.Value {
	spec, _ := proto.GetExtension(f.Options(), optionsv1.E_Field).(*optionsv1.FieldSpec)
	in := rules.GetString().GetIn()
	switch f.Kind() {
	case protoreflect.BoolKind:
		return protoreflect.ValueOfBool(r.IntN(2) == 0)
	case protoreflect.EnumKind:
		return protoreflect.ValueOfEnum(f.Enum().Values().Get(r.IntN(f.Enum().Values().Len())).Number())
	case protoreflect.StringKind:
		switch {
		case len(spec.GetValues()) > 0:
			return protoreflect.ValueOfString(spec.GetValues()[r.IntN(len(spec.GetValues()))])
		case len(in) > 0:
			return protoreflect.ValueOfString(in[r.IntN(len(in))])
		case spec.GetIdPrefix() != "":
			return protoreflect.ValueOfString(publicid.Encode(spec.GetIdPrefix(), uuid.New()))
		case spec.GetExample() != "":
			return protoreflect.ValueOfString(spec.GetExample())
		}
		return protoreflect.ValueOfString("some text")
	}
	v := f.Default() // zero, of the right kind
	if f.IsList() {  // which a list does not have
		v = dynamicpb.NewMessage(f.ContainingMessage()).NewField(f).List().NewElement()
	}
	if spec.GetExample() != "" {
		if read, err := wirejson.ParseScalar(f, spec.GetExample()); err == nil {
			v = read
		}
	} else if rules.GetInt32().GetGte() > 0 {
		v = protoreflect.ValueOfInt32(rules.GetInt32().GetGte())
	}
	return v
}
