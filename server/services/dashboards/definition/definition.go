// Package definition reads, checks and compares the stored content of dashboards.
package definition

import (
	"fmt"
	"slices"
	"strings"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/publicid"
	"github.com/svc-observability/svc/server/storeerr"
	"github.com/svc-observability/svc/server/wirejson"
)

// Resource maps failures about dashboards to their API errors.
func Resource() storeerr.Resource {
	return storeerr.Resource{
		Prefix: publicid.Dashboard, ID: "a dashboard",
		NotFound:    storeerr.Answer{Tag: apierr.DashboardNotFound, Message: "This organization has no such dashboard."},
		Unavailable: storeerr.Answer{Tag: apierr.DashboardPersistence, Message: "Dashboards cannot be read or changed at the moment. Try again."},
	}
}

// New returns the definition that a request asks for. It shares the parts of the request.
func New(req *svcv2.CreateDashboardRequest) *svcv2.DashboardDefinition {
	return &svcv2.DashboardDefinition{
		Name: req.GetName(), Description: req.Description, Tags: req.GetTags(), TimeRange: req.GetTimeRange(), Widgets: req.GetWidgets(),
		Sections: req.GetSections(), Variables: req.GetVariables(), RefreshIntervalSeconds: req.RefreshIntervalSeconds,
	}
}

// Read parses a stored definition.
func Read(text []byte) (*svcv2.DashboardDefinition, error) {
	def := &svcv2.DashboardDefinition{}
	if err := wirejson.Unmarshal(text, def); err != nil {
		return nil, apierr.New(apierr.DashboardStoredConfigInvalid, "The stored dashboard cannot be read.", apierr.Cause(err))
	}
	renameDimensions(def)
	return def, nil
}

// Normalize brings a definition into the form that Check expects and that is stored.
func Normalize(def *svcv2.DashboardDefinition) {
	def.Name = strings.TrimSpace(def.GetName())
	if def.GetTimeRange() == nil {
		def.TimeRange = &svcv2.TimeRange{Type: rangeRelative, Value: new("12h")}
	}
	renameDimensions(def)
}

// renameDimensions writes the dimensions of sessions in snake_case. Earlier releases stored them in camelCase.
func renameDimensions(def *svcv2.DashboardDefinition) {
	former := map[string]string{
		"referrerHost": "referrer_host",
		"utmSource":    "utm_source",
		"utmMedium":    "utm_medium",
		"utmCampaign":  "utm_campaign",
	}
	rename := func(name *string) *string {
		if name != nil && former[*name] != "" {
			return new(former[*name])
		}
		return name
	}
	for _, w := range def.GetWidgets() {
		if funnel := w.GetDisplay().GetFunnel(); funnel != nil {
			funnel.BreakdownBy = rename(funnel.BreakdownBy)
			for _, step := range funnel.GetSteps() {
				step.Dimension = rename(step.Dimension)
			}
		}
	}
}

// Invalid is the error for a definition that breaks rules. It names every invalid field.
func Invalid(violations []apierr.Violation) error {
	first := violations[0]
	message := fmt.Sprintf("`%s` %s.", first.Field, first.Message)
	if n := len(violations) - 1; n == 1 {
		message += " (and 1 other invalid field)"
	} else if n > 1 {
		message += fmt.Sprintf(" (and %d other invalid fields)", n)
	}
	all := slices.Clone(violations)
	for i, v := range all {
		all[i].Message = fmt.Sprintf("`%s` %s.", v.Field, v.Message)
	}
	return apierr.New(apierr.DashboardValidation, message, apierr.Param(first.Field), apierr.Violations(all...))
}

// WidgetTitle is the title of a widget, or its visualization if it has no title.
func WidgetTitle(w *svcv2.Widget) string {
	if t := w.GetDisplay().GetTitle(); t != "" {
		return t
	}
	return w.GetVisualization()
}
