package pipeline

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestQuarantinedRecordsAreStoredOnceTheirCauseIsGone moves quarantined records to the retry folder. The next start stores a
// record in the table that refused it and in no other. A record that is refused again returns to the quarantine, and a file that
// is not a quarantine file stays.
func TestQuarantinedRecordsAreStoredOnceTheirCauseIsGone(t *testing.T) {
	w := newWarehouse(t)
	r := newRig(t, t.TempDir(), w, nil)
	for _, row := range []string{"0", "poison@b 1", "2", "poison@b 3"} {
		r.append("a,b", row, true)
	}
	r.close()
	quarantine := filepath.Join(r.dir, "quarantine")
	retry := filepath.Join(quarantine, "retry")
	files, err := filepath.Glob(filepath.Join(quarantine, "*-b.rec"))
	if err != nil || len(files) != 2 {
		t.Fatalf("%v %v", files, err)
	}
	if err := os.Mkdir(retry, 0o700); err != nil {
		t.Fatal(err)
	}
	for i, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if i == 0 { // the cause is fixed: the same length, but without poison
			text = append(text[:len(text)-len("poison@b 1")], "mended@b 1"...)
		}
		if err := os.WriteFile(filepath.Join(retry, filepath.Base(file)), text, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range map[string]string{
		"text.rec": "nonsense",
		"cut.rec":  `{"position":{},"header_bytes":3,"payload_bytes":9}` + "\nabc",
	} {
		if err := os.WriteFile(filepath.Join(retry, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	mended := filepath.Join(retry, filepath.Base(files[0]))
	kept, err := os.ReadFile(mended)
	if err != nil {
		t.Fatal(err)
	}
	// The second start finds the file again, as after a crash before the first start removed it.
	for range 2 {
		if err := os.WriteFile(mended, kept, 0o600); err != nil {
			t.Fatal(err)
		}
		r.open()
		for deadline := time.Now().Add(5 * time.Second); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
			_, first := os.Stat(mended)
			_, second := os.Stat(files[1])
			if os.IsNotExist(first) && second == nil {
				break
			}
		}
		r.close()
	}
	if diff := cmp.Diff([]string{"0", "2", "mended@b 1"}, w.stored("b")); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"0", "poison@b 1", "2", "poison@b 3"}, w.stored("a")); diff != "" {
		t.Error(diff)
	}
	left, err := filepath.Glob(filepath.Join(retry, "*"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{filepath.Join(retry, "cut.rec"), filepath.Join(retry, "text.rec")}, left); diff != "" {
		t.Error(diff)
	}
	if _, err := os.Stat(files[1]); err != nil {
		t.Errorf("a record that is refused again is not back in the quarantine: %v", err)
	}
}
