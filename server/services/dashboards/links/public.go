package links

import (
	"context"
	"errors"
	"slices"
	"time"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/query/widget"
	"github.com/svc-observability/svc/server/ratelimit"
	"github.com/svc-observability/svc/server/services/dashboards/definition"
	"github.com/svc-observability/svc/server/store"
)

// Windows that a reader of a link can ask for.
const (
	maxRangeSeconds     = int32(limits.TimeseriesWindow / time.Second)
	maxListRangeSeconds = int32(limits.SearchWindow / time.Second)
)

// PublicConfig has the parts that the public reads of share links need.
type PublicConfig struct {
	Store *store.Store
	// Hash finds a token. It must be the same function as that of New.
	Hash func(token string) string
	// ByToken and ByAddress limit requests.
	ByToken, ByAddress ratelimit.Limiter
	// Widgets reads the data of widgets.
	Widgets *widget.Resolver
	// Alerts and Chats find what the id of a chart shows: of an alert, and of another message to a chat.
	Alerts, Chats OpenChart
	// Sealed reports whether svc made the id of a chart, of either kind, and its time is not over. It asks no store.
	Sealed func(id string) bool
}

// Public implements svcv2connect.ShareServiceHandler, which shows the content of a share link to everybody who has the link. It
// is safe for concurrent use.
type Public struct {
	cfg    PublicConfig
	reads  *publicReads[*svcv2.WidgetData]
	charts *publicReads[*svcv2.ChartPicture]
}

// NewPublic returns the service.
func NewPublic(cfg PublicConfig) *Public {
	return &Public{
		cfg: cfg, reads: newPublicReads[*svcv2.WidgetData](limits.SharedData, 0),
		charts: newPublicReads[*svcv2.ChartPicture](limits.ChartKept, chartFailed),
	}
}

// link is an open share link, with the content that it shows.
type link struct {
	share store.DashboardShare
	// mode is the stricter of two modes: that of the link and that of the link to its dashboard.
	mode string
	def  *svcv2.DashboardDefinition
	// widget is nil if the link shares the whole dashboard.
	widget *svcv2.Widget
}

// open finds a link by the hash of its token and checks that the caller may see it. The answer is the same for every reason for
// which the caller sees nothing.
func (p *Public) open(ctx context.Context, hash string) (*link, error) {
	now := time.Now()
	if ok, after := p.cfg.ByAddress.Allow(principal.OriginFrom(ctx).IP, now); !ok {
		return nil, tooMany(after)
	}
	l, err := p.find(ctx, hash)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return nil, apierr.New(apierr.ShareNotFound, "There is no such share link, or it shows a widget of a dashboard that is not shared.",
			apierr.Cause(err))
	case err != nil:
		return nil, shares().Failure(ctx, err)
	}
	// Requests are counted only for links that exist, so that guesses take no memory.
	if ok, after := p.cfg.ByToken.Allow(l.share.Hash, now); !ok {
		return nil, tooMany(after)
	}
	if l.mode == store.ShareOrg {
		if err := p.belongs(ctx, l.share.Org); err != nil {
			return nil, err
		}
	}
	return l, nil
}

// belongs checks that the caller is signed in and is a member of the organization. The organization in which the session acts
// does not matter.
func (p *Public) belongs(ctx context.Context, org principal.OrgID) error {
	caller, ok := principal.From(ctx)
	switch {
	case !ok || caller.Kind != principal.KindSession:
		return apierr.New(apierr.ShareSignInRequired, "Sign in to the organization to see this.")
	case caller.Org == org:
		return nil
	}
	_, err := p.cfg.Store.RoleOf(ctx, org, caller.User)
	if errors.Is(err, store.ErrNotFound) {
		return apierr.New(apierr.ShareWrongOrg, "This belongs to another organization.")
	}
	if err != nil {
		return shares().Failure(ctx, err)
	}
	return nil
}

func tooMany(after time.Duration) error {
	return apierr.New(apierr.ShareRateLimited, "Too many requests. Try again later.", apierr.RetryAfter(after))
}

