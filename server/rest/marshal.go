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

// marshaler is wirejson as the gateway wants it.
type marshaler struct{}

// ContentType is always JSON.
func (marshaler) ContentType(any) string { return contentType }

// Marshal writes a message, or a field that is the whole answer (response_body): a message that may be missing, or a list.
func (c marshaler) Marshal(v any) ([]byte, error) {
	if m, ok := v.(proto.Message); ok {
		if reflect.ValueOf(m).IsNil() {
			return []byte("null"), nil
		}
		return wirejson.Marshal(m)
	}
	list := reflect.ValueOf(v)
	if list.Kind() != reflect.Slice {
		return nil, &wirejson.EncodeError{Path: fmt.Sprintf("%T", v), Reason: "it is no protobuf message"}
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

// Unmarshal reads a message, or a field of message type, which the generated code passes by the address of its pointer.
func (marshaler) Unmarshal(data []byte, v any) error {
	if m, ok := v.(proto.Message); ok {
		return wirejson.Unmarshal(data, m)
	}
	target := reflect.ValueOf(v)
	if target.Kind() == reflect.Pointer && target.Elem().Kind() == reflect.Pointer {
		fresh := reflect.New(target.Elem().Type().Elem())
		if m, ok := fresh.Interface().(proto.Message); ok {
			target.Elem().Set(fresh)
			return wirejson.Unmarshal(data, m)
		}
	}
	return fmt.Errorf("rest: a body of type %T cannot be read", v)
}

// NewDecoder reads one message.
func (c marshaler) NewDecoder(r io.Reader) runtime.Decoder {
	return runtime.DecoderFunc(func(v any) error {
		b, ok := r.(*body)
		if !ok {
			return errors.New("rest: the body was not read by this door")
		}
		b.err = c.Unmarshal(b.data, v)
		return b.err
	})
}

// NewEncoder writes one message.
func (c marshaler) NewEncoder(w io.Writer) runtime.Encoder {
	return runtime.EncoderFunc(func(v any) error {
		data, err := c.Marshal(v)
		if err != nil {
			return err
		}
		_, err = w.Write(data)
		return err
	})
}
