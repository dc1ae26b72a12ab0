package gitlab

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/svc-observability/svc/server/integrations"
	"github.com/svc-observability/svc/server/limits"
)

const (
	// hookPause is the least time between two readings of an account after deliveries.
	hookPause = 10 * time.Second
)

// Hook implements integrations.Hooker. The address is secret, so a delivery without a signature is taken. One that is signed, as Standard
// Webhooks says, must be signed with the secret of the account and be recent; else one with the older `X-Gitlab-Token` must have the secret
// there.
func (a *App) Hook(secret string, header http.Header, body []byte) (integrations.Delivery, error) {
	id := header.Get("Webhook-Id")
	if signatures := header.Get("Webhook-Signature"); signatures != "" {
		if !a.signed(secret, id, header.Get("Webhook-Timestamp"), signatures, body) {
			return integrations.Delivery{}, integrations.ErrForged
		}
	} else if token := header.Get("X-Gitlab-Token"); token != "" && !hmac.Equal([]byte(token), []byte(secret)) {
		return integrations.Delivery{}, integrations.ErrForged
	}
	d := integrations.Delivery{
		ID: cmp.Or(id, header.Get("Idempotency-Key"), header.Get("X-Gitlab-Event-UUID")), Kind: header.Get("X-Gitlab-Event"), Pause: hookPause,
	}
	var said struct {
		Project struct {
			Name string `json:"path_with_namespace"`
		} `json:"project"`
		Attributes struct {
			Number int64 `json:"iid"`
		} `json:"object_attributes"`
	}
	_ = json.Unmarshal(body, &said) // a body of another form names nothing
	switch d.Kind {
	case "Merge Request Hook":
		d.Repository, d.PullRequest = said.Project.Name, said.Attributes.Number
	case "Deployment Hook":
		d.Repository = said.Project.Name
	}
	// Other kinds, such as pushes, change no list: reading the account again for each of them would use up its quota.
	d.Sync = slices.Contains(accountEvents(), d.Kind)
	return d, nil
}

// accountEvents are the kinds of deliveries after which an account is read again: those of a group about its projects and members.
func accountEvents() []string {
	return []string{"Project Hook", "Subgroup Hook", "Member Hook"}
}

// signed reports whether one of the signatures of a delivery is good.
func (a *App) signed(secret, id, at, signatures string, body []byte) bool {
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	seconds, failed := strconv.ParseInt(at, 10, 64)
	if err != nil || failed != nil || id == "" || a.cfg.Now().Sub(time.Unix(seconds, 0)).Abs() > limits.WebhookSigned {
		return false
	}
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(id + "." + at + "."))
	mac.Write(body)
	want := mac.Sum(nil)
	for one := range strings.FieldsSeq(signatures) {
		text, ok := strings.CutPrefix(one, "v1,")
		got, err := base64.StdEncoding.DecodeString(text)
		if ok && err == nil && hmac.Equal(got, want) {
			return true
		}
	}
	return false
}
