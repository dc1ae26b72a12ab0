package agentsessions

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/types/known/timestamppb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/query/reads"
)

// step is a span of the trace t that begins after a number of seconds and lasts one second. The text before "<" is its id, the
// text after it the id of its parent.
func step(ids, operation string, after float64) *svcv2.AgentSpan {
	id, parent, _ := strings.Cut(ids, "<")
	trace := "t"
	if of, rest, ok := strings.Cut(id, "/"); ok {
		trace, id = of, rest
	}
	start := time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC).Add(time.Duration(after * float64(time.Second)))
	return &svcv2.AgentSpan{
		TraceId: trace, SpanId: id, ParentSpanId: parent, Operation: operation, StartTime: timestamppb.New(start), DurationMs: 1000, Agent: "bot",
	}
}

func TestTurnsFollowParents(t *testing.T) {
	for name, tc := range map[string]struct {
		spans []*svcv2.AgentSpan
		// further holds parents of spans that are not agents' spans.
		further map[string]string
		want    []string
	}{
		"a call begins with its agent": {
			[]*svcv2.AgentSpan{step("a<b", "chat", 0), step("b", "invoke_agent", 0), step("c<b", "execute_tool", 1)},
			nil,
			[]string{"agent b: b a c"},
		},
		"the clock of a call is slow": {
			[]*svcv2.AgentSpan{step("a<b", "chat", -3), step("b", "invoke_agent", 0)}, nil, []string{"agent b: a b"},
		},
		"agents at the same time": {
			[]*svcv2.AgentSpan{step("a", "invoke_agent", 0), step("b", "invoke_agent", 0.1), step("c<a", "chat", 0.2), step("d<b", "chat", 0.3)},
			nil,
			[]string{"agent a: a c", "agent b: b d"},
		},
		"an agent calls an agent through a tool and a request": {
			[]*svcv2.AgentSpan{
				step("a<web", "invoke_agent", 0), step("b<a", "execute_tool", 1), step("c<server", "invoke_agent", 2), step("d<c", "chat", 3),
			},
			map[string]string{"server": "client", "client": "b"},
			[]string{"agent a: a b c d"},
		},
		"a call after the end of its agent": {
			[]*svcv2.AgentSpan{step("a", "invoke_agent", 0), step("b<a", "chat", 9)}, nil, []string{"agent a: a b"},
		},
		"a trace without an agent": {
			[]*svcv2.AgentSpan{step("a", "chat", 0), step("b", "chat", 1)}, nil, []string{"trace a: a b"},
		},
		"a workflow around agents": {
			[]*svcv2.AgentSpan{step("w", "invoke_workflow", 0), step("a<w", "invoke_agent", 0), step("b<w", "invoke_agent", 1)},
			nil,
			[]string{"agent a: a", "agent b: b"},
		},
		"a call beside an agent": {
			[]*svcv2.AgentSpan{step("a", "invoke_agent", 0), step("b", "chat", 0.5), step("c<a", "chat", 0.6)},
			nil,
			[]string{"agent a: a c", "trace b: b"},
		},
		"a circle of parents": {
			[]*svcv2.AgentSpan{step("a<b", "chat", 0), step("b<a", "chat", 1)}, nil, []string{"trace a: a b"},
		},
		"two traces with the same ids": {
			[]*svcv2.AgentSpan{step("t/a", "invoke_agent", 0), step("u/a", "invoke_agent", 1), step("u/b<a", "chat", 2), step("t/b<a", "chat", 3)},
			nil,
			[]string{"agent a: a b", "agent a: a b"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := &svcv2.AgentSession{Spans: tc.spans}
			parents := parentsOf(s.GetSpans())
			if got := len(severed(s.GetSpans(), parents)) > 0; got != (tc.further != nil) {
				t.Errorf("reads further parents: %v", got)
			}
			for span, parent := range tc.further {
				parents[spanKey{"t", span}] = parent
			}
			takeTurns(s, parents)
			var got []string
			for _, turn := range s.GetTurns() {
				line := fmt.Sprintf("%s %s:", turn.GetKind(), turn.GetSpanId())
				count := 0
				for _, sp := range s.GetSpans() {
					if sp.GetTurn() == turn.GetNumber() {
						line, count = line+" "+sp.GetSpanId(), count+1
					}
				}
				if int(turn.GetSpanCount()) != count {
					t.Errorf("turn %d counts %d spans, %d are in it", turn.GetNumber(), turn.GetSpanCount(), count)
				}
				got = append(got, line)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestATurn(t *testing.T) {
	agent, call := step("b", "invoke_agent", 0), step("a<b", "chat", 0)
	agent.Input, agent.Failed, agent.DurationMs = `[{"role":"user","content":"Where is it?"}]`, true, 5000
	call.Input, call.Failed = `[{"role":"user","content":"Title for: Where is it?"}]`, true
	s := &svcv2.AgentSession{Spans: []*svcv2.AgentSpan{call, agent}}
	takeTurns(s, parentsOf(s.GetSpans()))
	want := &svcv2.AgentTurn{
		Number: 1, Kind: "agent", Agent: "bot", TraceId: "t", SpanId: "b", StartTime: agent.GetStartTime(), DurationMs: 5000, SpanCount: 2,
		ErrorSpanCount: 2, Failed: true, Asked: "Where is it?",
	}
	if got := s.GetTurns(); len(got) != 1 || got[0].String() != want.String() {
		t.Errorf("%v", got)
	}
}

func TestAllToolsTogetherHaveNoDescription(t *testing.T) {
	row := reads.AgentToolRow{Description: "Search the help pages.", Calls: 2}
	if got := toTool(row).GetDescription(); got != "" {
		t.Errorf("%q", got)
	}
	row.Tool = "search_help"
	if got := toTool(row).GetDescription(); got != row.Description {
		t.Errorf("%q", got)
	}
}
