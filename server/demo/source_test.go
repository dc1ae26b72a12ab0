package demo

import (
	"path"
	"strings"
	"testing"

	"github.com/svc-observability/svc/server/source/frames"
)

// files are the sources as a tree in which stacks are looked up.
type files map[string]string

func (f files) Named(names map[string]bool) map[string][]string {
	out := map[string][]string{}
	for name := range f {
		if base := path.Base(name); names[base] {
			out[base] = append(out[base], name)
		}
	}
	return out
}

func (f files) Text(name string) ([]byte, error) { return []byte(f[name]), nil }

// TestStacks: each call of every stack is in the sources of the shop, with its function at its line, and nowhere else.
func TestStacks(t *testing.T) {
	t.Parallel()
	owners := map[string]*service{}
	for _, s := range services() {
		owners[s.name] = s
	}
	check := func(s *service, list []site) {
		t.Helper()
		text := written(s, "Failure", "it fails", list)
		calls := frames.CallsOf(text, "it fails")
		found, err := frames.Find(t.Context(), files(Sources()), calls, nil)
		if err != nil || len(calls) < len(list)-1 { // a Go closure is at the line of its function
			t.Fatalf("%d of %d calls, %v:\n%s", len(calls), len(list), err, text)
		}
		for i, call := range calls {
			if file := found.Files[i]; file == "" || path.Base(file) != call.Path[len(call.Path)-1] {
				t.Errorf("%s: the call %d (%v:%d) is in %q:\n%s", s.name, i, call.Path, call.Line, file, text)
			}
		}
	}
	own := map[string]bool{}
	for name, p := range places() {
		folder, _, _ := strings.Cut(p.file, "/")
		if owners[folder] == nil {
			t.Fatalf("%s is in %s, which is no service", name, p.file)
		}
		own[folder] = true
		check(owners[folder], append([]site{p}, entry(owners[folder])...))
	}
	if len(own) < 7 {
		t.Errorf("only %v fail in code of their own", own)
	}
	for _, s := range owners {
		if s.name == web { // its code is minified
			continue
		}
		for _, function := range []string{
			"Memory.grow", "Upstream.pick", "Experiment.run", "Cache.read", "Handler.prepare", "Connection.handshake", "Connection.read",
		} {
			check(s, append([]site{shared(s, function)}, entry(s)...))
		}
	}
}

// TestBugs: each planted fault comes from a bug in the sources, which its mended text does not have.
func TestBugs(t *testing.T) {
	t.Parallel()
	faults := map[string]string{}
	for _, f := range timetable() {
		faults[f.name] = f.service
	}
	for _, b := range Bugs() {
		text := Sources()[b.Path]
		mended := b.Mend(text)
		if faults[b.Fault] != b.Service || strings.Count(text, b.Bad) != 1 || mended == text || !strings.Contains(mended, b.Good) {
			t.Errorf("%s in %s of %s: the bug is there %d times", b.Fault, b.Path, b.Service, strings.Count(text, b.Bad))
		}
		delete(faults, b.Fault)
	}
	if len(faults) > 0 {
		t.Errorf("faults without a bug: %v", faults)
	}
}

// TestReleases: a service runs the given version of the given commit from its time on, and a mended fault does not occur any more.
func TestReleases(t *testing.T) {
	t.Parallel()
	fault := (Config{}).Faults(noon(), noon().Add(day))[0]
	half := fault.Start.Add(fault.End.Sub(fault.Start) / 2)
	sh := newShop(Config{Repository: "https://github.com/acme/shop", Releases: []Release{
		{Service: cart, Version: "5.2.2", Commit: "abc", From: half, Mends: fault.Name},
		{Service: cart, Version: "5.2.0", Commit: "def", From: fault.Start.Add(-day)},
	}})
	for _, c := range []struct {
		at      int64
		version string
		on      bool
	}{{fault.Start.UnixNano(), "5.2.0", true}, {half.UnixNano(), "5.2.2", false}, {fault.Start.Add(-2 * day).UnixNano(), "5.2.1", true}} {
		if got := sh.versionOf(sh.services[cart], production, c.at); got != c.version || sh.faults.on(fault.Name, c.at) != c.on {
			t.Errorf("at %d: version %s, fault %v; want %s, %v", c.at, got, sh.faults.on(fault.Name, c.at), c.version, c.on)
		}
	}
	if got := sh.faults.seconds(fault.Name, fault.Start.UnixNano(), fault.End.UnixNano()); got != half.Sub(fault.Start).Seconds() {
		t.Errorf("the fault lasts %v s", got)
	}
	r := textOf(sh.instance(sh.services[cart], production, 0, half.UnixNano()).pb.Attributes, "vcs.ref.head.revision")
	if u := textOf(sh.instance(sh.services[email], production, 0, half.UnixNano()).pb.Attributes, "vcs.repository.url.full"); r != "abc" ||
		u != "https://github.com/acme/shop" {
		t.Errorf("the commit is %s, the repository %s", r, u)
	}
}
