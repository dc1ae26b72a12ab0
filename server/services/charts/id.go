// Package charts makes the charts that messages to chats show: the figures of an alert around its decision, and the occurrences of error
// issues. A chart has an id, which is all that its readers need.
package charts

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"time"

	"github.com/google/uuid"

	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/principal"
)

// Kinds of charts. An id of one kind does not open as one of the other.
const (
	kindAlert = "alert"
	kindChat  = "chat"
)

// Subjects of charts: what their ids name.
const (
	ofIncident = "incident"
	ofRule     = "rule"
	ofIssue    = "issue"
	ofDigest   = "digest"
)

// idLength is the longest id in characters.
const idLength = 1024

// errID means that an id cannot be opened: it is forged, of the other kind, or its time is over.
var errID = errors.New("charts: the id of the chart cannot be opened")

// id names the subject of a chart. Its text is sealed, so nobody can make one, change one, or read one.
type id struct {
	Org     principal.OrgID
	Subject string
	// Things are the ids of the subject: one, or several of a digest.
	Things []uuid.UUID
	// Version is that of the rule at the decision.
	Version int
	// Start and At are the ends of the window. At is the decision.
	Start, At, Expires time.Time
}

// sealed is the form of an id. Names are short, and ids of things are 16 bytes each, so that the text stays short.
type sealed struct {
	Org     string `json:"o"`
	Subject string `json:"s"`
	Things  []byte `json:"t"`
	Version int    `json:"v,omitempty"`
	Start   int64  `json:"f"`
	At      int64  `json:"a"`
	Expires int64  `json:"e"`
}

// Seals encrypts ids. *auth.Sealer of SealPurpose is one.
type Seals interface {
	Seal(plain []byte, place string) []byte
	Open(sealed []byte, place string) ([]byte, error)
}

// SealPurpose is the purpose of the sealer of ids.
const SealPurpose = "chart"

// seal writes an id; empty if it would be too long.
func (i *id) seal(seals Seals, kind string) (string, error) {
	form := sealed{
		Org: string(i.Org), Subject: i.Subject, Version: i.Version, Start: i.Start.Unix(), At: i.At.Unix(), Expires: i.Expires.Unix(),
	}
	for _, thing := range i.Things {
		form.Things = append(form.Things, thing[:]...)
	}
	plain, err := json.Marshal(form)
	if err != nil {
		return "", err
	}
	text := base64.RawURLEncoding.EncodeToString(seals.Seal(plain, kind))
	if len(text) > idLength {
		return "", nil
	}
	return text, nil
}

// open reads an id of a kind. The error is errID for every reason.
func open(seals Seals, kind, text string, now time.Time) (*id, error) {
	bytes, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil || len(text) > idLength {
		return nil, errID
	}
	plain, err := seals.Open(bytes, kind)
	if err != nil {
		return nil, errID
	}
	var form sealed
	if json.Unmarshal(plain, &form) != nil || len(form.Things) == 0 || len(form.Things)%16 != 0 {
		return nil, errID
	}
	out := &id{
		Org: principal.OrgID(form.Org), Subject: form.Subject, Version: form.Version,
		Start: time.Unix(form.Start, 0).UTC(), At: time.Unix(form.At, 0).UTC(), Expires: time.Unix(form.Expires, 0).UTC(),
	}
	if !now.Before(out.Expires) {
		return nil, errID
	}
	for at := 0; at < len(form.Things); at += 16 {
		out.Things = append(out.Things, uuid.UUID(form.Things[at:at+16]))
	}
	return out, nil
}

// Links makes the addresses of pictures of charts.
type Links struct {
	// BaseURL is the address of this server, without a slash at the end. Without it there are no pictures.
	BaseURL string
	Seals   Seals
	Now     func() time.Time
}

// Path is where pictures are: the id with the ending .png follows.
const Path = "/share/chart/"

func (l *Links) address(i *id, kind string) (string, error) {
	if l.BaseURL == "" {
		return "", nil
	}
	i.Expires = l.Now().Add(limits.ChartLifetime)
	text, err := i.seal(l.Seals, kind)
	if err != nil || text == "" {
		return "", err
	}
	return l.BaseURL + Path + text + ".png", nil
}
