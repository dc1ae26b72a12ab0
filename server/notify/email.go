package notify

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"html"
	"slices"
	"strings"

	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/principal"
)

// mailSubject is the longest subject, in characters.
const mailSubject = limits.MailSubject

// Mail is an e-mail.
type Mail struct {
	To                  []string
	Subject, Text, HTML string
	// MessageID is the same for all attempts, without brackets and host. Thread is that of the first message about the same incident.
	MessageID, Thread string
}

// Mailer hands e-mail to a mail server. The error of Send is a *MailError.
type Mailer interface {
	Send(ctx context.Context, m Mail) error
}

// MailError is a failure of the mail server. Its text may be shown to users.
type MailError struct {
	Outcome Outcome
	Code    int
	Text    string
}

func (e *MailError) Error() string { return e.Text }

// mailBody is the stored form of an e-mail.
type mailBody struct {
	Subject string `json:"subject"`
	Text    string `json:"text"`
	HTML    string `json:"html"`
}

func (e *Event) email() mailBody {
	title, text := e.title(Email, plain, plain), e.body(Email, plain, plain)
	var b strings.Builder
	b.WriteString("<h2>" + html.EscapeString(title) + "</h2>\n<p>" +
		strings.ReplaceAll(html.EscapeString(text), "\n", "<br>\n") + "</p>\n")
	link := func(address, name string) {
		if address != "" {
			text += "\n\n" + name + ": " + address
			b.WriteString(`<p><a href="` + html.EscapeString(address) + `">` + html.EscapeString(name) + "</a></p>\n")
		}
	}
	link(e.LinkURL, "Open in svc")
	link(e.ChatURL, "Ask about it")
	for _, s := range e.Samples {
		link(s.URL, "Trace "+s.TraceID)
	}
	return mailBody{Subject: short(title, mailSubject), Text: text + "\n", HTML: b.String()}
}

func (s *Sender) sendEmail(ctx context.Context, d *Destination, key string, p Payload) Result {
	if s.cfg.Mail == nil {
		return Result{Outcome: Rejected, Problem: "svc has no mail server: the operator sets --smtp-url and --mail-from."}
	}
	var body mailBody
	if err := json.Unmarshal(p.Body, &body); err != nil {
		return Result{Outcome: Rejected, Problem: "The stored message cannot be read."}
	}
	users := make([]principal.UserID, len(d.Config.MemberUserIDs))
	for i, id := range d.Config.MemberUserIDs {
		users[i] = principal.UserID(id)
	}
	members, err := s.cfg.Directory.MembersByID(ctx, d.Org, users)
	if err != nil {
		return Result{Outcome: Failed, Problem: "The members could not be read."}
	}
	if len(members) == 0 {
		return Result{Outcome: Missing, Problem: "None of the recipients is a member of the organization any more."}
	}
	m := Mail{Subject: body.Subject, Text: body.Text, HTML: body.HTML, MessageID: mailID(key)}
	if p.Incident != "" {
		m.Thread = mailID(p.Incident)
	}
	for _, member := range members {
		m.To = append(m.To, member.Email)
	}
	slices.Sort(m.To)
	err = s.cfg.Mail.Send(ctx, m)
	if err == nil {
		return Result{Answer: "The mail server accepted the message.", Reference: m.MessageID}
	}
	var failure *MailError
	if !errors.As(err, &failure) {
		return Result{Outcome: Failed, Problem: "The mail server could not be used."}
	}
	return Result{Outcome: failure.Outcome, Code: failure.Code, Problem: d.Secrets.strike(failure.Text)}
}

// mailID is the left part of a Message-ID.
func mailID(key string) string {
	sum := sha256.Sum256([]byte(key))
	return "svc-" + hex.EncodeToString(sum[:16])
}
