//go:build ignore

package main

import (
	"bytes"
	"fmt"
	"go/format"
	"os"
	"path/filepath"
	"strings"
	"text/template"

	"entgo.io/ent/entc"
	"entgo.io/ent/entc/gen"
)

// resource is the data of the templates for a schema with the annotation schema.Resource.
type resource struct {
	*gen.Type
	// Subject is the store's constant for changes of the resource. It is empty if no cache holds the resource.
	Subject string
}

// Own returns the fields that callers choose: all fields except the organization and the times that the store writes.
func (r resource) Own() (fields []*gen.Field) {
	for _, f := range r.Fields {
		if f.Name != "org_id" && f.Name != "created_at" && f.Name != "updated_at" {
			fields = append(fields, f)
		}
	}
	return fields
}

// Mutable returns the fields that an edit may change.
func (r resource) Mutable() (fields []*gen.Field) {
	for _, f := range r.Own() {
		if !f.Immutable {
			fields = append(fields, f)
		}
	}
	return fields
}

// Enums returns the fields with a fixed set of values.
func (r resource) Enums() []*gen.Field { return r.EnumFields() }

// Object is the name of the resource in the API, as in attribute_mapping.
func (r resource) Object() string { return gen.Funcs["snake"].(func(string) string)(r.Name) }

// Noun is the name of the resource in sentences, as in "attribute mapping".
func (r resource) Noun() string { return strings.ReplaceAll(r.Object(), "_", " ") }

// Article returns the noun with its indefinite article.
func (r resource) Article() string {
	if strings.ContainsRune("aeiou", rune(r.Noun()[0])) {
		return "an " + r.Noun()
	}
	return "a " + r.Noun()
}

// Plain is the Go type of a field in the store.
func (r resource) Plain(f *gen.Field) string {
	typ := f.Type.String()
	switch {
	case f.IsEnum():
		typ = r.Name + f.StructField()
	case !f.IsString() && !f.IsBool() && !f.IsTime() && !f.Type.Numeric():
		panic(fmt.Sprintf("%s.%s: resources have text, booleans, numbers, times and enums; write this one by hand", r.Name, f.Name))
	}
	if f.Nillable {
		return "*" + typ
	}
	return typ
}

// writeResources renders a template for each resource. The names of the template and the resource give the name of the file.
func writeResources(cfg *gen.Config) error {
	graph, err := entc.LoadGraph("./schema", cfg)
	if err != nil {
		return err
	}
	for _, file := range []struct{ template, path string }{
		{"template/store.tmpl", "../server/store/%s_gen.go"},
		{"template/service.tmpl", "../server/services/%ss/methods_gen.go"},
	} {
		t, err := template.New(filepath.Base(file.template)).Funcs(gen.Funcs).ParseFiles(file.template)
		if err != nil {
			return err
		}
		for _, node := range graph.Nodes {
			annotation, ok := node.Annotations["Resource"].(map[string]any)
			if !ok {
				continue
			}
			subject, _ := annotation["Subject"].(string)
			var b bytes.Buffer
			if err := t.Execute(&b, resource{Type: node, Subject: subject}); err != nil {
				return err
			}
			out, err := format.Source(b.Bytes())
			if err != nil {
				return fmt.Errorf("%s of %s: %w\n%s", file.template, node.Name, err, b.String())
			}
			if err := os.WriteFile(fmt.Sprintf(file.path, strings.ToLower(node.Name)), out, 0o644); err != nil {
				return err
			}
		}
	}
	return nil
}
