package e2e

import (
	"errors"
	"io"
	"net"
	"testing"
	"time"

	"golang.org/x/net/http2"

	"github.com/svc-observability/svc/server/testkit"
)

// TestKeepalivePings: the OTLP/gRPC address dismisses a client that pings again and again, as grpc-go's server would.
func TestKeepalivePings(t *testing.T) {
	s := testkit.Shared(t)
	c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", s.OTLPGRPCAddr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(c, http2.ClientPreface); err != nil {
		t.Fatal(err)
	}
	fr := http2.NewFramer(c, c)
	if err := fr.WriteSettings(); err != nil {
		t.Fatal(err)
	}
	for range 4 {
		if err := fr.WritePing(false, [8]byte{1}); err != nil {
			t.Fatal(err)
		}
	}
	dismissed := false
	for {
		f, err := fr.ReadFrame()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if bye, ok := f.(*http2.GoAwayFrame); ok {
			dismissed = bye.ErrCode == http2.ErrCodeEnhanceYourCalm && string(bye.DebugData()) == "too_many_pings"
		}
	}
	if !dismissed {
		t.Error("the connection ended without the GOAWAY of too many pings")
	}
}
