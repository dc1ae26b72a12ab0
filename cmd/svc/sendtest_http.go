package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"google.golang.org/protobuf/proto"
)

const (
	// answerLimit is how much of an answer is read. A longer answer does not come from svc.
	answerLimit = 4 << 20
	// lookEvery is the pause between two reads. The platform promises its data within 2 seconds.
	lookEvery = 100 * time.Millisecond
	// notFoundTag says that a trace does not exist, or not yet. Any other 404 comes from an address that is not the API.
	notFoundTag = "@svc/http/v2/TraceNotFoundError"
)

// refusal is an error answer of the server.
type refusal struct {
	status        int
	tag, message  string
	method, place string
}

func (e *refusal) Error() string {
	text := fmt.Sprintf("%s %s answers %d", e.method, e.place, e.status)
	if e.tag != "" {
		text += " " + e.tag
	}
	if e.message != "" {
		text += ": " + e.message
	}
	switch e.status {
	case http.StatusUnauthorized:
		text += " (is this the key of this server, and of the right kind?)"
	case http.StatusNotFound:
		if e.tag != notFoundTag {
			text += " (is this the right address of this server?)"
		}
	case http.StatusForbidden:
		text += " (the key is not allowed to do this)"
	}
	return text
}

// send posts one OTLP request and requires that the server accepts everything in it.
func (t *sendTest) send(ctx context.Context, path string, request proto.Message) error {
	body, err := proto.Marshal(request)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, t.ingestURL+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/x-protobuf")
	req.Header.Set("Authorization", "Bearer "+t.ingestKey)
	answer, err := call(req)
	if err != nil {
		return err
	}
	// An answer to a complete success has no fields at all (OTLP: partial_success stays unset).
	if len(answer) > 0 {
		return fmt.Errorf("POST %s accepted only a part of the request: %q", t.ingestURL+path, answer)
	}
	return nil
}

// errNotYet says that a read worked but does not show what was sent.
var errNotYet = errors.New("it was accepted but not found")

// find repeats a read until it shows the telemetry that was sent. It repeats only after errNotYet and after answers that ask for a retry.
func (t *sendTest) find(ctx context.Context, look func(get getter) error) error {
	get := func(method, path string, body, into any) error { return t.rest(ctx, method, path, body, into) }
	var last error // the error of the previous read
	for {
		err := look(get)
		if ctx.Err() != nil && err != nil {
			if last == nil {
				last = err
			}
			return fmt.Errorf("gave up after %s: %w", t.timeout, last)
		}
		last = err
		var refused *refusal
		again := errors.Is(err, errNotYet)
		if errors.As(err, &refused) {
			again = refused.tag == notFoundTag || refused.status == http.StatusServiceUnavailable || refused.status == http.StatusTooManyRequests
		}
		if err == nil || !again {
			return err
		}
		select {
		case <-time.After(lookEvery):
		case <-ctx.Done():
			return fmt.Errorf("gave up after %s: %w", t.timeout, err)
		}
	}
}

// getter makes one REST call and decodes the answer.
type getter func(method, path string, body, into any) error

func (t *sendTest) rest(ctx context.Context, method, path string, body, into any) error {
	var reader io.Reader
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return err
		}
		reader = bytes.NewReader(text)
	}
	req, err := http.NewRequestWithContext(ctx, method, t.baseURL+path, reader)
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+t.apiKey)
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	answer, err := call(req)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(answer, into); err != nil {
		return fmt.Errorf("the answer to %s %s is not JSON of svc: %w", method, req.URL, err)
	}
	return nil
}

func call(req *http.Request) ([]byte, error) {
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(res.Body, answerLimit))
	if err != nil {
		return nil, fmt.Errorf("read the answer of %s: %w", req.URL, err)
	}
	if res.StatusCode != http.StatusOK {
		r := &refusal{status: res.StatusCode, method: req.Method, place: req.URL.String()}
		var envelope struct {
			Error struct {
				Tag     string `json:"_tag"`
				Message string `json:"message"`
			} `json:"error"`
		}
		if json.Unmarshal(answer, &envelope) == nil {
			r.tag, r.message = envelope.Error.Tag, envelope.Error.Message
		}
		return nil, r
	}
	return answer, nil
}
