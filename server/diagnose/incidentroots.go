package diagnose

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// sameTime is the greatest time between the begins, and between the ends, of two changes that seem to have one cause.
const sameTime = 3 * time.Minute

// services returns the services of a cluster, with that of the cause first: the one with errors or latency whose called services have
// none, else the one whose change is the clearest. Of traffic, it is the one that no other with a change calls.
func (c cluster) services() []string {
	felt, any := c.felt(), map[string]float64{}
	for _, s := range c.symptoms {
		any[s.service] += s.score
	}
	candidates := felt
	downstream := true
	if len(felt) == 0 {
		candidates, downstream = any, false
	}
	var out []string
	for name := range any {
		out = append(out, name)
	}
	strongest := 0.0
	for _, score := range candidates {
		strongest = max(strongest, score)
	}
	last := func(name string) bool {
		if candidates[name] < strongest/8 {
			return false
		}
		for other, score := range candidates {
			pair := [2]string{name, other}
			if !downstream {
				pair = [2]string{other, name}
			}
			if other != name && score >= strongest/8 && c.waits(pair) && !c.waits([2]string{pair[1], pair[0]}) {
				return false
			}
		}
		return true
	}
	slices.SortFunc(out, func(x, y string) int {
		return cmp.Or(-compareBool(x == c.root, y == c.root), -compareBool(last(x), last(y)), cmp.Compare(candidates[y], candidates[x]),
			cmp.Compare(any[y], any[x]), strings.Compare(x, y))
	})
	return out
}

// felt scores each service by those of its changes that its callers may feel, or that explain what its callers feel. A clear change has
// a high score.
func (c cluster) felt() map[string]float64 {
	out := map[string]float64{}
	for _, s := range c.symptoms {
		switch s.kind {
		case errorRate, latency, dependencyErrors, dependencyLatency, resource, errorGroup:
			out[s.service] += s.score
		}
	}
	return out
}

// waits tells whether the first service of a pair calls the second and waits for its answer.
func (c cluster) waits(pair [2]string) bool { return c.calls[pair] && !c.messages[pair] }

// origin is a service that changed by itself, and the change that shows it best.
type origin struct {
	service string
	change  symptom
}

// split takes a cluster apart if several services changed by themselves: incidents that meet in a service which calls both.
func (c cluster) split() []cluster {
	reaches := c.reach()
	list := c.origins(reaches)
	if len(list) < 2 {
		return []cluster{c}
	}
	parts := make([]cluster, len(list))
	for i, o := range list {
		parts[i] = cluster{calls: c.calls, messages: c.messages, root: o.service}
	}
	for _, y := range c.symptoms {
		best, distance := 0, time.Duration(-1)
		for i, o := range list {
			away := y.from.Sub(o.change.from).Abs() + y.to.Sub(o.change.to).Abs()
			switch {
			case y.service == o.service && c.itself(y), dependent(y.kind) && y.subject == o.service:
				away = 0
			case y.service != o.service && !reaches(y.service, o.service):
				away += 24 * time.Hour // it hardly comes from there
			}
			if distance < 0 || away < distance || away == distance && y.service == o.service {
				best, distance = i, away
			}
		}
		parts[best].symptoms = append(parts[best].symptoms, y)
	}
	return parts
}

// origins finds the services that changed by themselves, the clearest first: those that call no other service with a change, and those that
// have a change which no service below them explains. Of services that changed together, which may have a cause in common, the first
// counts.
func (c cluster) origins(reaches func(from, to string) bool) []origin {
	felt := c.felt()
	strongest := 0.0
	for _, score := range felt {
		strongest = max(strongest, score)
	}
	least := max(2*minorScore, strongest/30)
	var list []origin
	for _, y := range c.symptoms { // the clearest first
		if slices.ContainsFunc(list, func(o origin) bool { return o.service == y.service }) || y.score < least {
			continue
		}
		explained := y.kind == throughput || y.kind == dependencyCalls || y.kind == logRecords
		for other, score := range felt {
			explained = explained || other != y.service && score >= least && reaches(y.service, other) && !reaches(other, y.service)
		}
		if !explained || c.itself(y) {
			list = append(list, origin{y.service, y})
		}
	}
	var out []origin
	for _, o := range list {
		if !slices.ContainsFunc(out, func(p origin) bool { return o.change.together(p.change) }) {
			out = append(out, o)
		}
	}
	return out
}

// itself reports whether the cause of a change lies in the service, and not in a service that it calls. Calls to a database, or to a host
// that is not a service, count as the service; so do many log records at a low severity.
func (c cluster) itself(y symptom) bool {
	switch y.kind {
	case logRecords:
		return y.label == "info" && y.up() && y.score > 3*minorScore && y.value > 3*y.usual
	case dependencyErrors, dependencyLatency:
		for pair := range c.calls {
			if pair[0] == y.service && strings.Contains(strings.ToLower(y.subject), strings.ToLower(pair[1])) {
				return false
			}
		}
		return true
	}
	return false
}

// together reports whether two changes belong to one fault: they concern the same dependency, or they are of one kind and begin and end at
// the same time.
func (s symptom) together(o symptom) bool {
	if dependent(s.kind) && dependent(o.kind) && s.subject == o.subject {
		return true
	}
	fails := func(y symptom) bool { return y.kind == errorRate || y.kind == errorGroup || y.kind == dependencyErrors }
	slow := func(y symptom) bool { return y.kind == latency || y.kind == dependencyLatency || y.kind == resource }
	alike := fails(s) && fails(o) || slow(s) && slow(o)
	return alike && s.from.Sub(o.from).Abs() <= sameTime && s.to.Sub(o.to).Abs() <= sameTime
}

// reach returns a function that tells whether a service calls another and waits for it, directly or by way of others.
func (c cluster) reach() func(from, to string) bool {
	called := map[string][]string{}
	for pair := range c.calls {
		if c.waits(pair) {
			called[pair[0]] = append(called[pair[0]], pair[1])
		}
	}
	known := map[string]map[string]bool{}
	return func(from, to string) bool {
		if known[from] == nil {
			reached, queue := map[string]bool{}, []string{from}
			for len(queue) > 0 {
				next := queue[0]
				queue = queue[1:]
				for _, name := range called[next] {
					if !reached[name] {
						reached[name] = true
						queue = append(queue, name)
					}
				}
			}
			known[from] = reached
		}
		return known[from][to]
	}
}
