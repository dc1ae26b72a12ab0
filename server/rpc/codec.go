package rpc

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	optionsv1 "github.com/svc-observability/svc/gen/svc/options/v1"
	"github.com/svc-observability/svc/server/apierr"
)

// codecs read and write the messages of every protocol on the API address.
func codecs() []connect.HandlerOption {
	return []connect.HandlerOption{
		connect.WithCodec(codec{name: "proto", marshal: proto.MarshalOptions{}.MarshalAppend, unmarshal: readBinary}),
		connect.WithCodec(codec{name: "json", marshal: protojson.MarshalOptions{}.MarshalAppend, unmarshal: readJSON}),
		connect.WithCodec(codec{name: "json; charset=utf-8", marshal: protojson.MarshalOptions{}.MarshalAppend, unmarshal: readJSON}),
	}
}

// codec never fails to read. If it did, connect would send its own error without our ErrorDetail, and no interceptor would see it.
// Instead, a message that cannot be read carries its failure to the chain: see unread. Both forms refuse a field that the message
// does not have.
type codec struct {
	name      string
	marshal   func([]byte, proto.Message) ([]byte, error)
	unmarshal func([]byte, proto.Message) error
}

// Name is the subtype in the content type.
func (c codec) Name() string { return c.name }

// Marshal writes a message.
func (c codec) Marshal(message any) ([]byte, error) { return c.MarshalAppend(nil, message) }

// MarshalAppend appends a message to dst.
func (c codec) MarshalAppend(dst []byte, message any) ([]byte, error) {
	m, ok := message.(proto.Message)
	if !ok {
		return nil, fmt.Errorf("rpc: %T is not a protobuf message", message)
	}
	return c.marshal(dst, m)
}

// Unmarshal reads a message, or leaves its failure in it.
func (c codec) Unmarshal(data []byte, message any) error {
	m, ok := message.(proto.Message)
	if !ok {
		return fmt.Errorf("rpc: %T is not a protobuf message", message)
	}
	if err := c.unmarshal(data, m); err != nil {
		leave(m, apierr.From(err))
	}
	return nil
}

func readBinary(data []byte, m proto.Message) error {
	name := m.ProtoReflect().Descriptor().FullName()
	if err := proto.Unmarshal(data, m); err != nil {
		reason := "it is not valid protobuf"
		if strings.Contains(err.Error(), "invalid UTF-8") {
			reason = "a text field is not valid UTF-8"
		}
		return apierr.New(apierr.InvalidRequest, fmt.Sprintf("The message cannot be read as %s: %s.", name, reason), apierr.Cause(err))
	}
	if holder, number := unknownField(m.ProtoReflect()); number != 0 {
		return apierr.New(apierr.InvalidRequest, fmt.Sprintf("%s has no field with the number %d.", holder, number))
	}
	return nil
}

// unknownField finds the first field, at any depth, that is not in the descriptor.
func unknownField(m protoreflect.Message) (holder protoreflect.FullName, number protowire.Number) {
	if unknown := m.GetUnknown(); len(unknown) > 0 {
		number, _, _ := protowire.ConsumeTag(unknown)
		return m.Descriptor().FullName(), max(number, 1)
	}
	eachMessage(m, func(_ string, inner protoreflect.Message) bool {
		holder, number = unknownField(inner)
		return number == 0
	})
	return holder, number
}

// eachMessage calls fn for each message that is a field of m, with its path from m, until fn returns false.
func eachMessage(m protoreflect.Message, fn func(path string, inner protoreflect.Message) bool) {
	m.Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		name := string(f.Name())
		switch {
		case f.IsMap():
			if f.MapValue().Message() == nil {
				return true
			}
			more := true
			v.Map().Range(func(k protoreflect.MapKey, v protoreflect.Value) bool {
				more = fn(fmt.Sprintf("%s[%q]", name, k.String()), v.Message())
				return more
			})
			return more
		case f.Message() == nil:
			return true
		case f.IsList():
			for i := range v.List().Len() {
				if !fn(fmt.Sprintf("%s[%d]", name, i), v.List().Get(i).Message()) {
					return false
				}
			}
			return true
		default:
			return fn(name, v.Message())
		}
	})
}

