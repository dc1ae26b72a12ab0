package limits

import "time"

// WarehouseRetry is how often a server that started without its warehouse tries to open it.
const WarehouseRetry = 5 * time.Second

// InsertsFail is the time without a successful insert after which /readyz reports that inserts fail.
const InsertsFail = 5 * time.Second

// EngineMemoryLeast and EngineMemoryMost bound the share of the machine's memory that the embedded engine takes when no setting says it.
const (
	EngineMemoryLeast = 768 << 20
	EngineMemoryMost  = 8 << 30
)

// Several hosts of a cluster.
const (
	// WarehousePing is the time between two pings of a host, and the longest time of one.
	WarehousePing = time.Second
	// WarehousePingsLost is after how many failed pings requests no longer wait for the answer of a host.
	WarehousePingsLost = 3
	// WarehouseInsertFailed is how long inserts avoid a host that failed one.
	WarehouseInsertFailed = time.Minute
)

// The parts of the shutdown timeout, in percent from its beginning, until which the steps of a stop must have ended. A step that
// ends earlier leaves its time to the next one. The last percents are left for the end of the process.
const (
	// StopRequests is the part for open requests.
	StopRequests = 40
	// StopBacklog is the part for telemetry that is in the queue and not in the warehouse.
	StopBacklog = 65
	// StopSaves is the part for usage counts, outcomes and the other parts of the server.
	StopSaves = 75
	// StopEngine is the part for the embedded engine and the database.
	StopEngine = 95
)

// StopSaveTime is how long a stop waits for a database that does not accept the last usage counts, and as long for the last outcomes.
const StopSaveTime = 5 * time.Second

func startStop() []Limit {
	return []Limit{
		lasts("WarehouseRetry", WarehouseRetry, "A server whose warehouse is damaged or out of reach at the start tries to open it every %s."),
		lasts("InsertsFail", InsertsFail, "`/readyz` reports inserts into the warehouse that have failed for %s."),
		size("EngineMemoryLeast", EngineMemoryLeast, "The embedded engine takes at least %s of memory.").set("warehouse-max-memory-bytes"),
		size("EngineMemoryMost", EngineMemoryMost, "It takes a quarter of the machine's memory, but at most %s.").set("warehouse-max-memory-bytes"),
		lasts("WarehousePing", WarehousePing,
			"Each host of a warehouse with several hosts gets a ping every %s, which it must answer within that time."),
		count("WarehousePingsLost", WarehousePingsLost, "After %s failed pings, requests no longer wait for the answer of that host."),
		lasts("WarehouseInsertFailed", WarehouseInsertFailed, "Inserts avoid a host that failed one for %s, while another host is up."),
		count("StopRequests", StopRequests,
			"A stop waits for open requests until %s percent of `shutdown-timeout` have passed, and then cuts them off."),
		count("StopBacklog", StopBacklog, "A stop stores the queue's telemetry until %s percent of that time have passed. The rest stays in the queue "+
			"for the next start."),
		count("StopSaves", StopSaves, "A stop saves usage counts and the last answers to keys until %s percent of that time have passed."),
		lasts("StopSaveTime", StopSaveTime, "A stop waits at most %s for a database that does not accept the usage counts, and as long for the "+
			"answers. Counts and answers that are not saved by then are lost."),
		count("StopEngine", StopEngine, "A stop waits for the embedded engine until %s percent of that time have passed, and then kills it, which "+
			"loses nothing."),
	}
}
