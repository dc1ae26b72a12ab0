package contract_test

import (
	"strings"
	"testing"

	"google.golang.org/genproto/googleapis/api/annotations"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/descriptorpb"

	optionsv1 "github.com/svc-observability/svc/gen/svc/options/v1"
	"github.com/svc-observability/svc/server/contract"
)

// TestNewRefuses breaks one method of the real contract at a time.
func TestNewRefuses(t *testing.T) {
	spec := func(change func(*optionsv1.MethodSpec)) func(*descriptorpb.MethodDescriptorProto) {
		return func(m *descriptorpb.MethodDescriptorProto) {
			s, _ := proto.GetExtension(m.Options, optionsv1.E_Method).(*optionsv1.MethodSpec)
			s = proto.CloneOf(s)
			change(s)
			proto.SetExtension(m.Options, optionsv1.E_Method, s)
		}
	}
	route := func(rule *annotations.HttpRule) func(*descriptorpb.MethodDescriptorProto) {
		return func(m *descriptorpb.MethodDescriptorProto) { proto.SetExtension(m.Options, annotations.E_Http, rule) }
	}
	get := func(path string) *annotations.HttpRule {
		return &annotations.HttpRule{Pattern: &annotations.HttpRule_Get{Get: path}}
	}
	for _, c := range []struct {
		name, method string
		spoil        func(*descriptorpb.MethodDescriptorProto)
		want         string
	}{
		{
			"no policy", "GetApiKey", func(m *descriptorpb.MethodDescriptorProto) { proto.ClearExtension(m.Options, optionsv1.E_Method) },
			"svc.v2.ApiKeysService.GetApiKey: it has no (svc.options.v1.method) option",
		},
		{"no operation id", "GetApiKey", spec(func(s *optionsv1.MethodSpec) { s.OperationId = "" }), "operation_id is empty"},
		{
			"operation id taken", "GetApiKey", spec(func(s *optionsv1.MethodSpec) { s.OperationId = "listApiKeys" }),
			`operation id "listApiKeys" is taken by`,
		},
		{"no family", "GetApiKey", spec(func(s *optionsv1.MethodSpec) { s.Family = "" }), "family is empty"},
		{
			"family of another path", "GetApiKey", spec(func(s *optionsv1.MethodSpec) { s.Family = "traces" }),
			`family "traces" is not the first segment of /v2/api_keys/{id}`,
		},
		{"no access", "GetApiKey", spec(func(s *optionsv1.MethodSpec) { s.Access = 0 }), "access is not said"},
		{
			"a GET that writes", "GetApiKey", spec(func(s *optionsv1.MethodSpec) { s.Access = optionsv1.Access_ACCESS_WRITE }),
			"a GET asks for the write scope",
		},
		{
			"public and for admins", "RollApiKey", spec(func(s *optionsv1.MethodSpec) { s.Public = true }),
			"it is public and asks for a credential at once",
		},
		{
			"unknown error", "GetApiKey", spec(func(s *optionsv1.MethodSpec) { s.Errors = append(s.Errors, "NoSuchError") }),
			`error "NoSuchError" is not in svc.v2.ErrorTag`,
		},
		{
			"error twice", "GetApiKey", spec(func(s *optionsv1.MethodSpec) { s.Errors = append(s.Errors, "ApiKeyNotFoundError") }),
			`error "ApiKeyNotFoundError" is listed twice`,
		},
		{
			"admin without its error", "GetApiKey", spec(func(s *optionsv1.MethodSpec) { s.Role = optionsv1.Role_ROLE_ORG_ADMIN }),
			"must list InsufficientPermissionsError",
		},
		{"query without its error", "ListApiKeys", spec(func(s *optionsv1.MethodSpec) { s.Errors = nil }), "must list ParameterInvalidError"},
		{
			"required query without its error", "ListServices", spec(func(s *optionsv1.MethodSpec) { s.Errors = []string{"ParameterInvalidError"} }),
			"must list ParameterMissingError",
		},
		{
			"no route", "GetApiKey", func(m *descriptorpb.MethodDescriptorProto) { proto.ClearExtension(m.Options, annotations.E_Http) },
			"it has no (google.api.http) route",
		},
		{"no_rest with a route", "GetApiKey", spec(func(s *optionsv1.MethodSpec) { s.NoRest = true }), "it says no_rest and has a"},
		{"route elsewhere", "GetApiKey", route(get("/v3/api_keys/{id}")), "route /v3/api_keys/{id} is not under /v2"},
		{"route taken", "GetApiKey", route(get("/v2/api_keys")), "route GET /v2/api_keys is taken by"},
		{"route taken, parameter of another name", "GetTrace", func(m *descriptorpb.MethodDescriptorProto) {
			route(get("/v2/api_keys/{trace_id}"))(m)
			spec(func(s *optionsv1.MethodSpec) { s.Family = "api_keys" })(m)
		}, "is taken by"},
		{"unknown path parameter", "GetApiKey", route(get("/v2/api_keys/{key}")), `path parameter "key" is not a field of the request`},
		{"unknown body field", "CreateApiKey", route(&annotations.HttpRule{
			Pattern: &annotations.HttpRule_Post{Post: "/v2/api_keys"},
			Body:    "key",
		}), `body "key" is not a field of the request`},
		{"custom method", "GetApiKey", route(&annotations.HttpRule{Pattern: &annotations.HttpRule_Custom{Custom: &annotations.CustomHttpPattern{Kind: "HEAD", Path: "/v2/api_keys/{id}"}}}), "has no method that REST serves"},
		{"two routes", "GetApiKey", route(&annotations.HttpRule{
			Pattern:            &annotations.HttpRule_Get{Get: "/v2/api_keys/{id}"},
			AdditionalBindings: []*annotations.HttpRule{get("/v2/api_keys/x/{id}")},
		}), "additional_bindings"},
		{"streaming", "GetApiKey", func(m *descriptorpb.MethodDescriptorProto) { m.ServerStreaming = proto.Bool(true) }, "it streams"},
	} {
		t.Run(c.name, func(t *testing.T) {
			set := image(t)
			spoiled := false
			for _, f := range set.File {
				for _, s := range f.Service {
					for _, m := range s.Method {
						if m.GetName() == c.method {
							c.spoil(m)
							spoiled = true
						}
					}
				}
			}
			if !spoiled {
				t.Fatalf("the image has no method %s", c.method)
			}
			got, err := contract.New(set)
			if err == nil {
				t.Fatalf("accepted: %d methods", len(got.Methods()))
			}
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %q, want %q in it", err, c.want)
			}
		})
	}
}

func TestNewRefusesAnUncommentedMethod(t *testing.T) {
	set := image(t)
	for _, f := range set.File {
		f.SourceCodeInfo = nil
	}
	if _, err := contract.New(set); err == nil || !strings.Contains(err.Error(), "its comment needs a summary") {
		t.Errorf("got %v", err)
	}
}

func TestNewRefusesAnEmptyImage(t *testing.T) {
	if _, err := contract.New(&descriptorpb.FileDescriptorSet{}); err == nil {
		t.Error("a contract without methods was accepted")
	}
}
