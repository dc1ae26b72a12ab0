package instrumentation

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-observability/svc/server/store"
)

func TestFindings(t *testing.T) {
	canonical := func(s string) *string { return &s }
	uses := map[string]int64{
		"http.method": 10, "db.statement": 8, "db.query.text": 5, "http.request.method": 20, "http.url": 3, "userName": 7, "plain": 9,
		"order.id": 4, "SampleRate": 100, "gen_ai.usage.cache_read.input_tokens": 2,
	}
	want := []store.Finding{
		// One service sends both names and another only the old one. For the method, different services send each name.
		{Key: "dual:db.statement", Kind: "double-emission", SourceKey: "db.statement", CanonicalKey: canonical("db.query.text"), Usage: 6},
		{Key: "rename:db.statement", Kind: "rename", SourceKey: "db.statement", CanonicalKey: canonical("db.query.text"), Usage: 2},
		{Key: "rename:http.method", Kind: "rename", SourceKey: "http.method", CanonicalKey: canonical("http.request.method"), Usage: 10},
		{Key: "naming:plain", Kind: "naming", SourceKey: "plain", Usage: 9},
		{Key: "naming:userName", Kind: "naming", SourceKey: "userName", Usage: 7},
	}
	senders := []sender{
		{ServiceName: "orders", OldKey: "db.statement", Old: 3, New: 3, Both: 3},
		{ServiceName: "reports", OldKey: "db.statement", Old: 1},
		{ServiceName: "web", OldKey: "http.method", Old: 10},
	}
	if diff := cmp.Diff(want, findings(uses, map[string]bool{"http.url": true}, senders)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	many := map[string]int64{}
	for c := 'a'; c <= 'z'; c++ {
		many["key"+string(c)] = 1
	}
	if got := findings(many, nil, nil); len(got) != maxNaming {
		t.Errorf("%d names, want %d", len(got), maxNaming)
	}
}

func TestPersonalKeys(t *testing.T) {
	for key, want := range map[string]bool{
		"user.email": true, "customer_email": true, "http.request.header.authorization": true, "password": true, "card.number": false,
		"payment.card_number": true, "user.id": false, "email.template": false,
		"http.route": false, "messaging.message.id": false, "db.query.text": false, "session.id": false, "api_key": true,
	} {
		if got := personalKey.MatchString(key) && !harmless(key); got != want {
			t.Errorf("%s: %v", key, got)
		}
	}
}
