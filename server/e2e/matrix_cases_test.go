package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/contract"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/testkit"
)

// success checks that both doors accept the example of the document.
func (o *operated) success(t *testing.T) {
	o.succeeds(t, func(s *testkit.Server) string { return o.client(t, s).key })
}

// succeeds sends the example with a credential of the organization in which it can succeed.
func (o *operated) succeeds(t *testing.T, credential func(*testkit.Server) string) {
	t.Helper()
	s := o.mine
	if telemetryID(o.m) {
		s = o.theirs // this organization has the telemetry
	}
	for _, door := range []string{"rest", "connect"} {
		request := o.valid(t, s) // a separate resource for each, because some operations delete it
		if before := firstDo[o.m.OperationID]; before != "" {
			m := operation(t, before)
			fields := o.document.operation(t, m).example
			for _, name := range m.HTTP.PathParams {
				fields[name] = request[name]
			}
			body, err := json.Marshal(fields)
			if err != nil {
				t.Fatal(err)
			}
			if a := callREST(t, s, o.client(t, s).key, m, body); a.err != nil {
				t.Fatalf("%s, which must come first: %+v", before, a.err)
			}
		}
		body, err := json.Marshal(request)
		if err != nil {
			t.Fatal(err)
		}
		o.audits(t, door, s, func() answer {
			a := o.ask(t, door, s, credential(s), body)
			if a.err != nil {
				t.Errorf("%s: %s refused: %+v", door, body, a.err)
			}
			return a
		})
	}
}

// credentials tries everything that is not a credential for this operation, and every insufficient credential.
func (o *operated) credentials(t *testing.T) {
	o.refuses(t, "no credential", "", o.request, "", apierr.Unauthorized)
	for what, key := range o.refused {
		o.refuses(t, what, key, o.request, "", apierr.InvalidCredentials)
	}
	if !o.m.AnyScope {
		other := "traces:write"
		if o.m.Family == "traces" {
			other = "logs:write"
		}
		o.refuses(t, "a key for another family", o.key2(other), o.request, "", apierr.InsufficientScope)
		if o.m.Write {
			o.refuses(t, "a key that may only read", o.key2(o.m.Family+":read"), o.request, "", apierr.InsufficientScope)
		}
	}
	for what, org := range map[string]string{
		"another organization": o.theirs.OrgID, "no organization": "org_nobody",
		"an empty organization": "",
	} {
		status, _, tag := o.raw(t, o.m.HTTP.Method, "", http.Header{"X-Svc-Org-Id": {org}}, o.body(t))
		if status != http.StatusForbidden || tag != apierr.Spec(apierr.OrganizationAccessDenied).GetTag() {
			t.Errorf("x-svc-org-id of %s: %d %s", what, status, tag)
		}
	}
}

func (o *operated) key2(scopes ...string) string { return o.matrix.key(o.mine, scopes...) }

func (o *operated) body(t *testing.T) *bytes.Reader {
	t.Helper()
	if o.m.HTTP.BodyField == "" {
		return bytes.NewReader(nil)
	}
	fields := maps.Clone(o.request)
	for _, name := range o.m.HTTP.PathParams {
		delete(fields, name)
	}
	text, err := json.Marshal(fields)
	if err != nil {
		t.Fatal(err)
	}
	return bytes.NewReader(text)
}

