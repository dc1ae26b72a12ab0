package chdb

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
)

// The engine notes an insert's deduplication token in a table's deduplication log before it gives the insert's part its final
// name. If the process is killed in between, the engine takes the repeated insert for a duplicate and acknowledges rows that it
// does not have. So before each boot, svc removes tokens without a part from the logs.
//
// A log line is "operation \t part \t block id"; operation 1 adds, 2 drops. Parts are folders beside the folder of the logs,
// named <partition>_<first block>_<last block>_<level>[_<mutation>]: a merged part covers the blocks from its first to its last.

const (
	logAdd  = "1"
	logDrop = "2"
)

var (
	partName = regexp.MustCompile(`^([^_]+)_(\d+)_(\d+)_(\d+)(?:_\d+)?$`)
	logName  = regexp.MustCompile(`^deduplication_log_(\d+)\.txt$`)
)

type part struct {
	partition   string
	first, last uint64
}

func parsePart(name string) (part, bool) {
	m := partName.FindStringSubmatch(name)
	if m == nil {
		return part{}, false
	}
	first, err1 := strconv.ParseUint(m[2], 10, 64)
	last, err2 := strconv.ParseUint(m[3], 10, 64)
	return part{m[1], first, last}, err1 == nil && err2 == nil
}

// repairDeduplication removes tokens without a part from every table's log and returns how many it removed. The caller holds the
// lock of the data folder.
func repairDeduplication(dataDir string) (int, error) {
	folders, err := filepath.Glob(filepath.Join(dataDir, "store", "*", "*", "deduplication_logs"))
	if err != nil {
		return 0, err
	}
	repaired := 0
	for _, folder := range folders {
		n, err := repairTable(filepath.Dir(folder), folder)
		if err != nil {
			return repaired, fmt.Errorf("cannot check the deduplication log %s: %w", folder, err)
		}
		repaired += n
	}
	return repaired, nil
}

func repairTable(table, logs string) (int, error) {
	parts, err := tableParts(table)
	if err != nil {
		return 0, err
	}
	files, err := logFiles(logs)
	if err != nil || len(files) == 0 {
		return 0, err
	}
	added := map[string]string{} // block id → part
	for i, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return 0, err
		}
		if end := bytes.LastIndexByte(text, '\n') + 1; end < len(text) && i == len(files)-1 {
			// A truncated line belongs to an insert that never made its part.
			if err := os.Truncate(file, int64(end)); err != nil {
				return 0, err
			}
			text = text[:end]
		}
		for line := range bytes.Lines(text) {
			fields := bytes.SplitN(bytes.TrimSuffix(line, []byte("\n")), []byte("\t"), 3)
			if len(fields) != 3 {
				return 0, fmt.Errorf("%s: %q is not a record", file, line)
			}
			if string(fields[0]) == logAdd {
				added[string(fields[2])] = string(fields[1])
			} else {
				delete(added, string(fields[2]))
			}
		}
	}
	var drops bytes.Buffer
	stale := 0
	for id, name := range added {
		p, ok := parsePart(name)
		if !ok || slices.ContainsFunc(parts[p.partition], func(q part) bool { return q.first <= p.first && p.last <= q.last }) {
			continue
		}
		fmt.Fprintf(&drops, "%s\t%s\t%s\n", logDrop, name, id)
		stale++
	}
	if stale == 0 {
		return 0, nil
	}
	f, err := os.OpenFile(files[len(files)-1], os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return 0, err
	}
	_, err = f.Write(drops.Bytes())
	return stale, errors.Join(err, f.Sync(), f.Close())
}

func tableParts(table string) (map[string][]part, error) {
	entries, err := os.ReadDir(table)
	if err != nil {
		return nil, err
	}
	parts := map[string][]part{}
	for _, e := range entries {
		if p, ok := parsePart(e.Name()); ok && e.IsDir() {
			parts[p.partition] = append(parts[p.partition], p)
		}
	}
	return parts, nil
}

// logFiles lists the logs in the order in which they were written.
func logFiles(folder string) ([]string, error) {
	entries, err := os.ReadDir(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	type numbered struct {
		path   string
		number uint64
	}
	var files []numbered
	for _, e := range entries {
		if m := logName.FindStringSubmatch(e.Name()); m != nil {
			if n, err := strconv.ParseUint(m[1], 10, 64); err == nil {
				files = append(files, numbered{filepath.Join(folder, e.Name()), n})
			}
		}
	}
	slices.SortFunc(files, func(a, b numbered) int { return cmp.Compare(a.number, b.number) })
	paths := make([]string, len(files))
	for i, f := range files {
		paths[i] = f.path
	}
	return paths, nil
}
