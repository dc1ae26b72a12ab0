package diagnose

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/atonce"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/principal"
)

// Together is the greatest distance between the begins of changes with one cause.
const Together = 12 * time.Minute

// cluster is the changes that belong together.
type cluster struct {
	symptoms []symptom
	// calls are the pairs of caller and called service. messages are the pairs in which the caller only sends messages, and does
	// not wait for the result.
	calls, messages map[[2]string]bool
	// root is the service of the cause if that was found with the cluster.
	root string
}

// Incidents finds the times in which services were not like themselves, and the likeliest cause of each.
func (e *Engine) Incidents(ctx context.Context, org principal.OrgID, p Period, scope Scope) (*svcv2.IncidentSearch, error) {
	s := newSearch(p, scope)
	if err := e.symptoms(ctx, org, s); err != nil {
		return nil, err
	}
	res := &svcv2.IncidentSearch{
		Object: "list", StartTime: s.asked.start(), EndTime: s.asked.end(), ComparedFrom: timestamppb.New(s.series.Window.Start),
		BeforeIsEmpty: s.empty, BucketSeconds: int32(s.series.Bucket.Seconds()), SeriesCount: int32(s.looked), NotSearched: s.notSearched,
	}
	if len(s.list) == 0 {
		return res, nil
	}
	calls, messages, err := e.calls(ctx, s, scope)
	if err != nil {
		return nil, err
	}
	found := clusters(s.list, calls, messages)
	slices.SortStableFunc(found, func(x, y cluster) int { return cmp.Compare(y.weight(), x.weight()) })
	if len(found) > limits.Incidents {
		res.NotSearched = append(res.NotSearched,
			fmt.Sprintf("%d incidents beyond the %d that hurt most", len(found)-limits.Incidents, limits.Incidents))
		found = found[:limits.Incidents]
	}
	res.Data = make([]*svcv2.Incident, len(found))
	var reads []func() error
	for i, c := range found {
		reads = append(reads, func() (err error) {
			res.Data[i], err = e.incident(ctx, org, s, c, scope)
			return err
		})
	}
	for chunk := range slices.Chunk(reads, 3) { // an organization has few places for reads
		if err := atonce.Run(chunk...); err != nil {
			return nil, err
		}
	}
	if s.unmarked.Load() {
		res.NotSearched = append(res.NotSearched, "markers: they cannot be read at the moment")
	}
	res.Data = slices.DeleteFunc(res.Data, func(i *svcv2.Incident) bool { return i == nil })
	return res, nil
}

// calls reads which services call each other, around the begins of the clearest changes, and which of them only send messages.
func (e *Engine) calls(ctx context.Context, s *search, scope Scope) (calls, messages map[[2]string]bool, err error) {
	const around, most = 5 * time.Minute, 4
	list := slices.Clone(s.list)
	slices.SortFunc(list, func(x, y symptom) int { return cmp.Compare(y.score, x.score) })
	var starts []time.Time
	for _, y := range list {
		if len(starts) < most && !slices.ContainsFunc(starts, func(t time.Time) bool { return y.from.Sub(t).Abs() < time.Hour }) {
			starts = append(starts, y.from)
		}
	}
	maps := make([]*svcv2.ServiceMap, len(starts))
	var read []func() error
	for i, t := range starts {
		read = append(read, func() (err error) {
			maps[i], err = e.serviceMap(ctx, Period{t, t.Add(2 * around)}, Scope{nil, scope.Environment})
			return optional(err)
		})
	}
	if err := atonce.Run(read...); err != nil {
		return nil, nil, err
	}
	calls, messages = map[[2]string]bool{}, map[[2]string]bool{}
	for _, m := range maps {
		for _, x := range m.GetEdges() {
			pair := [2]string{x.GetSourceService(), x.GetTargetService()}
			calls[pair] = true
			if x.GetCallCount() <= messagesBetween(m, pair) {
				messages[pair] = true
			}
		}
	}
	return calls, messages, nil
}