// These patterns read the errors of protojson that name a field or a place. Callers get our words, not its texts.
var (
	jsonUnknown   = regexp.MustCompile(`unknown field "([^"]*)"`)
	jsonDuplicate = regexp.MustCompile(`duplicate field "([^"]*)"`)
	jsonType      = regexp.MustCompile(`invalid value for [\w.]+ field (\w+):`)
	jsonPlace     = regexp.MustCompile(`\(line (\d+:\d+)\)`)
)

func readJSON(data []byte, m proto.Message) error {
	d := m.ProtoReflect().Descriptor()
	if len(data) == 0 {
		return apierr.New(apierr.InvalidRequest, "The message is empty. Send a JSON object: `{}` if no field is set.")
	}
	if err := (protojson.UnmarshalOptions{}).Unmarshal(data, m); err != nil {
		text := strings.ToValidUTF8(err.Error(), "\uFFFD")
		for _, known := range []struct {
			pattern *regexp.Regexp
			message string
		}{
			{jsonUnknown, "`%s` is not a known field."}, {jsonDuplicate, "`%s` is given twice."}, {jsonType, "`%s` holds a value of another type."},
		} {
			if found := known.pattern.FindStringSubmatch(text); found != nil {
				return apierr.New(apierr.InvalidRequest, fmt.Sprintf(known.message, found[1]), apierr.Param(found[1]), apierr.Cause(err))
			}
		}
		place := ""
		if found := jsonPlace.FindStringSubmatch(text); found != nil {
			place = ", at line and column " + found[1]
		}
		return apierr.New(apierr.InvalidRequest, fmt.Sprintf("The message cannot be read as JSON of %s%s.", d.FullName(), place),
			apierr.Cause(err))
	}
	if field := emptyList(data, d); field != "" {
		return apierr.New(apierr.InvalidRequest, fmt.Sprintf("`%s` must not be an empty list. Leave it out instead.", field), apierr.Param(field))
	}
	return nil
}

// emptyList finds an explicit empty list where an empty list would mean "not given": `"scopes": []` must not make a key that may do
// everything. Only JSON tells the two apart.
func emptyList(data []byte, d protoreflect.MessageDescriptor) string {
	var object map[string]json.RawMessage
	if json.Unmarshal(data, &object) != nil {
		return ""
	}
	for i := range d.Fields().Len() {
		f := d.Fields().Get(i)
		name := f.JSONName()
		value, ok := object[name]
		if !ok {
			name = string(f.Name())
			value, ok = object[name]
		}
		switch {
		case !ok:
		case f.IsList():
			var list []json.RawMessage
			spec, _ := proto.GetExtension(f.Options(), optionsv1.E_Field).(*optionsv1.FieldSpec)
			if spec.GetNullWhenEmpty() && json.Unmarshal(value, &list) == nil && list != nil && len(list) == 0 {
				return name
			}
		case f.Message() != nil && !f.IsMap():
			if inner := emptyList(value, f.Message()); inner != "" {
				return name + "." + inner
			}
		}
	}
	return ""
}

// failureField is the number of the unknown field that holds a failure. A caller cannot send it, because every unknown field is
// refused.
const failureField = protowire.MaxValidNumber

// leave empties a message that cannot be read, and stores the failure in it.
func leave(m proto.Message, failure *apierr.Error) {
	proto.Reset(m)
	detail, err := proto.Marshal(&optionsv1.ErrorDetail{
		Tag: apierr.Spec(failure.Tag).GetTag(), Message: failure.Message, Param: failure.Param,
	})
	if err != nil {
		detail = nil // the failure then has no message
	}
	m.ProtoReflect().SetUnknown(protowire.AppendBytes(protowire.AppendTag(nil, failureField, protowire.BytesType), detail))
}

// unread returns the failure that the codec stored in a message; nil if the message was read.
func unread(m proto.Message) error {
	unknown := m.ProtoReflect().GetUnknown()
	number, kind, n := protowire.ConsumeTag(unknown)
	if number != failureField || kind != protowire.BytesType {
		return nil
	}
	text, _ := protowire.ConsumeBytes(unknown[n:])
	var detail optionsv1.ErrorDetail
	if err := proto.Unmarshal(text, &detail); err != nil {
		return fmt.Errorf("read the failure of a message: %w", err)
	}
	tag, ok := apierr.Lookup(detail.GetTag())
	if !ok {
		tag = apierr.InvalidRequest
	}
	return apierr.New(tag, detail.GetMessage(), apierr.Param(detail.GetParam()))
}
