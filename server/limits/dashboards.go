package limits

import "time"

// Parts of a dashboard.
const (
	// DashboardDefinition is the size of a definition as it is stored.
	DashboardDefinition = 1 << 20
	DashboardVersions   = 200
	Widgets             = 200
	Sections            = 50
	Tabs                = 20
	Variables           = 50
	VariableOptions     = 500
	Tags                = 50
	// StoredQueries is how many queries a widget may hold. Queries bounds those of them that are switched on.
	StoredQueries = 26
	Columns       = 100
	// HistogramBins is how many ranges a histogram has. A smaller width of its ranges is made wider.
	HistogramBins = 200
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
	// SharedReads is how many reads of one organization run at once for its share links.
	SharedData  = 15 * time.Second
	SharedReads = 3
)

func dashboards() []Limit {
	return []Limit{
		size("DashboardDefinition", DashboardDefinition, "The definition of a dashboard takes at most %s."),
		count("DashboardVersions", DashboardVersions, "A dashboard keeps its newest %s versions."),
		count("Widgets", Widgets, "A dashboard has at most %s widgets."),
		count("Sections", Sections, "A dashboard has at most %s sections."),
		count("Tabs", Tabs, "A section has at most %s tabs."),
		count("Variables", Variables, "A dashboard has at most %s variables."),
		count("VariableOptions", VariableOptions, "A variable has at most %s fixed options."),
		count("Tags", Tags, "A dashboard has at most %s tags."),
		count("StoredQueries", StoredQueries, "A widget holds at most %s queries, with those that are switched off."),
		count("Columns", Columns, "A table has at most %s columns."),
		count("HistogramBins", HistogramBins, "A histogram has at most %s ranges."),
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
		count("SharedReads", SharedReads, "At most %s widgets of an organization are read at once for its share links."),
		count("SharedWidgets", SharedWidgets, "A request of a share link reads at most %s widgets."),
	}
}
