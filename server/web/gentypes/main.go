// Command gentypes writes what the web application takes from the contract, into server/web/ui/src/gen: api.ts has the types of the calls,
// as Connect sends them in JSON; limits.ts has the bounds that the sources name; choices.ts has the aggregations of the query language.
package main

import (
	"bytes"
	"fmt"
	"log"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/svc-observability/svc/server/contract"
)

const sources = "server/web/ui/src"

func main() {
	c, err := contract.Load()
	if err != nil {
		log.Fatal(err)
	}
	bounds, err := bounds(c.Methods(), os.DirFS(sources))
	if err != nil {
		log.Fatal(err)
	}
	for name, text := range map[string][]byte{"api.ts": source(c.Methods()), "limits.ts": bounds, "choices.ts": aggregations()} {
		if err := os.WriteFile(filepath.Join(sources, "gen", name), text, 0o600); err != nil {
			log.Fatal(err)
		}
	}
}

func source(methods []*contract.Method) []byte {
	var b bytes.Buffer
	b.WriteString("// Written by server/web/gentypes. Do not edit.\n\n")
	calls := map[string]string{}
	messages := map[protoreflect.FullName]protoreflect.MessageDescriptor{}
	for _, m := range methods {
		in, answer := m.Descriptor.Input(), m.Descriptor.Output()
		reach(in, messages)
		reach(answer, messages)
		key := string(m.Descriptor.Parent().Name()) + "/" + string(m.Descriptor.Name())
		calls[key] = fmt.Sprintf("  %q: [%s, %s];\n", key, in.Name(), answer.Name())
	}
	b.WriteString("/** The request and the answer of each method. */\nexport interface Calls {\n")
	for _, key := range slices.Sorted(maps.Keys(calls)) {
		b.WriteString(calls[key])
	}
	b.WriteString("}\n")
	for _, name := range slices.Sorted(maps.Keys(messages)) {
		m := messages[name]
		fmt.Fprintf(&b, "\nexport interface %s {\n", m.Name())
		for i := range m.Fields().Len() {
			f := m.Fields().Get(i)
			fmt.Fprintf(&b, "  %s?: %s;\n", f.JSONName(), typeOf(f))
		}
		b.WriteString("}\n")
	}
	return b.Bytes()
}

// reach adds a message of the API and all messages that it holds.
func reach(m protoreflect.MessageDescriptor, into map[protoreflect.FullName]protoreflect.MessageDescriptor) {
	if m.FullName().Parent() != contract.Package || into[m.FullName()] != nil || m.IsMapEntry() {
		return
	}
	into[m.FullName()] = m
	for i := range m.Fields().Len() {
		f := m.Fields().Get(i)
		if f.IsMap() {
			f = f.MapValue()
		}
		if f.Message() != nil {
			reach(f.Message(), into)
		}
	}
}

func typeOf(f protoreflect.FieldDescriptor) string {
	switch {
	case f.IsMap():
		return "Record<string, " + single(f.MapValue()) + ">"
	case f.IsList():
		return "Array<" + single(f) + ">"
	default:
		return single(f)
	}
}

func single(f protoreflect.FieldDescriptor) string {
	switch f.Kind() {
	case protoreflect.BoolKind:
		return "boolean"
	case protoreflect.StringKind:
		return choices(f)
	case protoreflect.EnumKind, protoreflect.BytesKind, protoreflect.Int64Kind, protoreflect.Uint64Kind, protoreflect.Sint64Kind,
		protoreflect.Fixed64Kind, protoreflect.Sfixed64Kind:
		return "string"
	case protoreflect.MessageKind, protoreflect.GroupKind:
		return messageType(f.Message())
	case protoreflect.Int32Kind, protoreflect.Sint32Kind, protoreflect.Uint32Kind, protoreflect.Sfixed32Kind, protoreflect.Fixed32Kind,
		protoreflect.FloatKind, protoreflect.DoubleKind:
		return "number"
	default:
		return "unknown"
	}
}

func messageType(m protoreflect.MessageDescriptor) string {
	switch m.FullName() {
	case "google.protobuf.Timestamp", "google.protobuf.Duration", "google.protobuf.FieldMask":
		return "string"
	case "google.protobuf.Struct":
		return "Record<string, unknown>"
	case "google.protobuf.ListValue":
		return "Array<unknown>"
	case "google.protobuf.Value":
		return "unknown"
	default:
		return string(m.Name())
	}
}

// choices is the type of a text: the texts that a request or an answer can have, or any.
func choices(f protoreflect.FieldDescriptor) string {
	allowed, shown := contract.Choices(f)
	texts := slices.Concat(allowed, shown)
	if len(texts) == 0 {
		return "string"
	}
	var quoted []string
	for _, text := range texts {
		if q := strconv.Quote(text); !slices.Contains(quoted, q) {
			quoted = append(quoted, q)
		}
	}
	return strings.Join(quoted, " | ")
}
