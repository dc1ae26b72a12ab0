// Package loopback calls an HTTP handler of this process in memory. REST and MCP reach the rpc chain by it, with the caller's
// context: the authenticated principal, the door, the request id. docs/adr/0004-loopback.md gives the reasons and the cost.
package loopback

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	spb "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"
)

// Conn returns a gRPC client connection. The handler serves its unary calls in the goroutine of the caller: a call ends when the
// handler does. The connection speaks the Connect protocol, so the handler's whole chain runs. Errors are gRPC statuses with their
// details.
func Conn(h http.Handler) grpc.ClientConnInterface { return &conn{handler: h} }

type conn struct {
	handler http.Handler
	sharing bool
}

// Invoke calls a method by its full path, `/svc.v2.ApiKeysService/ListApiKeys`.
func (c *conn) Invoke(ctx context.Context, method string, args, reply any, opts ...grpc.CallOption) error {
	in, ok := args.(proto.Message)
	out, ok2 := reply.(proto.Message)
	if !ok || !ok2 {
		return status.Errorf(codes.Internal, "loopback: %T and %T must be protobuf messages", args, reply)
	}
	if err := ctx.Err(); err != nil {
		return status.FromContextError(err).Err()
	}
	body, err := proto.Marshal(in)
	if err != nil {
		return status.Errorf(codes.Internal, "loopback: marshal the request: %v", err)
	}
	answer := sharedReply{message: out}
	if c.sharing {
		ctx = context.WithValue(ctx, replyKey{}, &answer)
	}
	w := &buffer{header: http.Header{}}
	if err := serve(c.handler, w, newRequest(ctx, method, body)); err != nil {
		return err
	}
	for _, o := range opts {
		switch o := o.(type) {
		case grpc.HeaderCallOption:
			*o.HeaderAddr = headerMD(w.header, false)
		case grpc.TrailerCallOption:
			*o.TrailerAddr = headerMD(w.header, true)
		}
	}
	if w.status != http.StatusOK {
		return statusOf(w)
	}
	if answer.shared {
		return nil
	}
	if err := proto.Unmarshal(w.body.Bytes(), out); err != nil {
		return status.Errorf(codes.Internal, "loopback: read the answer: %v", err)
	}
	return nil
}

// NewStream refuses: the contract has unary methods only.
func (c *conn) NewStream(context.Context, *grpc.StreamDesc, string, ...grpc.CallOption) (grpc.ClientStream, error) {
	return nil, status.Error(codes.Unimplemented, "loopback: streaming methods are not served")
}

func newRequest(ctx context.Context, method string, body []byte) *http.Request {
	header := make(http.Header, 4)
	header["Content-Type"] = []string{"application/proto"}
	header["Connect-Protocol-Version"] = []string{"1"}
	if md, ok := metadata.FromOutgoingContext(ctx); ok {
		for key, values := range md {
			if strings.HasSuffix(key, "-bin") {
				encoded := make([]string, len(values))
				for i, v := range values {
					encoded[i] = base64.RawStdEncoding.EncodeToString([]byte(v))
				}
				values = encoded
			}
			header[http.CanonicalHeaderKey(key)] = values
		}
	}
	req := &http.Request{
		Method: http.MethodPost, URL: &url.URL{Scheme: "http", Host: "loopback", Path: method}, RequestURI: method,
		Proto: "HTTP/2.0", ProtoMajor: 2, Header: header, Host: "loopback", RemoteAddr: "loopback",
		Body: io.NopCloser(bytes.NewReader(body)), ContentLength: int64(len(body)),
	}
	return req.WithContext(ctx)
}

// serve runs the handler. A panic that escapes its chain becomes an error.
func serve(h http.Handler, w *buffer, req *http.Request) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = status.Error(codes.Internal, "loopback: the handler panicked")
		}
	}()
	h.ServeHTTP(w, req)
	if w.status == 0 {
		w.status = http.StatusOK
	}
	return nil
}

// buffer takes the answer of a unary call.
type buffer struct {
	header http.Header
	status int
	body   bytes.Buffer
}

// Header returns the headers.
func (b *buffer) Header() http.Header { return b.header }

// WriteHeader keeps the first final status.
func (b *buffer) WriteHeader(status int) {
	if b.status == 0 && status >= 200 {
		b.status = status
	}
}

// Write appends to the body.
func (b *buffer) Write(p []byte) (int, error) {
	b.WriteHeader(http.StatusOK)
	return b.body.Write(p)
}

// headerMD returns the headers or the trailers of an answer: Connect marks the trailers of a unary call with a prefix.
func headerMD(h http.Header, trailers bool) metadata.MD {
	const prefix = "Trailer-"
	md := metadata.MD{}
	for key, values := range h {
		name, isTrailer := strings.CutPrefix(key, prefix)
		if isTrailer == trailers {
			md.Append(name, values...)
		}
	}
	return md
}

// wireError is the JSON of a Connect error.
type wireError struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Details []struct {
		Type  string `json:"type"`
		Value string `json:"value"`
	} `json:"details"`
}

// statusOf reads a Connect error as a gRPC status.
func statusOf(b *buffer) error {
	var wire wireError
	if err := json.Unmarshal(b.body.Bytes(), &wire); err != nil || wire.Code == "" {
		return status.Error(codeOfHTTP(b.status), fmt.Sprintf("loopback: status %d without an error of the protocol", b.status))
	}
	var code codes.Code
	if err := code.UnmarshalJSON([]byte(`"` + strings.ToUpper(grpcSpelling(wire.Code)) + `"`)); err != nil {
		code = codes.Unknown
	}
	p := &spb.Status{Code: int32(code), Message: wire.Message}
	for _, d := range wire.Details {
		value, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(d.Value, "="))
		if err != nil {
			return errors.Join(status.Error(codes.Internal, "loopback: an error detail is not base64"), err)
		}
		p.Details = append(p.Details, &anypb.Any{TypeUrl: "type.googleapis.com/" + d.Type, Value: value})
	}
	return status.ErrorProto(p)
}

// grpcSpelling returns a code as gRPC spells it: the two protocols differ in one.
func grpcSpelling(code string) string {
	if code == "canceled" {
		return "cancelled"
	}
	return code
}

// codeOfHTTP is the code of an answer that another handler than Connect's wrote.
func codeOfHTTP(httpStatus int) codes.Code {
	switch httpStatus {
	case http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusUnsupportedMediaType:
		return codes.Unimplemented
	case http.StatusUnauthorized:
		return codes.Unauthenticated
	case http.StatusForbidden:
		return codes.PermissionDenied
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return codes.Unavailable
	default:
		return codes.Unknown
	}
}
