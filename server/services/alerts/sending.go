package alerts

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/notify"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/publicid"
	"github.com/svc-observability/svc/server/store"
)

// ListTelegramChats lists the chats of a bot.
func (s *Destinations) ListTelegramChats(
	ctx context.Context, req *svcv2.ListTelegramChatsRequest,
) (*svcv2.ListTelegramChatsResponse, error) {
	caller, err := principal.Caller(ctx)
	if err != nil {
		return nil, err
	}
	if err := notify.CheckBotToken(req.GetBotToken()); err != nil {
		return nil, invalid(err)
	}
	if err := s.budget(caller.Org); err != nil {
		return nil, err
	}
	chats, err := s.cfg.Sender.TelegramChats(ctx, req.GetBotToken())
	if err != nil {
		return nil, invalid(err)
	}
	res := &svcv2.ListTelegramChatsResponse{Object: "alert_destination.telegram_chat_list"}
	for _, c := range chats {
		res.Chats = append(res.Chats, &svcv2.TelegramChat{Id: c.ID, Title: c.Title, Type: c.Type})
	}
	return res, nil
}

// budget counts a request to a destination on behalf of an organization.
func (s *Destinations) budget(org principal.OrgID) error {
	ok, wait := s.cfg.Tests.Allow(string(org), s.cfg.Now())
	if ok {
		return nil
	}
	return apierr.New(apierr.RateLimit, fmt.Sprintf("An organization can send %d test messages in %s. Try again later.",
		limits.DestinationTests, limits.Lasts(limits.DestinationTestsPeriod)), apierr.RetryAfter(wait))
}

// TestAlertDestination sends a test message and waits for the answer.
func (s *Destinations) TestAlertDestination(
	ctx context.Context, req *svcv2.TestAlertDestinationRequest,
) (*svcv2.AlertDestinationTestResult, error) {
	caller, id, err := destination().Target(ctx, req.GetId())
	if err != nil {
		return nil, err
	}
	row, err := s.cfg.Store.GetAlertDestination(ctx, caller.Org, id)
	if err != nil {
		return nil, destination().Failure(ctx, err)
	}
	d, err := notify.Open(row, s.cfg.Seals)
	if err != nil {
		return nil, unreadable(err)
	}
	if err := s.budget(caller.Org); err != nil {
		return nil, err
	}
	public := publicid.Encode(publicid.AlertDestination, row.ID)
	r, err := s.cfg.Sender.SendNow(ctx, d, "test:"+public+":"+rand.Text(), notify.Event{
		Type: notify.Test, SentAt: s.cfg.Now(), Incident: notify.Incident{DedupeKey: "test:" + public},
		Rule: notify.Rule{
			Name: "Test of " + row.Name, SignalType: "error_rate", Severity: "warning", GroupKey: notify.Total, Comparator: "gt",
			Threshold: 0.05, WindowMinutes: 5,
		},
	})
	if err != nil {
		return nil, err
	}
	// The message is out: the record of it must not depend on a caller that hangs up.
	ctx = context.WithoutCancel(ctx)
	if err := s.cfg.Store.RecordDestinationTest(ctx, caller.Org, row.ID, s.cfg.Now(), r.Problem); err != nil {
		return nil, destination().Failure(ctx, err)
	}
	if r.Adopt != nil {
		if err := s.adopt(ctx, caller, row, *r.Adopt); err != nil {
			return nil, destination().Failure(ctx, err)
		}
	}
	return tested(d, r)
}

// adopt stores settings that the destination returned.
func (s *Destinations) adopt(ctx context.Context, caller *principal.Principal, row store.AlertDestination, config notify.Config) error {
	text, err := json.Marshal(config)
	if err != nil {
		return err
	}
	_, _, err = s.cfg.Store.EditAlertDestination(ctx, caller.Org, row.ID, caller.User,
		func(newest store.AlertDestination) (store.AlertDestinationChange, error) {
			return store.AlertDestinationChange{Name: newest.Name, Enabled: newest.Enabled, Config: text}, nil
		})
	return err
}

// tested is the answer of the contract for the result of a send.
func tested(d *notify.Destination, r notify.Result) (*svcv2.AlertDestinationTestResult, error) {
	tag := apierr.AlertDelivery
	//exhaustive:enforce
	switch r.Outcome {
	case notify.Delivered:
		message := d.Summary() + ": the message was accepted."
		if r.Code != 0 {
			message = fmt.Sprintf("%s: the message was accepted with status %d.", d.Summary(), r.Code)
		}
		return &svcv2.AlertDestinationTestResult{Object: "alert_destination.test_result", Success: true, Message: message}, nil
	case notify.Unauthorized, notify.Waiting:
		tag = apierr.AlertDeliveryAuth
	case notify.Missing, notify.Gone:
		tag = apierr.AlertDeliveryTargetMissing
	case notify.Rejected:
		tag = apierr.AlertDeliveryRejected
	case notify.Failed, notify.Throttled, notify.Unreadable:
	}
	message := r.Problem
	if r.Answer != "" {
		message += " It said: " + r.Answer
	}
	return nil, apierr.New(tag, message, apierr.RetryAfter(r.RetryAfter))
}
