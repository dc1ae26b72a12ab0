package chdb

import (
	"context"
	"maps"
	"runtime"
	"strconv"
	"sync"
	"time"

	"github.com/svc-observability/svc/server/limits"
)

// readsAtOnce bounds the reads of all organizations together. It is below MaxConnections, so inserts always find a connection.
const readsAtOnce = 48

// placePatience is how long a read waits for another read of the organization to end, such as one that was cancelled.
const placePatience = 3 * time.Second

const (
	codeTooManyStatements = 202
	// CodeOrganizationBusy is our own code: the organization has as many reads in the engine as it may have, though their callers
	// may have left.
	CodeOrganizationBusy = 10202
	// CodeRestarting is our own code: the engine stopped the read because it restarts. The same read may be sent again.
	CodeRestarting = 10203
)

// orgParameters are the parameters that name the organization of a read, in the reads of svc and in the SQL of tenants.
func orgParameters() []string { return []string{"org", "svc_org"} }

// organization returns the organization whose rows a statement reads, or nothing for a statement of svc itself.
func (st Statement) organization() string {
	for _, name := range orgParameters() {
		if org := st.Params[name]; org != "" {
			return org
		}
	}
	return ""
}

// WorkParameter is the parameter that marks a read of background work.
const WorkParameter = "svc_work"

// places counts the reads that run in the engine, for each organization. A read holds its place until the engine has ended it. A
// function that works on one value does not notice that its statement was cancelled, so a read can outlive its caller by far.
type places struct {
	mu            sync.Mutex
	all, confined int
	of            map[string]*held
	// work are the reads of background work, which have places of their own: neither do full dashboards stop alerts, nor the reverse.
	work    map[string]int
	changed chan struct{} // closed when a read ends
	now     func() time.Time
}

// held counts the reads of one organization in the engine. It is dropped when all counts are zero and no pause lasts.
type held struct {
	all, confined int
	paused        pause
}

// pause is the time until which the organization may not begin reads, because a cancelled read of that kind did not end. Such a
// read ends only with the process, so the next process keeps the pause.
type pause struct {
	Reads time.Time `json:"reads,omitzero"`
	SQL   time.Time `json:"sql,omitzero"`
}

func newPlaces(now func() time.Time, paused map[string]pause) *places {
	p := &places{of: map[string]*held{}, work: map[string]int{}, changed: make(chan struct{}), now: now}
	for org, until := range paused {
		if until.Reads.After(now()) || until.SQL.After(now()) {
			p.of[org] = &held{paused: until}
		}
	}
	return p
}

// take waits for a place. It returns how many reads of the organization were running, and a function that gives the place back.
func (p *places) take(ctx context.Context, org string, confined bool, patience time.Duration) (before int, give func(), err error) {
	late := time.NewTimer(patience)
	defer late.Stop()
	for {
		p.mu.Lock()
		h := p.of[org]
		if h == nil {
			h = &held{}
			p.of[org] = h
		}
		until := h.paused.Reads
		if confined {
			until = h.paused.SQL
		}
		if until.After(p.now()) {
			p.mu.Unlock()
			return 0, nil, exceptionf(CodeOrganizationBusy,
				"A read of this organization did not end when it was cancelled. Further ones wait until %s.", until.UTC().Format(time.RFC3339))
		}
		free := p.all < readsAtOnce && h.all < limits.ReadsOfOrganization
		if confined {
			free = free && p.confined < limits.SQLStatements && h.confined < limits.SQLStatementsOfOrganization
		}
		if free {
			before = h.all
			p.count(h, confined, 1)
			p.mu.Unlock()
			return before, func() { p.give(org, confined) }, nil
		}
		full := p.all >= readsAtOnce
		changed := p.changed
		p.forget(org)
		p.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
			return 0, nil, ctx.Err()
		case <-late.C:
			if full {
				return 0, nil, exceptionf(codeTooManyStatements, "Too many reads are running. Try again when one of them has ended. "+
					"(TOO_MANY_SIMULTANEOUS_QUERIES)")
			}
			return 0, nil, exceptionf(CodeOrganizationBusy,
				"Too many reads of this organization are running. Try again when one of them has ended.")
		}
	}
}

// takeForWork waits for a place of background work.
func (p *places) takeForWork(ctx context.Context, org string, patience time.Duration) (give func(), err error) {
	late := time.NewTimer(patience)
	defer late.Stop()
	for {
		p.mu.Lock()
		all := 0
		for _, n := range p.work {
			all += n
		}
		if all < limits.WorkReads && p.work[org] < limits.WorkReadsOfOrganization {
			p.work[org]++
			p.mu.Unlock()
			return func() { p.giveForWork(org) }, nil
		}
		changed := p.changed
		p.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-late.C:
			return nil, exceptionf(CodeOrganizationBusy, "Too many reads of background work are running. Try again when one of them has ended.")
		}
	}
}

func (p *places) giveForWork(org string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.work[org]--; p.work[org] == 0 {
		delete(p.work, org)
	}
	close(p.changed)
	p.changed = make(chan struct{})
}

func (p *places) count(h *held, confined bool, n int) {
	p.all += n
	h.all += n
	if confined {
		p.confined += n
		h.confined += n
	}
}

func (p *places) give(org string, confined bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.count(p.of[org], confined, -1)
	p.forget(org)
	close(p.changed)
	p.changed = make(chan struct{})
}

// forget drops the entry of an organization that has neither reads nor a pause. The caller holds the lock.
func (p *places) forget(org string) {
	if h := p.of[org]; h != nil && h.all == 0 && !h.paused.Reads.After(p.now()) && !h.paused.SQL.After(p.now()) {
		delete(p.of, org)
	}
}

// pauseFor keeps the organization from reads of one kind. It returns all pauses that last.
func (p *places) pauseFor(org string, confined bool) map[string]pause {
	p.mu.Lock()
	defer p.mu.Unlock()
	h := p.of[org]
	if h == nil {
		h = &held{}
		p.of[org] = h
	}
	if confined {
		h.paused.SQL = p.now().Add(limits.SQLPause)
	} else {
		h.paused.Reads = p.now().Add(limits.ReadPause)
	}
	all := map[string]pause{}
	for org, h := range p.of {
		if h.paused.Reads.After(p.now()) || h.paused.SQL.After(p.now()) {
			all[org] = h.paused
		}
	}
	return all
}

// ranked returns the statement with a priority. The first reads of each organization rank before the further reads of any
// organization. The engine holds a read back between two blocks while a read of a better rank runs, for at most a second a block.
// So an organization with many heavy reads does not slow down another one with a single read.
func ranked(st Statement, before int) Statement {
	settings := maps.Clone(st.Settings)
	if settings == nil {
		settings = map[string]string{}
	}
	settings["priority"] = strconv.Itoa(1 + before/max(1, runtime.NumCPU()/2))
	st.Settings = settings
	return st
}
