package contract_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/contract"
	"github.com/svc-observability/svc/server/golden"
)

func load(t *testing.T) *contract.Contract {
	t.Helper()
	c, err := contract.Load()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestPolicy compares the policy of all methods with a golden file. Its difference shows a reviewer who may newly call what.
func TestPolicy(t *testing.T) {
	var policy strings.Builder
	fmt.Fprintf(&policy, "# operation · method · route · scope · role · tools · errors beyond the common ones\n")
	fmt.Fprintf(&policy, "# common: %s\n", names(contract.Common()))
	for _, m := range load(t).Methods() {
		route, scope, role, tools := m.HTTP.Method+" "+m.HTTP.Path, strings.Join(m.Scopes(), ","), "any role", "no tool"
		switch {
		case m.NoREST:
			route = "no route"
		case m.HTTP.BodyField != "":
			route += " body=" + m.HTTP.BodyField
		}
		if m.Public {
			scope, role = "public", "nobody in particular"
		} else if m.AnyScope {
			scope = "any scope"
		}
		if m.Admin {
			role = "admin"
		}
		if len(m.MCPTools) > 0 {
			tools = strings.Join(m.MCPTools, ",")
		}
		fmt.Fprintf(&policy, "%s · %s · %s · %s · %s · %s · %s\n", m.OperationID, m.FullName, route, scope, role, tools, names(m.Extra))
	}
	golden.Compare(t, "policy.golden", policy.String())
}

func names(tags []apierr.Tag) string {
	list := make([]string, len(tags))
	for i, tag := range tags {
		list[i] = contract.ErrorName(tag)
	}
	return strings.Join(list, " ")
}

// TestImageIsCurrent compares the embedded image with the generated code: both come from `make generate`.
func TestImageIsCurrent(t *testing.T) {
	c := load(t)
	var services []string
	protoregistry.GlobalFiles.RangeFilesByPackage(contract.Package, func(f protoreflect.FileDescriptor) bool {
		for i := range f.Services().Len() {
			services = append(services, string(f.Services().Get(i).FullName()))
		}
		return true
	})
	slices.Sort(services)
	if diff := cmp.Diff(services, c.Services()); diff != "" {
		t.Fatalf("services (-generated code +image):\n%s", diff)
	}
	for _, m := range c.Methods() {
		generated, err := protoregistry.GlobalFiles.FindDescriptorByName(m.Descriptor.FullName())
		if err != nil {
			t.Fatal(err)
		}
		want := protodesc.ToFileDescriptorProto(generated.ParentFile())
		got := protodesc.ToFileDescriptorProto(m.Descriptor.ParentFile())
		for _, f := range []*descriptorpb.FileDescriptorProto{want, got} {
			f.SourceCodeInfo, f.Options = nil, nil // comments are in the image only, and buf manages go_package
		}
		if diff := cmp.Diff(want, got, protocmp.Transform()); diff != "" {
			t.Errorf("%s (-generated code +image): run make generate\n%s", m.FullName, diff)
		}
	}
}

func TestLookups(t *testing.T) {
	c := load(t)
	m, ok := c.ByRPC("svc.v2.ApiKeysService.RollApiKey")
	if !ok || m.OperationID != "rollApiKey" || !m.Write || !m.Admin || m.Public || m.Scope() != "api_keys:write" {
		t.Fatalf("ByRPC: %+v", m)
	}
	if m.Summary != "Roll an API key." || !strings.HasPrefix(m.Description, "Revokes the key") {
		t.Errorf("comment: %q, %q", m.Summary, m.Description)
	}
	for _, pattern := range []string{"/v2/api_keys/{id}/roll", "/v2/api_keys/{id=*}/roll", "/v2/api_keys/{other}/roll"} {
		if got, ok := c.ByHTTP("POST", pattern); !ok || got != m {
			t.Errorf("ByHTTP(%q) = %v", pattern, got)
		}
	}
	if got, ok := c.ByProcedure("/svc.v2.ApiKeysService/RollApiKey"); !ok || got != m {
		t.Errorf("ByProcedure = %v", got)
	}
	if _, ok := c.ByHTTP("GET", "/v2/api_keys/{id}/roll"); ok {
		t.Error("a route was found under another method")
	}
	if _, ok := c.ByRPC("svc.v2.ApiKeysService.NoSuchMethod"); ok {
		t.Error("a method that does not exist was found")
	}
	if got := c.Route([]string{"v2", "api_keys", "key_1", "roll"}); len(got) != 1 || got[0] != m {
		t.Errorf("Route = %v", got)
	}
	if got := c.Route([]string{"v2", "api_keys", "key_1"}); len(got) != 2 { // GET and DELETE
		t.Errorf("Route = %d methods", len(got))
	}
	if got := c.Route([]string{"v2", "nothing"}); got != nil {
		t.Errorf("Route of an unknown path = %v", got)
	}
	for _, m := range c.Methods() {
		for _, tag := range contract.Common() {
			if !m.Public && !m.AnyScope && !slices.Contains(m.Errors, tag) {
				t.Errorf("%s cannot give %v", m.FullName, tag)
			}
		}
		if !slices.IsSorted(m.Errors) {
			t.Errorf("%s: errors are not in the order of the table", m.FullName)
		}
	}
}

func TestSource(t *testing.T) {
	c := load(t)
	get, _ := c.ByRPC("svc.v2.ApiKeysService.GetApiKey")
	list, _ := c.ByRPC("svc.v2.ApiKeysService.ListApiKeys")
	create, _ := c.ByRPC("svc.v2.ApiKeysService.CreateApiKey")
	if get.HTTP.Source("id") != contract.InPath || list.HTTP.Source("limit") != contract.InQuery ||
		create.HTTP.Source("name") != contract.InBody {
		t.Error("a field is read from another place than the route says")
	}
	if name, ok := get.HTTP.PathParam(2); !ok || name != "id" {
		t.Errorf("PathParam(2) = %q, %v", name, ok)
	}
	if _, ok := get.HTTP.PathParam(9); ok {
		t.Error("a segment beyond the route is a parameter")
	}
}

// image is the descriptor set of the API, which the refusal cases modify.
func image(t *testing.T) *descriptorpb.FileDescriptorSet {
	t.Helper()
	data, err := os.ReadFile("image.binpb")
	if err != nil {
		t.Fatal(err)
	}
	set := &descriptorpb.FileDescriptorSet{}
	if err := proto.Unmarshal(data, set); err != nil {
		t.Fatal(err)
	}
	return set
}
