// Package diagnose finds changes in services and their causes, the spans in which traces lost time, and whether agents' sessions
// went well. It reads through the methods of the API's services and answers with messages of the contract.
package diagnose

import (
	"context"
	"net/http"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/query/read"
)

// Services reads services.
type Services interface {
	ListServices(context.Context, *svcv2.ListServicesRequest) (*svcv2.ListServicesResponse, error)
	ListServiceOperations(context.Context, *svcv2.ListServiceOperationsRequest) (*svcv2.ListServiceOperationsResponse, error)
	ListServiceReleases(context.Context, *svcv2.ListServiceReleasesRequest) (*svcv2.ServiceReleases, error)
	GetServiceApdex(context.Context, *svcv2.GetServiceApdexRequest) (*svcv2.ServiceApdex, error)
}

// ServiceMap reads the calls between services.
type ServiceMap interface {
	GetServiceMap(context.Context, *svcv2.GetServiceMapRequest) (*svcv2.ServiceMap, error)
}

// Errors reads errors.
type Errors interface {
	SearchErrorEvents(context.Context, *svcv2.SearchErrorEventsRequest) (*svcv2.SearchErrorEventsResponse, error)
}

// Logs reads patterns of log records.
type Logs interface {
	SearchLogPatterns(context.Context, *svcv2.SearchLogPatternsRequest) (*svcv2.LogPatternList, error)
}

// Traces reads traces.
type Traces interface {
	GetTrace(context.Context, *svcv2.GetTraceRequest) (*svcv2.Trace, error)
}

// Query computes figures of spans.
type Query interface {
	QueryBreakdown(context.Context, *svcv2.QueryBreakdownRequest) (*svcv2.QueryBreakdownResponse, error)
	QueryTimeseries(context.Context, *svcv2.QueryTimeseriesRequest) (*svcv2.QueryTimeseriesResponse, error)
}

// Agents reads sessions of agents.
type Agents interface {
	GetAgentSession(context.Context, *svcv2.GetAgentSessionRequest) (*svcv2.AgentSession, error)
}

// Markers reads the events that people and machines reported.
type Markers interface {
	ListMarkers(context.Context, *svcv2.ListMarkersRequest) (*svcv2.ListMarkersResponse, error)
}

// Readers are the services through which the engine reads. Each answers for the organization of the caller in the context.
type Readers struct {
	Services   Services
	ServiceMap ServiceMap
	Errors     Errors
	Logs       Logs
	Traces     Traces
	Query      Query
	Agents     Agents
	Markers    Markers
	// Warehouse holds the series in which incidents and differences are searched. Such reads name the organization.
	Warehouse read.Warehouse
}

// Engine diagnoses. It is safe for concurrent use.
type Engine struct{ read Readers }

// New returns an engine.
func New(r Readers) *Engine { return &Engine{r} }

// Period is a time range.
type Period struct{ Start, End time.Time }

// Until returns the period of the same length that ends at the given time.
func (p Period) Until(end time.Time) Period { return Period{end.Add(-p.length()), end} }

// Before is the period of equal length before this one. A period includes its end, so it ends a nanosecond earlier.
func (p Period) Before() Period {
	return Period{p.Start.Add(-p.length()), p.Start.Add(-time.Nanosecond)}
}

// length counts the last instant too where that makes whole seconds, so that the period before is as long as its own.
func (p Period) length() time.Duration {
	d := p.End.Sub(p.Start)
	if (d+time.Nanosecond)%time.Second == 0 {
		d += time.Nanosecond
	}
	return d
}

func (p Period) start() *timestamppb.Timestamp { return timestamppb.New(p.Start) }

func (p Period) end() *timestamppb.Timestamp { return timestamppb.New(p.End) }

// Scope narrows a diagnosis. A nil field does not narrow it.
type Scope struct{ Service, Environment *string }

// optional ignores the error that something does not exist, because a service may have spans in one period only.
func optional(err error) error {
	if err != nil && apierr.Spec(apierr.From(err).Tag).GetStatus() == http.StatusNotFound {
		return nil
	}
	return err
}
