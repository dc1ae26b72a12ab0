package benchdiagnose

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/demo"
)

// score is the result of all runs.
type score struct {
	verdicts []verdict
	// wrong are the false incidents by seed. days lists the quiet runs.
	wrong map[uint64][]*svcv2.Incident
	days  []run
}

// print writes a line for each fault, a table by kind, and the sums.
func (s score) print(out io.Writer, detail bool) {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "seed\tfault\tservice\tat\tlooks\tanswer\tservice\tcause\tstart error\tfalse\t")
	for i, v := range s.verdicts {
		answer, off, wrong := "nothing", "", ""
		if v.answer != nil {
			answer = v.answer.GetServiceName() + ", " + v.answer.GetCause().GetKind()
			off = v.off.Round(time.Second).String()
		}
		if n := len(s.wrong[v.seed]); n > 0 && (i == 0 || s.verdicts[i-1].seed != v.seed) {
			wrong = fmt.Sprint(n)
		}
		fmt.Fprintf(w, "%d\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t\n", v.seed, v.fault.Name, v.fault.Service, v.fault.Start.Format("01-02 15:04"),
			mark(v.right()), answer, mark(v.service), mark(v.cause), off, wrong)
	}
	_ = w.Flush() // out is that of the test
	if detail {
		s.explain(out)
	}
	fmt.Fprintln(out)
	w = tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "kind\tfaults\tfound\tservice\tcause\tstart\tall right\t")
	kinds := append(demo.Kinds(), "all")
	for _, kind := range kinds {
		of := slices.DeleteFunc(slices.Clone(s.verdicts), func(v verdict) bool { return kind != "all" && v.plan != kind })
		count := func(good func(verdict) bool) (n int) {
			for _, v := range of {
				if good(v) {
					n++
				}
			}
			return n
		}
		if len(of) == 0 {
			continue
		}
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d\t%d\t%d\t\n", kind, len(of), count(func(v verdict) bool { return v.answer != nil }),
			count(func(v verdict) bool { return v.service }), count(func(v verdict) bool { return v.cause }), count(verdict.inTime),
			count(verdict.right))
	}
	_ = w.Flush() // as above
	fmt.Fprintf(out, "\nscore: %.1f %% of %d faults with the right service, cause and start\n", 100*s.share(), len(s.verdicts))
	atFaults := 0
	for seed, list := range s.wrong {
		if !slices.ContainsFunc(s.days, func(r run) bool { return r.seed == seed }) {
			atFaults += len(list)
		}
	}
	fmt.Fprintf(out, "false incidents in the windows with faults: %d\n", atFaults)
	for _, r := range s.days {
		fmt.Fprintf(out, "quiet day %s (seed %d): %d false incidents\n", r.asked.Format(time.DateOnly), r.seed, len(s.wrong[r.seed]))
	}
}

func mark(good bool) string {
	if good {
		return "right"
	}
	return "wrong"
}

// share is the part of the faults that are answered right.
func (s score) share() float64 {
	n := 0
	for _, v := range s.verdicts {
		if v.right() {
			n++
		}
	}
	return float64(n) / float64(max(len(s.verdicts), 1))
}

// explain writes what was planted and what was said, for all that is not right.
func (s score) explain(out io.Writer) {
	for _, v := range s.verdicts {
		if v.right() {
			continue
		}
		f := v.fault
		fmt.Fprintf(out, "\nseed %d: %s in %s: %s\n  %s to %s, felt %s, right: %v %v\n", v.seed, f.Name, f.Service, f.What,
			f.Start.Format(time.TimeOnly), f.End.Format(time.TimeOnly), f.Truth.Felt.Format(time.TimeOnly), f.Truth.Services, f.Truth.Causes)
		if v.answer != nil {
			told(out, v.answer)
		}
	}
	var seeds []uint64
	for seed := range s.wrong {
		seeds = append(seeds, seed)
	}
	slices.SortFunc(seeds, cmp.Compare)
	for _, seed := range seeds {
		for _, i := range s.wrong[seed] {
			fmt.Fprintf(out, "\nseed %d: a false incident\n", seed)
			told(out, i)
		}
	}
}

func told(out io.Writer, i *svcv2.Incident) {
	end := "open"
	if i.EndTime != nil {
		end = i.GetEndTime().AsTime().Format(time.TimeOnly)
	}
	fmt.Fprintf(out, "  %s to %s in %s (%s): %s, %.2f: %s\n", i.GetStartTime().AsTime().Format(time.TimeOnly), end, i.GetServiceName(),
		strings.Join(i.GetServiceNames(), ", "), i.GetCause().GetKind(), i.GetConfidence(), i.GetCause().GetStatement())
	for _, y := range i.GetSymptoms() {
		end := "open"
		if y.EndTime != nil {
			end = y.GetEndTime().AsTime().Format(time.TimeOnly)
		}
		fmt.Fprintf(out, "    %s to %s %s %s: %s\n", y.GetStartTime().AsTime().Format(time.TimeOnly), end, y.GetDeploymentEnvironment(),
			y.GetKind(), y.GetStatement())
	}
}
