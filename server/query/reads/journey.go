package reads

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/query"
)

// Names of funnels and paths in requests and answers.
const (
	// AttributePrefix precedes the key of an attribute that groups a funnel. Other texts are dimensions of sessions.
	AttributePrefix = "attribute:"
	// NoGroup is the name of the group of actors whose first step has no value.
	NoGroup = "(none)"
)

// NewBreakdown reads the field of the groups of a funnel. At most one of the results is not empty.
func NewBreakdown(by string) (dimension, attribute string) {
	if key, ok := strings.CutPrefix(by, AttributePrefix); ok {
		return "", key
	}
	return by, ""
}

// CheckStepAttributes describes the problem of the attributes of a step. It is empty if all keys can be names of attributes.
func CheckStepAttributes(equals map[string]string) string {
	for key := range equals {
		if key == "" || utf8.RuneCountInString(key) > limits.FieldKey {
			return fmt.Sprintf("has a key that is not the name of an attribute: 1 to %d characters", limits.FieldKey)
		}
	}
	return ""
}

// Kinds of steps.
const (
	StepEvent   = "event"
	StepPage    = "page"
	StepSession = "session"
)

// StepField is a field of a step, with the kind of step that it belongs to. Steps of this kind need it, if Needed is set.
type StepField struct {
	Name, Kind    string
	Given, Needed bool
	// Blank means that a text is given, but has no visible character.
	Blank bool
}

// StepFields returns the fields of a step that depend on its kind.
func StepFields(s proto.Message) []StepField {
	fields := []StepField{
		{Name: "event_name", Kind: StepEvent, Needed: true},
		{Name: "attribute_equals", Kind: StepEvent},
		{Name: "page_path", Kind: StepPage, Needed: true},
		{Name: "host", Kind: StepPage},
		{Name: "dimension", Kind: StepSession, Needed: true},
		{Name: "value", Kind: StepSession, Needed: true},
	}
	m := s.ProtoReflect()
	for i := range fields {
		f := m.Descriptor().Fields().ByName(protoreflect.Name(fields[i].Name))
		fields[i].Given = m.Has(f)
		fields[i].Blank = fields[i].Given && f.Kind() == protoreflect.StringKind && strings.TrimSpace(m.Get(f).String()) == ""
	}
	return fields
}

// stepMessage is a step of a funnel or the anchor of paths in a request or in a dashboard.
type stepMessage interface {
	GetEventName() string
	GetAttributeEquals() map[string]string
	GetPagePath() string
	GetDimension() string
	GetValue() string
}

// NewStep reads a step. The host is a separate argument because an empty host differs from an absent one.
func NewStep(s stepMessage, host *string) Step {
	out := Step{EventName: s.GetEventName(), PagePath: s.GetPagePath(), Host: host, Dimension: s.GetDimension(), Value: s.GetValue()}
	var all []query.Filter
	for _, key := range slices.Sorted(maps.Keys(s.GetAttributeEquals())) {
		all = append(all, query.Filter{Match: &query.Match{
			Field: query.Field{Scope: query.OwnAttribute, Key: key}, Op: query.OpEqual, Values: []string{s.GetAttributeEquals()[key]},
		}})
	}
	out.Attributes = query.And(all...)
	return out
}

// Name is the name of the step in answers.
func (s *Step) Name() string {
	switch {
	case s.EventName != "":
		return s.EventName
	case s.PagePath != "":
		return s.PagePath
	default:
		return s.Dimension + " = " + s.Value
	}
}

// NewKeyBy reads the unit that a funnel or a path counts. The default is persons.
func NewKeyBy(s *string) query.KeyBy {
	if s == nil {
		return query.ByPerson
	}
	return query.KeyBy(*s)
}

// NewWithin reads the longest time from the first step to the last step. It is at most the longest window.
func NewWithin(seconds *float64) time.Duration {
	if seconds == nil {
		return limits.DefaultFunnelWindow
	}
	return time.Duration(math.Round(min(*seconds, limits.ActivityWindow.Seconds()) * 1e9))
}

// NewSessionFilters reads the conditions on sessions.
func NewSessionFilters(f *svcv2.ProductFilters) query.ProductSessionFilters {
	if f == nil {
		return query.ProductSessionFilters{}
	}
	out := query.ProductSessionFilters{
		Host:         f.Host,
		PagePath:     f.PagePath,
		ReferrerHost: f.ReferrerHost,
		Country:      f.Country,
		DeviceType:   f.DeviceType,
		BrowserName:  f.BrowserName,
		OSName:       f.OsName,
		Language:     f.Language,
		UtmSource:    f.UtmSource,
		UtmMedium:    f.UtmMedium,
		UtmCampaign:  f.UtmCampaign,
	}
	if f.VisitorType != nil {
		out.VisitorIsNew = new(f.GetVisitorType() == "new")
	}
	return out
}
