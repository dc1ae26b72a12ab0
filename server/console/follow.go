package console

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/limits"
)

// Times of a follower.
const (
	followEvery = time.Second
	// followSettle is how often the records that were left out are counted.
	followSettle = 10 * time.Second
	// followPatience is the longest wait between two attempts to reach a server that does not answer.
	followPatience = 15 * time.Second
)

// follower shows log records as they arrive. It reads an overlapping window again and again, and knows the ids that it has shown, so that a
// late record appears, and none appears twice.
type follower struct {
	q   *Query
	out *Output
	// begin is the start of the first window. read is when the last window was read in full.
	begin, read time.Time
	shown       map[string]time.Time // id → time of the record
	// settled is the time up to which all records are shown or counted as left out. skipped says that some may be missing since then.
	settled  time.Time
	skipped  bool
	counted  time.Time
	services int // widest name of a service so far
}

func followLogs(ctx context.Context, q *Query, out *Output) error {
	f := &follower{q: q, out: out, shown: map[string]time.Time{}}
	var away time.Time
	attempts := 0
	for {
		err := f.poll(ctx)
		var failure *Failure
		wait := followEvery
		switch {
		case ctx.Err() != nil, out.Left != nil && out.Left():
			return nil //nolint:nilerr // a person or the reader ended it
		case err == nil:
			if attempts > 0 {
				out.note(fmt.Sprintf("the server answers again after %s; what arrived meanwhile is shown", time.Since(away).Round(time.Second)))
			}
			attempts = 0
		case errors.As(err, &failure) && failure.retryable():
			if attempts == 0 {
				away = time.Now()
				out.note(strings.SplitN(failure.Error(), "\n", 2)[0] + "; trying again until it answers")
			}
			wait = min(followEvery<<min(attempts, 8), followPatience)
			if failure.retry > 0 {
				wait = failure.retry
			}
			attempts++
		default:
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(wait):
		}
	}
}

// poll reads one window and shows the new records in it.
func (f *follower) poll(ctx context.Context) error {
	client := f.q.client
	if f.begin.IsZero() {
		// The first answer shows the clock of the server, and whether the flags and the credential are good.
		now := timestamppb.New(client.door.now())
		if _, err := client.searchLogs(ctx, f.q, timestamppb.New(now.AsTime().Add(-time.Second)), now, 1, nil); err != nil {
			return client.failure(err)
		}
		f.begin = client.door.now().Add(-limits.FollowBack)
		f.read, f.settled, f.counted = f.begin, f.begin, f.begin
	}
	now := client.door.now()
	start := later(f.begin, f.read.Add(-limits.FollowLate))
	var fresh []*svcv2.Log
	var cursor *string
	for page := 1; ; page++ {
		res, err := client.searchLogs(ctx, f.q, timestamppb.New(start), timestamppb.New(now.Add(limits.FollowLate)), limits.LargestPage, cursor)
		if err != nil {
			return client.failure(err)
		}
		for _, v := range res.GetData() {
			if _, known := f.shown[v.GetId()]; !known {
				f.shown[v.GetId()] = v.GetTimestamp().AsTime()
				fresh = append(fresh, v)
			}
		}
		if !res.GetHasMore() || res.GetNextCursor() == "" {
			break
		}
		if page == limits.FollowRecords/limits.LargestPage {
			f.skipped = true
			break
		}
		next := res.GetNextCursor()
		cursor = &next
	}
	f.read = now
	slices.SortStableFunc(fresh, func(a, b *svcv2.Log) int { return a.GetTimestamp().AsTime().Compare(b.GetTimestamp().AsTime()) })
	if err := f.show(fresh); err != nil {
		return err
	}
	return f.settle(ctx, now)
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// settle says how many records of a time that is over were left out, and forgets the ids from before it.
func (f *follower) settle(ctx context.Context, now time.Time) error {
	if now.Sub(f.counted) < followSettle {
		return nil
	}
	f.counted = now
	upTo := now.Add(-limits.FollowLate)
	if !upTo.After(f.settled) {
		return nil
	}
	if f.skipped {
		missing, err := f.missing(ctx, upTo)
		if err != nil {
			return err
		}
		if missing > 0 {
			f.out.note(fmt.Sprintf("left out about %.0f log records from %s to %s UTC: they arrive faster than they are shown; "+
				"--service, --severity and --search narrow them",
				missing, f.settled.UTC().Format(time.TimeOnly), upTo.UTC().Format(time.TimeOnly)))
		}
		f.skipped = false
	}
	f.settled = upTo
	for id, at := range f.shown {
		if now.Sub(at) > 4*limits.FollowLate {
			delete(f.shown, id)
		}
	}
	return nil
}

// missing is how many records of the window were not shown.
func (f *follower) missing(ctx context.Context, upTo time.Time) (float64, error) {
	res, err := f.q.client.logs.QueryLogTimeseries(ctx, &svcv2.QueryLogTimeseriesRequest{
		StartTime: timestamppb.New(f.settled), EndTime: timestamppb.New(upTo), Aggregation: "count", Filters: f.q.logFilters(),
	})
	if err != nil {
		return 0, f.q.client.failure(err)
	}
	missing := 0.0
	for _, series := range res.GetSeries() {
		for _, point := range series.GetPoints() {
			missing += point.GetValue()
		}
	}
	for _, at := range f.shown {
		if !at.Before(f.settled) && !at.After(upTo) {
			missing--
		}
	}
	return math.Round(missing), nil
}

// show writes records, oldest first.
func (f *follower) show(list []*svcv2.Log) error {
	if len(list) == 0 {
		return nil
	}
	var text strings.Builder
	if f.out.Format == FormatTable {
		f.rows(&text, list)
	} else if err := writeLines(&text, Answer{lines: linesOf(list)}); err != nil {
		return err
	}
	_, err := io.WriteString(f.out.Data, text.String())
	return left(err)
}

// rows writes records as rows of a table whose column for services grows with the names.
func (f *follower) rows(text *strings.Builder, list []*svcv2.Log) {
	if f.out.Resize != nil {
		f.out.Width = f.out.Resize()
	}
	columns := logColumns()
	rows := make([][]cell, len(list))
	for i, v := range list {
		rows[i] = logRow(v)
		for j := range rows[i] {
			rows[i][j].text = safe(rows[i][j].text)
		}
		f.services = max(f.services, columnsOf(rows[i][2].text))
	}
	widths := []int{len(exactLayout), len("ERROR"), f.services, 0}
	if f.out.Width > 0 {
		widths[3] = f.out.Width // as much as there may be; fit takes the rest away
		f.out.fit(columns, widths)
	}
	for _, r := range rows {
		f.out.writeRow(text, columns, widths, r)
	}
}
