// Package publicid writes and reads public ids: `<prefix>_` and the base58 text of a mode byte and the data. The form is
// deterministic and reversible, so it needs no table.
package publicid

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/google/uuid"
)

// Prefixes of the public ids of resources.
const (
	Actor             = "actor"
	AgentFeedback     = "afb"
	AlertDestination  = "dest"
	AlertIncident     = "inc"
	AlertRule         = "alrt"
	APIKey            = "key"
	IngestKey         = "ingk"
	AttributeMapping  = "amap"
	Log               = "log"
	LogpushConnector  = "cfp"
	AuditLogEntry     = "alog"
	Dashboard         = "dash"
	Delivery          = "evt"
	DashboardShare    = "dshr"
	ErrorIncident     = "einc"
	ErrorIssue        = "iss"
	ErrorIssueEvent   = "iev"
	ErrorPullRequest  = "ipr"
	ErrorVerification = "ivf"
	DashboardTemplate = "dtpl"
	DashboardVersion  = "dbv"
	Integration       = "intg"
	ChatWorkspace     = "chatw"
	Investigation     = "inv"
	Invitation        = "invt"
	Marker            = "mark"
	Recommendation    = "rec"
	SavedView         = "view"
	ScrapeTarget      = "scrp"
	SessionReplay     = "srep"
	SourceRepository  = "repo"
)

const (
	modeUUID = 0x01
	modeText = 0x02

	alphabet = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
	// maxLength bounds the decoding of hostile input, whose cost is quadratic.
	maxLength = 512
)

// Encode returns the public id of a resource that is keyed by a UUID.
func Encode(prefix string, id uuid.UUID) string {
	return prefix + "_" + encode58(append([]byte{modeUUID}, id[:]...))
}

// EncodeText returns the public id of a resource that is keyed by free-form text.
func EncodeText(prefix, text string) string {
	return prefix + "_" + encode58(append([]byte{modeText}, text...))
}

// Decode reads an id of Encode. The error describes the fault of the text and is safe to show.
func Decode(prefix, s string) (uuid.UUID, error) {
	data, err := decode(prefix, s)
	if err != nil {
		return uuid.Nil, err
	}
	if data[0] != modeUUID || len(data) != 17 {
		return uuid.Nil, errors.New("it is not a complete id")
	}
	return uuid.UUID(data[1:]), nil
}

// DecodeText reads an id of EncodeText. The error describes the fault of the text and is safe to show.
func DecodeText(prefix, s string) (string, error) {
	data, err := decode(prefix, s)
	if err != nil {
		return "", err
	}
	if data[0] != modeText || !utf8.Valid(data[1:]) {
		return "", errors.New("it is not a complete id")
	}
	return string(data[1:]), nil
}

func decode(prefix, s string) ([]byte, error) {
	body, ok := strings.CutPrefix(s, prefix+"_")
	if !ok {
		return nil, fmt.Errorf("it does not begin with %q", prefix+"_")
	}
	if len(body) > maxLength {
		return nil, errors.New("it is too long")
	}
	data, err := decode58(body)
	if err != nil {
		return nil, err
	}
	if len(data) < 2 {
		return nil, errors.New("it is too short")
	}
	return data, nil
}

func encode58(data []byte) string {
	zeros := 0
	for zeros < len(data) && data[zeros] == 0 {
		zeros++
	}
	// Little-endian base-58 digits.
	digits := make([]byte, 0, len(data)*138/100+1)
	for _, b := range data[zeros:] {
		carry := int(b)
		for i := range digits {
			carry += int(digits[i]) << 8
			digits[i] = byte(carry % 58)
			carry /= 58
		}
		for carry > 0 {
			digits = append(digits, byte(carry%58))
			carry /= 58
		}
	}
	out := make([]byte, 0, zeros+len(digits))
	for range zeros {
		out = append(out, alphabet[0])
	}
	for i := len(digits) - 1; i >= 0; i-- {
		out = append(out, alphabet[digits[i]])
	}
	return string(out)
}

func decode58(s string) ([]byte, error) {
	zeros := 0
	for zeros < len(s) && s[zeros] == alphabet[0] {
		zeros++
	}
	var bytes []byte // little-endian
	for i := zeros; i < len(s); i++ {
		carry := strings.IndexByte(alphabet, s[i])
		if carry < 0 {
			return nil, errors.New("it holds a character that ids do not use")
		}
		for j := range bytes {
			carry += int(bytes[j]) * 58
			bytes[j] = byte(carry)
			carry >>= 8
		}
		for carry > 0 {
			bytes = append(bytes, byte(carry))
			carry >>= 8
		}
	}
	out := make([]byte, zeros, zeros+len(bytes))
	for i := len(bytes) - 1; i >= 0; i-- {
		out = append(out, bytes[i])
	}
	return out, nil
}
