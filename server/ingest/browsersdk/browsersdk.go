// Package browsersdk holds the files of the browser SDK. `make browser-sdk` builds them from clients/browser into dist, which the program
// embeds. A program without them works, and its ingest address says so to pages that ask for them.
package browsersdk

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/svc-observability/svc/server/packed"
)

//go:embed all:dist
var dist embed.FS

// Files are the built files of one version. They are safe for concurrent use.
type Files struct {
	files   fs.FS
	version string
	sums    map[string]string
}

// Built returns the files that the program embeds, or nil if it was built without them.
func Built() (*Files, error) {
	files, err := fs.Sub(dist, "dist")
	if err != nil {
		return nil, fmt.Errorf("browsersdk: %w", err)
	}
	return New(files)
}

// New returns the files in a folder: manifest.json, and every file that it names as NAME.br and NAME.gz. It returns nil for a folder
// without a manifest.
func New(files fs.FS) (*Files, error) {
	text, err := fs.ReadFile(files, "manifest.json")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("browsersdk: %w", err)
	}
	var manifest struct {
		Version   string            `json:"version"`
		Integrity map[string]string `json:"integrity"`
	}
	if err := json.Unmarshal(text, &manifest); err != nil {
		return nil, fmt.Errorf("browsersdk: manifest.json: %w", err)
	}
	f := &Files{files: files, version: manifest.Version, sums: map[string]string{}}
	for name := range manifest.Integrity {
		body, _, err := packed.Read(files, name, "")
		if err != nil {
			return nil, fmt.Errorf("browsersdk: %s: %w", name, err)
		}
		sum := sha256.Sum256(body)
		f.sums[name] = hex.EncodeToString(sum[:12])
	}
	return f, nil
}

// File is a file as a client gets it.
type File struct {
	Body []byte
	// Encoding is the content encoding of Body, or empty.
	Encoding string
	// ETag changes with the file and with the encoding.
	ETag string
	// Exact says that the address names this version, so the answer never changes.
	Exact bool
}

// Find returns the file of VERSION/NAME. The version is that of the SDK, or `v` and its first number, which follows the updates of the
// server. Otherwise, problem describes the fault of the address.
func (f *Files) Find(place, accepted string) (file File, problem string) {
	if f == nil {
		return File{}, "This server was built without the browser SDK. `make build` with Node.js on the machine includes it."
	}
	major, _, _ := strings.Cut(f.version, ".")
	version, name, _ := strings.Cut(place, "/")
	if version != f.version && version != "v"+major {
		return File{}, fmt.Sprintf("This server has version %s of the browser SDK, under %s/ and v%s/.", f.version, f.version, major)
	}
	sum, found := f.sums[name]
	if !found {
		return File{}, "The browser SDK has no such file. It has svc.js, a module, and svc.iife.js for script tags."
	}
	body, encoding, err := packed.Read(f.files, name, accepted)
	if err != nil {
		return File{}, "This file of the browser SDK cannot be read."
	}
	tag := sum
	if encoding != "" {
		tag += "-" + encoding
	}
	return File{Body: body, Encoding: encoding, ETag: `"` + tag + `"`, Exact: version == f.version}, ""
}