// isolation checks that a resource of another organization gets the same answer as one that does not exist, parameter by
// parameter. No answer may hold anything of the other organization.
func (o *operated) isolation(t *testing.T) {
	theirs := o.valid(t, o.theirs)
	for _, name := range o.m.HTTP.PathParams {
		if reason := noOwner[name]; reason != "" {
			t.Log(name, "is not isolated:", reason)
			continue
		}
		// A trace that exists nowhere has the form of the example, with different digits.
		nobodys := o.spec.unknownID[name]
		for _, door := range []string{"rest", "connect"} {
			ask := func(value any) answer {
				body, err := json.Marshal(o.with(name, value))
				if err != nil {
					t.Fatal(err)
				}
				return o.ask(t, door, o.mine, o.key, body)
			}
			unknown, foreign := ask(nobodys), ask(theirs[name])
			if unknown.err == nil || foreign.err == nil {
				t.Errorf("%s: an unknown `%s`: %s, one of another organization: %s", door, name, unknown.body, foreign.body)
				continue
			}
			masked := func(e wireError, value any) string {
				return strings.ReplaceAll(fmt.Sprintf("%+v", e), fmt.Sprint(value), "ID")
			}
			if got, want := masked(*foreign.err, theirs[name]), masked(*unknown.err, nobodys); got != want {
				t.Errorf("%s: `%s` of another organization: %s, an unknown one: %s", door, name, got, want)
			}
			tag, _ := apierr.Lookup(foreign.err.Tag)
			if apierr.Spec(tag).GetStatus() != 404 || !slices.Contains(o.m.Errors, tag) {
				t.Errorf("%s: `%s` of another organization: %s", door, name, foreign.err.Tag)
			}
		}
	}
	for _, name := range o.m.HTTP.PathParams {
		if f := o.field(name); noOwner[name] == "" && f.Name() != "trace_id" {
			values := []string{"1", "key", "dash_0OIl", "ingk_", "zzzz_YoyM27RZv6BZLTbZ2kvNcS", strings.Repeat("x", 300), "%00", "é"}
			if o.known && telemetryID(o.m) {
				values = values[:1]
			}
			for _, value := range values {
				o.try(t, o.key, o.with(name, value), func(door string, a answer) {
					o.refused1(t, fmt.Sprintf("%s: `%s` = %.20q", door, name, value), a, "", o.notFoundOrInvalid()...)
				})
			}
		}
	}
	if !o.m.Write && noSuccess[o.m.OperationID] == "" {
		o.try(t, o.key, o.request, func(door string, a answer) {
			for _, secret := range []string{o.theirs.OrgID, "checkout started", "card declined"} {
				if bytes.Contains(a.body, []byte(secret)) {
					t.Errorf("%s: the answer holds %q of another organization", door, secret)
				}
			}
		})
	}
}

func (o *operated) notFoundOrInvalid() []apierr.Tag {
	tags := []apierr.Tag{apierr.InvalidRequest, apierr.ParameterInvalid}
	for _, tag := range o.m.Errors {
		if apierr.Spec(tag).GetStatus() == 404 || apierr.Spec(tag).GetStatus() == 400 {
			tags = append(tags, tag)
		}
	}
	return tags
}

func (o *operated) field(name string) protoreflect.FieldDescriptor {
	return o.m.Descriptor.Input().Fields().ByName(protoreflect.Name(name))
}

// inputTag is the tag for an invalid value of a field.
func (o *operated) inputTag(name string) apierr.Tag {
	if o.m.HTTP.Source(name) == contract.InQuery {
		return apierr.ParameterInvalid
	}
	return apierr.InvalidRequest
}

