package widget_test

import (
	"regexp"
	"slices"
	"testing"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/svc-observability/svc/server/contract"
	"github.com/svc-observability/svc/server/query/widget"
)

// The field accepts free text, so the contract names the units in its comment only.
func TestUnitsAreThoseOfTheContract(t *testing.T) {
	c, err := contract.Load()
	if err != nil {
		t.Fatal(err)
	}
	m, ok := c.ByRPC("svc.v2.DashboardsService.CreateDashboard")
	if !ok {
		t.Fatal("the contract has no CreateDashboard")
	}
	var field protoreflect.FieldDescriptor
	seen := map[protoreflect.FullName]bool{}
	var find func(protoreflect.MessageDescriptor)
	find = func(d protoreflect.MessageDescriptor) {
		if d == nil || seen[d.FullName()] {
			return
		}
		seen[d.FullName()] = true
		for i := range d.Fields().Len() {
			if f := d.Fields().Get(i); f.FullName() == "svc.v2.WidgetDisplay.unit" {
				field = f
			}
			find(d.Fields().Get(i).Message())
		}
	}
	find(m.Descriptor.Output())
	if field == nil {
		t.Fatal("the contract has no WidgetDisplay.unit")
	}
	var want []string
	for _, name := range regexp.MustCompile("`([a-z_]+)`").FindAllStringSubmatch(contract.Comment(field), -1) {
		want = append(want, name[1])
	}
	if got := widget.Units(); !slices.Equal(got, want) {
		t.Errorf("units %v, but the contract names %v", got, want)
	}
}
