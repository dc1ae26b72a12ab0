// Package errorissues answers the methods of the services of error issues: reads, the workflow, and the policies of messages.
package errorissues

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/issues"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/publicid"
	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/query/read"
	"github.com/svc-observability/svc/server/source/frames"
	"github.com/svc-observability/svc/server/source/suspects"
	"github.com/svc-observability/svc/server/store"
	"github.com/svc-observability/svc/server/storeerr"
)

// Config has the parts that the services need.
type Config struct {
	Store     *store.Store
	Warehouse read.Warehouse
	Rollups   query.Rollups
	// Code reads pull requests at source hosts.
	Code Code
	// Suspects finds commits that may have brought an error. Nil: issues have none.
	Suspects Suspects
	// BaseURL is the address of the web application, for links in messages. Empty: messages have no links.
	BaseURL string
	// Picture makes the address of the picture in a message to a chat. Nil: messages have no pictures.
	Picture func(org principal.OrgID, issues []*store.IssueRecord, digest bool, at time.Time) (string, error)
	Now     func() time.Time
}

// Code reads pull requests at the source hosts that an organization has connected; see issues.Code.
type Code interface {
	PullRequest(ctx context.Context, org principal.OrgID, link *store.ErrorIssuePullRequest) (issues.PullRequest, error)
}

// Suspects finds the commits that may have brought the error of a stack, within the rights of the caller.
type Suspects interface {
	Suspects(ctx context.Context, caller *principal.Principal, q suspects.Question, calls []frames.Call,
		evidence func(context.Context) ([]frames.Call, error)) suspects.Answer
}

// Issues implements svcv2connect.ErrorIssuesServiceHandler. It is safe for concurrent use.
type Issues struct{ Config }

// Workflow implements svcv2connect.ErrorIssueWorkflowServiceHandler. It is safe for concurrent use.
type Workflow struct{ Config }

// Policies implements svcv2connect.ErrorIssuePoliciesServiceHandler. It is safe for concurrent use.
type Policies struct{ Config }

// New returns the services.
func New(cfg Config) (*Issues, *Workflow, *Policies) {
	return &Issues{cfg}, &Workflow{cfg}, &Policies{cfg}
}

func resource() storeerr.Resource {
	return storeerr.Resource{
		Prefix: publicid.ErrorIssue, ID: "an error issue", Invalid: apierr.ErrorValidation,
		NotFound:    storeerr.Answer{Tag: apierr.ErrorIssueNotFound, Message: "This organization has no such error issue."},
		Unavailable: storeerr.Answer{Tag: apierr.ErrorPersistence, Message: "Error issues cannot be reached at the moment. Try again."},
	}
}

// failure is the error of the contract for an error of a change.
func failure(ctx context.Context, err error) error {
	var move *issues.TransitionError
	var lease *issues.LeaseError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &move):
		return apierr.New(apierr.ErrorIssueTransition, "The move is not allowed: "+move.Error()+".", apierr.Cause(err))
	case errors.As(err, &lease) && lease.Holder == nil:
		return apierr.New(apierr.ErrorIssueLeaseConflict, "The caller does not hold a lease: "+lease.Error()+".", apierr.Cause(err))
	case errors.As(err, &lease):
		return apierr.New(apierr.ErrorIssueLeaseConflict, fmt.Sprintf(
			"The actor %s works on this issue until %s. Choose another issue, or wait.",
			publicid.Encode(publicid.Actor, *lease.Holder), lease.Expires.UTC().Format(time.RFC3339)), apierr.Cause(err))
	case errors.Is(err, issues.ErrSnooze):
		return apierr.New(apierr.ErrorValidation, "`snooze_until` needs `to_state` wontfix and a time in the future.",
			apierr.Param("snooze_until"))
	case errors.Is(err, issues.ErrMerged):
		return apierr.New(apierr.ErrorIssuePullRequestInvalid, "The pull request is merged already, so `state` must be merged.",
			apierr.Param("state"))
	case errors.Is(err, store.ErrFingerprints):
		return apierr.New(apierr.ErrorValidation,
			"`fingerprint_hashes` must name fingerprints of this issue, each once, and leave at least one.", apierr.Param("fingerprint_hashes"))
	case errors.Is(err, store.ErrNoPullRequest):
		return apierr.New(apierr.ErrorIssuePullRequestNotFound, "This issue has no such pull request.", apierr.Param("pull_request_id"))
	}
	return resource().Failure(ctx, err)
}

