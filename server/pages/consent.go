package pages

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/oauth"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/store"
	"github.com/svc-observability/svc/server/wording"
)

// Grants stores the access that people granted to programs.
type Grants interface {
	ListOAuthGrants(ctx context.Context, user principal.UserID) ([]store.OAuthGrant, error)
	RevokeOAuthGrant(ctx context.Context, user principal.UserID, id uuid.UUID) error
}

// grantsPath is the path of the form that revokes a grant.
const grantsPath = "/oauth/grants/revoke"

// consentData is the data of the page on which a person decides about a program.
type consentData struct {
	// Request is the query of the program. The form sends it again.
	Request string
	// Program is the name that the program gives itself. Proven is the host that vouches for it. Return is where the browser goes
	// afterwards.
	Program, Proven, Return string
	// Local means that the browser goes to a program on the person's own machine.
	Local   bool
	Access  []string
	Choices []cliChoice
}

// showConsent is the authorization endpoint (RFC 6749 section 3.1). A person who is not signed in is not redirected to the
// program, and no address is fetched for that person: anybody may register a program, and with it an address to go to (RFC 9700
// section 4.11.2).
func (p *Pages) showConsent(w http.ResponseWriter, r *http.Request) {
	v := p.RequireSignIn(w, r)
	if v == nil {
		return
	}
	p.consent(w, r, v, r.URL.RawQuery, func(a *oauth.Authorization) {
		if len(v.Organizations) == 0 {
			p.explain(w, r, Page{View: "message", Title: "Connect a program", Viewer: v},
				failure{status: http.StatusForbidden, message: "You do not belong to any organization. Ask an administrator to invite you."})
			return
		}
		p.Render(w, r, http.StatusOK, Page{View: "consent", Title: "Connect a program", Viewer: v, Data: p.consentData(a, v, r.URL.RawQuery)})
	})
}

// consent reads the request of a program, and calls the next step if a person can decide on it.
func (p *Pages) consent(w http.ResponseWriter, r *http.Request, v *Viewer, query string, decide func(*oauth.Authorization)) {
	values, err := url.ParseQuery(query)
	if err != nil {
		p.explain(
			w,
			r,
			Page{View: "message", Title: "Connect a program", Viewer: v},
			failure{status: http.StatusBadRequest, message: "The program's request cannot be read."},
		)
		return
	}
	a, err := p.cfg.OAuth.Authorization(r.Context(), values)
	var refusal *oauth.Refusal
	switch {
	case err == nil:
		decide(a)
	case !errors.As(err, &refusal):
		p.fail(w, r, v, err)
	case refusal.Redirect != nil:
		p.Leave(w, r, refusal.Redirect, "the program")
	default:
		p.explain(
			w,
			r,
			Page{View: "message", Title: "Connect a program", Viewer: v},
			failure{status: http.StatusBadRequest, message: refusal.Message},
		)
	}
}

func (p *Pages) consentData(a *oauth.Authorization, v *Viewer, query string) consentData {
	d := consentData{Request: query, Program: programName(a.Client.Name), Proven: a.Client.Host}
	d.Return, d.Local = destination(a.RedirectURI)
	d.Access = access(a.Scopes)
	for i, o := range v.Organizations {
		d.Choices = append(
			d.Choices,
			cliChoice{UserOrganization: o, Admin: o.Role == principal.RoleAdmin, Chosen: i == 0 && len(v.Organizations) == 1},
		)
	}
	return d
}

func programName(name string) string {
	if name == "" {
		return "A program without a name"
	}
	return name
}

// destination names the place that the browser is sent to: a host, this machine, or an application by its scheme.
func destination(to string) (whither string, local bool) {
	u, err := url.Parse(to)
	switch {
	case err != nil:
		return "", false
	case u.Scheme == "http":
		return "a program on this computer (" + u.Host + ")", true
	case u.Scheme == "https":
		return u.Host, false
	default:
		return "the application that opens " + u.Scheme + ": addresses", true
	}
}

// abbreviations corrects the case of abbreviations in the names of families.
var abbreviations = strings.NewReplacer("api keys", "API keys", "sql", "SQL")

