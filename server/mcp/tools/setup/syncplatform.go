package setup

import (
	"context"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/mcp/tool"
)

type syncPlatformArgs struct {
	tool.Call
	IntegrationID string `doc:"intg_… of the connected account. Without it, the one account of the organization."`
}

// syncPlatform synchronizes a hosting platform. The account is checked first, so that a wrong id synchronizes nothing.
func syncPlatform(ctx context.Context, s *tool.Clients, a *syncPlatformArgs, platform string) (*svcv2.HostingSync, error) {
	if a.IntegrationID != "" {
		now, err := s.HostingPlatforms.GetHostingPlatform(ctx, &svcv2.GetHostingPlatformRequest{Platform: platform})
		if err != nil {
			return nil, err
		}
		if now.GetIntegrationId() != a.IntegrationID {
			return nil, a.Bad(&a.IntegrationID,
				"is not the account of "+now.GetName()+". Leave it out to mean the one account of the organization.", "")
		}
	}
	return s.HostingPlatforms.SyncHostingPlatform(ctx, &svcv2.SyncHostingPlatformRequest{Platform: platform})
}

// syncNote says how the synchronization ended.
func syncNote(run *svcv2.HostingSync) string {
	p := run.GetPlatform()
	switch {
	case run.GetRunning():
		return "The synchronization is still running. The figures are those of now; call the tool again later."
	case p.GetError() != "":
		return "The synchronization failed: " + p.GetError() + " The figures are those of before."
	}
	return "The synchronization has ended."
}
