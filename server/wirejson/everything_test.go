package wirejson_test

import (
	"testing"

	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"

	_ "google.golang.org/protobuf/types/known/durationpb" // refused by the codec, as a test shows
	_ "google.golang.org/protobuf/types/known/structpb"
	_ "google.golang.org/protobuf/types/known/timestamppb"
)

// everything describes a message with each kind of field that the API's own messages do not use yet.
const everything = `
name: "test/everything.proto" package: "test" syntax: "editions" edition: EDITION_2023
dependency: "google/protobuf/duration.proto"
options { features { field_presence: IMPLICIT } }
enum_type { name: "Color" options { features { enum_type: OPEN } } value { name: "NONE" number: 0 } value { name: "RED" number: 1 } }
message_type {
  name: "Everything"
  field { name: "int64_field" number: 1 type: TYPE_INT64 label: LABEL_OPTIONAL }
  field { name: "uint64_field" number: 2 type: TYPE_UINT64 label: LABEL_OPTIONAL }
  field { name: "uint32_field" number: 3 type: TYPE_UINT32 label: LABEL_OPTIONAL }
  field { name: "float_field" number: 4 type: TYPE_FLOAT label: LABEL_OPTIONAL }
  field { name: "double_field" number: 5 type: TYPE_DOUBLE label: LABEL_OPTIONAL }
  field { name: "bytes_field" number: 6 type: TYPE_BYTES label: LABEL_OPTIONAL }
  field { name: "color" number: 7 type: TYPE_ENUM type_name: ".test.Color" label: LABEL_OPTIONAL }
  field { name: "left" number: 8 type: TYPE_STRING label: LABEL_OPTIONAL oneof_index: 0 }
  field { name: "right" number: 9 type: TYPE_INT32 label: LABEL_OPTIONAL oneof_index: 0 }
  field { name: "counts" number: 10 type: TYPE_MESSAGE type_name: ".test.Everything.CountsEntry" label: LABEL_REPEATED }
  field { name: "child" number: 11 type: TYPE_MESSAGE type_name: ".test.Everything" label: LABEL_OPTIONAL }
  field { name: "children" number: 12 type: TYPE_MESSAGE type_name: ".test.Everything" label: LABEL_REPEATED }
  field { name: "duration" number: 13 type: TYPE_MESSAGE type_name: ".google.protobuf.Duration" label: LABEL_OPTIONAL }
  oneof_decl { name: "side" }
  nested_type {
    name: "CountsEntry"
    field { name: "key" number: 1 type: TYPE_INT32 label: LABEL_OPTIONAL }
    field { name: "value" number: 2 type: TYPE_INT64 label: LABEL_OPTIONAL }
    options { map_entry: true }
  }
}`

func newEverything(t testing.TB) *dynamicpb.Message {
	t.Helper()
	file := &descriptorpb.FileDescriptorProto{}
	if err := prototext.Unmarshal([]byte(everything), file); err != nil {
		t.Fatal(err)
	}
	f, err := protodesc.NewFile(file, protoregistry.GlobalFiles)
	if err != nil {
		t.Fatal(err)
	}
	return dynamicpb.NewMessage(f.Messages().Get(0))
}

// everythingOf reads prototext.
func everythingOf(t testing.TB, text string) proto.Message {
	t.Helper()
	m := newEverything(t)
	if err := prototext.Unmarshal([]byte(text), m); err != nil {
		t.Fatal(err)
	}
	return m
}
