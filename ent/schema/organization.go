package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/dialect/entsql"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"
)

// Organization is a customer. All other data belongs to an organization.
type Organization struct{ ent.Schema }

// Fields of Organization.
func (Organization) Fields() []ent.Field {
	return []ent.Field{
		field.String("id").SchemaType(text).NotEmpty().Immutable().Comment("org_…"),
		field.String("name").SchemaType(text).NotEmpty(),
		field.String("slug").SchemaType(text).NotEmpty().Unique(),
		field.Time("created_at").Immutable(),
	}
}

// Edges of Organization. All data of an organization is deleted with it.
func (Organization) Edges() []ent.Edge {
	cascade := entsql.OnDelete(entsql.Cascade)
	return []ent.Edge{
		edge.To("memberships", Membership.Type).Annotations(cascade),
		edge.To("api_keys", ApiKey.Type).Annotations(cascade),
		edge.To("ingest_keys", IngestKey.Type).Annotations(cascade),
		edge.To("sessions", Session.Type).Annotations(cascade),
		edge.To("attribute_mappings", AttributeMapping.Type).Annotations(cascade),
		edge.To("markers", Marker.Type).Annotations(cascade),
		edge.To("investigations", Investigation.Type).Annotations(cascade),
		edge.To("saved_views", SavedView.Type).Annotations(cascade),
		edge.To("sampling_policy", SamplingPolicy.Type).Unique().Annotations(cascade),
		edge.To("plan", Plan.Type).Unique().Annotations(cascade),
		edge.To("ingest_usage", IngestUsage.Type).Annotations(cascade),
		edge.To("ingest_outcomes", IngestOutcomes.Type).Annotations(cascade),
		edge.To("logpush_connectors", LogpushConnector.Type).Annotations(cascade),
		edge.To("audit_log_entries", AuditLogEntry.Type).Annotations(cascade),
		edge.To("invitations", Invitation.Type).Annotations(cascade),
		edge.To("dashboards", Dashboard.Type).Annotations(cascade),
		edge.To("dashboard_versions", DashboardVersion.Type).Annotations(cascade),
		edge.To("dashboard_shares", DashboardShare.Type).Annotations(cascade),
		edge.To("idempotency_keys", IdempotencyKey.Type).Annotations(cascade),
		edge.To("agent_feedback", AgentFeedback.Type).Annotations(cascade),
		edge.To("oauth_grants", OAuthGrant.Type).Annotations(cascade),
		edge.To("recommendations", Recommendation.Type).Annotations(cascade),
		edge.To("alert_destinations", AlertDestination.Type).Annotations(cascade),
		edge.To("alert_rules", AlertRule.Type).Annotations(cascade),
		edge.To("alert_rule_states", AlertRuleState.Type).Annotations(cascade),
		edge.To("alert_cursor", AlertCursor.Type).Unique().Annotations(cascade),
		edge.To("alert_incidents", AlertIncident.Type).Annotations(cascade),
		edge.To("deliveries", Delivery.Type).Annotations(cascade),
		edge.To("scrape_targets", ScrapeTarget.Type).Annotations(cascade),
		edge.To("issue_actors", IssueActor.Type).Annotations(cascade),
		edge.To("error_issues", ErrorIssue.Type).Annotations(cascade),
		edge.To("error_issue_fingerprints", ErrorIssueFingerprint.Type).Annotations(cascade),
		edge.To("error_issue_events", ErrorIssueEvent.Type).Annotations(cascade),
		edge.To("error_incidents", ErrorIncident.Type).Annotations(cascade),
		edge.To("error_issue_pull_requests", ErrorIssuePullRequest.Type).Annotations(cascade).
			StorageKey(edge.Symbol("error_issue_pull_requests_organizations")),
		edge.To("error_issue_verifications", ErrorIssueVerification.Type).Annotations(cascade).
			StorageKey(edge.Symbol("error_issue_verifications_organizations")),
		edge.To("error_policies", ErrorPolicy.Type).Annotations(cascade),
		edge.To("error_inbox", ErrorInbox.Type).Annotations(cascade),
		edge.To("integration_connections", IntegrationConnection.Type).Annotations(cascade),
		edge.To("integration_logins", IntegrationLogin.Type).Annotations(cascade),
		edge.To("source_repositories", SourceRepository.Type).Annotations(cascade),
		edge.To("chat_channels", ChatChannel.Type).Annotations(cascade),
		edge.To("hosting_projects", HostingProject.Type).Annotations(cascade),
		edge.To("hosting_deployments", HostingDeployment.Type).Annotations(cascade),
		edge.To("platform_databases", PlatformDatabase.Type).Annotations(cascade),
		edge.To("platform_events", PlatformEvent.Type).Annotations(cascade),
		edge.To("integration_identities", IntegrationIdentity.Type).Annotations(cascade),
	}
}
