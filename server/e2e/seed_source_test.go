package e2e

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/svc-observability/svc/server/config"
	"github.com/svc-observability/svc/server/integrations/github/githubtest"
	"github.com/svc-observability/svc/server/integrations/planetscale/planetscaletest"
	"github.com/svc-observability/svc/server/integrations/slack/slacktest"
	"github.com/svc-observability/svc/server/integrations/vercel/verceltest"
	"github.com/svc-observability/svc/server/publicid"
	"github.com/svc-observability/svc/server/testkit"
)

// appOf sets a server up for the app of a hub.
func appOf(h *githubtest.Hub) func(*config.Config) {
	return func(c *config.Config) {
		c.GitHub = config.GitHub{
			URL: h.URL, AppID: githubtest.AppID, Slug: githubtest.Slug, ClientID: githubtest.ClientID, ClientSecret: githubtest.ClientSecret,
			PrivateKey: config.Secret(h.Key), WebhookSecret: githubtest.WebhookSecret,
		}
	}
}

// appFlags are the flags that set a process up for the app of a hub.
func appFlags(h *githubtest.Hub) []string {
	return []string{
		"--github-url", h.URL, "--github-app-id", strconv.Itoa(githubtest.AppID), "--github-slug", githubtest.Slug,
		"--github-client-id", githubtest.ClientID, "--github-client-secret", githubtest.ClientSecret,
		"--github-private-key", strings.ReplaceAll(h.Key, "\n", `\n`), "--github-webhook-secret", githubtest.WebhookSecret,
	}
}

// matrixSource is a hub with a repository that fits the examples of the document.
type matrixSource struct {
	hub  *githubtest.Hub
	repo *githubtest.Repository
	// head is the newest commit.
	head  string
	slack *slacktest.Slack
	// vercel knows no token.
	vercel *verceltest.Vercel

	planetscale *planetscaletest.Platform
}

func newMatrixSource(t *testing.T) *matrixSource {
	t.Helper()
	s := &matrixSource{hub: githubtest.New(t), slack: slacktest.New(t), vercel: verceltest.New(t), planetscale: planetscaletest.New(t)}
	s.repo = s.hub.AddRepository(t, s.hub.Install("acme", "Organization"), "shop",
		map[string]string{"services/checkout/cart.go": "package checkout\n"})
	s.repo.Tag(t, "v1.4.1")
	s.head = s.repo.Commit(t, "Round prices", map[string]string{"services/checkout/price.go": "package checkout\n\nfunc Round() {}\n"})
	s.repo.Tag(t, "v1.4.2")
	s.repo.Branch(t, "next")
	return s
}

// apps sets a server up for the stand-ins.
func (s *matrixSource) apps(c *config.Config) {
	appOf(s.hub)(c)
	slackOf(s.slack)(c)
	vercelOf(s.vercel)(c)
	planetscaleOf(s.planetscale)(c)
}

// seedConnection puts a connected account into the database of a server, as a login would, and its repository. It returns both public ids.
// The account has an installation of its own at the hub, because an organization connects each once.
func (x *matrix) seedConnection(t *testing.T, s *testkit.Server) (connection, repository string) {
	t.Helper()
	i := x.source.hub.Install("acme", "Organization")
	x.source.hub.Change(func() { i.Repositories = []int64{x.source.repo.ID} })
	c, r, at := uuid.Must(uuid.NewV7()), uuid.Must(uuid.NewV7()), time.Now().UTC().Format("2006-01-02 15:04:05+00:00")
	x.db.exec(t, fmt.Sprintf(`INSERT INTO integration_connections (id, org_id, shard, provider, base_url, external_id, name, state, settings,
		connected_by, connected_at, state_changed_at, failures, created_at, updated_at)
		VALUES ('%s', '%s', 0, 'github', '%s', '%s', 'acme', 'connected',
		'{"type":"organization","selection":"all","settings_url":"https://github.com/x","code_access":"members"}', 'user_x', '%[5]s', '%[5]s', 0, '%[5]s', '%[5]s')`,
		c, s.OrgID, x.source.hub.URL, strconv.FormatInt(i.ID, 10), at))
	x.db.exec(t, fmt.Sprintf(`INSERT INTO source_repositories (id, org_id, connection_id, external_id, full_name, html_url, is_private, is_archived,
		default_branch, status, checked_at, created_at, updated_at)
		VALUES ('%s', '%s', '%s', '%d', 'acme/shop', 'https://github.com/acme/shop', true, false, 'main', 'active', '%[5]s', '%[5]s', '%[5]s')`,
		r, s.OrgID, c, x.source.repo.ID, at))
	return publicid.Encode(publicid.Integration, c), publicid.Encode(publicid.SourceRepository, r)
}

// matrixChannels are the channels of the workspaces of seedWorkspace.
func matrixChannels() []string { return []string{"C061EG9SL", "C061EG9SM"} }

// seedWorkspace puts a chat workspace with channels into the database of a server, as a login would, and returns its id.
func (x *matrix) seedWorkspace(t *testing.T, s *testkit.Server) string {
	t.Helper()
	c, at := uuid.Must(uuid.NewV7()), time.Now().UTC()
	x.db.exec(t, fmt.Sprintf(`INSERT INTO integration_connections (id, org_id, shard, provider, base_url, external_id, name, state, settings,
		connected_by, connected_at, state_changed_at, failures, created_at, updated_at)
		VALUES ('%s', '%s', 0, 'slack', '%s', 'T%d', 'Acme', 'connected', '{}', 'user_x', '%[5]s', '%[5]s', 0, '%[5]s', '%[5]s')`,
		c, s.OrgID, x.source.slack.URL, at.UnixNano(), at.Format("2006-01-02 15:04:05+00:00")))
	for _, channel := range matrixChannels() {
		x.db.exec(t, fmt.Sprintf(`INSERT INTO chat_channels (id, org_id, connection_id, external_id, name, is_private, is_member, created_at, seen_at)
			VALUES ('%s', '%s', '%s', '%s', 'alerts', false, false, '%[5]s', '%[5]s')`,
			uuid.Must(uuid.NewV7()), s.OrgID, c, channel, at.Format("2006-01-02 15:04:05+00:00")))
	}
	return publicid.Encode(publicid.ChatWorkspace, c)
}
