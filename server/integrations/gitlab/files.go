package gitlab

import (
	"bytes"
	"context"
	"crypto/sha1" //nolint:gosec // G505: git's ids are made with it
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"strings"

	"github.com/svc-observability/svc/server/integrations"
	"github.com/svc-observability/svc/server/source"
)

// Archive implements source.Host. GitLab's archives hold the contents of LFS pointers unless it is asked for the pointers.
func (h *host) Archive(ctx context.Context, repo, sha string) (io.ReadCloser, error) {
	query := url.Values{"sha": {sha}, "include_lfs_blobs": {"false"}}
	res, err := h.open(ctx, query, h.in(repo, "repository", "archive.tar.gz")...)
	if err != nil {
		return nil, err
	}
	return res.Body, nil
}

// File implements source.Host. A content is asked for in its raw form, whose header says how large it is, so one that is too large is not
// read. GitLab gives the target of a link as its content, and knows no content of a submodule: the list of the folder has the kind of both.
func (h *host) File(ctx context.Context, repo, sha, name string, limit int64) (source.File, error) {
	res, err := h.open(ctx, url.Values{"ref": {sha}}, h.in(repo, "repository", "files", name, "raw")...)
	if integrations.IsKind(err, integrations.NotFound) {
		if node, ok, failed := h.entry(ctx, repo, sha, name); failed == nil && ok && node.Type == "commit" {
			return source.File{Kind: source.KindSubmodule, SHA: node.ID}, nil
		}
		return source.File{}, err
	}
	if err != nil {
		return source.File{}, err
	}
	defer func() { _ = res.Body.Close() }()
	f := source.File{SHA: res.Header.Get("X-Gitlab-Blob-Id"), Size: sizeOf(res)}
	if f.Size > limit {
		f.Kind = source.KindBinary
		return f, nil
	}
	content, err := io.ReadAll(io.LimitReader(res.Body, limit+1))
	switch {
	case err != nil, f.Size >= 0 && int64(len(content)) != f.Size:
		return source.File{}, integrations.NewProblem(integrations.Upstream, err, "GitLab's answer was cut off.")
	case int64(len(content)) > limit:
		f.Kind, f.Size = source.KindBinary, int64(len(content))
		return f, nil
	}
	f.Size = int64(len(content))
	if f.SHA == "" {
		f.SHA = blobID(content)
	}
	if mayBeLink(content) {
		node, ok, err := h.entry(ctx, repo, sha, name)
		if err != nil {
			return source.File{}, err
		}
		if ok && node.Mode == "120000" {
			f.Kind = source.KindSymlink
			return f, nil
		}
	}
	f.Kind = kindOf(content)
	if f.Kind == source.KindText {
		f.Content = content
	}
	return f, nil
}

// sizeOf is the size of a content as its headers tell it; -1 if they do not.
func sizeOf(res *http.Response) int64 {
	if size, err := strconv.ParseInt(res.Header.Get("X-Gitlab-Size"), 10, 64); err == nil {
		return size
	}
	return res.ContentLength
}

// blobID is the id that git gives a content.
func blobID(content []byte) string {
	h := sha1.New() //nolint:gosec // G401: git's ids are made with it
	_, _ = fmt.Fprintf(h, "blob %d\x00", len(content))
	_, _ = h.Write(content)
	return hex.EncodeToString(h.Sum(nil))
}

// mayBeLink reports whether a content can be the target of a link: one path.
func mayBeLink(content []byte) bool {
	return len(content) > 0 && len(content) < 4096 && !bytes.ContainsAny(content, "\n\x00")
}

// kindOf tells texts from other contents, as git does: a zero byte in the first 8,000 bytes is binary.
func kindOf(content []byte) string {
	switch {
	case bytes.HasPrefix(content, []byte("version https://git-lfs.github.com/spec/")) && len(content) < 1024:
		return source.KindLFS
	case bytes.IndexByte(content[:min(len(content), 8000)], 0) >= 0:
		return source.KindBinary
	}
	return source.KindText
}

// node is an entry of a folder.
type node struct {
	ID   string `json:"id"`
	Type string `json:"type"`
	Path string `json:"path"`
	Mode string `json:"mode"`
}

// folderPages bounds the pages of a folder in which an entry is looked for.
const folderPages = 20

// entry finds an entry of a folder; ok is false if it is not among the first pages.
func (h *host) entry(ctx context.Context, repo, sha, name string) (n node, ok bool, err error) {
	query := url.Values{"ref": {sha}, "per_page": {strconv.Itoa(pageSize)}}
	if folder := path.Dir(name); folder != "." {
		query.Set("path", folder)
	}
	for page := 1; page <= folderPages; page++ {
		var list []node
		query.Set("page", strconv.Itoa(page))
		res, err := h.get(ctx, query, "", &list, h.in(repo, "repository", "tree")...)
		if err != nil {
			return node{}, false, err
		}
		for _, n := range list {
			if n.Path == name {
				return n, true, nil
			}
		}
		if len(list) == 0 || !hasNext(res.Header) {
			break
		}
	}
	return node{}, false, nil
}

// FileURL implements source.Host.
func (h *host) FileURL(repo, sha, name string) string {
	return h.app.Base.JoinPath(strings.Trim(repo, "/"), "-", "blob", sha, source.EscapedPath(path.Clean(name))).String()
}