// target returns the caller, and the issue of an id: for one that was merged, the issue that has its fingerprints.
func (c *Config) target(ctx context.Context, id string) (*principal.Principal, store.ErrorIssue, error) {
	caller, key, err := resource().Target(ctx, id)
	if err != nil {
		return nil, store.ErrorIssue{}, err
	}
	issue, err := c.Store.ErrorIssue(ctx, caller.Org, key)
	if err != nil {
		return nil, store.ErrorIssue{}, resource().Failure(ctx, err)
	}
	return caller, issue, nil
}

// actor returns the actor of the caller: the agent that the header names, else the user, else an agent with the name of the key.
func (c *Config) actor(ctx context.Context, caller *principal.Principal) (store.IssueActor, error) {
	var out store.IssueActor
	var err error
	switch named := principal.OriginFrom(ctx).Agent; {
	case named != "":
		id, failed := publicid.Decode(publicid.Actor, named)
		if failed != nil {
			return out, noActor("x-svc-agent-id")
		}
		out, err = c.Store.TouchActor(ctx, caller.Org, id)
		if errors.Is(err, store.ErrNotFound) || err == nil && out.Type != store.ActorTypeAgent {
			return out, noActor("x-svc-agent-id")
		}
	case caller.Kind == principal.KindSession || caller.Kind == principal.KindOAuth:
		out, err = c.Store.EnsureActor(ctx, caller.Org, store.IssueActor{
			Type: store.ActorTypeUser, User: caller.User, Name: "user:" + string(caller.User),
		})
	default:
		out, err = c.Store.EnsureActor(ctx, caller.Org, store.IssueActor{Type: store.ActorTypeAgent, Name: "key:" + caller.Name})
	}
	if err != nil {
		return out, resource().Failure(ctx, err)
	}
	return out, nil
}

func noActor(param string) error {
	return apierr.New(apierr.ActorNotFound, "This organization has no such actor. listErrorIssueActors lists them.", apierr.Param(param))
}

// change changes the issue of a request as the caller.
func (c *Config) change(
	ctx context.Context, id string, do func(r *store.IssueRecord, act issues.Act, by store.IssueActor) error,
) (store.ErrorIssue, error) {
	caller, issue, err := c.target(ctx, id)
	if err != nil {
		return issue, err
	}
	by, err := c.actor(ctx, caller)
	if err != nil {
		return issue, err
	}
	out, err := c.Store.ChangeErrorIssue(ctx, caller.Org, issue.ID, func(r *store.IssueRecord) error {
		return do(r, issues.Act{Actor: &by.ID, At: c.Now().UTC()}, by)
	})
	return out, failure(ctx, err)
}

// changeLinked is change for a change that needs the pull requests of the issue.
func (c *Config) changeLinked(
	ctx context.Context, id string, do func(r *store.IssueRecord, links []store.ErrorIssuePullRequest, act issues.Act,
		by store.IssueActor) error,
) (store.ErrorIssue, error) {
	caller, issue, err := c.target(ctx, id)
	if err != nil {
		return issue, err
	}
	by, err := c.actor(ctx, caller)
	if err != nil {
		return issue, err
	}
	out, err := c.Store.ChangeLinkedErrorIssue(ctx, caller.Org, issue.ID,
		func(r *store.IssueRecord, links []store.ErrorIssuePullRequest) error {
			return do(r, links, issues.Act{Actor: &by.ID, At: c.Now().UTC()}, by)
		})
	return out, failure(ctx, err)
}

func publicIssue(id uuid.UUID) string { return publicid.Encode(publicid.ErrorIssue, id) }
