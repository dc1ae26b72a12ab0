package logs

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/publicid"
	"github.com/svc-observability/svc/server/query/reads"
)

func toProto(row reads.LogRow) (*svcv2.Log, error) {
	id, err := formatID(row.Timestamp, row.Record)
	if err != nil {
		return nil, err
	}
	return &svcv2.Log{
		Id: id, Object: "log", Timestamp: timestamppb.New(row.Timestamp), SeverityText: row.SeverityText,
		SeverityNumber: int32(row.SeverityNumber), ServiceName: row.ServiceName, Body: row.Body, TraceId: text(row.TraceID),
		SpanId: text(row.SpanID), LogAttributes: row.LogAttributes, ResourceAttributes: row.ResourceAttributes,
		ScopeName: text(row.ScopeName), EventName: text(row.EventName),
	}, nil
}

// formatID writes the id of a record. No id is stored, so the id contains what is needed to find the record again: its time and
// the hash of its columns. Records that are equal in every column share their id.
func formatID(at time.Time, record string) (string, error) {
	hash, err := hex.DecodeString(record)
	if err != nil {
		return "", fmt.Errorf("hash of a log record: %w", err)
	}
	payload, err := json.Marshal([]string{
		"~" + strconv.FormatInt(at.Unix(), 36) + fmt.Sprintf(".%09d", at.Nanosecond()),
		"~" + base64.RawURLEncoding.EncodeToString(hash),
	})
	if err != nil {
		return "", fmt.Errorf("id of a log record: %w", err)
	}
	return publicid.EncodeText(publicid.Log, string(payload)), nil
}

// text is nil for an empty column.
func text(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
