// Package consoletest is a server for tests of the command line. It answers each method of the contract with the message of a file, which
// a real server gave for the demo, shortened, with text that attacks terminals put in. It keeps the requests.
package consoletest

import (
	"bytes"
	"embed"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	optionsv1 "github.com/svc-observability/svc/gen/svc/options/v1"
	_ "github.com/svc-observability/svc/gen/svc/v2" // the messages of the contract
	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/wirejson"
)

//go:embed answers/*.json answers/mcp/*.json
var answers embed.FS

// Token is the credential that the server accepts.
const Token = "svc_ak_test"

// Server answers like a real server.
type Server struct {
	*httptest.Server

	t  testing.TB
	mu sync.Mutex
	// requests are the methods called, with the request as JSON.
	requests []string
	// Answer replaces the answer of a file; nil means the file. It may return an error of Connect.
	answer func(method string, request proto.Message) (proto.Message, error)
}

// New starts a server. answer may replace answers of files, and may be nil.
func New(t testing.TB, answer func(method string, request proto.Message) (proto.Message, error)) *Server {
	t.Helper()
	s := &Server{t: t, answer: answer}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

// Requests returns the calls so far, and forgets them.
func (s *Server) Requests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := s.requests
	s.requests = nil
	return list
}

func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("X-Request-Id", "req_TEST")
	if r.Header.Get("Authorization") != "Bearer "+Token {
		refusal := &optionsv1.ErrorDetail{
			Tag: "@svc/http/v2/InvalidCredentialsError", Type: "authentication_error", Code: "invalid_credentials", Title: "Invalid credentials",
			Message: "The credential is not valid.", Recovery: "reauthenticate", Status: 401,
		}
		if strings.HasPrefix(r.URL.Path, "/svc.v2.") {
			s.refuse(w, r, Refusal(connect.CodeUnauthenticated, refusal))
			return
		}
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = w.Write(apierr.Envelope(refusal, false))
		return
	}
	if r.URL.Path == "/mcp" {
		s.serveMCP(w, r)
		return
	}
	service, name, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	d, err := protoregistry.GlobalFiles.FindDescriptorByName(protoreflect.FullName(service))
	if err != nil {
		http.NotFound(w, r)
		return
	}
	method := d.(protoreflect.ServiceDescriptor).Methods().ByName(protoreflect.Name(name))
	body, err := io.ReadAll(r.Body)
	request := message(method.Input())
	if err == nil {
		err = proto.Unmarshal(body, request)
	}
	if err != nil {
		s.t.Errorf("%s: %v", name, err)
		return
	}
	text, err := wirejson.Marshal(request)
	if err != nil {
		s.t.Errorf("%s: %v", name, err)
		return
	}
	s.mu.Lock()
	s.requests = append(s.requests, name+" "+Compact(s.t, string(text)))
	s.mu.Unlock()
	var answer proto.Message
	if s.answer != nil {
		answer, err = s.answer(name, request)
	}
	if err != nil {
		s.refuse(w, r, err)
		return
	}
	if answer == nil {
		answer = s.file(name, method.Output())
	}
	out, err := proto.Marshal(answer)
	if err != nil {
		s.t.Errorf("%s: %v", name, err)
		return
	}
	w.Header().Set("Content-Type", "application/proto")
	_, _ = w.Write(out)
}

// Compact leaves out of JSON what is null, empty, zero or false. A golden file of it stays the same when the contract gets another field.
func Compact(t testing.TB, text string) string {
	t.Helper()
	var value any
	if err := json.Unmarshal([]byte(text), &value); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if err := e.Encode(filled(value)); err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(out.String())
}

// filled returns the value without its empty parts, or nil.
func filled(value any) any {
	switch v := value.(type) {
	case map[string]any:
		for name, part := range v {
			if v[name] = filled(part); v[name] == nil {
				delete(v, name)
			}
		}
		if len(v) == 0 {
			return nil
		}
	case []any:
		for i := range v {
			v[i] = filled(v[i])
		}
		if len(v) == 0 {
			return nil
		}
	case string:
		if v == "" {
			return nil
		}
	case float64:
		if v == 0 {
			return nil
		}
	case bool:
		if !v {
			return nil
		}
	}
	return value
}

// Wire is the answer of a method as REST writes it.
func (s *Server) Wire(method protoreflect.FullName) string {
	d, err := protoregistry.GlobalFiles.FindDescriptorByName(method)
	if err != nil {
		s.t.Fatal(err)
	}
	text, err := wirejson.Marshal(s.file(string(method.Name()), d.(protoreflect.MethodDescriptor).Output()))
	if err != nil {
		s.t.Fatal(err)
	}
	return string(text)
}

func (s *Server) file(name string, d protoreflect.MessageDescriptor) proto.Message {
	m := message(d)
	text, err := answers.ReadFile("answers/" + name + ".json")
	if err == nil {
		err = protojson.Unmarshal(text, m)
	}
	if err != nil {
		s.t.Errorf("%s: %v", name, err)
	}
	return m
}

func message(d protoreflect.MessageDescriptor) proto.Message {
	kind, err := protoregistry.GlobalTypes.FindMessageByName(d.FullName())
	if err != nil {
		panic(err) // a method of the contract without the messages of the contract
	}
	return kind.New().Interface()
}

func (s *Server) refuse(w http.ResponseWriter, r *http.Request, refusal error) {
	if err := connect.NewErrorWriter().Write(w, r, refusal); err != nil {
		s.t.Error(err)
	}
}

// Refusal is an error with the detail of svc.
func Refusal(code connect.Code, detail *optionsv1.ErrorDetail) error {
	err := connect.NewError(code, nil)
	if d, failed := connect.NewErrorDetail(detail); failed == nil {
		err.AddDetail(d)
	}
	return err
}
