package paging

import (
	"strconv"
	"time"

	"github.com/google/uuid"
)

// IssueKey is the place of an error issue in a list. The list is in descending order of these fields; only that by severity begins with
// the rank.
type IssueKey struct {
	Sort     string
	Rank     int
	LastSeen time.Time
	ID       uuid.UUID
}

const issuePrefix = "iss_"

// FormatIssue writes the cursor of a list of issues.
func FormatIssue(k IssueKey) string {
	return formatKey(issuePrefix, k.Sort, strconv.Itoa(k.Rank), formatTime(k.LastSeen), k.ID.String())
}

// ParseIssue reads a cursor of FormatIssue for a list in an order; nil means the first page.
func ParseIssue(cursor *string, sort string) (*IssueKey, error) {
	if cursor == nil {
		return nil, nil
	}
	parts, err := parseKey(issuePrefix, *cursor, 4)
	if err != nil {
		return nil, err
	}
	rank, badRank := strconv.Atoi(parts[1])
	at, ok := parseTime(parts[2])
	id, badID := uuid.Parse(parts[3])
	k := IssueKey{Sort: parts[0], Rank: rank, LastSeen: at, ID: id}
	if badRank != nil || !ok || badID != nil || FormatIssue(k) != *cursor {
		return nil, errKeyset()
	}
	if k.Sort != sort {
		return nil, errSort(k.Sort)
	}
	return &k, nil
}