// messagesBetween is the greatest number of messages that the second service may have got from the first. They went through queues that
// the first one sends to and the second one reads.
func messagesBetween(m *svcv2.ServiceMap, pair [2]string) float64 {
	sent := map[string]bool{}
	for _, x := range m.GetPeerEdges() {
		if x.GetPeerKind() == "queue" && x.GetDirection() == "outbound" && x.GetSource() == "service:"+pair[0] {
			sent[x.GetTarget()] = true
		}
	}
	n := 0.0
	for _, x := range m.GetPeerEdges() {
		if x.GetPeerKind() == "queue" && x.GetDirection() == "inbound" && x.GetTarget() == "service:"+pair[1] && sent[x.GetSource()] {
			n += x.GetCallCount()
		}
	}
	return n
}

// clusters joins the changes that belong together. The clearest change that callers feel begins a cluster. It takes all changes that fit
// its time, in the same service or in services between which calls lead there. The changes that are left begin the next cluster. A cluster
// in which several services changed by themselves becomes several.
func clusters(list []symptom, calls, messages map[[2]string]bool) []cluster {
	left := slices.Clone(list)
	slices.SortStableFunc(left, func(x, y symptom) int {
		return cmp.Or(-compareBool(x.hurts(), y.hurts()), cmp.Compare(y.score, x.score))
	})
	var out []cluster
	for len(left) > 0 {
		seed := left[0]
		c := cluster{calls: calls, messages: messages}
		reached := []symptom{seed}
		left = left[1:]
		for len(reached) > 0 {
			from := reached[0]
			reached = reached[1:]
			c.symptoms = append(c.symptoms, from)
			var rest []symptom
			for _, y := range left {
				if (seed.fits(y) || from.filledBy(y)) && adjacent(from, y, calls) {
					reached = append(reached, y)
				} else {
					rest = append(rest, y)
				}
			}
			left = rest
		}
		slices.SortStableFunc(c.symptoms, func(x, y symptom) int { return cmp.Compare(y.score, x.score) })
		for _, part := range c.split() {
			if part.matters() {
				out = append(out, part)
			}
		}
	}
	return out
}

// fits tells whether a change can have the cause of this one by its time: both begin together, or it lies within this one.
func (s symptom) fits(y symptom) bool {
	if y.from.Sub(s.from).Abs() <= Together && y.to.After(s.from) && y.from.Before(s.to) {
		return true
	}
	return !y.from.Before(s.from.Add(-Together)) && !y.to.After(s.to.Add(Together))
}

// filledBy tells whether a resource of the same service began to fill before this change.
func (s symptom) filledBy(y symptom) bool {
	return y.kind == resource && y.service == s.service && y.from.Before(s.from) && y.to.After(s.from)
}

// adjacent tells whether a cause can lead from one change to the other.
func adjacent(x, y symptom, calls map[[2]string]bool) bool {
	switch {
	case x.environment != y.environment && x.environment != "" && y.environment != "":
		return false
	case x.service == y.service:
		return true
	case x.subject != "" && x.subject == y.subject && dependent(x.kind) && dependent(y.kind):
		return true
	}
	return calls[[2]string{x.service, y.service}] || calls[[2]string{y.service, x.service}]
}

func dependent(kind string) bool {
	return kind == dependencyErrors || kind == dependencyLatency || kind == dependencyCalls
}

// hurts tells whether a change of this kind is felt by callers.
func (s symptom) hurts() bool {
	return s.kind == errorRate || s.kind == latency || s.kind == throughput && !s.up()
}

// matters tells whether a cluster is more than an oddity: callers feel it, or it is large.
func (c cluster) matters() bool {
	for _, s := range c.symptoms {
		large := s.score > 3*minorScore && s.value > 3*s.usual
		switch s.kind {
		case errorRate:
			return true
		case latency, dependencyErrors, dependencyLatency:
			if s.score > minorScore {
				return true
			}
		case errorGroup:
			if s.score > 2*minorScore {
				return true
			}
		case logRecords, resource, dependencyCalls, throughput:
			if large {
				return true
			}
		}
	}
	return false
}

// minorScore is the score of a change that is surely there and may be small.
const minorScore = 20

// weight orders clusters: what callers feel comes first.
func (c cluster) weight() float64 {
	w := 0.0
	for _, s := range c.symptoms {
		if s.hurts() {
			w += s.score
		} else {
			w += s.score / 10
		}
	}
	return w
}

func compareBool(x, y bool) int {
	switch {
	case x == y:
		return 0
	case x:
		return 1
	}
	return -1
}
