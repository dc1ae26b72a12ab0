// Package instrumentation answers the methods of svc.v2.InstrumentationService.
package instrumentation

import (
	"context"
	"log/slog"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/query/read"
	"github.com/svc-observability/svc/server/query/reads"
	"github.com/svc-observability/svc/server/store"
)

const (
	// signalWindow is the time that the answer covers.
	signalWindow = limits.SignalWindow
	// signalTimeout is the time after which the telemetry store counts as down. The caller waits to see whether anything arrives.
	signalTimeout = 10 * time.Second
)

// These are the statuses of a signal.
const (
	present = "present"
	absent  = "absent"
	unknown = "unknown"
)

// signals lists all signals in the order of the answer.
func signals() []string {
	return append(telemetrySignals(), string(query.Sessions), string(query.ProductEvents))
}

// telemetrySignals lists those that OpenTelemetry has.
func telemetrySignals() []string {
	return []string{string(query.Traces), string(query.Logs), string(query.Metrics)}
}

// Service implements svcv2connect.InstrumentationServiceHandler. It is safe for concurrent use.
type Service struct {
	store     *store.Store
	warehouse read.Warehouse
	logger    *slog.Logger
	now       func() time.Time
}

// New returns the service.
func New(st *store.Store, w read.Warehouse, logger *slog.Logger, now func() time.Time) *Service {
	return &Service{st, w, logger, now}
}

// GetTelemetrySignals reports which signals arrived. If the store is down, the answer says so; the call does not fail.
func (s *Service) GetTelemetrySignals(ctx context.Context, _ *svcv2.GetTelemetrySignalsRequest) (*svcv2.TelemetrySignals, error) {
	org, err := read.Org(ctx)
	if err != nil {
		return nil, err
	}
	now := s.now().UTC()
	window := query.Window{Start: now.Add(-signalWindow), End: now}
	bounded, cancel := context.WithTimeout(ctx, signalTimeout)
	defer cancel()
	rows, err := read.All[reads.SignalRow](bounded, s.warehouse, org, reads.Signals(window, limits.SignalServices))
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		s.logger.WarnContext(ctx, "the signals of an organization are not known", "org_id", org, "error", err)
	}
	return answer(now, window, rows, err == nil), nil
}

func answer(now time.Time, w query.Window, rows []reads.SignalRow, available bool) *svcv2.TelemetrySignals {
	out := &svcv2.TelemetrySignals{
		Object: "telemetry_signals", GeneratedAt: timestamppb.New(now), WindowStart: timestamppb.New(w.Start), WindowEnd: timestamppb.New(w.End),
		WarehouseAvailable: available,
	}
	whole := map[string]reads.SignalRow{}
	services := map[string]map[string]reads.SignalRow{}
	var names []string // in the order of the rows
	for _, row := range rows {
		if row.Whole > 0 {
			whole[row.Signal] = row
			continue
		}
		if services[row.ServiceName] == nil {
			services[row.ServiceName] = map[string]reads.SignalRow{}
			names = append(names, row.ServiceName)
		}
		services[row.ServiceName][row.Signal] = row
		out.ServiceCount = int32(row.Services)
	}
	out.Signals = each(whole, available)
	for _, name := range names[:min(len(names), limits.SignalServices)] {
		out.Services = append(out.Services, &svcv2.ServiceSignals{
			Object: "service_telemetry_signals", Name: name, Signals: each(services[name], available),
		})
	}
	return out
}

// each lists all signals with the rows that were found.
func each(found map[string]reads.SignalRow, available bool) []*svcv2.TelemetrySignal {
	var out []*svcv2.TelemetrySignal
	for _, name := range signals() {
		signal := &svcv2.TelemetrySignal{Object: "telemetry_signal", Signal: name, Status: unknown}
		if row := found[name]; available {
			count := float64(row.Items)
			signal.Count, signal.Status = &count, absent
			if row.Items > 0 {
				signal.Status, signal.FirstSeen, signal.LastSeen = present, timestamppb.New(row.First), timestamppb.New(row.Last)
			}
		}
		out = append(out, signal)
	}
	return out
}
