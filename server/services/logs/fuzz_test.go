package logs

import (
	"testing"
	"time"

	"github.com/svc-observability/svc/server/publicid"
)

// FuzzParseID: the id of a log record names one record and one time, within those that a column of nanoseconds holds.
func FuzzParseID(f *testing.F) {
	f.Add(publicid.EncodeText(publicid.Log, `["~rs3x3g.000000001","~AAECAwQFBgcICQoLDA0ODw"]`))
	f.Add(publicid.EncodeText(publicid.Log, `["~-1.000000001","~AAECAwQFBgcICQoLDA0ODw"]`))
	f.Add("log_")
	f.Fuzz(func(t *testing.T, id string) {
		at, record, err := parseID(id)
		if err != nil {
			return
		}
		if len(record) != 32 || at.Before(time.Unix(0, 0)) || at.Year() > 2261 || time.Unix(0, at.UnixNano()).Sub(at) != 0 {
			t.Errorf("%q is %v, %q", id, at, record)
		}
	})
}
