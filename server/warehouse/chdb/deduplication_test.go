package chdb

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRepairDeduplication(t *testing.T) {
	dir := t.TempDir()
	table := filepath.Join(dir, "store", "abc", "abc-uuid")
	logs := filepath.Join(table, "deduplication_logs")
	for _, d := range []string{
		logs, filepath.Join(table, "20200101_1_3_1"), filepath.Join(table, "20200101_5_5_0_9"),
		filepath.Join(table, "tmp_insert_20200101_7_7_0"), filepath.Join(table, "detached"),
	} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(logs, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("deduplication_log_2.txt", "1\t20200101_2_2_0\tmerged\n1\t20200102_4_4_0\tdropped\n1\t20200101_9_9_0\told-stale\n")
	const last = "2\t20200102_4_4_0\tdropped\n1\t20200101_5_5_0\tmutated\n1\t20200101_7_7_0\tstale\n"
	write("deduplication_log_10.txt", last+"1\t20200101_8_8")
	n, err := repairDeduplication(dir)
	if err != nil || n != 2 {
		t.Fatalf("repaired %d, %v; want 2", n, err)
	}
	text, err := os.ReadFile(filepath.Join(logs, "deduplication_log_10.txt"))
	if err != nil {
		t.Fatal(err)
	}
	one, two := "2\t20200101_7_7_0\tstale\n", "2\t20200101_9_9_0\told-stale\n"
	if got := string(text); got != last+one+two && got != last+two+one {
		t.Errorf("log is %q", got)
	}
	if n, err := repairDeduplication(dir); err != nil || n != 0 {
		t.Errorf("a second repair: %d, %v", n, err)
	}
	write("deduplication_log_11.txt", "nonsense\n")
	if _, err := repairDeduplication(dir); err == nil {
		t.Error("a line that is no record was taken")
	}
}

func TestFolderLock(t *testing.T) {
	dir := t.TempDir()
	err := withFolderLock(dir, func() error {
		return withFolderLock(dir, func() error { return nil })
	})
	if !errors.Is(err, ErrLocked) {
		t.Errorf("got %v, want ErrLocked", err)
	}
	if err := withFolderLock(dir, func() error { return nil }); err != nil {
		t.Errorf("the lock is not free again: %v", err)
	}
}

func TestFirstWord(t *testing.T) {
	for sql, want := range map[string]string{
		"select 1": "SELECT", "  -- x\n/* y */ ( (SELECT 1))": "SELECT", "INSERT INTO t": "INSERT", "# c\nshow tables": "SHOW", "": "",
		"/* open": "", "EXPLAIN\tAST": "EXPLAIN",
	} {
		if got := firstWord(sql); got != want {
			t.Errorf("firstWord(%q) = %q, want %q", sql, got, want)
		}
	}
}

func TestSplitInsert(t *testing.T) {
	type split struct {
		SQL, Format string
		OK          bool
	}
	for sql, want := range map[string]split{
		"INSERT INTO t (a, b) FORMAT Native":                  {"INSERT INTO t (a, b)", "Native", true},
		"INSERT INTO t\nformat\tJSONEachRow ; \n":             {"INSERT INTO t", "JSONEachRow", true},
		"INSERT INTO t (a) VALUES":                            {"INSERT INTO t (a) ", "Values", true},
		"INSERT INTO t VALUES (1), (2)":                       {"INSERT INTO t VALUES (1), (2)", "", false},
		"INSERT INTO t SELECT 1":                              {"INSERT INTO t SELECT 1", "", false},
		"INSERT INTO t SETTINGS async_insert=0 FORMAT Native": {"INSERT INTO t SETTINGS async_insert=0", "Native", true},
	} {
		var got split
		got.SQL, got.Format, got.OK = splitInsert(sql)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", sql, diff)
		}
	}
}

func TestException(t *testing.T) {
	for text, want := range map[string]int{
		"Code: 60. DB::Exception: Unknown table 'x'. (UNKNOWN_TABLE)":                60,
		"Error on processing query: Code: 62. DB::Exception: Syntax error: Code: 1.": 62,
		"something else": codeUnknownException,
	} {
		if got := newException(text); got.Code != want {
			t.Errorf("%q: code %d, want %d", text, got.Code, want)
		}
	}
}

func TestLocate(t *testing.T) {
	dir := t.TempDir()
	lib := filepath.Join(dir, "some.so")
	if err := os.WriteFile(lib, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := Locate(lib); err != nil || got != lib {
		t.Errorf("explicit: %q, %v", got, err)
	}
	if _, err := Locate(filepath.Join(dir, "missing.so")); !errors.Is(err, ErrLibraryNotFound) {
		t.Errorf("explicit and missing: %v", err)
	}
	t.Setenv(LibraryVariable, lib)
	if got, err := Locate(""); err != nil || got != lib {
		t.Errorf("variable: %q, %v", got, err)
	}
	t.Setenv(LibraryVariable, filepath.Join(dir, "missing.so"))
	if _, err := Locate(""); !errors.Is(err, ErrLibraryNotFound) {
		t.Errorf("variable and missing: %v", err)
	}
	// A folder that only has a library in its cache is not our source tree.
	stranger := filepath.Join(dir, "stranger")
	if err := os.MkdirAll(stranger, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(stranger, "go.mod"), []byte("module example.com/other\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if repo, ok := checkout(stranger); ok {
		t.Errorf("took %s for our source", repo)
	}
}
