package apierr

import (
	"sync"

	"google.golang.org/protobuf/proto"

	optionsv1 "github.com/svc-observability/svc/gen/svc/options/v1"
	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
)

type table struct {
	specs []*optionsv1.ErrorSpec // by enum number
	tags  map[string]Tag         // by ErrorSpec.tag
}

// The descriptors do not change while the process runs, so the table is read once.
var read = sync.OnceValue(func() table {
	values := svcv2.ErrorTag(0).Descriptor().Values()
	t := table{specs: make([]*optionsv1.ErrorSpec, values.Len()), tags: make(map[string]Tag, values.Len())}
	for i := range values.Len() {
		v := values.Get(i)
		spec, _ := proto.GetExtension(v.Options(), optionsv1.E_Error).(*optionsv1.ErrorSpec)
		if int(v.Number()) < len(t.specs) {
			t.specs[v.Number()] = spec
		}
		if spec.GetTag() != "" {
			t.tags[spec.GetTag()] = Tag(v.Number())
		}
	}
	return t
})

// Spec returns the fixed properties of a tag. An unknown tag has those of UnexpectedError.
func Spec(tag Tag) *optionsv1.ErrorSpec {
	specs := read().specs
	if tag <= 0 || int(tag) >= len(specs) || specs[tag] == nil {
		return specs[Unexpected]
	}
	return specs[tag]
}

// Lookup finds a tag by its exact text, for example `@svc/http/v2/RateLimitError`.
func Lookup(tag string) (Tag, bool) {
	t, ok := read().tags[tag]
	return t, ok
}

// All lists every tag in the order of the enum.
func All() []Tag {
	specs := read().specs
	all := make([]Tag, 0, len(specs))
	for i := 1; i < len(specs); i++ {
		all = append(all, Tag(i))
	}
	return all
}

// Type returns the error family of an HTTP status (413 and 422 are invalid requests).
func Type(status int) string {
	switch {
	case status >= 500:
		return "api_error"
	case status == 401:
		return "authentication_error"
	case status == 402:
		return "payment_error"
	case status == 403:
		return "permission_error"
	case status == 404:
		return "not_found_error"
	case status == 409:
		return "conflict_error"
	case status == 429:
		return "rate_limit_error"
	default:
		return "invalid_request_error"
	}
}
