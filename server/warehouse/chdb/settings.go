package chdb

import (
	"encoding/xml"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"github.com/svc-observability/svc/server/limits"
)

// EngineConfig says where the engine keeps its data and how much of the machine it may use. Zero means the default.
type EngineConfig struct {
	// LibraryPath is the engine's library. If it is empty, Locate finds the library.
	LibraryPath string
	// DataDir is the engine's own folder. One process at a time may use it.
	DataDir string
	// Database is created at boot and used for requests that do not name a database. Empty means DefaultDatabase.
	Database string
	// MaxServerMemory bounds the engine's memory in bytes; beyond it, statements fail with code 241. The default is a quarter of the
	// machine's memory, at least 768 MiB and at most 8 GiB.
	MaxServerMemory uint64
	// MarkCache and IndexMarkCache bound the caches of index marks, in bytes.
	MarkCache, IndexMarkCache uint64
	// MaxThreads bounds the threads of one statement. The default is the number of CPUs.
	MaxThreads int
	// MergeThreads bounds background merges. The default is half the CPUs, at least 2.
	MergeThreads int
	// MaxConnections bounds the concurrent statements; further statements wait.
	MaxConnections int
	// Fence lists the tables in which row policies separate tenants.
	Fence Fence
	// ExtraConfig is added inside <clickhouse> of config.xml: clusters and macros in tests.
	ExtraConfig string
}

func (c EngineConfig) withDefaults() EngineConfig {
	if c.Database == "" {
		c.Database = DefaultDatabase
	}
	if c.MaxServerMemory == 0 {
		c.MaxServerMemory = min(max(machineMemory()/4, limits.EngineMemoryLeast), limits.EngineMemoryMost)
	}
	if c.MarkCache == 0 {
		c.MarkCache = 64 << 20
	}
	if c.IndexMarkCache == 0 {
		c.IndexMarkCache = 32 << 20
	}
	if c.MaxThreads == 0 {
		c.MaxThreads = runtime.NumCPU()
	}
	if c.MergeThreads == 0 {
		c.MergeThreads = max(2, runtime.NumCPU()/2)
	}
	if c.MaxConnections == 0 {
		c.MaxConnections = 64
	}
	return c
}

// machineMemory is the memory that this process may use: that of the machine or of its control group.
func machineMemory() uint64 {
	memory := uint64(4 << 30)
	if info, err := os.ReadFile("/proc/meminfo"); err == nil {
		for line := range strings.Lines(string(info)) {
			var kib uint64
			if _, err := fmt.Sscanf(line, "MemTotal: %d kB", &kib); err == nil {
				memory = kib << 10
				break
			}
		}
	}
	if limit, err := os.ReadFile("/sys/fs/cgroup/memory.max"); err == nil {
		if n, err := strconv.ParseUint(strings.TrimSpace(string(limit)), 10, 64); err == nil && n > 0 {
			memory = min(memory, n)
		}
	}
	return memory
}

// systemLogs are the engine's tables about itself. They would fill users' disks, so all of them are switched off.
func systemLogs() []string {
	return []string{
		"query_log", "query_thread_log", "query_views_log", "query_metric_log", "part_log", "trace_log", "text_log", "metric_log",
		"latency_log", "error_log", "crash_log", "session_log", "asynchronous_metric_log", "asynchronous_insert_log", "opentelemetry_span_log",
		"processors_profile_log", "backup_log", "blob_storage_log", "zookeeper_log", "s3queue_log", "azure_queue_log",
		"aggregated_zookeeper_log", "background_schedule_pool_log", "transposed_metric_log",
	}
}