// paging tries invalid page sizes and cursors.
func (o *operated) paging(t *testing.T) {
	largest := limits.LargestPage
	if o.m.OperationID == "listPlanetScaleEvents" {
		largest = limits.PlatformEventPage
	}
	for _, limit := range []any{0, largest + 1, -1, 1 << 33, "nope", 1.5, ""} {
		// Connect's JSON cannot report a parameter of a query: text that is not a number makes the message unreadable there.
		o.refuses(t, fmt.Sprintf("limit %v", limit), o.key, o.with("limit", limit), "limit", apierr.ParameterInvalid, apierr.InvalidRequest)
	}
	if o.field("cursor") == nil {
		if o.m.Descriptor.Output().Fields().ByName("next_cursor") != nil {
			t.Fatal("it has a limit and no cursor")
		}
		return // the limit cuts the list without a next page, as that of a breakdown does
	}
	cursorTags := []apierr.Tag{apierr.ParameterInvalid}
	if slices.Contains(o.m.Errors, apierr.CursorInvalid) {
		cursorTags = []apierr.Tag{apierr.CursorInvalid}
	}
	for _, cursor := range []string{
		"x", "off_", "off_-1", "off_!", "off_zzzzzzzzzzzzzzzzzzz", "ver_0", "ver_!", "trc_", "trc_e30", "log_",
		"log_W10", "%00", strings.Repeat("a", 5000),
	} {
		o.refuses(t, fmt.Sprintf("cursor %.20q", cursor), o.key, o.with("cursor", cursor), "cursor", cursorTags...)
	}
	switch o.m.OperationID {
	case "listErrorIssueActors": // a key cannot register agents, so the list has no second page here
		return
	case "listPlanetScaleEvents": // without an account there is no list; TestPlanetScale has its pages
		return
	}
	foreign := o.nextCursor(t)
	if foreign == "" || noOwner[o.m.OperationID] != "" {
		return
	}
	// The cursor of another organization's list shows nothing of that list.
	theirs := map[string]bool{}
	for _, id := range o.idsOf(t, o.theirs, o.theirs.APIKey, o.spec.example) {
		theirs[id] = true
	}
	for _, id := range o.idsOf(t, o.mine, o.key, o.with("cursor", foreign)) {
		if theirs[id] {
			t.Errorf("the cursor of another organization shows its %s", id)
		}
	}
	tampered := []byte(foreign)
	tampered[len(tampered)-1] ^= 1
	for _, id := range o.idsOf(t, o.mine, o.key, o.with("cursor", string(tampered))) {
		if theirs[id] {
			t.Errorf("a tampered cursor shows %s", id)
		}
	}
}

// nextCursor returns the cursor of the other organization's first page, if its list is long enough.
func (o *operated) nextCursor(t *testing.T) string {
	t.Helper()
	request := o.valid(t, o.theirs)
	creates := slices.ContainsFunc(o.contract.Route(strings.Split(strings.TrimPrefix(o.m.HTTP.Path, "/"), "/")),
		func(m *contract.Method) bool {
			return m.HTTP.Method == http.MethodPost && m.Write
		})
	for range 3 {
		if creates && len(o.m.HTTP.PathParams) == 0 {
			o.resource(t, o.theirs, o.m.HTTP.Path)
		}
	}
	request["limit"] = 1
	body, err := json.Marshal(request)
	if err != nil {
		t.Fatal(err)
	}
	var page struct {
		NextCursor *string `json:"next_cursor"`
	}
	a := callREST(t, o.theirs, o.theirs.APIKey, o.m, body)
	if a.err != nil || json.Unmarshal(a.body, &page) != nil {
		t.Fatalf("the first page of the other organization: %+v %s", a.err, a.body)
	}
	if page.NextCursor == nil {
		if creates {
			t.Errorf("a list of several has no next page: %s", a.body)
		}
		return ""
	}
	return *page.NextCursor
}

// idsOf returns the ids on a page, or no ids if the page is refused.
func (o *operated) idsOf(t *testing.T, s *testkit.Server, key string, request map[string]any) (ids []string) {
	t.Helper()
	body, err := json.Marshal(request)
	if err != nil {
		t.Fatal(err)
	}
	var page struct {
		Data []struct {
			ID string `json:"id"`
		} `json:"data"`
	}
	if a := callREST(t, s, key, o.m, body); a.err == nil && json.Unmarshal(a.body, &page) == nil {
		for _, d := range page.Data {
			if d.ID != "" {
				ids = append(ids, d.ID)
			}
		}
	}
	return ids
}

// unknownFields checks that no unknown field is ignored, above all no field that only the server may set.
func (o *operated) unknownFields(t *testing.T) {
	for _, name := range []string{"colour", "id", "object", "org_id", "created_at", "__proto__"} {
		if o.field(name) != nil {
			continue
		}
		o.refuses(t, "unknown field "+name, o.key, o.with(name, "x"), "", apierr.InvalidRequest)
		if status, _, tag := o.raw(t, o.m.HTTP.Method, "?"+name+"=1", nil, o.body(t)); status != 400 ||
			tag != apierr.Spec(apierr.InvalidRequest).GetTag() {
			t.Errorf("unknown query parameter %s: %d %s", name, status, tag)
		}
	}
	if o.m.HTTP.BodyField != "*" {
		return
	}
	// A path parameter is not a field of the body, even with the same value.
	for _, name := range o.m.HTTP.PathParams {
		fields := maps.Clone(o.request)
		for _, other := range o.m.HTTP.PathParams {
			if other != name {
				delete(fields, other)
			}
		}
		text, err := json.Marshal(fields)
		if err != nil {
			t.Fatal(err)
		}
		if status, _, tag := o.raw(t, o.m.HTTP.Method, "", nil, bytes.NewReader(text)); status != 400 ||
			tag != apierr.Spec(apierr.InvalidRequest).GetTag() {
			t.Errorf("`%s` in the body: %d %s", name, status, tag)
		}
	}
}

