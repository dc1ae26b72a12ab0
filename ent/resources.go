//go:build ignore

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/format"
	"os"
	"regexp"
	"slices"
	"strings"
	"text/template"

	"entgo.io/ent/entc"
	"entgo.io/ent/entc/gen"

	"github.com/svc-observability/svc/ent/schema"
)

// resource is the data of the templates for a schema with the annotation schema.Resource or schema.Row.
type resource struct {
	*gen.Type
	// Subject is the store's constant for changes of the resource. It is empty if no cache holds the resource.
	Subject string
	row     schema.Row
}

// All returns the fields of the store's struct, besides the id.
func (r resource) All() (fields []field) {
	for _, f := range r.Fields {
		fields = append(fields, field{f, r})
	}
	return fields
}

// Own returns the fields that callers choose: all fields except the organization, and the times and users of changes, which the store
// writes.
func (r resource) Own() (fields []field) {
	for _, f := range r.All() {
		if !slices.Contains([]string{"org_id", "created_at", "created_by", "updated_at", "updated_by"}, f.Name) {
			fields = append(fields, f)
		}
	}
	return fields
}

// Has reports whether there is a field of this name.
func (r resource) Has(name string) bool {
	return slices.ContainsFunc(r.Fields, func(f *gen.Field) bool { return f.Name == name })
}

// Taken says when a write fails with ErrConflict. It is empty if nothing is unique in an organization.
func (r resource) Taken() string {
	for _, i := range r.Indexes {
		if i.Unique && len(i.Columns) == 2 && i.Columns[0] == "org_id" {
			return "another " + r.Noun() + " of the organization has this " + strings.ReplaceAll(i.Columns[1], "_", " ")
		}
	}
	return ""
}

// Mutable returns the fields that an edit may change.
func (r resource) Mutable() (fields []field) {
	for _, f := range r.Own() {
		if !f.Immutable {
			fields = append(fields, f)
		}
	}
	return fields
}

// Enums returns the fields with a fixed set of values that get a type of their own.
func (r resource) Enums() (fields []field) {
	for _, f := range r.All() {
		if f.IsEnum() && r.row.Types[f.Name] == "" {
			fields = append(fields, f)
		}
	}
	return fields
}

// Get, Lock and Event are the chosen parts of a schema.Row.
func (r resource) Get() bool   { return r.row.Get }
func (r resource) Lock() bool  { return r.row.Lock }
func (r resource) Event() bool { return r.row.Event }

// Object is the name of the resource in the API, as in attribute_mapping.
func (r resource) Object() string { return gen.Funcs["snake"].(func(string) string)(r.Name) }

// Noun is the name of the resource in sentences, as in "attribute mapping".
func (r resource) Noun() string {
	if r.row.Noun != "" {
		return r.row.Noun
	}
	return strings.ReplaceAll(r.Object(), "_", " ")
}

// Article returns the noun with its indefinite article.
func (r resource) Article() string {
	if strings.ContainsRune("aeiouA", rune(r.Noun()[0])) {
		return "an " + r.Noun()
	}
	return "a " + r.Noun()
}

// field is a column and its place in the store's struct.
type field struct {
	*gen.Field
	of resource
}

// Go is its name in the store's struct.
func (f field) Go() string {
	if name := f.of.row.Names[f.Name]; name != "" {
		return name
	}
	switch f.Name {
	case "org_id":
		return "Org"
	case "user_id":
		return "User"
	}
	return f.StructField()
}

// Plain is its Go type in the store's struct.
func (f field) Plain() string {
	typ := f.Type.String()
	switch chosen := f.of.row.Types[f.Name]; {
	case chosen != "":
		return chosen
	case f.Name == "org_id":
		return "principal.OrgID"
	case f.Name == "user_id":
		return "principal.UserID"
	case strings.HasSuffix(f.Name, "_by") && typ == "string":
		typ = "principal.UserID"
	case f.IsEnum():
		typ = f.of.Name + f.StructField()
	}
	if f.Nillable && !f.fallsBack() {
		return "*" + typ
	}
	return typ
}

// emptyIsNull reports whether a column that can be NULL is a plain value in the struct.
func (f field) emptyIsNull() bool {
	return f.Nillable && !f.IsTime() && !strings.HasPrefix(f.Plain(), "*")
}

// fallsBack reports whether the column is NULL until the first change. The struct then has the time of creation.
func (f field) fallsBack() bool { return f.Nillable && f.Name == "updated_at" }

// Unread reports whether reads leave it out.
func (f field) Unread() bool { return slices.Contains(f.of.row.Unread, f.Name) }

// FromRow is the expression that converts the column of row.
func (f field) FromRow() string {
	value := "row." + f.StructField()
	switch plain := f.Plain(); {
	case f.fallsBack():
		return "utc(*cmp.Or(" + value + ", &row.CreatedAt))"
	case f.IsTime() && f.Nillable:
		return "utcPtr(" + value + ")"
	case f.IsTime():
		return "utc(" + value + ")"
	case f.emptyIsNull():
		return convert(plain, "string", "orZero("+value+")")
	default:
		return convert(plain, f.ent(), value)
	}
}

