package pack

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/klauspost/compress/gzip"
)

// unpacker reads the files of an archive as git writes it. It takes no name, size or promise of the archive on trust.
type unpacker struct {
	limits   Limits
	source   *source
	unpacked *unpacked
	tar      *tar.Reader
	// top is the one folder that holds everything. Providers name it after repository and commit.
	top     string
	commit  string
	entries int
	// content counts the sizes that headers state: a sparse file has more content than bytes in the archive.
	content int64
	unnamed int
}

// item is a file or a link.
type item struct {
	path string
	size int64
	// link is the target's name, for a symbolic link only.
	link   string
	isLink bool
}

func newUnpacker(ctx context.Context, archive io.Reader, limits Limits) (*unpacker, error) {
	u := &unpacker{limits: limits, source: &source{ctx: ctx, from: archive, most: limits.ArchiveBytes}}
	z, err := gzip.NewReader(u.source)
	if err != nil {
		return nil, u.failure(err)
	}
	u.unpacked = &unpacked{from: z, source: u.source, limits: limits}
	u.tar = tar.NewReader(u.unpacked)
	return u, nil
}

// failure says whether the bytes of the archive or the connection that delivers them failed.
func (u *unpacker) failure(err error) error {
	switch {
	case u.source.err != nil:
		return u.source.err
	case errors.Is(err, ErrTooLarge), errors.Is(err, ErrArchive):
		return err
	case errors.Is(err, io.EOF): // the archive is shorter than its own head
		err = io.ErrUnexpectedEOF
	}
	return fmt.Errorf("%w: %w", ErrArchive, err)
}

// next returns the next file or link, or io.EOF after the last one. The content of a file is then read from u.
func (u *unpacker) next() (item, error) {
	for {
		h, err := u.tar.Next()
		if errors.Is(err, io.EOF) && u.source.err == nil {
			return item{}, u.finish()
		}
		if err != nil {
			return item{}, u.failure(err)
		}
		if u.entries++; u.entries > u.limits.Entries {
			return item{}, fmt.Errorf("%w: more than %d files and folders", ErrTooLarge, u.limits.Entries)
		}
		if h.Typeflag == tar.TypeXGlobalHeader {
			// git names the commit in a comment for the whole archive.
			if id := h.PAXRecords["comment"]; u.commit == "" && isCommit(id) {
				u.commit = id
			}
			continue
		}
		name, listed, err := u.clean(h.Name, h.Typeflag == tar.TypeDir)
		if err != nil {
			return item{}, err
		}
		switch h.Typeflag {
		case tar.TypeDir:
			continue
		case tar.TypeReg:
			if u.content += h.Size; u.content > u.limits.UnpackedBytes || u.content < 0 {
				return item{}, fmt.Errorf("%w: more than %d bytes", ErrTooLarge, u.limits.UnpackedBytes)
			}
			if !listed {
				u.unnamed++
				continue
			}
			return item{path: name, size: h.Size}, nil
		case tar.TypeSymlink:
			if !listed {
				u.unnamed++
				continue
			}
			return item{path: name, size: int64(len(h.Linkname)), link: h.Linkname, isLink: true}, nil
		default:
			return item{}, fmt.Errorf("%w: %.200q is of type %q, which git does not have", ErrArchive, h.Name, h.Typeflag)
		}
	}
}

// Read reads the content of the file that next returned.
func (u *unpacker) Read(b []byte) (int, error) {
	n, err := u.tar.Read(b)
	if err != nil && !errors.Is(err, io.EOF) {
		err = u.failure(err)
	}
	return n, err
}

// finish reads to the end of the archive, where gzip has its checksum.
func (u *unpacker) finish() error {
	if _, err := io.Copy(io.Discard, u.unpacked); err != nil {
		return u.failure(err)
	}
	if u.top == "" {
		return fmt.Errorf("%w: it is empty", ErrArchive)
	}
	return io.EOF
}

// clean checks a name and returns it without the top folder. A name that no git tree can have makes the archive unreadable. One that git
// allows but a directory cannot list is not listed.
func (u *unpacker) clean(name string, folder bool) (path string, listed bool, err error) {
	if folder {
		name = strings.TrimSuffix(name, "/")
	}
	for segment := range strings.SplitSeq(name, "/") {
		if segment == "" || segment == "." || segment == ".." {
			return "", false, fmt.Errorf("%w: it has the path %.200q", ErrArchive, name)
		}
	}
	top, path, below := strings.Cut(name, "/")
	if !below && !folder || u.top != "" && top != u.top {
		return "", false, fmt.Errorf("%w: %.200q is not in its one top folder", ErrArchive, name)
	}
	u.top = top
	listed = len(path) <= maxPath && utf8.ValidString(path) && !strings.ContainsFunc(path, isControl)
	return strings.Clone(path), listed, nil
}

func isControl(r rune) bool {
	return r < ' ' || r >= 0x7f && r < 0xa0 || r == '\u2028' || r == '\u2029'
}

// isCommit reports whether a text is the id of a commit: 40 hexadecimal digits, or 64 for repositories with SHA-256.
func isCommit(s string) bool {
	return (len(s) == 40 || len(s) == 64) && strings.Trim(s, "0123456789abcdef") == ""
}

// source counts the compressed bytes and remembers its own failure, which decompression would hide.
type source struct {
	ctx  context.Context
	from io.Reader
	most int64
	read int64
	err  error
}

func (s *source) Read(b []byte) (int, error) {
	if s.err != nil {
		return 0, s.err
	}
	if err := s.ctx.Err(); err != nil {
		s.err = err
		return 0, err
	}
	n, err := s.from.Read(b)
	if s.read += int64(n); s.read > s.most {
		err = fmt.Errorf("%w: its archive has more than %d bytes", ErrTooLarge, s.most)
	}
	if err != nil && !errors.Is(err, io.EOF) {
		s.err = err
	}
	return n, err
}

// unpacked counts the bytes that come out of the archive, and stops bombs.
type unpacked struct {
	from   io.Reader
	source *source
	limits Limits
	read   int64
}

func (r *unpacked) Read(b []byte) (int, error) {
	if err := r.source.ctx.Err(); err != nil {
		r.source.err = err
		return 0, err
	}
	n, err := r.from.Read(b)
	switch r.read += int64(n); {
	case r.read > r.limits.UnpackedBytes:
		return 0, fmt.Errorf("%w: more than %d bytes", ErrTooLarge, r.limits.UnpackedBytes)
	case r.read > ratioFloor && r.read > r.limits.Ratio*r.source.read:
		return 0, fmt.Errorf("%w: its archive expands more than %d times", ErrTooLarge, r.limits.Ratio)
	}
	return n, err
}
