package services

import (
	"context"
	"fmt"
	"strings"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/mcp/tool"
	"github.com/svc-observability/svc/server/wording"
)

type incidentsResult struct {
	TimeRange     tool.TimeRange `json:"timeRange"`
	BeforeIsEmpty bool           `json:"beforeIsEmpty"`
	Incidents     []incidentRow  `json:"incidents"`
}

type incidentRow struct {
	Start      string        `json:"start"`
	End        string        `json:"end,omitempty"`
	Service    string        `json:"service"`
	Cause      incidentCause `json:"cause"`
	Confidence float64       `json:"confidence"`
	Services   []string      `json:"services"`
	Traces     int64         `json:"traces"`
	Users      *int64        `json:"users,omitempty"`
	Sessions   *int64        `json:"sessions,omitempty"`
	Symptoms   []string      `json:"symptoms"`
}

type incidentCause struct {
	Kind      string `json:"kind"`
	Statement string `json:"statement"`
	Target    string `json:"target,omitempty"`
	Key       string `json:"key,omitempty"`
	Value     string `json:"value,omitempty"`
}

type findIncidentsArgs struct {
	tool.Window
	Service     *string
	Environment *string
}

func newFindIncidents(s *tool.Clients) (*tool.Tool, error) {
	return tool.Define[incidentsResult](&tool.Tool{
		Name: "find_incidents", View: "/incidents?service={service}",
		Title: "Incidents",
		Description: "Begin here: find what went wrong in at most " + limits.Lasts(limits.SearchWindow) + ", without a suspect. Returns " +
			"incidents with start, end, service, likely cause, first symptom, figures beside the usual ones and users affected.",
		Run: tool.With(func(ctx context.Context, a *findIncidentsArgs) (*tool.Answer, error) {
			w, err := a.Range(limits.SearchWindow)
			if err != nil {
				return nil, err
			}
			found, err := s.Diagnosis.SearchIncidents(ctx, &svcv2.SearchIncidentsRequest{
				StartTime: w.StartProto(), EndTime: w.EndProto(), ServiceName: a.Service, DeploymentEnvironment: a.Environment,
			})
			if err != nil {
				return nil, err
			}
			return incidentsAnswer(a, w, found), nil
		}),
	})
}

// shownSymptoms is the number of symptoms in the text of an incident.
const shownSymptoms = limits.ToolSymptoms

func incidentsAnswer(a *findIncidentsArgs, w tool.TimeRange, found *svcv2.IncidentSearch) *tool.Answer {
	res := incidentsResult{TimeRange: w, BeforeIsEmpty: found.GetBeforeIsEmpty(), Incidents: []incidentRow{}}
	text := tool.Page{Scope: a.Labels(w, &a.Service, &a.Environment)}
	text.Scope = append(text.Scope, tool.Labeled("Searched", fmt.Sprintf("%d series in buckets of %s s, compared with themselves since %s",
		found.GetSeriesCount(), wording.Number(float64(found.GetBucketSeconds())), wording.Clock(found.GetComparedFrom().AsTime()))))
	if found.GetBeforeIsEmpty() {
		text.Notes = append(text.Notes, "The time before has no data: the window is compared with its own quiet parts. A change that fills "+
			"most of it is not found.")
	}
	if left := found.GetNotSearched(); len(left) > 0 {
		text.Notes = append(text.Notes, "Not searched: "+strings.Join(left, "; ")+".")
	}
	for n, i := range found.GetData() {
		row := toIncident(i)
		res.Incidents = append(res.Incidents, row)
		text.Blocks = append(text.Blocks, incidentBlock(n+1, row, i))
		if n == 0 {
			text.Next = incidentNext(a, w, i)
		}
	}
	if len(found.GetData()) == 0 {
		text.Blocks = []tool.Block{{Heading: "Incidents", Empty: "No incident was found: every series behaved as usual."}}
		text.Next = append(text.Next, tool.Next("list_services", a.Again(w, nil, &a.Environment), "the services and their health"))
	}
	return &tool.Answer{Data: res, Text: text}
}

