package console

import (
	"context"
	"strings"

	"google.golang.org/protobuf/proto"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
)

func attributeCommands() []Command {
	// The operations do not take the same values.
	flags := func(request proto.Message, noScope string) []Flag {
		return []Flag{
			{
				Name: "source", Usage: "telemetry to read (default traces)", Choices: valuesOf(request, "signal"),
				Target: func(o *Options) any { return &o.Source },
			},
			{
				Name: "scope", Usage: "place of the attribute (default: " + noScope + ")", Choices: valuesOf(request, "scope"),
				Target: func(o *Options) any { return &o.Scope },
			},
			searchFlag("text that it contains"), serviceFlag(),
		}
	}
	return []Command{
		{
			Path: "attributes keys", Short: "List the keys of attributes", window: true, page: true,
			Flags:   flags(&svcv2.ListAttributeKeysRequest{}, "all"),
			Example: "  svc attributes keys --source logs -q http", run: attributeKeys,
		},
		{
			Path: "attributes values", Arguments: []string{"KEY"}, Short: "List the values of an attribute, most frequent first", window: true,
			page: true,
			Flags: append(flags(&svcv2.ListAttributeValuesRequest{}, "that of the key"), Flag{
				Name: "metric", Usage: "only data points of this metric", Target: func(o *Options) any { return &o.Metric },
			}),
			Example: "  svc attributes values http.route -s checkout", run: attributeValues,
		},
	}
}

func (q *Query) signal() string {
	switch {
	case q.Source != "":
		return q.Source
	case q.Metric != "":
		return "metrics"
	}
	return "traces"
}

func attributeKeys(ctx context.Context, q *Query) (Answer, error) {
	start, end, err := q.window()
	if err != nil {
		return Answer{}, err
	}
	res, err := collect(q, func(limit int32, cursor *string) (*svcv2.ListAttributeKeysResponse, error) {
		return q.client.attributes.ListAttributeKeys(ctx, &svcv2.ListAttributeKeysRequest{
			StartTime: start, EndTime: end, Limit: &limit, Cursor: cursor, Signal: q.signal(), Scope: given(q.Scope), Search: given(q.Search),
			ServiceName: given(q.Service),
		})
	}, func(r *svcv2.ListAttributeKeysResponse) *[]*svcv2.AttributeKey { return &r.Data })
	if err != nil {
		return Answer{}, err
	}
	s := section{columns: []column{
		{title: "KEY"},
		{title: "SCOPE", drop: 1},
		{title: "TYPE", grow: true, drop: 2},
		{title: "USES", right: true},
	}}
	for _, v := range res.GetData() {
		s.rows = append(s.rows, row(v.GetKey(), v.GetScope(), strings.Join(v.GetValueTypes(), ", "), count(v.GetCount())))
	}
	return Answer{
		message: res, lines: linesOf(res.GetData()), sections: []section{s}, cursor: res.GetNextCursor(),
		empty: none(s, "no attribute was found in "+utcWindow(start, end)),
	}, nil
}

func attributeValues(ctx context.Context, q *Query) (Answer, error) {
	start, end, err := q.window()
	if err != nil {
		return Answer{}, err
	}
	var sampled bool
	res, err := collect(q, func(limit int32, cursor *string) (*svcv2.ListAttributeValuesResponse, error) {
		res, err := q.client.attributes.ListAttributeValues(ctx, &svcv2.ListAttributeValuesRequest{
			StartTime: start, EndTime: end, Limit: &limit, Cursor: cursor, Signal: q.signal(), Key: q.Arguments[0], Scope: given(q.Scope),
			Search: given(q.Search), ServiceName: given(q.Service), MetricName: given(q.Metric),
		})
		sampled = sampled || res.GetSampled()
		return res, err
	}, func(r *svcv2.ListAttributeValuesResponse) *[]*svcv2.AttributeValue { return &r.Data })
	if err != nil {
		return Answer{}, err
	}
	s := section{columns: []column{{title: "VALUE", grow: true}, {title: "USES", right: true}}}
	for _, v := range res.GetData() {
		s.rows = append(s.rows, row(v.GetValue(), count(v.GetCount())))
	}
	a := Answer{
		message: res, lines: linesOf(res.GetData()), sections: []section{s}, cursor: res.GetNextCursor(),
		empty: none(s, "the attribute has no value in "+utcWindow(start, end)),
	}
	if sampled {
		a.notes = append(a.notes, "only the latest part of this window was read: rare values may be missing")
	}
	return a, nil
}
