package limits

import "time"

// Parts of a dashboard.
const (
	// DashboardDefinitionBytes is the size of a definition as it is stored.
	DashboardDefinitionBytes = 1 << 20
	DashboardVersions        = 200
	Widgets                  = 200
	Sections                 = 50
	Tabs                     = 20
	Variables                = 50
	VariableOptions          = 500
	Tags                     = 50
	// StoredQueries is how many queries a widget may hold. Queries bounds those of them that are switched on.
	StoredQueries = 26
	Columns       = 100
	// HistogramBins is how many ranges a histogram has. A smaller width of its ranges is made wider.
	HistogramBins        = 200
	DefaultHistogramBins = 20
	// CrowdedSeries is the number of series above which the check of a chart says that it is crowded.
	CrowdedSeries = 50
	GridColumns   = 12
	GridRows      = 10_000
	// DashboardName, DashboardText and DashboardMarkdown are lengths in characters. WhereText and SQLText bound filters and statements.
	DashboardName     = 200
	DashboardText     = 10_000
	DashboardMarkdown = 100_000
	// TemplateValue is the length in characters of a value that a user gives for a parameter of a template.
	TemplateValue = 200
	// VariableValue is the length of a value that a reader gives a variable.
	VariableValue   = 1024
	DefaultListRows = 50
	ListRows        = 200
	// SharedWidgets is how many widgets one request of a share link reads.
	SharedWidgets = 4
	// SharedData is how long the data of a widget is kept for the readers of a share link, whose windows begin and end at its multiples.
	// SharedReads is how many reads of one organization run at once for its share links, SharedReadsOfNode how many reads of all links.
	SharedData        = 15 * time.Second
	SharedReads       = 3
	SharedReadsOfNode = 4
	// WidgetData is the interval to which the ends of relative windows are rounded up, and the time for which their data are kept. Equal
	// widgets, and all viewers of a dashboard, then ask for the same window, and one read answers them.
	WidgetData = 15 * time.Second
	// RelativeMonth is the length of a month in a relative window.
	RelativeMonth = 30 * Day
	// ChartFallback and ChartFallbackLonger are the windows that a chart without data tries before the longest one, TimeseriesWindow.
	ChartFallback       = 24 * time.Hour
	ChartFallbackLonger = 7 * Day
)

func dashboards() []Limit {
	return []Limit{
		size("DashboardDefinitionBytes", DashboardDefinitionBytes, "The definition of a dashboard takes at most %s."),
		count("DashboardVersions", DashboardVersions, "A dashboard keeps its newest %s versions."),
		count("Widgets", Widgets, "A dashboard has at most %s widgets."),
		count("Sections", Sections, "A dashboard has at most %s sections."),
		count("Tabs", Tabs, "A section has at most %s tabs."),
		count("Variables", Variables, "A dashboard has at most %s variables."),
		count("VariableOptions", VariableOptions, "A variable has at most %s fixed options."),
		count("Tags", Tags, "A dashboard has at most %s tags."),
		count("StoredQueries", StoredQueries, "A widget holds at most %s queries, including those that are switched off."),
		count("Columns", Columns, "A table has at most %s columns."),
		count("HistogramBins", HistogramBins, "A histogram has at most %s ranges."),
		count("DefaultHistogramBins", DefaultHistogramBins, "A histogram has %s ranges when it does not say how many."),
		count("CrowdedSeries", CrowdedSeries, "The check of a widget warns of a chart with more than %s series."),
		count("GridColumns", GridColumns, "The grid of a dashboard has %s columns."),
		count("GridRows", GridRows, "The grid of a dashboard has at most %s rows."),
		characters("DashboardName", DashboardName, "Names and titles on a dashboard have at most %s."),
		characters("DashboardText", DashboardText, "Descriptions and other texts on a dashboard have at most %s."),
		characters("DashboardMarkdown", DashboardMarkdown, "The Markdown of a widget has at most %s."),
		characters("TemplateValue", TemplateValue, "A value for a parameter of a template has at most %s."),
		characters("VariableValue", VariableValue, "A value of a variable has at most %s."),
		count("DefaultListRows", DefaultListRows, "A list on a dashboard has %s rows when it does not say how many."),
		count("ListRows", ListRows, "A list on a dashboard has at most %s rows."),
		lasts("SharedData", SharedData, "Readers of a share link get data that is at most %s old."),
		count("SharedReads", SharedReads, "A node reads at most %s widgets of an organization at once for its share links."),
		count("SharedReadsOfNode", SharedReadsOfNode, "It reads at most %s widgets at once for all share links."),
		lasts("WidgetData", WidgetData, "The relative window of a widget ends at a multiple of %s. Its data are kept for that time."),
		lasts("RelativeMonth", RelativeMonth, "A month in a relative window has %s."),
		lasts("ChartFallback", ChartFallback, "A chart without data shows the last %s."),
		lasts("ChartFallbackLonger", ChartFallbackLonger,
			"Without data in that time, it shows the last %s. Without data there, it shows the longest window of a chart."),
		count("SharedWidgets", SharedWidgets, "A request of a share link reads at most %s widgets."),
	}
}
