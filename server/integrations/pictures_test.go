package integrations_test

import (
	"encoding/json"
	"image"
	"image/png"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/svc-observability/svc/server/chat"
	"github.com/svc-observability/svc/server/integrations"
	"github.com/svc-observability/svc/server/integrations/slack/slacktest"
	"github.com/svc-observability/svc/server/limits"
)

// pictured is an engine that sends messages with a picture. It counts how often the picture is fetched.
type pictured struct {
	*posts

	url     string
	fetched atomic.Int32
	now     time.Time
}

func newPictured(t *testing.T, base string) *pictured {
	t.Helper()
	p := &pictured{posts: newPosts(t), now: time.Now()}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		p.fetched.Add(1)
		w.Header().Set("Content-Type", "image/png")
		_ = png.Encode(w, image.NewGray(image.Rect(0, 0, 1, 1)))
	}))
	t.Cleanup(server.Close)
	p.url = server.URL + "/share/chart/x.png"
	p.engine = integrations.New(integrations.Config{
		Store: p.rows, Setups: []integrations.Setup{p.setup}, Sealer: open{}, Logger: slog.New(slog.DiscardHandler), BaseURL: base,
		Now: func() time.Time { return p.now },
	})
	return p
}

func (p *pictured) send(thread string, ends bool) string {
	p.t.Helper()
	reference, err := p.engine.Post(p.t.Context(), chat.Post{
		Org: "org_a", Workspace: p.rows.row.ID, Channel: p.team.Channels[0].ID, Thread: thread, Ends: ends,
		Message: chat.Message{Title: "t", Body: "b", Picture: &chat.Picture{URL: p.url, Alt: "Chart: t"}},
	})
	if err != nil {
		p.t.Fatal(err)
	}
	return reference
}

// shown says for each message whether it has its text, and its picture.
func (p *pictured) shown() string {
	var out []string
	for _, m := range p.slack.Messages(p.team.Channels[0]) {
		text := "-"
		if strings.Contains(m.Attachments, `"text":"b"`) {
			text = "text"
		}
		if images := slacktest.Images(m.Attachments); len(images) == 1 && images[0] == p.url {
			text += "+picture"
		}
		out = append(out, text)
	}
	return strings.Join(out, " ")
}

func (p *pictured) want(shown string) {
	p.t.Helper()
	if got := p.shown(); got != shown {
		p.t.Errorf("the channel has %q, want %q", got, shown)
	}
}

// TestPictures: a message has its picture, also in its thread; at its end, the first message shows it.
func TestPictures(t *testing.T) {
	t.Parallel()
	p := newPictured(t, "http://127.0.0.1:8080")
	first := p.send("", false)
	p.send(first, false)
	p.send(first, true)
	p.want("text+picture text+picture text")
	if got := p.slack.Messages(p.team.Channels[0])[0]; got.Edited != 1 || p.fetched.Load() != 3 {
		t.Errorf("the first message was changed %d times, the picture was fetched %d times", got.Edited, p.fetched.Load())
	}
}

// TestPictureRefused: a picture that the service does not take costs no message. The next messages have none for some minutes: the server
// may have been busy.
func TestPictureRefused(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]string{
		"named": "image:downloading image failed", "as an error": "downloading image failed", "as a block": "image:invalid image_url",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPictured(t, "http://127.0.0.1:8080")
			tries := 0
			p.slack.Fault(func(method string) string {
				if tries++; method == "chat.postMessage" && tries == 1 {
					return fault
				}
				return ""
			})
			p.send("", false)
			p.want("text")
			if tries != 2 || p.rows.row.PictureFailedAt != nil {
				t.Fatalf("%d tries, remembered: %v", tries, p.rows.row.PictureFailedAt)
			}
			p.send("", false)
			p.want("text text")
			p.now = p.now.Add(limits.ChartRetry)
			p.send("", false)
			p.want("text text text+picture")
		})
	}
}

// TestPictureTrouble: messages of the next day have no picture if the service could fetch none for an hour. One that it fetched in between
// ends the trouble.
func TestPictureTrouble(t *testing.T) {
	t.Parallel()
	p := newPictured(t, "http://127.0.0.1:8080")
	good := p.url
	bad := strings.Replace(p.url, "127.0.0.1", "127.0.0.2:1/", 1)
	began := p.now
	after := func(since time.Duration, url string) {
		p.now, p.url = began.Add(since), url
		p.send("", false)
	}
	after(0, bad)
	after(limits.ChartRetry, good)
	after(limits.ChartTrouble, bad)
	after(2*limits.ChartTrouble-time.Minute, bad)
	if p.rows.row.PictureFailedAt != nil {
		t.Errorf("remembered: %v", p.rows.row.PictureFailedAt)
	}
	after(2*limits.ChartTrouble+limits.ChartRetry, bad)
	if p.rows.row.PictureFailedAt == nil {
		t.Fatal("the failure of more than an hour is not remembered")
	}
	pause := 2*limits.ChartTrouble + limits.ChartRetry + limits.ChartPause
	after(pause-time.Second, good)
	p.want("text text+picture text text text text")
	after(pause+time.Second, good)
	p.want("text text+picture text text text text text+picture")
}

// TestPictureUnreachable: a service that cannot fetch the picture refuses the message with it. The change of the first message, too.
func TestPictureUnreachable(t *testing.T) {
	t.Parallel()
	p := newPictured(t, "http://127.0.0.1:8080")
	first := p.send("", false)
	p.url = strings.Replace(p.url, "127.0.0.1", "127.0.0.2:1/", 1)
	p.send(first, true)
	p.want("text text")
}

// TestPictureOfNoForm: a message that is refused for another reason keeps its form without the picture, and is not a failure of pictures.
func TestPictureOfNoForm(t *testing.T) {
	t.Parallel()
	p := newPictured(t, "http://127.0.0.1:8080")
	tries := 0
	p.slack.Fault(func(string) string {
		if tries++; tries == 1 {
			return "invalid_attachments"
		}
		return ""
	})
	p.send("", false)
	p.want("text")
	if p.rows.row.PictureFailedAt != nil || tries != 2 {
		t.Errorf("%d tries, remembered: %v", tries, p.rows.row.PictureFailedAt)
	}
}

// TestPicturesLeftOut: the setting of the workspace, and an address that leads to the service's own machine.
func TestPicturesLeftOut(t *testing.T) {
	t.Parallel()
	p := newPictured(t, "https://svc.example.com")
	p.rows.row.Settings = json.RawMessage(`{"pictures":"off","default_channel":"C1"}`)
	p.send("", false)
	p.rows.row.Settings = json.RawMessage(`{"pictures":"on"}`)
	p.send("", false)
	p.want("text text+picture")
	for base, local := range map[string]bool{
		"http://localhost:8080": true, "http://127.0.0.1": true, "http://[::1]:1": true, "http://0.0.0.0:8080": true, "": true,
		"https://svc.example.com": false, "http://10.0.0.7": false,
	} {
		if integrations.IsLocal(base) != local {
			t.Errorf("%s leads to the machine itself: %t", base, !local)
		}
	}
}