// badBodies tries invalid bodies.
func (o *operated) badBodies(t *testing.T) {
	type attempt struct {
		what, contentType, body string
		status                  int
		tag                     apierr.Tag
	}
	invalid := func(what, body string) attempt {
		return attempt{what, "application/json", body, 400, apierr.InvalidRequest}
	}
	attempts := []attempt{invalid("a body where none belongs", `{"colour":1}`)}
	if o.m.HTTP.BodyField != "" {
		attempts = []attempt{
			invalid("no body", ""), invalid("half an object", `{"a"`), invalid("a list", "[]"), invalid("text", `"x"`), invalid("null", "null"),
			invalid("two objects", "{}{}"), invalid("bad UTF-8", "{\"name\":\"\xff\"}"), invalid("deep", strings.Repeat(`{"a":`, 20000)),
			{"another content type", "text/plain", "{}", 415, apierr.UnsupportedMediaType},
			{"a form", "application/x-www-form-urlencoded", "a=b", 415, apierr.UnsupportedMediaType},
			{"too large", "application/json", `{"name":"` + strings.Repeat("x", 4<<20) + `"}`, 413, apierr.PayloadTooLarge},
		}
	}
	for _, a := range attempts {
		status, _, tag := o.raw(t, o.m.HTTP.Method, "", http.Header{"Content-Type": {a.contentType}}, strings.NewReader(a.body))
		if status != a.status || tag != apierr.Spec(a.tag).GetTag() {
			t.Errorf("%s: %d %s, want %d %s", a.what, status, tag, a.status, apierr.Spec(a.tag).GetTag())
		}
		if !slices.Contains(o.m.Errors, a.tag) {
			t.Errorf("%s: %v is not among the errors", a.what, a.tag)
		}
	}
}

// wrongTypes tries each field of the body with a value of another type. The error must name the field.
func (o *operated) wrongTypes(t *testing.T) {
	fields := o.m.Descriptor.Input().Fields()
	for i := range fields.Len() {
		f := fields.Get(i)
		name := string(f.Name())
		if o.m.HTTP.Source(name) != contract.InBody || f.Message() != nil && f.Message().FullName() == "google.protobuf.FieldMask" {
			continue
		}
		var values []any
		switch {
		case f.IsMap():
			values = []any{"x", 7, []any{}}
		case f.IsList():
			values = []any{"x", map[string]any{"a": 1}, 7}
		case f.Message() != nil && f.Message().FullName() == "google.protobuf.Struct":
			values = []any{"x", 7, []any{}}
		case f.Message() != nil && strings.HasPrefix(string(f.Message().FullName()), "google.protobuf."):
			if f.Message().Name() == "Timestamp" {
				values = []any{"yesterday", 7, true, map[string]any{}, "2026-13-01T00:00:00Z", "2026-01-01T00:00:00+02:00"}
			}
		case f.Message() != nil:
			values = []any{"x", 7, true, []any{}}
		case f.Kind() == protoreflect.StringKind:
			values = []any{7, true, map[string]any{}, []any{"x"}}
		case f.Kind() == protoreflect.BoolKind:
			values = []any{"yes", 7, map[string]any{}}
		default:
			values = []any{"many", true, map[string]any{}, []any{1}}
		}
		for _, value := range values {
			body, err := json.Marshal(o.with(name, value))
			if err != nil {
				t.Fatal(err)
			}
			// Connect reads protobuf's own JSON, which accepts more forms and names no path.
			o.refused1(t, fmt.Sprintf("`%s` = %v", name, value), o.ask(t, "rest", o.mine, o.key, body), name, apierr.InvalidRequest)
		}
	}
}

