package pipeline

import (
	"errors"
	"io"
	"log/slog"
	"slices"
	"time"

	"github.com/svc-observability/svc/server/ingest/queue"
)

// Every record belongs to one cursor. Without a backlog there is only the main cursor, which takes all records in log order. When
// the main cursor is behind records of several owners, the owner of most of them gets a lane: a second cursor, which starts where the main
// cursor is and takes only the records of this owner. The main cursor leaves these records to the lane and reaches the records of
// other owners at once. Main cursor and lanes take turns at the warehouse. A lane never overtakes the main cursor. Once the main cursor
// has reached the end of the log and the lane has reached the main cursor, the lane closes, and the main cursor takes the owner's
// records again.

// mark is the durable part of a lane: all records of Owner before At are stored, and none behind it.
type mark struct {
	Owner string         `json:"owner"`
	At    queue.Position `json:"at"`
}

// places says which records are stored: all before Main whose owner has no lane, and for each lane those before its mark. No lane
// is ahead of Main.
type places struct {
	Main  queue.Position `json:"main"`
	Lanes []mark         `json:"lanes,omitempty"`
}

// done is the position before which all records are stored.
func (s places) done() queue.Position {
	done := s.Main
	for _, l := range s.Lanes {
		if l.At.Before(done) {
			done = l.At
		}
	}
	return done
}

// lane is an open lane. Only the assembling goroutine uses it.
type lane struct {
	owner  string
	at     queue.Position
	reader *queue.Reader
	// oldest is the time of a record that is not newer than the lane's next one.
	oldest time.Time
}

// turnTime bounds the time in which one turn looks for records of a lane among those of others.
const turnTime = 500 * time.Millisecond

// divert reports whether a record that the main cursor has reached belongs to a lane. If the record is old, divert first opens a lane
// for the owner of most of the backlog. The set of lanes does not change while the cut has records, because it decides which
// records belong to the cut.
func (p *Pipeline) divert(c *cut, owner string, appended time.Time) bool {
	if owner != p.owner {
		if p.owner != "" {
			p.mixedAt(appended)
		}
		p.owner = owner
	}
	if p.laned(owner) {
		return true
	}
	if c.records > 0 || time.Since(appended) < p.cfg.LaneAge {
		return false
	}
	behind, opened := p.openLane(appended)
	return opened && owner == behind
}

// openLane opens a lane at the main cursor for the owner of most of the backlog, if another owner has records there, too.
func (p *Pipeline) openLane(oldest time.Time) (owner string, opened bool) {
	if time.Since(p.looked) < p.cfg.LaneAge/10 {
		return "", false
	}
	p.looked = time.Now()
	owner, bytes, others := p.log.LargestOwner(p.cursor, p.laneOwners())
	if owner == "" || bytes < p.cfg.LaneBytes || others == 0 { // an owner who is alone delays no other
		return "", false
	}
	if len(p.lanes) >= p.cfg.MaxLanes {
		idle := slices.IndexFunc(p.lanes, func(l *lane) bool { return !l.at.Before(p.cursor) })
		if idle < 0 {
			return "", false
		}
		p.closeLane(p.lanes[idle])
		p.lanes = slices.Delete(p.lanes, idle, idle+1)
	}
	p.lanes = append(p.lanes, &lane{owner: owner, at: p.cursor, oldest: oldest})
	p.caughtUp = false
	p.lanesChanged()
	p.logger.Info("an organization's backlog is stored beside the other data from now on", slog.String("organization_id", owner),
		slog.Int64("bytes", bytes), slog.String("from", p.cursor.String()))
	return owner, true
}

// giveWay gives up a large cut that waits for the inserter, if a lane can be opened where the cut begins. Otherwise the records of other
// owners, who have come since, would wait for this insert after the one under way. Nothing of the cut is recorded yet, so its records
// are read from the log again, by the lane and by the main cursor.
func (p *Pipeline) giveWay(c *cut) bool {
	if len(p.lanes) > 0 || c.records == 0 || c.recorded || !p.turnFull(c) || time.Since(c.oldest) < p.cfg.LaneAge || !p.busy() {
		return false
	}
	end := p.cursor
	p.cursor = c.before.Main
	if _, opened := p.openLane(c.oldest); !opened {
		p.cursor = end
		return false
	}
	c.batch.Reset()
	*c = cut{batch: c.batch}
	// gathering stays: until the main cursor has read the records again, they are as old as it says.
	return true
}

func (p *Pipeline) laned(owner string) bool {
	return slices.ContainsFunc(p.lanes, func(l *lane) bool { return l.owner == owner })
}

// laneOwners returns the owners of the lanes in order of their names.
func (p *Pipeline) laneOwners() []string {
	var owners []string
	for _, l := range p.lanes {
		owners = append(owners, l.owner)
	}
	slices.Sort(owners)
	return owners
}

// lanesChanged tells the sink and the metrics which lanes are open.
func (p *Pipeline) lanesChanged() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.beside, p.laneOldest = p.laneOwners(), time.Time{}
	for _, l := range p.lanes {
		if p.laneOldest.IsZero() || l.oldest.Before(p.laneOldest) {
			p.laneOldest = l.oldest
		}
	}
}

