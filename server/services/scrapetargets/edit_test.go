package scrapetargets

import (
	"errors"
	"testing"

	"github.com/google/uuid"
	"google.golang.org/protobuf/types/known/fieldmaskpb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/egress"
	"github.com/svc-observability/svc/server/scrape"
	"github.com/svc-observability/svc/server/store"
)

// reversing stands for encryption.
type reversing struct{}

func (reversing) Seal(plain []byte, place string) []byte { return append([]byte(place), plain...) }

func (reversing) Open(sealed []byte, place string) ([]byte, error) { return sealed[len(place):], nil }

// TestEdit has the rules about credentials: they go only to the origin and with the type that they were given for.
func TestEdit(t *testing.T) {
	s := &Service{Config: Config{Vault: scrape.Vault{Sealer: reversing{}}, Guard: egress.New()}}
	const other, same = "https://other.example.com/metrics", "https://NODE.example.com:443/other"
	token, basic := `{"token":"new"}`, `{"username":"u","password":"p"}`
	for name, tc := range map[string]struct {
		auth  string
		req   *svcv2.UpdateScrapeTargetRequest
		mask  []string
		field string // that is refused, or empty
		check func(*store.ScrapeTarget) bool
	}{
		"another path": {
			"bearer", &svcv2.UpdateScrapeTargetRequest{Url: new(same)},
			[]string{"url"},
			"",
			func(t *store.ScrapeTarget) bool { return t.URL == same && string(t.Credentials) == "old" },
		},
		"another origin": {"bearer", &svcv2.UpdateScrapeTargetRequest{Url: new(other)}, []string{"url"}, "auth_credentials", nil},
		"another port": {
			"bearer", &svcv2.UpdateScrapeTargetRequest{Url: new("https://node.example.com:8443/")},
			[]string{"url"},
			"auth_credentials", nil,
		},
		"another scheme": {
			"bearer", &svcv2.UpdateScrapeTargetRequest{Url: new("http://node.example.com/")},
			[]string{"url"},
			"auth_credentials",
			nil,
		},
		"with new ones": {
			"bearer", &svcv2.UpdateScrapeTargetRequest{Url: new(other), AuthCredentials: &token},
			[]string{"url", "auth_credentials"},
			"", func(t *store.ScrapeTarget) bool { return t.URL == other && string(t.Credentials) != "old" },
		},
		"without any": {
			"bearer", &svcv2.UpdateScrapeTargetRequest{Url: new(other), AuthType: new("none")},
			[]string{"url", "auth_type"},
			"",
			func(t *store.ScrapeTarget) bool { return t.AuthType == "none" },
		},
		"none stored": {
			"none", &svcv2.UpdateScrapeTargetRequest{Url: new(other)},
			[]string{"url"},
			"",
			func(t *store.ScrapeTarget) bool { return t.URL == other },
		},
		"another type": {"bearer", &svcv2.UpdateScrapeTargetRequest{AuthType: new("basic")}, []string{"auth_type"}, "auth_credentials", nil},
		"type, new ones": {
			"bearer", &svcv2.UpdateScrapeTargetRequest{AuthType: new("basic"), AuthCredentials: &basic},
			[]string{"auth_credentials", "auth_type"},
			"", func(t *store.ScrapeTarget) bool { return t.AuthType == "basic" },
		},
		"of another type": {
			"bearer", &svcv2.UpdateScrapeTargetRequest{AuthCredentials: &basic},
			[]string{"auth_credentials"},
			"auth_credentials",
			nil,
		},
		"same type": {
			"bearer", &svcv2.UpdateScrapeTargetRequest{AuthType: new("bearer")},
			[]string{"auth_type"},
			"",
			func(t *store.ScrapeTarget) bool { return string(t.Credentials) == "old" },
		},
		"private address": {"none", &svcv2.UpdateScrapeTargetRequest{Url: new("http://10.0.0.1/")}, []string{"url"}, "url", nil},
		"cleared": {
			"none", &svcv2.UpdateScrapeTargetRequest{},
			[]string{"labels_json", "service_name", "organization"},
			"",
			func(t *store.ScrapeTarget) bool { return t.LabelsJSON == nil && t.ServiceName == nil },
		},
	} {
		t.Run(name, func(t *testing.T) {
			target := store.ScrapeTarget{
				ID: uuid.New(), Org: "org_one", URL: "https://node.example.com/metrics", TargetType: store.ScrapePrometheus, AuthType: tc.auth,
				LabelsJSON: new(`{"a":"b"}`), ServiceName: new("s"),
			}
			if tc.auth != store.ScrapeAuthNone {
				target.Credentials = []byte("old")
			}
			tc.req.UpdateMask = &fieldmaskpb.FieldMask{Paths: tc.mask}
			err := s.edit(&target, tc.req)
			var refused *apierr.Error
			switch {
			case tc.field != "" && (!errors.As(err, &refused) || refused.Tag != apierr.ScrapeTargetValidation || refused.Param != tc.field):
				t.Errorf("%v, want a refusal of %s", err, tc.field)
			case tc.field == "" && (err != nil || !tc.check(&target)):
				t.Errorf("%+v, %v", target, err)
			}
		})
	}
}