// eachField changes one field at a time: to its value in the example, or to null. An update has code for each field, so none of these
// changes may end as an internal error.
func (o *operated) eachField(t *testing.T) {
	fields := o.m.Descriptor.Input().Fields()
	tried := 0
	for i := range fields.Len() {
		f := fields.Get(i)
		name := string(f.Name())
		if o.m.HTTP.Source(name) != contract.InBody || f.Message() != nil && f.Message().FullName() == "google.protobuf.FieldMask" {
			continue
		}
		request := map[string]any{name: o.request[name]}
		for _, p := range o.m.HTTP.PathParams {
			request[p] = o.request[p]
		}
		body, err := json.Marshal(request)
		if err != nil {
			t.Fatal(err)
		}
		tried++
		if a := o.ask(t, "rest", o.mine, o.key, body); a.err != nil && a.err.Type == "api_error" {
			t.Errorf("%s alone: %+v", name, a.err)
		}
	}
	if tried == 0 {
		t.Error("no field was changed")
	}
}

// missingFields tries each required field as missing and as null. The error must name it.
func (o *operated) missingFields(t *testing.T) {
	whole := maps.Clone(o.request)
	for _, name := range o.spec.required {
		if whole[name] == nil {
			whole[name] = "a secret, which has no example"
		}
	}
	for _, name := range o.spec.required {
		tags := []apierr.Tag{o.inputTag(name)}
		if o.m.HTTP.Source(name) == contract.InQuery {
			tags = append(tags, apierr.ParameterMissing)
		}
		for _, tag := range o.m.Errors { // a family with its own tag for input that breaks its rules
			if strings.HasSuffix(apierr.Spec(tag).GetTag(), "ValidationError") {
				tags = append(tags, tag)
			}
		}
		without := maps.Clone(whole)
		delete(without, name)
		o.refuses(t, "without `"+name+"`", o.key, without, name, tags...)
		if o.m.HTTP.Source(name) == contract.InBody {
			without[name] = nil
			body, err := json.Marshal(without)
			if err != nil {
				t.Fatal(err)
			}
			o.refused1(t, "`"+name+"` of null", o.ask(t, "rest", o.mine, o.key, body), name, tags...)
		}
	}
}

// http tries methods that the path does not have, and HEAD and OPTIONS.
func (o *operated) http(t *testing.T) {
	offered := map[string]bool{"OPTIONS": true}
	for _, m := range o.contract.Route(strings.Split(strings.TrimPrefix(o.path(), "/"), "/")) {
		offered[m.HTTP.Method] = true
		if m.HTTP.Method == http.MethodGet {
			offered[http.MethodHead] = true
		}
	}
	allow := strings.Join(slices.Sorted(maps.Keys(offered)), ", ")
	for _, method := range []string{"GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "TRACE", "PROPFIND"} {
		if offered[method] {
			continue
		}
		status, header, tag := o.raw(t, method, "", nil, http.NoBody)
		if status != 405 || header.Get("Allow") != allow || method != http.MethodHead && tag != apierr.Spec(apierr.MethodNotAllowed).GetTag() {
			t.Errorf("%s: %d %s, Allow %q, want 405 and %q", method, status, tag, header.Get("Allow"), allow)
		}
	}
	if status, header, _ := o.raw(t, http.MethodOptions, "", nil, http.NoBody); status != 204 || header.Get("Allow") != allow {
		t.Errorf("OPTIONS: %d, Allow %q, want %q", status, header.Get("Allow"), allow)
	}
	if o.m.HTTP.Method == http.MethodGet && len(o.spec.required) == 0 {
		get, _, _ := o.raw(t, http.MethodGet, "", nil, http.NoBody)
		head, header, _ := o.raw(t, http.MethodHead, "", nil, http.NoBody)
		if get != head || header.Get("Content-Type") != "application/json" {
			t.Errorf("GET %d, HEAD %d %v", get, head, header)
		}
	}
}
