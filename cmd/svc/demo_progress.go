package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/term"

	"github.com/svc-observability/svc/server/demo"
)

// demoProgress shows the progress of a run: a bar on a terminal, an occasional line elsewhere.
type demoProgress struct {
	out      io.Writer
	terminal bool
	width    func() int
	began    time.Time
	last     time.Time
	drawn    bool
	fills    bool
	live     bool
}

const (
	redrawEvery = 100 * time.Millisecond
	barWidth    = 28
)

func newDemoProgress(out io.Writer, from, to time.Time) *demoProgress {
	p := &demoProgress{out: out, began: time.Now(), fills: to.After(from)}
	if f, ok := out.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		p.terminal = true
		p.width = func() int {
			w, _, err := term.GetSize(int(f.Fd()))
			if err != nil {
				return 80
			}
			return w
		}
	}
	if p.fills {
		fmt.Fprintf(out, "demo: filling %s to %s (UTC)\n", from.UTC().Format(time.DateTime), to.UTC().Format(time.DateTime))
	} else {
		fmt.Fprintln(out, "demo: sending live, Ctrl-C stops")
	}
	return p
}

func (p *demoProgress) update(s demo.Progress) {
	now := time.Now()
	if s.Live && p.fills && !p.live {
		p.end()
		p.live = true
		fmt.Fprintln(p.out, "demo: the past hours are filled; sending live, Ctrl-C stops")
	}
	every := demo.ProgressEvery
	if p.terminal {
		every = redrawEvery
	}
	if finished := s.Done >= 1 && !s.Live; !finished && now.Sub(p.last) < every {
		return
	}
	p.last = now
	items := s.Items(func(c demo.Count) int { return c.Sent })
	refused := s.Items(func(c demo.Count) int { return c.Refused })
	notes := fmt.Sprintf("%s items, %s spans", short(items), short(s.Signals["spans"].Sent))
	if refused > 0 {
		notes += fmt.Sprintf(", %s refused", short(refused))
	}
	if s.Retries > 0 {
		notes += fmt.Sprintf(", %d retries", s.Retries)
	}
	if !s.Live {
		elapsed := now.Sub(p.began)
		rate := float64(items) / max(elapsed.Seconds(), 0.001)
		notes += fmt.Sprintf(", %s/s", short(int(rate)))
		if s.Done > 0.01 && s.Done < 1 {
			notes += ", " + (time.Duration(float64(elapsed)*(1/s.Done-1)) + time.Second).Truncate(time.Second).String() + " left"
		}
	}
	switch {
	case !p.terminal && s.Live:
		fmt.Fprintf(p.out, "demo: live, %s\n", notes)
	case !p.terminal:
		fmt.Fprintf(p.out, "demo: %3.0f %%, %s\n", 100*s.Done, notes)
	case s.Live:
		p.draw("live  " + s.At.UTC().Format(time.TimeOnly) + "  " + notes)
	default:
		full := int(s.Done * barWidth)
		p.draw(fmt.Sprintf("[%s%s] %3.0f %%  %s", strings.Repeat("=", full), strings.Repeat(" ", barWidth-full), 100*s.Done, notes))
	}
}

// draw replaces the current line. The line must not be wider than the terminal.
func (p *demoProgress) draw(line string) {
	if w := p.width() - 1; w > 0 && len(line) > w {
		line = line[:w]
	}
	fmt.Fprintf(p.out, "\r\x1b[K%s", line)
	p.drawn = true
}

// end finishes the line and leaves it on the terminal.
func (p *demoProgress) end() {
	if p.drawn {
		fmt.Fprintln(p.out)
		p.drawn = false
	}
}

// short formats a number in few characters.
func short(n int) string {
	switch {
	case n >= 10_000_000:
		return fmt.Sprintf("%.1fM", float64(n)/1e6)
	case n >= 1_000_000:
		return fmt.Sprintf("%.2fM", float64(n)/1e6)
	case n >= 10_000:
		return fmt.Sprintf("%.0fk", float64(n)/1e3)
	default:
		return fmt.Sprint(n)
	}
}

// demoSummary prints what was sent and which planted faults it contains.
func (c *cli) demoSummary(r demo.Result) {
	var b strings.Builder
	state := ""
	if r.Stopped {
		state = ", stopped before the end"
	}
	fmt.Fprintf(&b, "Sent %s to %s (UTC) in %.1f s%s:\n\n", r.From.Format(time.DateTime), r.To.Format(time.DateTime), r.Seconds, state)
	fmt.Fprintf(&b, "  %-16s %12s %12s %10s\n", "", "sent", "accepted", "refused")
	for _, signal := range demo.Signals() {
		n := r.Signals[signal]
		fmt.Fprintf(&b, "  %-16s %12d %12d %10d\n", strings.ReplaceAll(signal, "_", " "), n.Sent, n.Accepted, n.Refused)
	}
	if r.Retries > 0 {
		fmt.Fprintf(&b, "\n%d requests were sent again: the server was busy or unavailable.\n", r.Retries)
	}
	for _, reason := range r.Reasons {
		fmt.Fprintf(&b, "\nThe server says: %s\n", reason)
	}
	if len(r.Faults) > 0 {
		fmt.Fprintf(&b, "\nPlanted faults (UTC):\n\n")
		for _, f := range r.Faults {
			fmt.Fprintf(&b, "  %s to %s  %s of %s\n      %s\n", f.Start.Format("2006-01-02 15:04"), f.End.Format("15:04"), f.Name, f.Service, f.What)
		}
	}
	_, _ = io.WriteString(c.stdout, b.String()) // ignore the error: the telemetry is sent even if nobody reads this
}