// access describes what scopes allow, in as few lines as possible.
func access(scopes []string) []string {
	var reads, writes []string
	for _, s := range scopes {
		family, verb, ok := strings.Cut(s, ":")
		name := abbreviations.Replace(strings.ReplaceAll(family, "_", " "))
		switch {
		case !ok:
			return []string{"Everything that you can read and change in the organization"}
		case verb == "write":
			writes = append(writes, name)
		case !slices.Contains(scopes, family+":write"): // which includes reading
			reads = append(reads, name)
		}
	}
	var out []string
	if len(reads) > 0 {
		out = append(out, "Read "+wording.List(reads))
	}
	if len(writes) > 0 {
		out = append(out, "Read and change "+wording.List(writes))
	}
	return out
}

func (p *Pages) decideConsent(w http.ResponseWriter, r *http.Request) {
	if !p.ReadForm(w, r) {
		return
	}
	v, err := p.Viewer(r)
	switch {
	case err != nil:
		p.fail(w, r, nil, err)
		return
	case v == nil: // the session ended while the page was open
		redirect(w, "/login?"+url.Values{"next": {oauth.AuthorizePath + "?" + r.PostForm.Get("request")}}.Encode())
		return
	}
	// The request is checked again, because the form could hold anything.
	p.consent(w, r, v, r.PostForm.Get("request"), func(a *oauth.Authorization) {
		whither, _ := destination(a.RedirectURI)
		org := principal.OrgID(r.PostForm.Get("organization"))
		switch decision := r.PostForm.Get("decision"); {
		case decision == "deny":
			p.Leave(w, r, p.cfg.OAuth.Deny(a), whither)
		case decision == "approve" && org != "":
			to, err := p.cfg.OAuth.Approve(p.As(r.Context(), v, org), a, org, v.User.ID)
			if errors.Is(err, store.ErrNotFound) {
				err = apierr.New(apierr.OrganizationAccessDenied, "You are not a member of this organization.")
			}
			if err != nil {
				p.fail(w, r, v, err)
				return
			}
			p.Leave(w, r, to, whither)
		default:
			p.explain(w, r, Page{View: "consent", Title: "Connect a program", Viewer: v, Data: p.consentData(a, v, r.PostForm.Get("request"))},
				failure{status: http.StatusBadRequest, message: "Choose an organization."})
		}
	})
}

// homeGrant is a program that has access for the viewer.
type homeGrant struct {
	ID, Program, Organization, Used string
}

func (p *Pages) grantsOf(ctx context.Context, v *Viewer) ([]homeGrant, error) {
	grants, err := p.cfg.Grants.ListOAuthGrants(ctx, v.User.ID)
	if err != nil {
		return nil, err
	}
	names := map[principal.OrgID]string{}
	for _, o := range v.Organizations {
		names[o.ID] = o.Name
	}
	var out []homeGrant
	for _, g := range grants {
		if names[g.Org] == "" {
			continue // the viewer is no longer a member, so the grant has no effect
		}
		used := g.CreatedAt
		if g.UsedAt != nil {
			used = *g.UsedAt
		}
		out = append(
			out,
			homeGrant{ID: g.ID.String(), Program: programName(g.ClientName), Organization: names[g.Org], Used: used.Format(time.DateOnly)},
		)
	}
	return out, nil
}

func (p *Pages) revokeGrant(w http.ResponseWriter, r *http.Request) {
	if !p.ReadForm(w, r) {
		return
	}
	v := p.RequireSignIn(w, r)
	if v == nil {
		return
	}
	id, err := uuid.Parse(r.PostForm.Get("grant"))
	if err == nil {
		err = p.cfg.Grants.RevokeOAuthGrant(v.asPerson(r.Context()), v.User.ID, id)
	}
	if err != nil && !errors.Is(err, store.ErrUnavailable) {
		err = nil // the grant is already gone, which is the aim
	}
	if err != nil {
		p.fail(w, r, v, apierr.New(apierr.AuthorizationUnavailable, "The access cannot be revoked at the moment. Try again.", apierr.Cause(err)))
		return
	}
	redirect(w, programsPath)
}
