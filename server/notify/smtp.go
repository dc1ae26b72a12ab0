package notify

import (
	"context"
	"errors"
	"fmt"
	"net"
	netmail "net/mail"
	"net/url"
	"strconv"
	"strings"

	"github.com/wneessen/go-mail"

	"github.com/svc-observability/svc/server/limits"
)

// SMTP hands e-mail to a mail server.
type SMTP struct {
	host    string
	options []mail.Option
	from    string
	domain  string
}

// NewSMTP reads the URL of a mail server, `smtp://user:password@host:587` or `smtps://…` for TLS from the start, and the address of the
// sender. With a password, the connection must be encrypted. The error shows neither user nor password.
func NewSMTP(server, from string) (*SMTP, error) {
	u, err := url.Parse(server)
	if err != nil || u.Hostname() == "" || (u.Scheme != "smtp" && u.Scheme != "smtps") || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" {
		return nil, errors.New("the URL of the mail server must have the form smtp://user:password@host:587 or smtps://user:password@host:465")
	}
	sender, err := netmail.ParseAddress(from)
	if err != nil {
		return nil, fmt.Errorf("the sender of e-mail %q is not an address, such as svc <alerts@example.com>", from)
	}
	_, domain, _ := strings.Cut(sender.Address, "@")
	s := &SMTP{host: u.Hostname(), from: sender.String(), domain: domain}
	s.options = append(s.options, mail.WithTimeout(limits.DeliveryTimeout), mail.WithHELO(domain))
	port, policy := 587, mail.TLSOpportunistic
	if u.User.Username() != "" {
		password, _ := u.User.Password()
		policy = mail.TLSMandatory
		s.options = append(s.options, mail.WithSMTPAuth(mail.SMTPAuthAutoDiscover), mail.WithUsername(u.User.Username()),
			mail.WithPassword(password))
	}
	if u.Scheme == "smtps" {
		port = 465
		s.options = append(s.options, mail.WithSSL())
	} else {
		s.options = append(s.options, mail.WithTLSPolicy(policy))
	}
	if text := u.Port(); text != "" {
		if port, err = strconv.Atoi(text); err != nil {
			return nil, errors.New("the port of the mail server is not a number")
		}
	}
	s.options = append(s.options, mail.WithPort(port))
	if _, err := mail.NewClient(s.host, s.options...); err != nil {
		return nil, errors.New("the URL of the mail server cannot be used")
	}
	return s, nil
}

// Send sends one message.
func (s *SMTP) Send(ctx context.Context, m Mail) error {
	message := mail.NewMsg()
	if err := message.From(s.from); err != nil {
		return &MailError{Outcome: Rejected, Text: "The sender of e-mail is not an address."}
	}
	if err := message.To(m.To...); err != nil {
		return &MailError{Outcome: Rejected, Text: "The address of a recipient is not valid."}
	}
	message.Subject(m.Subject)
	message.SetDate()
	message.SetMessageIDWithValue(m.MessageID + "@" + s.domain)
	if m.Thread != "" {
		message.SetGenHeader(mail.HeaderReferences, "<"+m.Thread+"@"+s.domain+">")
	}
	message.SetGenHeader("Auto-Submitted", "auto-generated")
	message.SetBodyString(mail.TypeTextPlain, m.Text)
	message.AddAlternativeString(mail.TypeTextHTML, m.HTML)
	client, err := mail.NewClient(s.host, s.options...)
	if err != nil {
		return &MailError{Outcome: Rejected, Text: "The mail server cannot be used."}
	}
	if err := client.DialAndSendWithContext(ctx, message); err != nil {
		return mailFailure(err)
	}
	return nil
}

// mailFailure says in words why the mail server did not take a message. The error itself may hold the name of the user.
func mailFailure(err error) *MailError {
	var sent *mail.SendError
	var timeout net.Error
	switch {
	case errors.As(err, &sent) && sent.ErrorCode() != 0:
		code := sent.ErrorCode()
		f := &MailError{Outcome: Rejected, Code: code, Text: fmt.Sprintf("The mail server refused the message with code %d.", code)}
		if sent.IsTemp() || code < 500 {
			f.Outcome, f.Text = Failed, fmt.Sprintf("The mail server put the message off with code %d.", code)
		}
		return f
	case strings.Contains(err.Error(), "535"), strings.Contains(err.Error(), "auth"):
		return &MailError{Outcome: Failed, Text: "The mail server refused the sign-in of svc."}
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		return &MailError{Outcome: Failed, Text: "The mail server did not answer in time."}
	default:
		return &MailError{Outcome: Failed, Text: "The mail server could not be used."}
	}
}
