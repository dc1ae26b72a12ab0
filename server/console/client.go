package console

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"time"

	"connectrpc.com/connect"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/gen/svc/v2/svcv2connect"
	"github.com/svc-observability/svc/server/limits"
)

// Target is a server and the credential for it.
type Target struct {
	URL, Token, OrgID string
	// Agent is the User-Agent.
	Agent string
	// Relogin says how to get a new credential, Origin where this one was found.
	Relogin, Origin string
}

// Client calls the methods of one server.
type Client struct {
	target     Target
	door       *door
	services   svcv2connect.ServicesServiceClient
	serviceMap svcv2connect.ServiceMapServiceClient
	diagnosis  svcv2connect.DiagnosisServiceClient
	traces     svcv2connect.TracesServiceClient
	logs       svcv2connect.LogsServiceClient
	errors     svcv2connect.ErrorEventsServiceClient
	issues     svcv2connect.ErrorIssuesServiceClient
	workflow   svcv2connect.ErrorIssueWorkflowServiceClient
	metrics    svcv2connect.MetricsServiceClient
	query      svcv2connect.QueryServiceClient
	attributes svcv2connect.AttributesServiceClient
	sql        svcv2connect.SqlServiceClient
	session    svcv2connect.SessionsServiceClient

	integrations svcv2connect.IntegrationsServiceClient
	hosting      svcv2connect.SourceHostingServiceClient
	source       svcv2connect.SourceCodeServiceClient
}

// Connect returns a client. It does not call the server.
func Connect(target Target) *Client {
	target.URL = strings.TrimRight(target.URL, "/")
	d := &door{target: target, next: http.DefaultTransport}
	h := d.client()
	options := []connect.ClientOption{connect.WithReadMaxBytes(limits.GRPCMessage)}
	return &Client{
		target:     target,
		door:       d,
		services:   svcv2connect.NewServicesServiceClient(h, target.URL, options...),
		serviceMap: svcv2connect.NewServiceMapServiceClient(h, target.URL, options...),
		diagnosis:  svcv2connect.NewDiagnosisServiceClient(h, target.URL, options...),
		traces:     svcv2connect.NewTracesServiceClient(h, target.URL, options...),
		logs:       svcv2connect.NewLogsServiceClient(h, target.URL, options...),
		errors:     svcv2connect.NewErrorEventsServiceClient(h, target.URL, options...),
		issues:     svcv2connect.NewErrorIssuesServiceClient(h, target.URL, options...),
		workflow:   svcv2connect.NewErrorIssueWorkflowServiceClient(h, target.URL, options...),
		metrics:    svcv2connect.NewMetricsServiceClient(h, target.URL, options...),
		query:      svcv2connect.NewQueryServiceClient(h, target.URL, options...),
		attributes: svcv2connect.NewAttributesServiceClient(h, target.URL, options...),
		sql:        svcv2connect.NewSqlServiceClient(h, target.URL, options...),
		session:    svcv2connect.NewSessionsServiceClient(h, target.URL, options...),

		integrations: svcv2connect.NewIntegrationsServiceClient(h, target.URL, options...),
		hosting:      svcv2connect.NewSourceHostingServiceClient(h, target.URL, options...),
		source:       svcv2connect.NewSourceCodeServiceClient(h, target.URL, options...),
	}
}

// Session returns the user, the organization and the rights of the credential.
func (c *Client) Session(ctx context.Context) (*svcv2.Session, error) {
	session, err := c.session.GetSession(ctx, &svcv2.GetSessionRequest{})
	return session, c.failure(err)
}

// HTTPClient sends the credential to the server of the target, for the doors that are not Connect.
func HTTPClient(target Target) *http.Client {
	c := (&door{target: target, next: http.DefaultTransport}).client()
	c.Timeout = 0 // a stream of an agent lasts as long as the agent
	return c
}

// door adds the credential to requests, and learns the clock of the server from answers.
type door struct {
	target Target
	next   http.RoundTripper

	mu   sync.Mutex
	skew time.Duration // the clock of the server minus that of this machine
}

func (d *door) client() *http.Client {
	return &http.Client{
		Transport: d,
		Timeout:   limits.CallTime,
		// A redirect could lead the credential to another server.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

func (d *door) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+d.target.Token)
	r.Header.Set("User-Agent", d.target.Agent)
	if d.target.OrgID != "" {
		r.Header.Set("X-Svc-Org-Id", d.target.OrgID)
	}
	res, err := d.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	if at, err := http.ParseTime(res.Header.Get("Date")); err == nil {
		d.mu.Lock()
		d.skew = time.Until(at)
		d.mu.Unlock()
	}
	return res, nil
}

// now is the time of the server. The header that has it is exact to a second, so a small difference does not count.
func (d *door) now() time.Time {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.skew.Abs() < 3*time.Second {
		return time.Now()
	}
	return time.Now().Add(d.skew)
}
