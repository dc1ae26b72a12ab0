// Package pack keeps the text of one commit of a repository in one immutable file, a pack, and searches it. Code search is then our own:
// the search of a provider answers ten requests a minute and knows the default branch only.
//
// A pack is built from one archive (.tar.gz) as GitHub and GitLab serve it (Build). Text is stored in blocks of about 1 MiB, compressed one
// by one. A directory lists every file, also those whose text was left out, with the id that git gives to their bytes. An index says for
// each three bytes which blocks hold them, so a search reads few blocks (format.go has the layout). Each byte of a pack is covered by a
// checksum: damage is an error and never a wrong answer.
//
// A Cache holds the packs of a node in one folder, within a bound of bytes. Packs are copies: to lose one costs a request to the provider.
package pack

import (
	"errors"
	"fmt"

	"github.com/svc-observability/svc/server/limits"
)

var (
	// ErrTooLarge says that a repository exceeds a bound of Limits. The same commit will always exceed it.
	ErrTooLarge = errors.New("the repository is too large to be searched here")
	// ErrArchive says that the bytes of an archive are damaged, end early, or cannot come from a git tree.
	ErrArchive = errors.New("the archive cannot be read")
	// ErrDamaged says that a pack is cut off or that its bytes have changed. A new build mends it.
	ErrDamaged = errors.New("the pack is damaged")
	// ErrVersion says that another version of the program wrote the pack. A new build mends it.
	ErrVersion = errors.New("the pack has another version")
	// ErrNotFound says that the commit has no file of that path.
	ErrNotFound = errors.New("the commit has no such file")
	// ErrClosed says that the pack or the cache was closed.
	ErrClosed = errors.New("closed")
)

// Kind says how a pack holds a file.
type Kind uint8

// Kinds of files. The numbers are part of the format.
const (
	// Text is held and searched.
	Text Kind = 0
	// Binary files hold a zero byte.
	Binary Kind = 1
	// Large files have more than Limits.FileBytes.
	Large Kind = 2
	// GeneratedLarge files were written by a program, or are vendored, and have more than Limits.GeneratedBytes.
	GeneratedLarge Kind = 3
	// VendoredRest are files of vendored folders beyond Limits.VendoredBytes.
	VendoredRest Kind = 4
	// Link is a symbolic link. A pack never follows it.
	Link Kind = 5
	// Pointer stands for a file in Git LFS.
	Pointer Kind = 6
)

func (k Kind) String() string {
	//exhaustive:enforce
	switch k {
	case Text:
		return "text"
	case Binary:
		return "binary"
	case Large:
		return "too large"
	case GeneratedLarge:
		return "large and generated or vendored"
	case VendoredRest:
		return "vendored"
	case Link:
		return "symbolic link"
	case Pointer:
		return "Git LFS pointer"
	default:
		return fmt.Sprintf("kind %d", uint8(k))
	}
}

// OmittedError says that the commit has the file, but the pack does not hold its text.
type OmittedError struct {
	Path string
	Kind Kind
	Size int64
}

func (e *OmittedError) Error() string {
	return fmt.Sprintf("the text of %s (%d bytes) is not held: %s", e.Path, e.Size, e.Kind)
}

// File is a file of the commit.
type File struct {
	Path string
	// SHA is the id of the blob in git: 40 hexadecimal digits. For a link it is the id of its target's name.
	SHA string
	// Size is in bytes. Lines is 0 for files whose text is not held.
	Size  int64
	Lines int
	Kind  Kind
	// Generated, Vendored and Test come from the path and the first lines. Searches rank such files lower.
	Generated, Vendored, Test bool
}

// Info describes a pack.
type Info struct {
	// Commit is the id that git wrote into the archive, or empty if the archive has none.
	Commit string
	// Files, Bytes and Lines count the text that is held.
	Files int
	Bytes int64
	Lines int64
	// Vendored counts those of Files that are searched last.
	Vendored int
	// Omitted counts files of the directory whose text is not held, by kind.
	Omitted map[Kind]int
	// Unnamed counts files that the directory cannot list: names that are not UTF-8, hold control characters, or exceed maxPath.
	Unnamed int
	// Size is the size of the pack in bytes. Blocks is the number of its blocks.
	Size   int64
	Blocks int
}

// Limits bound a build. A zero takes the value of DefaultLimits.
type Limits struct {
	// ArchiveBytes bounds the compressed archive, UnpackedBytes what comes out of it, TextBytes the text that is held.
	ArchiveBytes, UnpackedBytes, TextBytes int64
	// Ratio bounds UnpackedBytes over ArchiveBytes, from ratioFloor on.
	Ratio int64
	// Entries bounds the files, folders and links of the archive.
	Entries int
	// FileBytes bounds one file; at most maxFileBytes. GeneratedBytes bounds one generated or vendored file, VendoredBytes all of the
	// vendored text. Files beyond these three are left out, and the build goes on.
	FileBytes, GeneratedBytes, VendoredBytes int64
}

const (
	// ratioFloor lets small archives of repeated text pass.
	ratioFloor = limits.SourceSmall
	// maxFileBytes is the largest FileBytes. A block holds at least one whole file, and a search holds one block.
	maxFileBytes = 8 << 20
	// maxPath is the longest path in bytes; maxPaths bounds the paths of a commit together, because the directory is held in memory.
	maxPath  = limits.SourcePathBytes
	maxPaths = limits.SourcePathsBytes
)

// DefaultLimits fit a node that builds two packs at a time in 128 MiB.
func DefaultLimits() Limits {
	return Limits{
		ArchiveBytes: limits.SourceArchive, UnpackedBytes: limits.SourceUnpacked, TextBytes: limits.SourceTextBytes,
		Ratio: limits.SourceExpansion, Entries: limits.SourceEntries,
		FileBytes: limits.SourceSearched, GeneratedBytes: limits.SourceGenerated, VendoredBytes: limits.SourceVendored,
	}
}

func (l Limits) withDefaults() Limits {
	d := DefaultLimits()
	for _, f := range []struct{ have, otherwise *int64 }{
		{&l.ArchiveBytes, &d.ArchiveBytes},
		{&l.UnpackedBytes, &d.UnpackedBytes},
		{&l.TextBytes, &d.TextBytes},
		{&l.Ratio, &d.Ratio},
		{&l.FileBytes, &d.FileBytes},
		{&l.GeneratedBytes, &d.GeneratedBytes},
		{&l.VendoredBytes, &d.VendoredBytes},
	} {
		if *f.have <= 0 {
			*f.have = *f.otherwise
		}
	}
	if l.Entries <= 0 {
		l.Entries = d.Entries
	}
	l.FileBytes = min(l.FileBytes, maxFileBytes)
	return l
}
