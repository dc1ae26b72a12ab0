package console

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/svc-observability/svc/server/limits"
)

// CompletedNames are names of one kind for a shell. They are kept in a folder for a minute, because a person presses the key often. An
// empty folder keeps nothing. When the server cannot be asked, the names of before are better than none; a shell has no place for an error.
func CompletedNames(ctx context.Context, target Target, folder, kind string) []string {
	file := namesFile(target, folder, kind)
	kept, age := keptNames(file)
	if kept != nil && age < limits.CompletionKept {
		return kept
	}
	ctx, cancel := context.WithTimeout(ctx, limits.CompletionWait)
	defer cancel()
	list, err := Connect(target).Names(ctx, kind)
	if err != nil {
		return kept
	}
	keepNames(file, list)
	return list
}

// namesFile is where names are kept for one server and credential.
func namesFile(target Target, folder, kind string) string {
	if folder == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(strings.Join([]string{target.URL, target.OrgID, target.Token, kind}, "\x00")))
	return filepath.Join(folder, "names-"+hex.EncodeToString(sum[:12])+".json")
}

func keptNames(file string) (list []string, age time.Duration) {
	info, err := os.Stat(file)
	if err != nil {
		return nil, 0
	}
	text, err := os.ReadFile(file)
	if err != nil || json.Unmarshal(text, &list) != nil {
		return nil, 0
	}
	return list, time.Since(info.ModTime()).Abs()
}

// keepNames writes names, all or nothing, and removes those of yesterday. A failure only makes the next completion slower.
func keepNames(file string, list []string) {
	text, err := json.Marshal(append([]string{}, list...))
	if file == "" || err != nil || os.MkdirAll(filepath.Dir(file), 0o700) != nil {
		return
	}
	old, _ := filepath.Glob(filepath.Join(filepath.Dir(file), "names-*"))
	for _, path := range old {
		if info, err := os.Stat(path); err == nil && time.Since(info.ModTime()) > limits.Day {
			_ = os.Remove(path)
		}
	}
	f, err := os.CreateTemp(filepath.Dir(file), "names-*") // mode 0600
	if err != nil {
		return
	}
	_, err = f.Write(text)
	if closed := f.Close(); err != nil || closed != nil || os.Rename(f.Name(), file) != nil {
		_ = os.Remove(f.Name())
	}
}
