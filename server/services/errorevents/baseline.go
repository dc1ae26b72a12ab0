package errorevents

import (
	"context"
	"strconv"

	"google.golang.org/protobuf/types/known/timestamppb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/query/read"
	"github.com/svc-observability/svc/server/query/reads"
)

// compare fills in the occurrences of the page's groups in the window before. If that window has too few spans, it leaves them out: an
// error that seems new there may be old.
func (s *Service) compare(
	ctx context.Context, org principal.OrgID, w query.Window, filters reads.ErrorFilters, res *svcv2.SearchErrorEventsResponse,
) error {
	earlier := w.Before()
	res.BaselineStartTime, res.BaselineEndTime = timestamppb.New(earlier.Start), timestamppb.New(earlier.End)
	var parts [2]uint64
	for i, w := range []query.Window{earlier, w} {
		row, err := read.One[reads.CoverageRow](ctx, s.warehouse, org, reads.SpanCoverage(w, filters.DeploymentEnvironment).Until(w.End))
		if err != nil {
			return err
		}
		parts[i] = row.Parts
	}
	if res.BaselineIsThin = 100*parts[0] < limits.ThinBaseline*parts[1]; res.BaselineIsThin || len(res.GetData()) == 0 {
		return nil
	}
	at := map[uint64]*svcv2.ErrorEvent{}
	filters.Fingerprints = []uint64{}
	for _, e := range res.GetData() {
		fingerprint, err := strconv.ParseUint(e.GetFingerprintHash(), 10, 64)
		if err != nil {
			return err
		}
		at[fingerprint] = e
		e.BaselineCount, e.BaselineEstimatedCount = new(0.0), new(0.0)
		filters.Fingerprints = append(filters.Fingerprints, fingerprint)
	}
	rows, err := read.All[reads.ErrorGroupRow](ctx, s.warehouse, org, reads.ErrorGroups(earlier, filters, "", 0, len(at)).Until(earlier.End))
	for _, row := range rows {
		if e := at[row.Fingerprint]; e != nil {
			e.BaselineCount, e.BaselineEstimatedCount = new(float64(row.Count)), new(row.Estimated)
		}
	}
	return err
}
