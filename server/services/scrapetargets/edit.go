package scrapetargets

import (
	"fmt"
	"net/url"
	"slices"

	"google.golang.org/protobuf/types/known/timestamppb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/publicid"
	"github.com/svc-observability/svc/server/scrape"
	"github.com/svc-observability/svc/server/store"
)

// edit applies a request to the newest state of a target.
func (s *Service) edit(t *store.ScrapeTarget, req *svcv2.UpdateScrapeTargetRequest) error {
	before, paths := t.URL, req.GetUpdateMask().GetPaths()
	for _, path := range paths {
		switch path {
		case "name":
			t.Name = req.GetName()
		case "service_name":
			t.ServiceName = req.ServiceName
		case "url":
			if t.TargetType == store.ScrapePlanetscale {
				return invalid("url", "must be left out for the target_type planetscale: the integration knows the address")
			}
			t.URL = req.GetUrl()
			if err := s.checkAddress(t.URL); err != nil {
				return err
			}
		case "organization":
			t.OrganizationName = req.Organization
		case "include_branches":
			t.IncludeBranches = req.GetIncludeBranches()
		case "exclude_branches":
			t.ExcludeBranches = req.GetExcludeBranches()
		case "scrape_interval_seconds":
			t.ScrapeIntervalSeconds = int(req.GetScrapeIntervalSeconds())
		case "labels_json":
			t.LabelsJSON = req.LabelsJson
		case "auth_type":
			if t.AuthType != req.GetAuthType() && req.GetAuthType() != store.ScrapeAuthNone && !slices.Contains(paths, "auth_credentials") {
				return invalid("auth_credentials", "must be given with another auth_type")
			}
			t.AuthType = req.GetAuthType()
		case "enabled":
			t.Enabled = req.GetEnabled()
		case "auth_credentials": // below, when the type is known
		default:
			return fmt.Errorf("scrapetargets: no update of the field %s", path)
		}
	}
	if slices.Contains(paths, "auth_credentials") {
		sealed, err := s.seal(t.Org, t.ID, t.AuthType, req.GetAuthCredentials())
		if err != nil {
			return err
		}
		t.Credentials = sealed
		return nil
	}
	if t.AuthType != store.ScrapeAuthNone && origin(before) != origin(t.URL) {
		return invalid("auth_credentials", "must be given again, because the url has another origin (scheme, host, port) than the one they "+
			"were given for")
	}
	return nil
}

func origin(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return text
	}
	return scrape.Origin(u)
}

func toProto(t store.ScrapeTarget) *svcv2.ScrapeTarget {
	out := &svcv2.ScrapeTarget{
		Id: publicid.Encode(publicid.ScrapeTarget, t.ID), Object: "scrape_target", Name: t.Name, ServiceName: t.ServiceName, Url: t.URL,
		TargetType: t.TargetType, Organization: t.OrganizationName, IncludeBranches: t.IncludeBranches, ExcludeBranches: t.ExcludeBranches,
		ScrapeIntervalSeconds: int32(t.ScrapeIntervalSeconds),
		LabelsJson:            t.LabelsJSON, AuthType: t.AuthType, HasCredentials: len(t.Credentials) > 0, Enabled: t.Enabled,
		LastScrapeError: t.LastScrapeError, CreatedAt: timestamppb.New(t.CreatedAt), UpdatedAt: timestamppb.New(t.UpdatedAt),
	}
	if t.ManagedBy != "" {
		out.ManagedBy = &t.ManagedBy
	}
	if t.LastScrapeAt != nil {
		out.LastScrapeAt = timestamppb.New(*t.LastScrapeAt)
	}
	return out
}
