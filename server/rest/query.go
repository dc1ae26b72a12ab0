package rest

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/grpc-ecosystem/grpc-gateway/v2/runtime"
	"github.com/grpc-ecosystem/grpc-gateway/v2/utilities"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/contract"
	"github.com/svc-observability/svc/server/wirejson"
)

// readQuery splits and decodes the query, and refuses a parameter that the method does not have. The generated code hands the result
// to queryParser; it does so only for methods that have query parameters, so the names are checked here.
func readQuery(m *contract.Method, raw string) (url.Values, error) {
	values := url.Values{}
	for raw != "" {
		var pair string
		if pair, raw, _ = strings.Cut(raw, "&"); pair == "" {
			continue
		}
		name, value, err := unescapePair(pair)
		if err != nil {
			return nil, apierr.New(apierr.InvalidRequest,
				"The query cannot be read. Percent-encode special characters, and separate parameters by `&`.")
		}
		if !slices.Contains(m.HTTP.QueryParams, name) {
			return nil, unknownParameter(m, name)
		}
		if _, twice := values[name]; twice && !m.Descriptor.Input().Fields().ByName(protoreflect.Name(name)).IsList() {
			return nil, apierr.New(apierr.ParameterInvalid, fmt.Sprintf("`%s` is given twice.", name), apierr.Param(name))
		}
		if err := checkText(name, value, apierr.ParameterInvalid); err != nil {
			return nil, err
		}
		values[name] = append(values[name], value)
	}
	return values, nil
}

func unescapePair(pair string) (name, value string, err error) {
	if strings.Contains(pair, ";") {
		return "", "", errors.New("a semicolon does not separate parameters")
	}
	name, value, _ = strings.Cut(pair, "=")
	if name, err = url.QueryUnescape(name); err != nil {
		return "", "", err
	}
	value, err = url.QueryUnescape(value)
	return name, value, err
}

func unknownParameter(m *contract.Method, name string) error {
	name = strings.ToValidUTF8(name, "\uFFFD")
	message := fmt.Sprintf("`%s` is not a known query parameter. ", name)
	if len(m.HTTP.QueryParams) == 0 {
		message += "This operation takes none."
	} else {
		message += "Known are `" + strings.Join(m.HTTP.QueryParams, "`, `") + "`."
	}
	return apierr.New(apierr.InvalidRequest, message, apierr.Param(name))
}

// queryParser binds the values of a query to the request message. Of several values that are wrong, it reports the one whose field
// comes first in the message.
type queryParser struct{}

// plugQueryParser makes it the gateway's parser. The gateway keeps its parser in a package variable, so it is set once in a process:
// a second handler would write the variable while requests of the first one read it.
var plugQueryParser = sync.OnceFunc(func() { runtime.NewServeMux(runtime.SetQueryParameterParser(queryParser{})) })

// Parse sets the fields of msg. readQuery has checked the names.
func (queryParser) Parse(msg proto.Message, values url.Values, _ *utilities.DoubleArray) error {
	if len(values) == 0 {
		return nil
	}
	m := msg.ProtoReflect()
	fields := m.Descriptor().Fields()
	for i := range fields.Len() {
		f := fields.Get(i)
		for _, text := range values[string(f.Name())] {
			value, err := parseValue(f, text)
			if err != nil {
				return valueError{string(f.Name()), err}
			}
			if f.IsList() {
				m.Mutable(f).List().Append(value)
			} else {
				m.Set(f, value)
			}
		}
	}
	return nil
}

func parseValue(f protoreflect.FieldDescriptor, text string) (protoreflect.Value, error) {
	if f.Message() != nil && f.Message().FullName() == "google.protobuf.Timestamp" {
		t, err := wirejson.ParseTime(text)
		return protoreflect.ValueOfMessage(timestamppb.New(t).ProtoReflect()), err
	}
	switch f.Kind() {
	case protoreflect.StringKind, protoreflect.BoolKind, protoreflect.EnumKind, protoreflect.DoubleKind, protoreflect.FloatKind:
	default:
		if strings.ContainsAny(text, ".eE") { // 20.0 and 2e1 are integers in JSON, but not in a query
			return protoreflect.Value{}, errors.New("must be an integer")
		}
	}
	return wirejson.ParseScalar(f, text)
}

// valueError is the fault of the value of a parameter. The generated code turns it into text on its way to callFailed, which
// reads it back with readValueError.
type valueError struct {
	parameter string
	reason    error
}

// Error returns parameter and reason.
func (e valueError) Error() string { return e.parameter + ": " + e.reason.Error() }

func readValueError(m *contract.Method, text string) (*apierr.Error, bool) {
	name, reason, ok := strings.Cut(text, ": ")
	if !ok || m == nil || !slices.Contains(m.HTTP.QueryParams, name) {
		return nil, false
	}
	return apierr.New(apierr.ParameterInvalid, fmt.Sprintf("`%s` %s.", name, reason), apierr.Param(name)), true
}
