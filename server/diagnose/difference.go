package diagnose

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/query/read"
	"github.com/svc-observability/svc/server/query/reads"
	"github.com/svc-observability/svc/server/wording"
)

// Difference finds the attributes that set two selections of spans, log records or sessions apart.
func (e *Engine) Difference(ctx context.Context, org principal.OrgID, d reads.Difference) (*svcv2.Difference, error) {
	sizes, err := read.One[reads.DifferenceSizesRow](ctx, e.read.Warehouse, org, reads.DifferenceSizes(d))
	if err != nil {
		return nil, err
	}
	d.SelectedShare, d.OtherShare = readShare(sizes.Selected), readShare(sizes.Other)
	d.Limit = limits.DifferenceValues
	res := &svcv2.Difference{
		Object:   "difference",
		Selected: &svcv2.DifferenceSide{Count: sizes.SelectedEstimated, ReceivedCount: float64(sizes.Selected), ReadShare: d.SelectedShare},
		Other:    &svcv2.DifferenceSide{Count: sizes.OtherEstimated, ReceivedCount: float64(sizes.Other), ReadShare: d.OtherShare},
	}
	if sizes.Selected == 0 || sizes.Other == 0 {
		return res, nil
	}
	rows, err := read.All[reads.DifferenceRow](ctx, e.read.Warehouse, org, reads.Differences(d, sizes.SelectedEstimated, sizes.OtherEstimated))
	if err != nil {
		return nil, err
	}
	res.Data, res.NotCompared = ranked(rows, sizes, d)
	return res, nil
}

// readShare is the part of a side that is read.
func readShare(rows uint64) float64 {
	return min(1, float64(limits.DifferenceRows)/float64(max(rows, 1)))
}

// contrast is a value with its figures.
type contrast struct {
	*svcv2.DifferenceValue
	row  reads.DifferenceRow
	rank float64
}

// ranked orders the values by how much they set the sides apart, joins those on the same rows, and names the attributes left out.
func ranked(rows []reads.DifferenceRow, sizes reads.DifferenceSizesRow, d reads.Difference) ([]*svcv2.DifferenceValue, []string) {
	var list []contrast
	identifiers := map[string]uint64{}
	for _, r := range rows {
		if identifies(r, sizes) {
			identifiers[r.Key] = r.Values
			continue
		}
		if c, ok := contrasted(r, sizes, d); ok {
			list = append(list, c)
		}
	}
	slices.SortStableFunc(list, func(x, y contrast) int { return cmp.Compare(y.rank, x.rank) })
	var out []*svcv2.DifferenceValue
	var kept []contrast
	for _, c := range list {
		if same := slices.IndexFunc(kept, func(o contrast) bool { return onSameRows(o.row, c.row) }); same >= 0 {
			if first := kept[same].DifferenceValue; len(first.GetSameRows()) < 8 {
				first.SameRows = append(first.SameRows, c.GetKey()+"="+wording.Clip(c.GetValue(), 100))
			}
			continue
		}
		if len(kept) < limits.Differences {
			kept, out = append(kept, c), append(out, c.DifferenceValue)
		}
	}
	var left []string
	for key, n := range identifiers {
		left = append(left, fmt.Sprintf("%s: %s values, nearly one for each row", key, wording.Number(float64(n))))
	}
	slices.Sort(left)
	if len(rows) == limits.DifferenceValues {
		left = append(left, fmt.Sprintf("values beyond the %d whose shares differ most", limits.DifferenceValues))
	}
	return out, left
}

// identifies tells whether the values of an attribute name single rows, as a request id does, and this value is one of them.
func identifies(r reads.DifferenceRow, sizes reads.DifferenceSizesRow) bool {
	held := (r.KeySelected + r.KeyOther) / max(sizes.SelectedEstimated+sizes.OtherEstimated, 1) * float64(sizes.Selected+sizes.Other)
	return r.Values > 20 && float64(r.Values) > 0.3*held && r.Selected < 5
}

// contrasted measures a value. It refuses one that differs no more than chance allows.
func contrasted(r reads.DifferenceRow, sizes reads.DifferenceSizesRow, d reads.Difference) (contrast, bool) {
	all, others := sizes.SelectedEstimated, sizes.OtherEstimated
	share, otherShare := min(r.SelectedEstimated/all, 1), min(r.OtherEstimated/others, 1)
	// The rows read are the observations: chance depends on them.
	n, m := float64(sizes.Selected)*d.SelectedShare, float64(sizes.Other)*d.OtherShare
	pooled := (float64(r.Selected) + float64(r.Other) + 1) / (n + m + 2)
	deviation := math.Sqrt(pooled * (1 - pooled) * (1/max(n, 1) + 1/max(m, 1)))
	if share <= otherShare || share-otherShare < 0.02 || (share-otherShare)/deviation < 3.5 || r.Selected < 3 {
		return contrast{}, false
	}
	v := &svcv2.DifferenceValue{Key: r.Key, Value: r.Value, SelectedShare: share, OtherShare: otherShare}
	with := r.SelectedEstimated + r.OtherEstimated
	without := all + others - with
	v.RateWith = r.SelectedEstimated / with
	if without > 0 {
		v.RateWithout = max(all-r.SelectedEstimated, 0) / without
	}
	if v.GetRateWithout() > 0 {
		v.Lift = new(v.GetRateWith() / v.GetRateWithout())
	}
	// The gain is highest for a value that all selected rows have and no other: a small value with an extreme lift explains little, and
	// a value that most rows have explains little, too.
	return contrast{v, r, (share - otherShare) * math.Log1p(min(share/max(otherShare, 0.5/max(m, 1)), 1000))}, true
}

// onSameRows tells whether two values occur on the same rows, as far as their numbers tell.
func onSameRows(x, y reads.DifferenceRow) bool {
	near := func(a, b uint64) bool { return math.Abs(float64(a)-float64(b)) <= 0.02*float64(max(a, b)) }
	return x.Key != y.Key && near(x.Selected, y.Selected) && near(x.Other, y.Other)
}

// describe words a value of a difference.
func describe(key, value string) string {
	return fmt.Sprintf("%s = %s", key, wording.Clip(strings.TrimSpace(value), 100))
}
