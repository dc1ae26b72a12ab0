package pack

import "fmt"

// Drop deletes all packs of a repository, or of an organization if repository is empty. It ends builds of them, whose callers get
// ErrDropped. Searches that hold a pack end as they would.
//
// A Get that begins later builds again, so callers take the right to the repository away first. Other processes drop for themselves.
func (c *Cache) Drop(organization, repository string) error {
	if !isID(organization) || repository != "" && !isID(repository) {
		return fmt.Errorf("pack: %q, %q names no packs", organization, repository)
	}
	matches := func(k Key) bool {
		return k.Organization == organization && (repository == "" || k.Repository == repository)
	}
	c.mu.Lock()
	for key, j := range c.running {
		if matches(key) {
			j.dropped = true
			j.cancel()
			// A Get from here on does not join it.
			delete(c.running, key)
		}
	}
	for key := range c.open {
		if matches(key) {
			c.forget(key)
		}
	}
	for key := range c.refusals {
		if matches(key) {
			delete(c.refusals, key)
		}
	}
	c.mu.Unlock()
	return c.folder.drop(organization, repository)
}

// Keys lists the packs of the folder. The owner of the cache compares it with the repositories that there are.
func (c *Cache) Keys() ([]Key, error) {
	files, err := c.folder.list()
	keys := make([]Key, 0, len(files))
	for _, f := range files {
		keys = append(keys, f.key)
	}
	return keys, err
}

// Usage returns the number of packs in the folder and their bytes.
func (c *Cache) Usage() (packs int, bytes int64, err error) {
	files, err := c.folder.list()
	for _, f := range files {
		bytes += f.size
	}
	return len(files), bytes, err
}
