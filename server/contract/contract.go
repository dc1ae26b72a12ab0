// Package contract describes each method of the API: who may call it, where REST serves it, which errors it can give, and the
// text that explains it. The description is read once, at the start, from the descriptor image that `make generate` embeds. A
// method with an incomplete or contradictory description stops the start. Authorization, REST, OpenAPI and MCP all derive from
// it.
package contract

import (
	_ "embed"
	"fmt"
	"net/http"
	"slices"
	"strings"

	_ "google.golang.org/genproto/googleapis/api/annotations" // the type of the HTTP bindings, which the image refers to
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"

	optionsv1 "github.com/svc-observability/svc/gen/svc/options/v1"
	"github.com/svc-observability/svc/server/apierr"
)

//go:embed image.binpb
var image []byte

// Package is the protobuf package that holds the services of the API.
const Package = "svc.v2"

// Method is one method of the API.
type Method struct {
	// FullName is the protobuf name, `svc.v2.ApiKeysService.ListApiKeys`.
	FullName string
	// Procedure is the path on the Connect and gRPC doors, `/svc.v2.ApiKeysService/ListApiKeys`.
	Procedure string
	// OperationID is the unique name in the OpenAPI document, `listApiKeys`.
	OperationID string
	// Family is the scope family, `api_keys`.
	Family string
	// Write is true when the write scope of the family is needed, false when the read scope is enough.
	Write bool
	// Admin is true when the caller must administer the organization. RoleError is the error for other callers.
	Admin     bool
	RoleError apierr.Tag
	// Public is true when no credential is needed.
	Public bool
	// AnyScope is true when any valid credential is enough, whatever its scopes.
	AnyScope bool
	// AnyOrganization is true when a person may call the method before choosing an organization.
	AnyOrganization bool
	// AlsoReads holds other families whose read scope the caller needs, because the answer holds their data.
	AlsoReads []string
	// ReadsTelemetry is true when the method has the errors of Telemetry.
	ReadsTelemetry bool
	// IdempotencyKey is true when the method takes an Idempotency-Key. Every write by POST takes one, which covers all methods
	// that create something or make a secret. The other verbs can be repeated without harm.
	IdempotencyKey bool
	// NoREST is true when the method has no route under /v2.
	NoREST bool
	// Extra holds the errors of this method beyond the common ones. Errors holds all of them, in the order of the tag table.
	Extra  []apierr.Tag
	Errors []apierr.Tag
	// HTTP is the REST route; zero when NoREST.
	HTTP Binding
	// Summary is the first sentence of the comment, Description the paragraphs after it.
	Summary     string
	Description string
	// MCPTools names the MCP tools that are built on the method.
	MCPTools []string
	// Descriptor carries the request and answer types with their comments.
	Descriptor protoreflect.MethodDescriptor
}

// Scope is the text of the scope that a caller needs, `api_keys:read`; empty when none is needed.
func (m *Method) Scope() string {
	switch {
	case m.Public || m.AnyScope:
		return ""
	case m.Write:
		return m.Family + ":write"
	default:
		return m.Family + ":read"
	}
}

// Scopes are all scopes that a caller needs.
func (m *Method) Scopes() []string {
	own := m.Scope()
	if own == "" {
		return nil
	}
	scopes := []string{own}
	for _, family := range m.AlsoReads {
		scopes = append(scopes, family+":read")
	}
	return scopes
}

// MissingScopes are the scopes that a caller needs and does not have. The function says which access a caller has.
func (m *Method) MissingScopes(allows func(family string, write bool) bool) []string {
	if m.AnyScope {
		return nil
	}
	var missing []string
	if !allows(m.Family, m.Write) {
		missing = append(missing, m.Scope())
	}
	for _, family := range m.AlsoReads {
		if !allows(family, false) {
			missing = append(missing, family+":read")
		}
	}
	return missing
}

// Contract is every method of the API.
type Contract struct {
	methods     []*Method // by name
	byRPC       map[string]*Method
	byProcedure map[string]*Method
	byHTTP      map[string]*Method
	services    []string
}

