package queue

import "slices"

// ledger counts the bytes in the log by owner. It counts reserved bytes for appends under way, and committed bytes until they are
// released. It has no entry per record: it sums committed bytes by owner over ranges of the log, and frees a range once the
// release has passed it.
type ledger struct {
	holders map[string]*holder
	// total counts all bytes, reserved those of appends under way.
	total, reserved int64
	// ranges are in log order, each of about grain bytes. first is the number of the oldest.
	ranges []ledgerRange
	first  uint64
	grain  int64
}

// holder is an owner with bytes in the log. It is removed when the owner has no bytes left.
type holder struct {
	owner string
	bytes int64
	// share is the index of the holder's part in the range with the number in. An in of 0 means no range.
	in    uint64
	share int
}

type ledgerRange struct {
	end    Position
	bytes  int64
	shares []ledgerShare
}

type ledgerShare struct {
	holder *holder
	bytes  int64
}

// Bounds of a range. An owner's bytes are known to within one range.
const (
	minLedgerRange = 4 << 10
	maxLedgerRange = 1 << 20
)

func newLedger(maxBytes int64) ledger {
	return ledger{holders: map[string]*holder{}, first: 1, grain: min(max(maxBytes/1024, minLedgerRange), maxLedgerRange)}
}

func (l *ledger) held(owner string) int64 {
	if h := l.holders[owner]; h != nil {
		return h.bytes
	}
	return 0
}

func (l *ledger) largest() (most int64) {
	for owner, h := range l.holders {
		if owner != "" {
			most = max(most, h.bytes)
		}
	}
	return most
}

// largestBehind returns the owner with most of the committed bytes behind a position, these bytes, and those of all others.
func (l *ledger) largestBehind(behind Position, except []string) (owner string, most, others int64) {
	first, _ := slices.BinarySearchFunc(l.ranges, behind, func(r ledgerRange, at Position) int {
		if !at.Before(r.end) {
			return -1
		}
		return 1
	})
	sums, all := map[string]int64{}, int64(0)
	for _, r := range l.ranges[first:] {
		for _, s := range r.shares {
			name := s.holder.owner
			if slices.Contains(except, name) {
				continue
			}
			all += s.bytes
			if name == "" {
				continue
			}
			if sums[name] += s.bytes; sums[name] > most {
				owner, most = name, sums[name]
			}
		}
	}
	return owner, most, all - most
}

func (l *ledger) add(owner string, n int64) *holder {
	h := l.holders[owner]
	if h == nil {
		h = &holder{owner: owner}
		l.holders[owner] = h
	}
	h.bytes += n
	l.total += n
	return h
}

func (l *ledger) subtract(h *holder, n int64) {
	h.bytes -= n
	l.total -= n
	if h.bytes == 0 {
		delete(l.holders, h.owner)
	}
}

// reserve counts n bytes that are about to be written. A later cancel or commit settles them.
func (l *ledger) reserve(owner string, n int64) *holder {
	l.reserved += n
	return l.add(owner, n)
}

func (l *ledger) cancel(h *holder, n int64) {
	l.reserved -= n
	l.subtract(h, n)
}

// commit records that reserved bytes are in the log, up to end. Ends must rise.
func (l *ledger) commit(h *holder, n int64, end Position) {
	l.reserved -= n
	l.append(h, n, end)
}

// restore counts a record that an earlier run wrote. Records must come in log order.
func (l *ledger) restore(owner []byte, n int64, end Position) {
	h := l.holders[string(owner)]
	if h == nil {
		h = l.add(string(owner), n)
	} else {
		h.bytes += n
		l.total += n
	}
	l.append(h, n, end)
}

func (l *ledger) append(h *holder, n int64, end Position) {
	if len(l.ranges) == 0 || l.ranges[len(l.ranges)-1].bytes >= l.grain {
		l.ranges = append(l.ranges, ledgerRange{})
	}
	r := &l.ranges[len(l.ranges)-1]
	r.bytes += n
	r.end = end
	if number := l.first + uint64(len(l.ranges)) - 1; h.in != number {
		h.in, h.share = number, len(r.shares)
		r.shares = append(r.shares, ledgerShare{holder: h})
	}
	r.shares[h.share].bytes += n
}

// release frees the ranges that end at or before upTo.
func (l *ledger) release(upTo Position) {
	n := 0
	for n < len(l.ranges) && !upTo.Before(l.ranges[n].end) {
		for _, s := range l.ranges[n].shares {
			l.subtract(s.holder, s.bytes)
		}
		l.ranges[n] = ledgerRange{}
		n++
	}
	l.ranges = l.ranges[n:]
	l.first += uint64(n)
}