func toIncident(i *svcv2.Incident) incidentRow {
	c := i.GetCause()
	row := incidentRow{
		Start: wording.Clock(i.GetStartTime().AsTime()), Service: i.GetServiceName(), Confidence: i.GetConfidence(),
		Services: i.GetServiceNames(),
		Cause:    incidentCause{c.GetKind(), c.GetStatement(), c.GetTarget(), c.GetAttributeKey(), c.GetAttributeValue()},
		Traces:   i.GetAffectedTraces(), Users: i.AffectedUsers, Sessions: i.AffectedSessions,
	}
	if i.GetEndTime() != nil {
		row.End = wording.Clock(i.GetEndTime().AsTime())
	}
	for _, y := range i.GetSymptoms()[:min(len(i.GetSymptoms()), shownSymptoms)] {
		row.Symptoms = append(row.Symptoms, symptomText(y))
	}
	return row
}

func symptomText(y *svcv2.IncidentSymptom) string {
	text := y.GetStatement() + ", from " + wording.Clock(y.GetStartTime().AsTime())
	if y.GetDeploymentEnvironment() != "" {
		text += " (" + y.GetDeploymentEnvironment() + ")"
	}
	return text
}

func incidentBlock(n int, row incidentRow, i *svcv2.Incident) tool.Block {
	end := "not over"
	if row.End != "" {
		end = row.End
	}
	hurt := []string{wording.Number(float64(row.Traces)) + " traces"}
	if row.Users != nil {
		hurt = append(hurt, wording.Number(float64(*row.Users))+" users")
	}
	if row.Sessions != nil {
		hurt = append(hurt, wording.Number(float64(*row.Sessions))+" sessions")
	}
	b := tool.Block{Heading: fmt.Sprintf("%d. %s: %s to %s", n, row.Service, row.Start, end), Rows: []string{
		fmt.Sprintf("- Likely cause (%s, confidence %s): %s", row.Cause.Kind, wording.Percent(row.Confidence), row.Cause.Statement),
		"- First symptom: " + symptomText(i.GetFirstSymptom()),
		"- Affected: " + strings.Join(hurt, ", ") + "; services " + strings.Join(row.Services[:min(len(row.Services), 8)], ", "),
	}}
	for _, m := range i.GetMarkers() {
		r := toMarker(m)
		b.Rows = append(b.Rows, fmt.Sprintf("- Marker at %s (%s): %s", r.At, r.Kind, wording.Clip(wording.OneLine(r.Title), 120)))
	}
	for _, y := range row.Symptoms {
		b.Rows = append(b.Rows, "  - "+y)
	}
	return b
}

// incidentNext are the calls that show the most about the first incident.
func incidentNext(a *findIncidentsArgs, asked tool.TimeRange, i *svcv2.Incident) []tool.Suggestion {
	end := asked.To
	if i.GetEndTime() != nil {
		end = i.GetEndTime().AsTime()
	}
	w := tool.Period(i.GetStartTime().AsTime(), end)
	args := a.Again(w, map[string]any{"service": i.GetServiceName()}, &a.Environment)
	diagnosis := tool.Next("diagnose_service", args, "the service of the cause")
	switch c := i.GetCause(); {
	case c.GetKind() == "logs":
		patterns := tool.Next("mine_log_patterns", tool.ClampWindow(args, w, limits.PatternWindow), "the patterns of these records")
		return []tool.Suggestion{patterns, diagnosis}
	case c.GetKind() == "error":
		detail := a.Again(w, map[string]any{"fingerprint": c.GetTarget()})
		return []tool.Suggestion{tool.Next("error_detail", detail, "the stack and a trace of the error"), diagnosis}
	case isSlow(i):
		return []tool.Suggestion{tool.Next("find_slow_traces", args, "where its slow traces spend their time"), diagnosis}
	case c.GetKind() == "release", c.GetKind() == "attribute", c.GetKind() == "dependency":
		return []tool.Suggestion{tool.Next("find_errors", args, "its errors"), diagnosis}
	}
	return []tool.Suggestion{diagnosis}
}

// isSlow tells whether callers of the service wait, rather than get errors.
func isSlow(i *svcv2.Incident) bool {
	for _, y := range i.GetSymptoms() { // the clearest first
		if y.GetServiceName() != i.GetServiceName() {
			continue
		}
		switch y.GetKind() {
		case "latency", "dependency_latency":
			return true
		case "error_rate", "dependency_errors", "error_group":
			return false
		}
	}
	return false
}