// writeConfig writes config.xml and users.xml into the data folder and returns the path of config.xml. The engine always gets
// this path: otherwise it would load a config.xml from the folder in which the process was started.
func (c EngineConfig) writeConfig() (string, error) {
	var b strings.Builder
	b.WriteString("<!-- Written by svc at each start: changes are lost. -->\n<clickhouse>\n")
	element := func(name string, value any) {
		fmt.Fprintf(&b, "    <%s>", name)
		_ = xml.EscapeText(&b, fmt.Append(nil, value)) // a strings.Builder cannot fail
		fmt.Fprintf(&b, "</%s>\n", name)
	}
	element("path", c.DataDir+"/")
	element("tmp_path", filepath.Join(c.DataDir, "tmp")+"/")
	element("user_files_path", filepath.Join(c.DataDir, "user_files")+"/")
	element("users_config", filepath.Join(c.DataDir, "users.xml"))
	element("mark_cache_size", c.MarkCache)
	element("index_mark_cache_size", c.IndexMarkCache)
	element("uncompressed_cache_size", 0)
	element("index_uncompressed_cache_size", 0)
	element("background_pool_size", c.MergeThreads)
	element("background_schedule_pool_size", 4)
	element("background_move_pool_size", 1)
	element("background_fetches_pool_size", 1)
	element("background_common_pool_size", 2)
	element("background_buffer_flush_schedule_pool_size", 1)
	element("background_message_broker_schedule_pool_size", 1)
	element("background_distributed_schedule_pool_size", 1)
	element("max_thread_pool_size", 1000)
	element("max_concurrent_queries", 4*c.MaxConnections)
	element("global_profiler_real_time_period_ns", 0)
	element("global_profiler_cpu_time_period_ns", 0)
	element("memory_worker_use_cgroup", 1)
	b.WriteString("    <logger><level>none</level><console>0</console></logger>\n")
	b.WriteString("    <send_crash_reports><enabled>false</enabled></send_crash_reports>\n")
	for _, log := range systemLogs() {
		fmt.Fprintf(&b, "    <%s remove=\"remove\"/>\n", log)
	}
	b.WriteString(c.ExtraConfig)
	b.WriteString("</clickhouse>\n")

	// The compile_ settings would make machine code of expressions at their third use. Reads here are short and differ from each other,
	// so that costs more than it saves (docs/adr/0016-storage-layout.md).
	users := fmt.Sprintf(`<!-- Written by svc at each start: changes are lost. -->
<clickhouse>
    <profiles>
        <default>
            <max_threads>%d</max_threads>
            <query_profiler_real_time_period_ns>0</query_profiler_real_time_period_ns>
            <query_profiler_cpu_time_period_ns>0</query_profiler_cpu_time_period_ns>
            <memory_profiler_step>0</memory_profiler_step>
            <log_queries>0</log_queries>
            <compile_expressions>0</compile_expressions>
            <compile_aggregate_expressions>0</compile_aggregate_expressions>
            <compile_sort_description>0</compile_sort_description>
        </default>
    </profiles>
    <users>
        <default>
            <password></password><profile>default</profile><quota>default</quota><networks><ip>::/0</ip></networks>
%s%s        </default>
    </users>
    <quotas><default></default></quotas>
</clickhouse>
`, c.MaxThreads, grants, c.Fence.policies(c.Database))

	path := filepath.Join(c.DataDir, "config.xml")
	for _, f := range []struct{ path, text string }{{path, b.String()}, {filepath.Join(c.DataDir, "users.xml"), users}} {
		if err := os.WriteFile(f.path, []byte(f.text), 0o600); err != nil {
			return "", fmt.Errorf("cannot write the engine's configuration: %w", err)
		}
	}
	return path, nil
}

// quoteString writes a string literal of ClickHouse SQL.
func quoteString(s string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`, "\n", `\n`, "\t", `\t`, "\r", `\r`, "\x00", `\0`).Replace(s) + "'"
}

// quoteName writes an identifier of ClickHouse SQL.
func quoteName(s string) string {
	return "`" + strings.NewReplacer(`\`, `\\`, "`", "\\`").Replace(s) + "`"
}
