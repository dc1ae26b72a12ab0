package notify

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// signingKey is the key that a signing secret stands for. After `whsec_`, the rest is base64, as the Standard Webhooks write it.
func signingKey(secret string) ([]byte, error) {
	rest, standard := strings.CutPrefix(secret, "whsec_")
	if !standard {
		return []byte(secret), nil
	}
	key, err := base64.StdEncoding.DecodeString(rest)
	if err == nil && len(key) == 0 {
		err = errors.New("it is empty")
	}
	return key, err
}

// sign adds the signatures: our own, over the body, and that of the Standard Webhooks, over id, time and body.
func sign(h http.Header, secret, id string, seconds int64, body []byte) error {
	key, err := signingKey(secret)
	if err != nil {
		return fmt.Errorf("notify: signing secret: %w", err)
	}
	plain := hmac.New(sha256.New, key)
	plain.Write(body)
	h.Set("X-Svc-Signature", hex.EncodeToString(plain.Sum(nil)))
	standard := hmac.New(sha256.New, key)
	_, _ = fmt.Fprintf(standard, "%s.%d.", id, seconds)
	standard.Write(body)
	h.Set("Webhook-Signature", "v1,"+base64.StdEncoding.EncodeToString(standard.Sum(nil)))
	return nil
}

func (s *Sender) sendWebhook(ctx context.Context, d *Destination, key string, p Payload) Result {
	now := s.cfg.Now()
	h := http.Header{}
	h.Set("X-Svc-Event-Type", p.EventType)
	h.Set("X-Svc-Delivery-Key", key)
	h.Set("Webhook-Id", key)
	h.Set("Webhook-Timestamp", strconv.FormatInt(now.Unix(), 10))
	if secret := d.Secrets.SigningSecret; secret != "" {
		if err := sign(h, secret, key, now.Unix(), p.Body); err != nil {
			return Result{Outcome: Rejected, Problem: "The signing secret of the destination is not valid."}
		}
	}
	a, err := s.post(ctx, d.Config.URL, h, p.Body, d.Secrets.SigningSecret != "")
	if err != nil {
		return failed(err, d.Secrets)
	}
	r := a.result(d.Secrets, now)
	r.Reference = d.Secrets.strike(a.header.Get("X-Request-Id"))
	return r
}
