//go:build unix

package pack

import (
	"cmp"
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

const (
	extension = ".pack"
	// building has the packs without a name yet. No organization is called so. Each file is locked by the process that writes it.
	building = ".building"
)

// file is the place of a pack in the folder.
func (k Key) file() string { return path.Join(k.Organization, k.Repository, k.Commit+extension) }

// folder is the folder of a cache. The names of its files are the only record of its content, so nothing can disagree with them after a
// crash. All access goes through os.Root: a link in the folder leads nowhere.
type folder struct{ root *os.Root }

func openFolder(dir string) (*folder, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	if err := root.MkdirAll(building, 0o700); err != nil {
		return nil, errors.Join(err, root.Close())
	}
	return &folder{root: root}, nil
}

// kept is a pack of the folder.
type kept struct {
	key  Key
	size int64
	used time.Time
}

// list returns the packs, those without use for the longest time first. Other files are left alone and not counted.
func (f *folder) list() ([]kept, error) {
	var all []kept
	err := fs.WalkDir(f.root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return exists(err)
		case name == building:
			return fs.SkipDir
		case !d.Type().IsRegular():
			return nil
		}
		commit, named := strings.CutSuffix(path.Base(name), extension)
		repository := path.Dir(name)
		key := Key{Organization: path.Dir(repository), Repository: path.Base(repository), Commit: commit}
		if !named || !key.valid() {
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return exists(err)
		}
		all = append(all, kept{key: key, size: info.Size(), used: info.ModTime()})
		return nil
	})
	slices.SortStableFunc(all, func(a, b kept) int { return cmp.Compare(a.used.UnixNano(), b.used.UnixNano()) })
	return all, err
}

// exists drops the error of a file that another process has deleted.
func exists(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

func (f *folder) has(key Key) bool {
	_, err := f.root.Stat(key.file())
	return err == nil
}

// create makes a file without a name, locked until it is closed.
func (f *folder) create() (*os.File, string, error) {
	for {
		name := path.Join(building, rand.Text()+extension)
		file, err := f.root.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
		if errors.Is(err, fs.ErrNotExist) {
			// Somebody has emptied the folder, as one does with a cache.
			if err := f.root.MkdirAll(building, 0o700); err != nil {
				return nil, "", err
			}
			continue
		}
		if err != nil {
			return nil, "", err
		}
		// A sweep of another process may take the lock, and delete the file, before this process has locked it.
		locked := lock(file)
		if mine, err := file.Stat(); locked == nil && err == nil {
			if there, err := f.root.Stat(name); err == nil && os.SameFile(mine, there) {
				return file, name, nil
			}
		}
		if err := file.Close(); err != nil {
			return nil, "", err
		}
		if locked != nil && !errors.Is(locked, unix.EWOULDBLOCK) {
			return nil, "", errors.Join(locked, f.removeFile(name))
		}
	}
}

func lock(file *os.File) error { return unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB) }

// rename gives a finished pack its name. Another process may delete the folder of the repository in between, because it became empty.
func (f *folder) rename(temporary string, key Key) error {
	for tries := 0; ; tries++ {
		if err := f.root.MkdirAll(path.Dir(key.file()), 0o700); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		err := f.root.Rename(temporary, key.file())
		if !errors.Is(err, fs.ErrNotExist) || tries == 10 {
			return err
		}
	}
}

// remove deletes a pack, and the folders that become empty.
func (f *folder) remove(key Key) error {
	if err := f.removeFile(key.file()); err != nil {
		return err
	}
	for dir := path.Dir(key.file()); dir != "."; dir = path.Dir(dir) {
		_ = f.root.Remove(dir) // fails unless it is empty
	}
	return nil
}

func (f *folder) removeFile(name string) error {
	return exists(f.root.Remove(name))
}

// drop deletes the folder of a repository or of an organization. Another process may put a file into it meanwhile.
func (f *folder) drop(organization, repository string) error {
	for tries := 0; ; tries++ {
		err := f.root.RemoveAll(path.Join(organization, repository))
		if err == nil || tries == 10 {
			if repository != "" {
				_ = f.root.Remove(organization) // fails unless it is empty
			}
			return err
		}
	}
}

// sweep deletes files without a name whose process has ended: its lock has ended with it.
func (f *folder) sweep() error {
	entries, err := fs.ReadDir(f.root.FS(), building)
	if err != nil {
		return err
	}
	for _, e := range entries {
		name := path.Join(building, e.Name())
		file, err := f.root.Open(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		if lock(file) == nil {
			err = f.removeFile(name)
		}
		if err := errors.Join(err, file.Close()); err != nil {
			return err
		}
	}
	return nil
}
