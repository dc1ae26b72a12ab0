package tool

import (
	"google.golang.org/grpc"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
)

// Clients are the clients of the services that tools call.
type Clients struct {
	Services     svcv2.ServicesServiceClient
	Traces       svcv2.TracesServiceClient
	Logs         svcv2.LogsServiceClient
	Metrics      svcv2.MetricsServiceClient
	ServiceMap   svcv2.ServiceMapServiceClient
	Environments svcv2.EnvironmentsServiceClient
	Attributes   svcv2.AttributesServiceClient
	Errors       svcv2.ErrorEventsServiceClient
	SQL          svcv2.SqlServiceClient
	Query        svcv2.QueryServiceClient

	Replays       svcv2.SessionReplaysServiceClient
	ProductEvents svcv2.ProductEventsServiceClient
	Dashboards    svcv2.DashboardsServiceClient
	DashboardData svcv2.DashboardDataServiceClient
	Agents        svcv2.AgentSessionsServiceClient
	// Instrumentation has the audit and the recommendations.
	Instrumentation svcv2.InstrumentationServiceClient
	Feedback        svcv2.AgentFeedbackServiceClient
	Diagnosis       svcv2.DiagnosisServiceClient
}

// NewClients makes the clients over a connection, which is the loopback.
func NewClients(conn grpc.ClientConnInterface) *Clients {
	return &Clients{
		Services:        svcv2.NewServicesServiceClient(conn),
		Traces:          svcv2.NewTracesServiceClient(conn),
		Logs:            svcv2.NewLogsServiceClient(conn),
		Metrics:         svcv2.NewMetricsServiceClient(conn),
		ServiceMap:      svcv2.NewServiceMapServiceClient(conn),
		Environments:    svcv2.NewEnvironmentsServiceClient(conn),
		Attributes:      svcv2.NewAttributesServiceClient(conn),
		Errors:          svcv2.NewErrorEventsServiceClient(conn),
		SQL:             svcv2.NewSqlServiceClient(conn),
		Query:           svcv2.NewQueryServiceClient(conn),
		Replays:         svcv2.NewSessionReplaysServiceClient(conn),
		ProductEvents:   svcv2.NewProductEventsServiceClient(conn),
		Dashboards:      svcv2.NewDashboardsServiceClient(conn),
		DashboardData:   svcv2.NewDashboardDataServiceClient(conn),
		Agents:          svcv2.NewAgentSessionsServiceClient(conn),
		Instrumentation: svcv2.NewInstrumentationServiceClient(conn),
		Feedback:        svcv2.NewAgentFeedbackServiceClient(conn),
		Diagnosis:       svcv2.NewDiagnosisServiceClient(conn),
	}
}