// Load reads the embedded image.
func Load() (*Contract, error) {
	set := &descriptorpb.FileDescriptorSet{}
	if err := proto.Unmarshal(image, set); err != nil {
		return nil, fmt.Errorf("read the embedded descriptor image: %w", err)
	}
	return New(set)
}

// New reads the contract from descriptors. The error names every faulty method.
func New(set *descriptorpb.FileDescriptorSet) (*Contract, error) {
	files, err := protodesc.FileOptions{AllowUnresolvable: true}.NewFiles(set)
	if err != nil {
		return nil, fmt.Errorf("link the descriptor image: %w", err)
	}
	c := &Contract{byRPC: map[string]*Method{}, byProcedure: map[string]*Method{}, byHTTP: map[string]*Method{}}
	var problems []string
	operations := map[string]string{}
	files.RangeFilesByPackage(Package, func(f protoreflect.FileDescriptor) bool {
		for i := range f.Services().Len() {
			s := f.Services().Get(i)
			c.services = append(c.services, string(s.FullName()))
			for j := range s.Methods().Len() {
				m, faults := read(s.Methods().Get(j))
				if prior, taken := operations[m.OperationID]; taken && m.OperationID != "" {
					faults = append(faults, fmt.Sprintf("operation id %q is taken by %s", m.OperationID, prior))
				}
				operations[m.OperationID] = m.FullName
				if key := m.HTTP.Method + " " + m.HTTP.shape(); !m.NoREST && m.HTTP.Path != "" {
					if prior, taken := c.byHTTP[key]; taken {
						faults = append(faults, fmt.Sprintf("route %s %s is taken by %s", m.HTTP.Method, m.HTTP.Path, prior.FullName))
					}
					c.byHTTP[key] = m
				}
				for _, fault := range faults {
					problems = append(problems, m.FullName+": "+fault)
				}
				c.methods = append(c.methods, m)
				c.byRPC[m.FullName] = m
				c.byProcedure[m.Procedure] = m
			}
		}
		return true
	})
	known := c.Families()
	for _, m := range c.methods {
		for _, family := range m.AlsoReads {
			if family == m.Family || !slices.Contains(known, family) {
				problems = append(problems, fmt.Sprintf("%s: also_reads names %q, which is not another family", m.FullName, family))
			}
		}
	}
	if len(problems) > 0 {
		slices.Sort(problems)
		return nil, fmt.Errorf("the API contract is incomplete:\n  %s", strings.Join(problems, "\n  "))
	}
	if len(c.methods) == 0 {
		return nil, fmt.Errorf("the descriptor image holds no service of package %s", Package)
	}
	slices.SortFunc(c.methods, func(a, b *Method) int { return strings.Compare(a.FullName, b.FullName) })
	slices.Sort(c.services)
	return c, nil
}

// Methods lists every method, by name.
func (c *Contract) Methods() []*Method { return c.methods }

// Services lists the full names of the services, sorted.
func (c *Contract) Services() []string { return c.services }

// Scopes lists the scopes that a credential can be restricted to: `*`, and for each family with methods one to read and one to
// write.
func (c *Contract) Scopes() []string {
	all := []string{"*"}
	for _, m := range c.methods {
		if s := m.Scope(); s != "" && !slices.Contains(all, s) {
			all = append(all, s)
		}
	}
	slices.Sort(all)
	return all
}

