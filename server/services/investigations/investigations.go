// Package investigations answers the methods of svc.v2.InvestigationsService.
package investigations

import (
	"context"
	"fmt"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/paging"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/publicid"
	"github.com/svc-observability/svc/server/store"
	"github.com/svc-observability/svc/server/storeerr"
)

// Service implements svcv2connect.InvestigationsServiceHandler. It is safe for concurrent use.
type Service struct{ store *store.Store }

// New returns the service.
func New(st *store.Store) *Service { return &Service{store: st} }

// resource describes the errors of an investigation.
func resource() storeerr.Resource {
	return storeerr.Resource{
		Prefix: publicid.Investigation, ID: "an investigation", Invalid: apierr.InvestigationValidation,
		NotFound: storeerr.Answer{Tag: apierr.InvestigationNotFound, Message: "This organization has no such investigation."},
		Unavailable: storeerr.Answer{
			Tag: apierr.InvestigationPersistence, Message: "Investigations cannot be read or changed at the moment. Try again.",
		},
	}
}

// ListInvestigations lists investigations without their findings; the one that changed last comes first.
func (s *Service) ListInvestigations(
	ctx context.Context, req *svcv2.ListInvestigationsRequest,
) (*svcv2.ListInvestigationsResponse, error) {
	caller, err := principal.Caller(ctx)
	if err != nil {
		return nil, err
	}
	page, err := paging.NewPage(req.Limit, req.Cursor)
	if err != nil {
		return nil, err
	}
	rows, err := s.store.ListInvestigations(ctx, caller.Org, req.GetStatus(), page.Offset, page.Want())
	if err != nil {
		return nil, resource().Failure(ctx, err)
	}
	rows, next := paging.Cut(page, rows)
	res := &svcv2.ListInvestigationsResponse{Object: "list", HasMore: next != nil, NextCursor: next}
	for _, row := range rows {
		p, err := toProto(row)
		if err != nil {
			return nil, err
		}
		p.Findings = nil
		res.Data = append(res.Data, p)
	}
	return res, nil
}

// CreateInvestigation starts an investigation.
func (s *Service) CreateInvestigation(ctx context.Context, req *svcv2.CreateInvestigationRequest) (*svcv2.Investigation, error) {
	caller, err := principal.Caller(ctx)
	if err != nil {
		return nil, err
	}
	if req.IssueId != nil {
		if _, err := publicid.Decode(publicid.ErrorIssue, req.GetIssueId()); err != nil {
			return nil, apierr.New(apierr.InvestigationValidation, fmt.Sprintf("issue_id is not the id of an error issue: %v.", err),
				apierr.Param("issue_id"))
		}
	}
	r, err := s.store.CreateInvestigation(ctx, caller.Org, caller.User, store.Investigation{
		Title: req.GetTitle(), Question: req.Question, IssueID: req.IssueId,
	})
	return answer(ctx, r, err)
}

// GetInvestigation returns one investigation with its findings.
func (s *Service) GetInvestigation(ctx context.Context, req *svcv2.GetInvestigationRequest) (*svcv2.Investigation, error) {
	r, err := s.get(ctx, req.GetId())
	if err != nil {
		return nil, err
	}
	return toProto(r)
}

func (s *Service) get(ctx context.Context, id string) (store.Investigation, error) {
	caller, key, err := resource().Target(ctx, id)
	if err != nil {
		return store.Investigation{}, err
	}
	r, err := s.store.GetInvestigation(ctx, caller.Org, key)
	if err != nil {
		return store.Investigation{}, resource().Failure(ctx, err)
	}
	return r, nil
}

