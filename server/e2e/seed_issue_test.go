package e2e

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/svc-observability/svc/server/publicid"
	"github.com/svc-observability/svc/server/testkit"
)

// seedIssue puts an issue with one fingerprint into the database of a server, as occurrences would. It returns the public id.
func seedIssue(t *testing.T, db breakable, s *testkit.Server) string {
	t.Helper()
	id, hash, at := uuid.Must(uuid.NewV7()), fmt.Sprint(time.Now().UnixNano()), time.Now().UTC().Format("2006-01-02 15:04:05+00:00")
	db.exec(t, fmt.Sprintf(`INSERT INTO error_issues (id, org_id, shard, kind, fingerprint_hash, service_name, exception_type, exception_message,
		error_label, top_frame, workflow_state, priority, severity_rank, lease_seconds, first_seen_at, last_seen_at, occurrence_count, estimated_count,
		regression_count, comment_count, open_pull_request_count, merged_pull_request_count, told, created_at, updated_at)
		VALUES ('%[1]s', '%[2]s', 0, 'error', '%[3]s', 'checkout', 'Oops', 'm', 'Oops', 'f', 'triage', 3, 0, 0, '%[4]s', '%[4]s', 1, 1, 0, 0, 0, 0, true, '%[4]s', '%[4]s')`,
		id, s.OrgID, hash, at))
	db.exec(t, fmt.Sprintf(`INSERT INTO error_issue_fingerprints (id, org_id, issue_id, hash, pinned, service_name, exception_type, exception_message,
		error_label, top_frame, first_seen_at, last_seen_at, occurrence_count, estimated_count, created_at)
		VALUES ('%[1]s', '%[2]s', '%[3]s', '%[4]s', false, 'checkout', 'Oops', 'm', 'Oops', 'f', '%[5]s', '%[5]s', 1, 1, '%[5]s')`,
		uuid.Must(uuid.NewV7()), s.OrgID, id, hash, at))
	return publicid.Encode(publicid.ErrorIssue, id)
}
