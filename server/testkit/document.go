package testkit

import (
	"net/http"
	"sync"
	"testing"

	"github.com/svc-observability/svc/server/contract"
	"github.com/svc-observability/svc/server/openapi"
	"github.com/svc-observability/svc/server/openapi/openapitest"
)

// document checks every exchange of the test binary with /v2. For servers in this process, it watches the server; for other
// processes, it watches http.DefaultClient.
var document = sync.OnceValues(func() (*openapitest.Checker, error) {
	c, err := contract.Load()
	if err != nil {
		return nil, err
	}
	doc, err := openapi.New(c, "https://svc.test")
	if err != nil {
		return nil, err
	}
	return openapitest.New(doc)
})

// watched holds the addresses of processes, host:port.
var watched sync.Map

// watchProcesses checks the requests to watched addresses.
func watchProcesses(next http.RoundTripper) http.RoundTripper {
	return transport(func(r *http.Request) (*http.Response, error) {
		if _, ok := watched.Load(r.URL.Host); !ok {
			return next.RoundTrip(r)
		}
		d, err := document()
		if err != nil {
			return nil, err
		}
		return d.Transport(next).RoundTrip(r)
	})
}

type transport func(*http.Request) (*http.Response, error)

// RoundTrip sends one request.
func (f transport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func unfit() []string {
	d, err := document()
	if err != nil {
		return []string{err.Error()}
	}
	return d.Take()
}

// reportUnfit fails the test at its end if an exchange so far did not match the OpenAPI document. If tests run in parallel, the
// exchange may belong to another test.
func reportUnfit(t testing.TB) {
	t.Cleanup(func() {
		for _, problem := range unfit() {
			t.Errorf("against the OpenAPI document: %s", problem)
		}
	})
}