// UpdateInvestigation changes the fields that the mask names.
func (s *Service) UpdateInvestigation(ctx context.Context, req *svcv2.UpdateInvestigationRequest) (*svcv2.Investigation, error) {
	caller, id, err := resource().Target(ctx, req.GetId())
	if err != nil {
		return nil, err
	}
	var edit store.InvestigationEdit
	for _, path := range req.GetUpdateMask().GetPaths() {
		switch path {
		case "title":
			edit.Title = store.Set(req.GetTitle())
		case "status":
			edit.Status = store.Set(req.GetStatus())
		case "conclusion":
			edit.Conclusion = store.Set(req.Conclusion)
		case "assignee":
			edit.Assignee = store.Set(req.Assignee)
		default:
			return nil, fmt.Errorf("investigations: no update of the field %s", path)
		}
	}
	r, err := s.store.EditInvestigation(ctx, caller.Org, id, edit)
	return answer(ctx, r, err)
}

// AddInvestigationFinding adds a finding.
func (s *Service) AddInvestigationFinding(
	ctx context.Context, req *svcv2.AddInvestigationFindingRequest,
) (*svcv2.Investigation, error) {
	caller, id, err := resource().Target(ctx, req.GetId())
	if err != nil {
		return nil, err
	}
	f := store.InvestigationFinding{Text: req.GetText(), Value: req.Value, Unit: req.Unit, Call: req.Call}
	if req.GetRequest() != nil {
		if f.Request, err = protojson.Marshal(req.GetRequest()); err != nil {
			return nil, apierr.New(apierr.InvestigationValidation, "request cannot be written as JSON.", apierr.Param("request"), apierr.Cause(err))
		}
	}
	r, err := s.store.AddFinding(ctx, caller.Org, id, caller.User, f)
	return answer(ctx, r, err)
}

// GetInvestigationReport returns an investigation as Markdown.
func (s *Service) GetInvestigationReport(
	ctx context.Context, req *svcv2.GetInvestigationReportRequest,
) (*svcv2.InvestigationReport, error) {
	r, err := s.get(ctx, req.GetId())
	if err != nil {
		return nil, err
	}
	return &svcv2.InvestigationReport{Id: req.GetId(), Object: "investigation_report", Markdown: report(r)}, nil
}

// DeleteInvestigation deletes an investigation.
func (s *Service) DeleteInvestigation(ctx context.Context, req *svcv2.DeleteInvestigationRequest) (*svcv2.DeletedInvestigation, error) {
	caller, id, err := resource().Target(ctx, req.GetId())
	if err != nil {
		return nil, err
	}
	if err := s.store.DeleteInvestigation(ctx, caller.Org, id); err != nil {
		return nil, resource().Failure(ctx, err)
	}
	return &svcv2.DeletedInvestigation{Id: req.GetId(), Object: "investigation", Deleted: true}, nil
}

func answer(ctx context.Context, r store.Investigation, err error) (*svcv2.Investigation, error) {
	if err != nil {
		return nil, resource().Failure(ctx, err)
	}
	return toProto(r)
}

func toProto(r store.Investigation) (*svcv2.Investigation, error) {
	p := &svcv2.Investigation{
		Id: publicid.Encode(publicid.Investigation, r.ID), Object: "investigation", Title: r.Title, Question: r.Question, Status: r.Status,
		IssueId: r.IssueID, Conclusion: r.Conclusion, Assignee: r.Assignee, FindingCount: int32(len(r.Findings)),
		CreatedBy: user(string(r.CreatedBy)), CreatedAt: timestamppb.New(r.CreatedAt), UpdatedAt: timestamppb.New(r.UpdatedAt),
	}
	for i, f := range r.Findings {
		out := &svcv2.InvestigationFinding{
			Number: int32(i + 1), Text: f.Text, Value: f.Value, Unit: f.Unit, Call: f.Call, CreatedBy: user(f.CreatedBy),
			CreatedAt: timestamppb.New(f.CreatedAt),
		}
		if len(f.Request) > 0 {
			out.Request = &structpb.Struct{}
			if err := protojson.Unmarshal(f.Request, out.Request); err != nil {
				return nil, fmt.Errorf("investigations: the request of finding %d: %w", i+1, err)
			}
		}
		p.Findings = append(p.Findings, out)
	}
	return p, nil
}

// user is nil for a change that no user made.
func user(id string) *string {
	if id == "" {
		return nil
	}
	return &id
}
