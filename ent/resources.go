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

// resource is what the templates of a schema with the annotation schema.Resource see.
type resource struct {
	*gen.Type
	// Subject is the constant of the store for the changes of the resource, empty if no cache holds it.
	Subject string
}

// Own are the fields that callers choose: all but the organization and the times that the store writes.
func (r resource) Own() (fields []*gen.Field) {
	for _, f := range r.Fields {
		if f.Name != "org_id" && f.Name != "created_at" && f.Name != "updated_at" {
			fields = append(fields, f)
		}
	}
	return fields
}

// Mutable are the fields that an edit may change.
func (r resource) Mutable() (fields []*gen.Field) {
	for _, f := range r.Own() {
		if !f.Immutable {
			fields = append(fields, f)
		}
	}
	return fields
}

// Enums are the fields with a few values.
func (r resource) Enums() []*gen.Field { return r.EnumFields() }

// Object is the name of the resource in the API, as in attribute_mapping.
func (r resource) Object() string { return gen.Funcs["snake"].(func(string) string)(r.Name) }

// Noun is the name of the resource in sentences, as in "attribute mapping".
func (r resource) Noun() string { return strings.ReplaceAll(r.Object(), "_", " ") }

// Article is the noun with its article.
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

// writeResources renders a template for each resource. Its file is named by the template and the resource.
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
