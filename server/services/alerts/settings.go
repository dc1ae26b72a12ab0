package alerts

import (
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/timestamppb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/notify"
	"github.com/svc-observability/svc/server/publicid"
	"github.com/svc-observability/svc/server/store"
)

// fieldsOf returns the fields that a type of destination has besides name and enabled.
func fieldsOf(kind string) []string {
	switch kind {
	case notify.PagerDuty:
		return []string{"integration_key"}
	case notify.Webhook:
		return []string{"url", "signing_secret"}
	case notify.HazelOAuth:
		return []string{
			"hazel_organization_id", "hazel_organization_name", "hazel_organization_logo_url", "hazel_channel_id", "hazel_channel_name",
		}
	case notify.Discord:
		return []string{"webhook_url"}
	case notify.Telegram:
		return []string{"bot_token", "chat_id"}
	case notify.Email:
		return []string{"member_user_ids"}
	case notify.Chat:
		return []string{"workspace_id", "channel_id"}
	default:
		return nil
	}
}

// owns refuses a field of another type.
func owns(kind, field string) error {
	own := fieldsOf(kind)
	if slices.Contains(own, field) {
		return nil
	}
	return apierr.New(apierr.AlertValidation,
		fmt.Sprintf("A destination of type %s has no `%s`. Its fields are %s.", kind, field, strings.Join(own, ", ")), apierr.Param(field))
}

// given lists the fields of a new destination that depend on its type, in the order of the contract.
func given(req *svcv2.CreateAlertDestinationRequest) []string {
	var out []string
	fields := req.ProtoReflect().Descriptor().Fields()
	for i := range fields.Len() {
		f := fields.Get(i)
		if !slices.Contains([]protoreflect.Name{"name", "type", "enabled"}, f.Name()) && req.ProtoReflect().Has(f) {
			out = append(out, string(f.Name()))
		}
	}
	return out
}

// settings are the fields that both requests have.
type settings interface {
	GetIntegrationKey() string
	GetUrl() string
	GetSigningSecret() string
	GetWebhookUrl() string
	GetBotToken() string
	GetChatId() string
	GetMemberUserIds() []string
	GetWorkspaceId() string
	GetChannelId() string
}

// apply puts the value of a field into a destination, and reports whether that is a new secret. A blank secret is not a change, but a blank
// signing secret removes the stored one.
func apply(d *notify.Destination, field string, in settings) (secret bool) {
	set := func(to *string, value string) bool {
		if value = strings.TrimSpace(value); value == "" {
			return false
		}
		*to = value
		return true
	}
	switch field {
	case "integration_key":
		return set(&d.Secrets.IntegrationKey, in.GetIntegrationKey())
	case "webhook_url":
		return set(&d.Secrets.WebhookURL, in.GetWebhookUrl())
	case "bot_token":
		return set(&d.Secrets.BotToken, in.GetBotToken())
	case "signing_secret":
		d.Secrets.SigningSecret = strings.TrimSpace(in.GetSigningSecret())
		return true
	case "url":
		d.Config.URL = strings.TrimSpace(in.GetUrl())
	case "chat_id":
		d.Config.ChatID = strings.TrimSpace(in.GetChatId())
	case "workspace_id":
		d.Config.Workspace = strings.TrimSpace(in.GetWorkspaceId())
	case "channel_id":
		d.Config.ChannelID = strings.TrimSpace(in.GetChannelId())
	case "member_user_ids":
		d.Config.MemberUserIDs = in.GetMemberUserIds()
	}
	return false
}

func showDestination(row store.AlertDestination) (*svcv2.AlertDestination, error) {
	d, err := notify.Stored(row)
	if err != nil {
		return nil, unreadable(err)
	}
	out := &svcv2.AlertDestination{
		Id: publicid.Encode(publicid.AlertDestination, row.ID), Object: "alert_destination", Name: row.Name, Type: row.Type, Enabled: row.Enabled,
		Summary: d.Summary(), MemberUserIds: d.Config.MemberUserIDs, LastTestError: row.LastTestError, DisabledReason: row.DisabledReason,
		CreatedAt: timestamppb.New(row.CreatedAt), UpdatedAt: timestamppb.New(row.UpdatedAt),
	}
	if label := d.ChannelLabel(); label != "" {
		out.ChannelLabel = &label
	}
	if d.Type == notify.Chat {
		workspace, err := uuid.Parse(d.Config.Workspace)
		if err != nil {
			return nil, unreadable(fmt.Errorf("alerts: workspace of a destination: %w", err))
		}
		out.ChatConnector, out.ChatWorkspaceId = &d.Config.Connector, new(publicid.Encode(publicid.ChatWorkspace, workspace))
	}
	if row.LastTestedAt != nil {
		out.LastTestedAt = timestamppb.New(*row.LastTestedAt)
	}
	return out, nil
}

// mutated is the answer to a change. The transaction number is empty if nothing changed.
func mutated(row store.AlertDestination, txid string) (*svcv2.AlertDestinationMutationResponse, error) {
	d, err := showDestination(row)
	if err != nil {
		return nil, err
	}
	res := &svcv2.AlertDestinationMutationResponse{
		Id: d.GetId(), Object: d.GetObject(), Name: d.GetName(), Type: d.GetType(), Enabled: d.GetEnabled(), Summary: d.GetSummary(),
		ChannelLabel: d.ChannelLabel, ChatConnector: d.ChatConnector, ChatWorkspaceId: d.ChatWorkspaceId, MemberUserIds: d.GetMemberUserIds(),
		LastTestedAt: d.GetLastTestedAt(), LastTestError: d.LastTestError,
		DisabledReason: d.DisabledReason, CreatedAt: d.GetCreatedAt(), UpdatedAt: d.GetUpdatedAt(),
	}
	if txid != "" {
		res.Txid = &txid
	}
	return res, nil
}
