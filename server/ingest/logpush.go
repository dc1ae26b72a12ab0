package ingest

import (
	"bytes"
	"context"
	"fmt"
	"mime"
	"net/http"
	"strings"

	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/ingest/activity"
	"github.com/svc-observability/svc/server/ingest/logpush"
	"github.com/svc-observability/svc/server/ingest/otlp"
)

// logpushPath is the path before the id of a connector.
const logpushPath = "/v1/logpush/cloudflare/http_requests/"

// logpushEndpoint returns the endpoint of the connector whose id is in the path.
func (g *Gateway) logpushEndpoint(path string) (e endpoint, found bool) {
	id, found := strings.CutPrefix(path, logpushPath)
	if !found || id == "" || strings.Contains(id, "/") || g.connectors == nil {
		return e, false
	}
	return endpoint{[]string{http.MethodPost}, func(w http.ResponseWriter, r *http.Request) { g.serveLogpush(w, r, id) }}, true
}

// push holds the additional data of a log push.
type push struct {
	source logpush.Source
}

func (g *Gateway) serveLogpush(w http.ResponseWriter, r *http.Request, id string) {
	ctx, started, done := g.begin(w, r)
	defer done()
	e := export{
		signal:  otlp.Logs,
		door:    doorLogpush,
		push:    &push{},
		receipt: receipt{signalName: otlp.Logs.String(), doorName: doorLogpush.String(), agent: r.UserAgent()},
	}
	c, discard, fail := g.authenticateConnector(ctx, id, presentedSecret(r))
	if fail == nil {
		e.push.source = c.Source
		key := Key{Origin: otlp.Origin{Org: c.Org, KeyType: otlp.KeyConnector}, PublicID: c.ID}
		e.identify(&key)
		fail = g.receiveBody(ctx, r, key, discard, e.readLogpushMedia, func(key Key, discard bool, body *buffer) *apierr.Error {
			e.key, e.discard, e.held, e.body = key, discard, body, body.b
			// The CDN's files are gzip, even without the header. No JSON begins with these bytes.
			e.gzip = e.gzip || bytes.HasPrefix(body.b, gzipMagic)
			return g.store(ctx, &e)
		})
		e.addCuts()
		if !discard {
			g.connectors.Delivered(c, e.problem(fail))
		}
	}
	verdict := ""
	if discard {
		e.lines.Accepted = 0
		if fail != nil {
			verdict, e.lines, fail = testVerdict(fail), activity.Result{}, nil
		}
	}
	g.metrics.answered(&e, started, fail)
	g.settle(&e.receipt, fail)
	if fail != nil {
		g.refuse(w, r, otlp.Logs, doorLogpush, fail)
		return
	}
	g.succeed(w, r, func() { writeAccepted(w, e.lines, verdict) })
}

// presentedSecret returns the secret of a connector. It is in the query, because the CDN accepts only a URL as a destination, or
// in one of the headers for the secret of a key. The query of a request is never logged.
func presentedSecret(r *http.Request) string {
	if secret := r.URL.Query().Get("secret"); secret != "" {
		return secret
	}
	return presentedKey(r.Header.Get("Authorization"), r.Header.Get(keyHeader))
}

// authenticateConnector resolves id and secret. discard is true for the test key, with any id.
func (g *Gateway) authenticateConnector(ctx context.Context, id, secret string) (c Connector, discard bool, _ *apierr.Error) {
	switch secret {
	case TestKey:
		return Connector{}, true, nil
	case "":
		return Connector{}, false, apierr.New(
			apierr.IngestUnauthorized,
			"No secret was sent. The URL of a log push connector ends with `?secret=svc_cf_…`; the secret may also come as `Authorization: Bearer "+
				"svc_cf_…`.",
		)
	}
	c, err := g.connectors.AuthenticateConnector(ctx, id, secret)
	if err != nil {
		return Connector{}, false, g.notAuthenticated(ctx, "", err)
	}
	return c, false, nil
}

// readLogpushMedia checks Content-Type and Content-Encoding. The CDN sends no reliable Content-Type unless its customer sets one, so only
// types that cannot be lines are refused.
func (e *export) readLogpushMedia(h http.Header) (fail *apierr.Error) {
	sent := strings.ToLower(strings.Join(h.Values("Content-Type"), ", "))
	base, _, err := mime.ParseMediaType(sent)
	if err != nil {
		base = strings.TrimSpace(strings.SplitN(sent, ";", 2)[0])
	}
	switch {
	case base == "",
		base == "application/octet-stream",
		strings.HasPrefix(base, "text/"),
		strings.Contains(sent, "json"),
		strings.Contains(base, "gzip"):
	default:
		return apierr.New(
			apierr.IngestUnsupportedMediaType,
			"This Content-Type is not supported. Send application/x-ndjson: one JSON object to a line.",
		)
	}
	e.gzip, fail = contentEncoding(h)
	return fail
}

// convert turns lines into an OTLP request, which is empty if no line can be stored.
func (g *Gateway) convert(e *export, body []byte, received int64, limit int) ([]byte, *apierr.Error) {
	lines, err := logpush.Convert(body, e.push.source, received, limit)
	if err != nil {
		return nil, g.invalid(err, "lines")
	}
	e.lines = lines.Result
	return lines.Request, nil
}

// addCuts adds the walk's warnings about the records that were made from the lines. A converted line is stored, but may have been cut.
func (e *export) addCuts() {
	for _, n := range e.result.Warnings {
		e.lines.Warnings = append(e.lines.Warnings, activity.Note{Problem: n.Message, Count: n.Count})
	}
}

// problem returns the message about a failed push for the owner of a connector.
func (e *export) problem(fail *apierr.Error) string {
	switch {
	case fail != nil:
		return fail.Message
	case e.lines.Rejected > 0:
		return fmt.Sprintf(
			"%d of %d lines were not stored. The first problem: %s",
			e.lines.Rejected,
			e.lines.Rejected+e.lines.Accepted,
			e.lines.Reasons[0],
		)
	default:
		return ""
	}
}
