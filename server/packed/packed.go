// Package packed reads files that are embedded in compressed form, as NAME.br and NAME.gz, in the form that a client takes.
package packed

import (
	"bytes"
	"compress/gzip"
	"io"
	"io/fs"
	"path"
	"strings"
)

// Read returns a file in the best encoding of an Accept-Encoding header; an empty encoding for the plain file. A name without an extension
// is not a file.
func Read(files fs.FS, name, accepted string) (body []byte, encoding string, err error) {
	if !fs.ValidPath(name) || path.Ext(name) == "" {
		return nil, "", fs.ErrNotExist
	}
	if takes(accepted, "br") {
		if body, err := fs.ReadFile(files, name+".br"); err == nil {
			return body, "br", nil
		}
	}
	packed, err := fs.ReadFile(files, name+".gz")
	if err != nil {
		return nil, "", err
	}
	if takes(accepted, "gzip") {
		return packed, "gzip", nil
	}
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, "", err
	}
	body, err = io.ReadAll(z)
	return body, "", err
}

// takes reports whether an Accept-Encoding header lists a coding without refusing it.
func takes(accepted, coding string) bool {
	for part := range strings.SplitSeq(accepted, ",") {
		name, q, _ := strings.Cut(part, ";")
		if strings.EqualFold(strings.TrimSpace(name), coding) {
			return strings.Trim(strings.TrimPrefix(strings.TrimSpace(q), "q="), "0.") != "" || q == ""
		}
	}
	return false
}