// ToRow is the expression that converts the field of a struct to the column.
func (f field) ToRow(from string) string {
	value := from + "." + f.Go()
	switch plain := f.Plain(); {
	case f.IsTime() && f.Nillable:
		return "utcPtr(" + value + ")"
	case f.IsTime():
		return "utc(" + value + ")"
	case f.emptyIsNull():
		return "nonZero(" + convert("string", plain, value) + ")"
	default:
		return convert(f.ent(), plain, value)
	}
}

// ent is the Go type of the column in the ent client.
func (f field) ent() string {
	typ := f.Type.String()
	if f.Nillable {
		typ = "*" + typ
	}
	return typ
}

// convert is a conversion, or the value itself if the types are the same.
func convert(to, from, value string) string {
	switch {
	case to == from:
		return value
	case strings.HasPrefix(to, "*"):
		return "(" + to + ")(" + value + ")"
	default:
		return to + "(" + value + ")"
	}
}

// plain reports an error if a generated API method could not handle a type.
func (r resource) plain() error {
	for _, f := range r.Own() {
		if !f.IsEnum() && !f.IsString() && !f.IsBool() && !f.IsTime() && !f.Type.Numeric() {
			return fmt.Errorf("%s.%s: resources have text, booleans, numbers, times and enums; use the annotation Row and write the methods by hand",
				r.Name, f.Name)
		}
	}
	return nil
}

// packages are the imports that templates may use. writeFile keeps the used ones.
var packages = []string{
	"cmp", "context", "encoding/json", "fmt", "reflect", "time", "",
	"entgo.io/ent/dialect", "github.com/google/uuid", "google.golang.org/protobuf/types/known/timestamppb", "",
	"github.com/svc-observability/svc/ent", "github.com/svc-observability/svc/ent/schema", "svcv2 github.com/svc-observability/svc/gen/svc/v2",
	"github.com/svc-observability/svc/server/paging", "github.com/svc-observability/svc/server/principal",
	"github.com/svc-observability/svc/server/publicid", "github.com/svc-observability/svc/server/store",
}

// imports is the import declaration of a file with this body.
func imports(body, own string) string {
	out := "import (\n"
	for _, p := range append(packages, own) {
		name, path, renamed := strings.Cut(p, " ")
		if !renamed {
			name, path = p[strings.LastIndex(p, "/")+1:], p
		}
		switch {
		case p == "":
			out += "\n"
		case !regexp.MustCompile(`\b` + name + `\.[A-Z]`).MatchString(body):
		case renamed:
			out += fmt.Sprintf("%s %q\n", name, path)
		default:
			out += fmt.Sprintf("%q\n", path)
		}
	}
	return out + ")\n"
}

// writeResources renders a template for each annotation of each entity. The names of the template and the entity give the name of the file.
func writeResources(cfg *gen.Config) error {
	graph, err := entc.LoadGraph("./schema", cfg)
	if err != nil {
		return err
	}
	templates, err := template.New("").Funcs(gen.Funcs).ParseGlob("template/*.tmpl")
	if err != nil {
		return err
	}
	for _, node := range graph.Nodes {
		r := resource{Type: node}
		own := "github.com/svc-observability/svc/ent/" + node.Package()
		var files map[string]string
		if annotation, ok := node.Annotations["Resource"].(map[string]any); ok {
			r.Subject, _ = annotation["Subject"].(string)
			if err := r.plain(); err != nil {
				return err
			}
			plural := gen.Funcs["plural"].(func(string) string)(node.Package())
			if err := os.MkdirAll("../server/services/"+plural, 0o755); err != nil {
				return err
			}
			files = map[string]string{"store.tmpl": "../server/store/%s_gen.go", "service.tmpl": "../server/services/" + plural + "/methods_gen.go"}
		} else if annotation, ok := node.Annotations["Row"]; ok {
			text, err := json.Marshal(annotation)
			if err != nil {
				return err
			}
			if err := json.Unmarshal(text, &r.row); err != nil {
				return err
			}
			files = map[string]string{"row.tmpl": "../server/store/%s_gen.go"}
		}
		for name, path := range files {
			if err := writeFile(templates.Lookup(name), r, own, strings.ReplaceAll(path, "%s", strings.ToLower(node.Name))); err != nil {
				return err
			}
		}
	}
	return nil
}

func writeFile(t *template.Template, r resource, own, path string) error {
	var b bytes.Buffer
	if err := t.Execute(&b, r); err != nil {
		return err
	}
	head, body, _ := strings.Cut(b.String(), "// imports\n")
	out, err := format.Source([]byte(head + imports(body, own) + body))
	if err != nil {
		return fmt.Errorf("%s of %s: %w\n%s", t.Name(), r.Name, err, body)
	}
	return os.WriteFile(path, out, 0o644)
}
