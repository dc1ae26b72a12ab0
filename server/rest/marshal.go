package rest

import (
	"errors"
	"fmt"
	"io"
	"reflect"

	"github.com/grpc-ecosystem/grpc-gateway/v2/runtime"
	"google.golang.org/protobuf/proto"

	"github.com/svc-observability/svc/server/wirejson"
)

const contentType = "application/json"

// strictJSON is wirejson as the gateway's marshaler.
type strictJSON struct{}

// ContentType is always JSON.
func (strictJSON) ContentType(any) string { return contentType }

// Marshal writes a message, or the field that response_body names: a message that may be missing, or a list of messages.
func (c strictJSON) Marshal(v any) ([]byte, error) {
	if m, ok := v.(proto.Message); ok {
		if reflect.ValueOf(m).IsNil() {
			return []byte("null"), nil
		}
		return wirejson.Marshal(m)
	}
	list := reflect.ValueOf(v)
	if list.Kind() != reflect.Slice {
		return nil, &wirejson.EncodeError{Path: fmt.Sprintf("%T", v), Reason: "it is not a protobuf message"}
	}
	out := []byte{'['}
	for i := range list.Len() {
		if i > 0 {
			out = append(out, ',')
		}
		element, err := c.Marshal(list.Index(i).Interface())
		if err != nil {
			return nil, err
		}
		out = append(out, element...)
	}
	return append(out, ']'), nil
}

// Unmarshal reads a message.
func (strictJSON) Unmarshal(data []byte, v any) error { return decode(data, v) }

// NewDecoder reads the body of a request.
func (strictJSON) NewDecoder(r io.Reader) runtime.Decoder {
	return runtime.DecoderFunc(func(v any) error {
		b, ok := r.(*body)
		if !ok {
			return errors.New("rest: readBody did not read this body")
		}
		b.err = decode(b.data, v, b.inPath...)
		return b.err
	})
}

func decode(data []byte, v any, inPath ...string) error {
	m, ok := v.(proto.Message)
	if !ok {
		return fmt.Errorf("rest: a body of type %T cannot be read", v)
	}
	return wirejson.Unmarshal(data, m, inPath...)
}

// NewEncoder writes one message.
func (c strictJSON) NewEncoder(w io.Writer) runtime.Encoder {
	return runtime.EncoderFunc(func(v any) error {
		data, err := c.Marshal(v)
		if err != nil {
			return err
		}
		_, err = w.Write(data)
		return err
	})
}
