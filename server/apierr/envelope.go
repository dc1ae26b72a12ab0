package apierr

import (
	"bytes"
	"encoding/json"

	optionsv1 "github.com/svc-observability/svc/gen/svc/options/v1"
)

// Envelope is the JSON body of every failure over HTTP, in this order of fields. It is a closed object: ingest repeats the delay
// of Retry-After in it, the other doors name the invalid parameter.
func Envelope(d *optionsv1.ErrorDetail, ingest bool) []byte {
	var e struct {
		Error struct {
			Tag               string `json:"_tag"`
			Type              string `json:"type"`
			Code              string `json:"code"`
			Title             string `json:"title"`
			Message           string `json:"message"`
			Retryable         bool   `json:"retryable"`
			Recovery          string `json:"recovery"`
			RetryAfterSeconds int32  `json:"retry_after_seconds,omitempty"`
			Param             string `json:"param,omitempty"`
		} `json:"error"`
	}
	e.Error.Tag, e.Error.Type, e.Error.Code, e.Error.Title = d.GetTag(), d.GetType(), d.GetCode(), d.GetTitle()
	e.Error.Message, e.Error.Retryable, e.Error.Recovery = d.GetMessage(), d.GetRetryable(), d.GetRecovery()
	if ingest {
		e.Error.RetryAfterSeconds = d.GetRetryAfterSeconds()
	} else {
		e.Error.Param = d.GetParam()
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	// Encoding texts, a number and a boolean cannot fail, and neither can writing to the buffer.
	_ = encoder.Encode(e)
	return bytes.TrimSuffix(out.Bytes(), []byte{'\n'})
}
