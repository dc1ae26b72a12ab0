package limits

// Limits of queries and of their answers.
const (
	// Queries is how many queries run for one request or widget, and how many formulas are computed from them.
	Queries = 10
	// GroupBy is the number of fields of a group.
	GroupBy = 5
	// Buckets is the number of points of a series.
	Buckets = 1500
	// BreakdownRows and Series are the largest a request may ask for.
	DefaultBreakdownRows = 10
	BreakdownRows        = 100
	DefaultSeries        = 50
	Series               = 100

	// WhereText is the length of the text of a filter. FilterValue is the length of one value in it.
	WhereText        = 8192
	FilterConditions = 50
	FilterDepth      = 16
	FilterValues     = 100
	FilterValue      = 1024
	AttributeFilters = 20
	FieldKey         = 256
	FormulaText      = 1024

	FunnelSteps  = 10
	PathHops     = 5
	PathBranches = 10

	TraceSpans = 5000
	// SkeletonSpans is how many spans of a trace without attributes one answer holds, when a request asks for that many.
	SkeletonSpans = 20_000
	// TraceSummaries is how many traces one request can summarize.
	TraceSummaries = 200
	// MapEdges is for each kind of edge of the service map.
	MapEdges = 200
)

func queries() []Limit {
	return []Limit{
		count("Queries", Queries, "A request or widget runs at most %[1]s queries and computes at most %[1]s formulas."),
		count("GroupBy", GroupBy, "A query groups by at most %s fields."),
		count("Buckets", Buckets, "A chart has at most %s buckets."),
		count("DefaultBreakdownRows", DefaultBreakdownRows, "A breakdown has %s rows when a request does not say how many."),
		count("BreakdownRows", BreakdownRows, "A breakdown has at most %s rows."),
		count("DefaultSeries", DefaultSeries, "A chart has %s series when a request does not say how many. The others are summed up as one more."),
		count("Series", Series, "A chart has at most %s series."),
		characters("WhereText", WhereText, "The text of a filter has at most %s."),
		count("FilterConditions", FilterConditions, "A filter has at most %s conditions."),
		count("FilterDepth", FilterDepth, "The parts of a filter are nested at most %s levels deep."),
		count("FilterValues", FilterValues, "A condition compares with at most %s values."),
		characters("FilterValue", FilterValue, "A value of a condition has at most %s."),
		count("AttributeFilters", AttributeFilters, "A search has at most %[1]s filters on attributes and %[1]s on attributes of resources."),
		characters("FieldKey", FieldKey, "The key of an attribute in a query has at most %s."),
		characters("FormulaText", FormulaText, "A formula has at most %s."),
		count("FunnelSteps", FunnelSteps, "A funnel has at most %s steps."),
		count("PathHops", PathHops, "A diagram of paths shows at most %s hops from its anchor."),
		count("PathBranches", PathBranches, "A hop of a path has at most %s branches."),
		count("TraceSpans", TraceSpans, "A trace is read with at most %s spans."),
		count("SkeletonSpans", SkeletonSpans, "The skeleton of a trace gives at most %s spans at once."),
		count("TraceSummaries", TraceSummaries, "One request sums up at most %s traces."),
		count("MapEdges", MapEdges, "The service map shows at most %s edges of each kind."),
	}
}