// Families lists the scope families, sorted. These are the families of the methods that a scope gives access to.
func (c *Contract) Families() []string {
	var all []string
	for _, m := range c.methods {
		if m.Scope() != "" {
			all = append(all, m.Family)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// ByRPC finds a method by its protobuf name, `svc.v2.ApiKeysService.ListApiKeys`.
func (c *Contract) ByRPC(fullName string) (*Method, bool) {
	m, ok := c.byRPC[fullName]
	return m, ok
}

// ByProcedure finds a method by its path on the Connect and gRPC doors, `/svc.v2.ApiKeysService/ListApiKeys`.
func (c *Contract) ByProcedure(path string) (*Method, bool) {
	m, ok := c.byProcedure[path]
	return m, ok
}

// ByHTTP finds a method by its HTTP method and route template, `/v2/api_keys/{id}`.
func (c *Contract) ByHTTP(method, pattern string) (*Method, bool) {
	m, ok := c.byHTTP[method+" "+shape(pattern)]
	return m, ok
}

// Route finds the methods whose route template matches the segments of a path, one for each HTTP method that the path has.
func (c *Contract) Route(segments []string) []*Method {
	var found []*Method
	for _, m := range c.methods {
		if !m.NoREST && m.HTTP.matches(segments) {
			found = append(found, m)
		}
	}
	// A literal segment beats a parameter: /v2/dashboards/templates is never the dashboard `templates`.
	slices.SortStableFunc(found, func(a, b *Method) int { return len(a.HTTP.PathParams) - len(b.HTTP.PathParams) })
	return found
}

// read makes a Method from a descriptor and reports what is wrong with the descriptor.
func read(d protoreflect.MethodDescriptor) (*Method, []string) {
	service := d.Parent()
	m := &Method{
		FullName:   string(d.FullName()),
		Procedure:  "/" + string(service.FullName()) + "/" + string(d.Name()),
		Descriptor: d,
	}
	m.Summary, m.Description = comment(d)
	if !proto.HasExtension(d.Options(), optionsv1.E_Method) {
		return m, []string{"it has no (svc.options.v1.method) option: say who may call it"}
	}
	spec, ok := proto.GetExtension(d.Options(), optionsv1.E_Method).(*optionsv1.MethodSpec)
	if !ok {
		return m, []string{"its (svc.options.v1.method) option is not readable"}
	}
	m.OperationID, m.Family, m.NoREST = spec.GetOperationId(), spec.GetFamily(), spec.GetNoRest()
	m.Write = spec.GetAccess() == optionsv1.Access_ACCESS_WRITE
	m.Admin = spec.GetRole() == optionsv1.Role_ROLE_ORG_ADMIN
	m.ReadsTelemetry, m.AlsoReads = spec.GetReadsTelemetry(), spec.GetAlsoReads()
	m.Public, m.AnyScope, m.MCPTools = spec.GetPublic(), spec.GetAnyScope(), spec.GetMcpTools()
	m.AnyOrganization = spec.GetAnyOrganization()

	var faults []string
	if m.OperationID == "" {
		faults = append(faults, "operation_id is empty")
	}
	if m.Family == "" {
		faults = append(faults, "family is empty")
	}
	if spec.GetAccess() == optionsv1.Access_ACCESS_UNSPECIFIED {
		faults = append(faults, "access is not said: ACCESS_READ or ACCESS_WRITE")
	}
	if len(m.AlsoReads) > 0 && (m.Public || m.AnyScope) {
		faults = append(faults, "it reads other families, and needs no scope")
	}
	if m.Public && (m.Admin || m.AnyScope) {
		faults = append(faults, "it is public and asks for a credential at once")
	}
	if m.AnyOrganization && (!m.AnyScope || m.Admin) {
		faults = append(faults, "it needs no organization, but a scope or a role in one")
	}
	if m.Summary == "" || len(m.Description) <= 20 {
		faults = append(faults, "its comment needs a summary sentence, an empty line and a description")
	}
	if d.IsStreamingClient() || d.IsStreamingServer() {
		faults = append(faults, "it streams: the doors serve unary methods")
	}
	binding, bindingFaults := bind(d, m)
	m.HTTP = binding
	faults = append(faults, bindingFaults...)
	m.IdempotencyKey = m.Write && !m.Public && m.HTTP.Method == http.MethodPost
	faults = append(faults, m.readErrors(spec.GetErrors())...)
	return m, faults
}

// comment splits the leading comment of a method.
func comment(d protoreflect.Descriptor) (summary, description string) {
	text := Comment(d)
	summary, description, _ = strings.Cut(text, "\n\n")
	return strings.ReplaceAll(summary, "\n", " "), strings.TrimSpace(description)
}

// Comment is the comment that precedes a method, message or field in its .proto file, without the margin.
func Comment(d protoreflect.Descriptor) string {
	lines := strings.Split(d.ParentFile().SourceLocations().ByDescriptor(d).LeadingComments, "\n")
	for i, l := range lines {
		lines[i] = strings.TrimSpace(l)
	}
	return strings.TrimSpace(strings.Join(lines, "\n"))
}
