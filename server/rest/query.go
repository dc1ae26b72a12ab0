package rest

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/contract"
	"github.com/svc-observability/svc/server/wirejson"
)

// checkQuery reads the query strictly, in the order of the text. What it lets through, the gateway reads in the same sense.
func checkQuery(m *contract.Method, raw string) error {
	if raw == "" {
		return nil
	}
	var seen []string
	for pair := range strings.SplitSeq(raw, "&") {
		if pair == "" {
			continue
		}
		name, value, err := unescapePair(pair)
		if err != nil {
			return apierr.New(apierr.InvalidRequest, "The query is not readable: percent-encode special characters, and separate parameters by `&`.")
		}
		if !slices.Contains(m.HTTP.QueryParams, name) {
			return unknownParameter(m, name)
		}
		f := m.Descriptor.Input().Fields().ByName(protoreflect.Name(name))
		if slices.Contains(seen, name) && !f.IsList() {
			return apierr.New(apierr.ParameterInvalid, fmt.Sprintf("`%s` is given twice.", name), apierr.Param(name))
		}
		seen = append(seen, name)
		if err := checkText(name, value, apierr.ParameterInvalid); err != nil {
			return err
		}
		if err := checkValue(f, value); err != nil {
			return apierr.New(apierr.ParameterInvalid, fmt.Sprintf("`%s` %s.", name, err), apierr.Param(name))
		}
	}
	return nil
}

func unescapePair(pair string) (name, value string, err error) {
	if strings.Contains(pair, ";") {
		return "", "", fmt.Errorf("a semicolon separates nothing")
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

// checkValue reports what is wrong with the text of one parameter.
func checkValue(f protoreflect.FieldDescriptor, text string) error {
	if f.Message() != nil && f.Message().FullName() == "google.protobuf.Timestamp" {
		_, err := wirejson.ParseTime(text)
		return err
	}
	switch f.Kind() {
	case protoreflect.StringKind, protoreflect.BoolKind, protoreflect.EnumKind, protoreflect.DoubleKind, protoreflect.FloatKind:
	default:
		// 20.0 and 2e1 are integers in JSON, but not to the gateway.
		if strings.ContainsAny(text, ".eE") {
			return fmt.Errorf("must be an integer")
		}
	}
	_, err := wirejson.ParseScalar(f, text)
	return err
}
