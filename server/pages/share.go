package pages

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/maypok86/otter/v2"
	"google.golang.org/protobuf/proto"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/web"
)

// shared answers with the page of a share link. It opens the link without the cookie of the browser: the head and the rules for frames
// are those for everyone. The page itself asks again, and describes the fault.
func (p *Pages) shared(w http.ResponseWriter, r *http.Request) {
	head, status := web.Head{Title: "Shared dashboard"}, http.StatusOK
	token := r.PathValue("token")
	meta, err := p.cfg.Shares.ResolveShareOgMeta(r.Context(), &svcv2.ResolveShareOgMetaRequest{Token: token})
	if err == nil {
		head.Title, head.Description = meta.GetTitle(), meta.GetDescription()
		head.Picture = p.base.String() + meta.GetImagePath()
		var content *svcv2.ResolvedShare
		if content, err = p.cfg.Shares.ResolveShare(r.Context(), &svcv2.ResolveShareRequest{Token: token}); err == nil {
			head.Embeddable = content.GetEmbeddable()
		}
	}
	if err != nil {
		// A link for members of the organization has no name for outsiders.
		if f := failureOf(err); f.tag != apierr.ShareSignInRequired {
			status = f.status
		}
	}
	p.cfg.SharedPage(w, r, status, head)
}

// maxPictures bounds the bytes of the kept pictures. One picture is about 20 KB and takes some 30 ms to draw.
const maxPictures = 8 << 20

// pictures draws the picture of each share link once. It is safe for concurrent use.
type pictures struct {
	fonts fonts
	drawn *otter.Cache[string, []byte]
}

func newPictures() (*pictures, error) {
	f, err := parseFonts()
	if err != nil {
		return nil, fmt.Errorf("pages: %w", err)
	}
	return &pictures{f, otter.Must(&otter.Options[string, []byte]{
		MaximumWeight: maxPictures, Weigher: func(_ string, picture []byte) uint32 { return uint32(len(picture)) }, // some KB
	})}, nil
}

// sharePicture serves the picture that a preview of a share link shows, at the image_path of resolveShareOgMeta. It draws what
// resolveShareOgCard returns to the same caller. So a link of the mode `org` has a picture only for people who are signed in to
// its organization.
func (p *Pages) sharePicture(w http.ResponseWriter, r *http.Request) {
	v, err := p.Viewer(r)
	if err != nil {
		p.fail(w, r, nil, err)
		return
	}
	ctx, audience := r.Context(), "public"
	if v != nil {
		ctx, audience = v.asPerson(ctx), "private"
	}
	card, err := p.cfg.Shares.ResolveShareOgCard(ctx, &svcv2.ResolveShareOgCardRequest{OgId: r.PathValue("og_id")})
	if err != nil {
		p.fail(w, r, v, err)
		return
	}
	h := w.Header()
	h.Set("Cache-Control", audience+", max-age=300")
	h.Set("Vary", "Cookie")
	p.servePicture(w, r, v, card, func() ([]byte, error) { return drawCard(p.pictures.fonts, card) })
}

// servePicture serves the picture of some data. It is drawn once for all who get the same data. The caller has set the headers about
// caches.
func (p *Pages) servePicture(w http.ResponseWriter, r *http.Request, v *Viewer, data proto.Message, draw func() ([]byte, error)) {
	text, err := proto.MarshalOptions{Deterministic: true}.Marshal(data)
	if err != nil {
		p.failPicture(w, r, v, err)
		return
	}
	sum := sha256.Sum256(text)
	version := hex.EncodeToString(sum[:16])
	h := w.Header()
	h.Set("ETag", `"`+version+`"`)
	h.Set("X-Robots-Tag", "noindex")
	h.Set("Cross-Origin-Resource-Policy", "cross-origin") // other people's pages show it, too
	if r.Header.Get("If-None-Match") == `"`+version+`"` {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	picture, drawn := p.pictures.drawn.GetIfPresent(version)
	if !drawn {
		if picture, err = draw(); err != nil {
			p.failPicture(w, r, v, err)
			return
		}
		p.pictures.drawn.Set(version, picture)
	}
	h.Set("Content-Type", "image/png")
	h.Set("Content-Length", strconv.Itoa(len(picture)))
	// This fails only when the browser is gone.
	_, _ = w.Write(picture)
}

func (p *Pages) failPicture(w http.ResponseWriter, r *http.Request, v *Viewer, err error) {
	w.Header().Set("Cache-Control", "no-store")
	p.fail(w, r, v, err)
}

// chartPath is where the pictures of charts in messages are.
const chartPath = "/share/chart/{picture}"

// chartPicture serves the picture of a chart that a message to a chat shows. The path does not say whether the message is about an alert.
func (p *Pages) chartPicture(w http.ResponseWriter, r *http.Request) {
	id, _ := strings.CutSuffix(r.PathValue("picture"), ".png")
	chart, err := p.cfg.Shares.ResolveAlertChart(r.Context(), &svcv2.ResolveAlertChartRequest{ChartId: id})
	if err != nil && failureOf(err).tag == apierr.ShareNotFound {
		chart, err = p.cfg.Shares.ResolveChatChart(r.Context(), &svcv2.ResolveChatChartRequest{ChartId: id})
	}
	if err != nil {
		p.failPicture(w, r, nil, err)
		return
	}
	w.Header().Set("Cache-Control", fmt.Sprintf("public, max-age=%d", int(limits.ChartKept.Seconds())))
	p.servePicture(w, r, nil, chart, func() ([]byte, error) { return drawChart(p.pictures.fonts, chart) })
}