// places returns the places of all cursors.
func (p *Pipeline) places() places {
	s := places{Main: p.cursor}
	for _, l := range p.lanes {
		s.Lanes = append(s.Lanes, mark{Owner: l.owner, At: l.at})
	}
	return s
}

// closeLanes closes the lanes that have reached the main cursor at the end of the log. The main cursor must not have a cut with records.
func (p *Pipeline) closeLanes() {
	if !p.caughtUp {
		return
	}
	p.lanes = slices.DeleteFunc(p.lanes, func(l *lane) bool {
		if l.at.Before(p.cursor) {
			return false
		}
		p.closeLane(l)
		p.logger.Info("an organization's backlog is stored", slog.String("organization_id", l.owner))
		return true
	})
	p.lanesChanged()
}

func (p *Pipeline) closeLane(l *lane) {
	if l.reader == nil {
		return
	}
	if err := l.reader.Close(); err != nil {
		p.logger.Warn("queue reader not closed cleanly", slog.Any("error", err))
	}
	l.reader = nil
}

// takeTurns hands on one cut while lanes are open. After each cut of a lane, it is the turn of the main cursor. So the records of an
// owner without a lane wait for two cuts of lanes at most, however many lanes are open. The cut after the end of the last lane has no
// records and carries the places only. It returns false at the end of the work.
func (p *Pipeline) takeTurns(c *cut) bool {
	if c.records == 0 {
		if p.closeLanes(); len(p.lanes) == 0 {
			p.laneNext = false
			return p.handOn(c)
		}
	}
	if !p.laneNext {
		p.laneNext = true
		for p.ctx.Err() == nil && !p.turnFull(c) && !p.resumed(c, p.cursor) {
			more, err := p.fill(c)
			if err != nil {
				p.logger.Error("queue not readable, trying again", slog.Any("error", err))
				if !p.sleep(readRetry) {
					return false
				}
				break
			}
			if p.caughtUp = !more; p.caughtUp {
				break
			}
		}
		if c.records > 0 {
			return p.handOn(c)
		}
	}
	p.laneNext = false
	for range len(p.lanes) {
		l := p.lanes[0]
		p.lanes = append(p.lanes[1:], l)
		if !p.laneTurn(c, l) {
			return false
		}
		if c.records > 0 {
			return p.handOn(c)
		}
	}
	return p.giveBack(c)
}

// laneTurn fills a cut with records of a lane.
func (p *Pipeline) laneTurn(c *cut, l *lane) bool {
	c.pick, c.before = pick{Owner: l.owner}, p.places()
	for began := time.Now(); p.ctx.Err() == nil && !p.turnFull(c) && !p.resumed(c, l.at) && time.Since(began) < turnTime; {
		more, err := p.fillLane(c, l)
		if err != nil {
			p.logger.Error("queue not readable, trying again", slog.Any("error", err))
			if !p.sleep(readRetry) {
				return false
			}
			break
		}
		if !more {
			break
		}
	}
	p.lanesChanged()
	return true
}

// turnFull bounds a cut while lanes are open, so that the next turn comes soon.
func (p *Pipeline) turnFull(c *cut) bool {
	bound := p.cfg.LaneRows / 5 // until the rate is known
	if rate := p.rate.Load(); rate > 0 {
		bound = min(p.cfg.LaneRows, max(int(rate), p.cfg.LaneRows/10))
	}
	bound = min(bound, p.cfg.MaxRows)
	return c.batch.Rows() >= bound || c.batch.Bytes() >= p.cfg.MaxBytes
}

// fillLane looks at the next record of the log for a lane, and adds it to the cut if it belongs to the lane. It returns false when the
// lane has reached the main cursor.
func (p *Pipeline) fillLane(c *cut, l *lane) (more bool, err error) {
	if !l.at.Before(p.cursor) {
		return false, nil
	}
	if l.reader == nil {
		l.reader = p.log.Reader(l.at)
	}
	r, err := l.reader.Next()
	switch {
	case errors.Is(err, io.EOF), err == nil && !r.Position.Before(p.cursor):
		p.closeLane(l) // it is behind the record now
		l.at = p.cursor
		return false, nil
	case err != nil:
		p.closeLane(l)
		return false, err
	}
	if c.pick.takes(p.log.Owner(r.Header)) {
		if err := c.batch.Decode(r.Header, r.Payload); err != nil {
			if err := p.quarantine(r, "", err); err != nil {
				p.closeLane(l)
				return false, err
			}
		}
		p.count(func(s *Stats) { s.Replayed++ })
		c.take(r.Position, r.Next, r.Time)
		l.oldest = r.Time
	}
	l.at = r.Next
	return true, nil
}

// giveBack returns the batch of a cut without records.
func (p *Pipeline) giveBack(c *cut) bool {
	p.free <- c.batch
	return p.ctx.Err() == nil
}
