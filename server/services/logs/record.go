package logs

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"time"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/publicid"
	"github.com/svc-observability/svc/server/query/read"
	"github.com/svc-observability/svc/server/query/reads"
)

// GetLog reads one record.
func (s *Service) GetLog(ctx context.Context, req *svcv2.GetLogRequest) (*svcv2.Log, error) {
	org, err := read.Org(ctx)
	if err != nil {
		return nil, err
	}
	row, err := s.record(ctx, org, req.GetId())
	if err != nil {
		return nil, err
	}
	return toProto(row)
}

// record reads the record with an id. Without one, the error is that of a caller.
func (s *Service) record(ctx context.Context, org principal.OrgID, id string) (row reads.LogRow, err error) {
	at, record, err := parseID(id)
	if err != nil {
		return row, apierr.New(apierr.LogIdInvalid, "id is not the id of a log record: "+err.Error()+".", apierr.Param("id"))
	}
	rows, err := read.All[reads.LogRow](ctx, s.warehouse, org, reads.LogRecord(at, record))
	if err != nil {
		return row, err
	}
	if len(rows) == 0 {
		return row, apierr.New(
			apierr.LogNotFound,
			"This organization has no log record with this id. Log records are kept for "+limits.Days(limits.LogRetention)+".",
			apierr.Param("id"),
		)
	}
	return rows[0], nil
}

var errNoRecord = errors.New("it does not name a time and a record")

// parseID reads an id that formatID wrote. The error is safe to show.
func parseID(id string) (at time.Time, record string, err error) {
	payload, err := publicid.DecodeText(publicid.Log, id)
	if err != nil {
		return at, "", err
	}
	var parts []string
	if json.Unmarshal([]byte(payload), &parts) != nil || len(parts) != 2 {
		return at, "", errNoRecord
	}
	clock, ok := strings.CutPrefix(parts[0], "~")
	whole, fraction, split := strings.Cut(clock, ".")
	seconds, errSeconds := strconv.ParseInt(whole, 36, 64)
	nano, errNano := strconv.ParseUint(fraction, 10, 32)
	encoded, marked := strings.CutPrefix(parts[1], "~")
	hash, errHash := base64.RawURLEncoding.Strict().DecodeString(encoded)
	if !ok || !split || !marked || errSeconds != nil || errNano != nil || errHash != nil || len(fraction) != 9 || len(hash) != 16 {
		return at, "", errNoRecord
	}
	// A 64-bit count of nanoseconds since 1970 ends in 2262.
	if at = time.Unix(seconds, int64(nano)).UTC(); seconds < 0 || at.Year() > 2261 {
		return at, "", errNoRecord
	}
	return at, hex.EncodeToString(hash), nil
}