// find returns store.ErrNotFound also for a widget that no longer exists, and for a widget whose dashboard is not shared.
func (p *Public) find(ctx context.Context, hash string) (*link, error) {
	share, err := p.cfg.Store.DashboardShareByHash(ctx, hash)
	if err != nil {
		return nil, err
	}
	row, err := p.cfg.Store.GetDashboard(ctx, share.Org, share.Dashboard)
	if err != nil {
		return nil, err
	}
	def, err := definition.Read(row.Definition)
	if err != nil {
		return nil, err
	}
	l := &link{share: share, mode: share.Mode, def: def}
	if share.Widget == "" {
		return l, nil
	}
	board, err := p.cfg.Store.GetDashboardShare(ctx, share.Org, share.Dashboard, "")
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(def.GetWidgets(), func(w *svcv2.Widget) bool { return w.GetId() == share.Widget })
	if board == nil || i < 0 {
		return nil, store.ErrNotFound
	}
	if board.Mode == store.ShareOrg {
		l.mode = store.ShareOrg
	}
	l.widget = def.GetWidgets()[i]
	return l, nil
}

// ResolveShare shows the shared content, without its queries.
func (p *Public) ResolveShare(ctx context.Context, req *svcv2.ResolveShareRequest) (*svcv2.ResolvedShare, error) {
	l, err := p.open(ctx, p.cfg.Hash(req.GetToken()))
	if err != nil {
		return nil, err
	}
	res := &svcv2.ResolvedShare{
		Mode: l.mode, Scope: "dashboard", Dashboard: shown(l.def, l.widget),
		Limits: &svcv2.ShareLimits{MaxRangeSeconds: maxRangeSeconds, MaxListRangeSeconds: maxListRangeSeconds},
	}
	if l.widget != nil {
		res.Scope, res.Embeddable = "widget", l.mode == store.SharePublic
	}
	return res, nil
}

// title returns the title and the description of the link.
func (l *link) title() (title, description string) {
	if l.widget == nil {
		return l.def.GetName(), l.def.GetDescription()
	}
	return definition.WidgetTitle(l.widget), l.widget.GetDisplay().GetDescription()
}

// ResolveShareOgMeta returns the texts of a preview. The id of the card is the hash of the token, which does not open the link.
func (p *Public) ResolveShareOgMeta(ctx context.Context, req *svcv2.ResolveShareOgMetaRequest) (*svcv2.ShareOgMeta, error) {
	l, err := p.open(ctx, p.cfg.Hash(req.GetToken()))
	if err != nil {
		return nil, err
	}
	title, description := l.title()
	return &svcv2.ShareOgMeta{Title: title, Description: description, ImagePath: "/share/og/" + l.share.Hash}, nil
}

// ResolveShareOgCard returns the content of the picture of a preview.
func (p *Public) ResolveShareOgCard(ctx context.Context, req *svcv2.ResolveShareOgCardRequest) (*svcv2.ShareOgCard, error) {
	l, err := p.open(ctx, req.GetOgId())
	if err != nil {
		return nil, err
	}
	title, description := l.title()
	card := &svcv2.ShareOgCard{Title: title}
	if description != "" {
		card.Description = &description
	}
	org, err := p.cfg.Store.GetOrganization(ctx, l.share.Org)
	if err != nil {
		return nil, shares().Failure(ctx, err)
	}
	card.Org = &svcv2.ShareOgOrganization{Name: org.Name}
	widgets := l.def.GetWidgets()
	if l.widget != nil {
		widgets = []*svcv2.Widget{l.widget}
	}
	sections := map[string]string{}
	for _, s := range l.def.GetSections() {
		sections[s.GetId()] = s.GetTitle()
	}
	card.WidgetCount = int32(len(widgets))
	for _, w := range widgets {
		tile := &svcv2.ShareOgTile{
			X: w.GetLayout().GetX(), Y: w.GetLayout().GetY(), W: w.GetLayout().GetW(), H: w.GetLayout().GetH(), Visualization: w.GetVisualization(),
			Title: w.GetDisplay().Title,
		}
		if name := sections[w.GetSectionId()]; name != "" && l.widget == nil {
			tile.Section = &name
		}
		card.Tiles = append(card.Tiles, tile)
	}
	return card, nil
}
