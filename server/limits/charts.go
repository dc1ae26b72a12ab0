package limits

import "time"

// Charts beside messages.
const (
	// ChartLifetime is how long the id of a chart works.
	ChartLifetime = 30 * Day
	// ChartKept is how long readers of a chart may keep its picture, and how long the server keeps its data.
	ChartKept = time.Hour
	// ChartWindow is the shortest window of the chart of an alert before its decision, ChartLongestWindow the longest.
	ChartWindow        = time.Hour
	ChartLongestWindow = Day
	// ChartPoints is the number of evaluations in one series, ChartSeries the number of series, ChartRanks that of ranked values.
	ChartPoints = 60
	ChartSeries = 6
	ChartRanks  = 10
	// ChartEvaluations is the number of minutes that a chart evaluates again if there is no check of them, for a rule that reads each minute
	// with a statement of its own.
	ChartEvaluations = 12
	// ChartRetry is how long messages to a workspace have no pictures after its service could not fetch one, which may be a short trouble of
	// this server. ChartPause is how long if it could fetch none for ChartTrouble.
	ChartRetry   = 10 * time.Minute
	ChartTrouble = time.Hour
	ChartPause   = Day
)

func charts() []Limit {
	return []Limit{
		lasts("ChartLifetime", ChartLifetime, "The picture of a chart in a message can be fetched for %s."),
		lasts("ChartKept", ChartKept, "A service that fetched the picture may keep it for %s."),
		lasts("ChartWindow", ChartWindow, "The chart of an alert shows at least %s before its decision."),
		lasts("ChartLongestWindow", ChartLongestWindow, "It shows at most %s."),
		count("ChartPoints", ChartPoints, "A series of such a chart has about %s points."),
		count("ChartSeries", ChartSeries, "A chart about many groups shows %s of them."),
		count("ChartRanks", ChartRanks, "The chart of a digest shows %s issues."),
		count("ChartEvaluations", ChartEvaluations, "A chart evaluates at most %s minutes again for a rule that is read alone."),
		lasts("ChartRetry", ChartRetry, "Messages to a workspace have no pictures for %s after its service could not fetch one."),
		lasts("ChartTrouble", ChartTrouble, "A workspace whose service could fetch no picture for %s or longer has a longer pause."),
		lasts("ChartPause", ChartPause, "Messages to such a workspace have no pictures for %s."),
	}
}
