package chdb

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/svc-observability/svc/server/limits"
)

// acquire returns a connection to the statement's database with the statement's settings. It waits while too many statements run.
func (e *Engine) acquire(ctx context.Context, st Statement) (*connection, error) {
	select {
	case e.slots <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	c, err := e.connection(st)
	if err != nil {
		<-e.slots
	}
	return c, err
}

func (e *Engine) connection(st Statement) (*connection, error) {
	names := slices.Sorted(maps.Keys(st.Settings))
	var key strings.Builder
	key.WriteString(e.database(st))
	for _, name := range names {
		fmt.Fprintf(&key, "\x00%s=%s", name, st.Settings[name])
	}
	e.mu.Lock()
	for i := len(e.idle) - 1; i >= 0; i-- {
		if c := e.idle[i]; c.key == key.String() {
			e.idle = slices.Delete(e.idle, i, i+1)
			e.mu.Unlock()
			return c, nil
		}
	}
	e.mu.Unlock()

	c, err := e.connect(st)
	if err != nil {
		return nil, err
	}
	c.key = key.String()
	return c, nil
}

// connect makes a connection to the statement's database with the statement's settings.
func (e *Engine) connect(st Statement) (*connection, error) {
	names := slices.Sorted(maps.Keys(st.Settings))
	for _, name := range names {
		if !e.settings[name] && !strings.HasPrefix(name, "merge_tree_") {
			return nil, exceptionf(115, "Unknown setting '%s'. (UNKNOWN_SETTING)", name)
		}
	}
	c, err := connect(e.lib, e.args)
	if err != nil {
		return nil, exceptionf(codeTooManyConnections, "%s", err)
	}
	c.tag = fmt.Sprintf("svc-%d-%d", os.Getpid(), e.tags.Add(1))
	if _, _, err := c.exec("USE "+quoteName(e.database(st)), "TSV", params{}); err != nil {
		c.close()
		return nil, err
	}
	// Apply the settings with one SET: unlike connect arguments, its error names a wrong value, and readonly takes effect after it.
	set := "SET log_comment = " + quoteString(c.tag)
	for _, name := range names {
		if name != "log_comment" {
			set += ", " + name + " = " + quoteString(st.Settings[name])
		}
	}
	if _, _, err := c.exec(set, "TSV", params{}); err != nil {
		c.close()
		return nil, err
	}
	return c, nil
}

func (e *Engine) database(st Statement) string {
	if st.Database == "" {
		return e.cfg.Database
	}
	return st.Database
}

// release returns a connection to the pool. It keeps the connection only if the statement left no trace in the session.
func (e *Engine) release(c *connection, reusable bool) {
	defer func() { <-e.slots }()
	if c.broken || !reusable {
		c.close()
		return
	}
	e.mu.Lock()
	e.idle = append(e.idle, c)
	var oldest *connection
	if len(e.idle) > maxIdleConnections {
		oldest = e.idle[0]
		e.idle = slices.Delete(e.idle, 0, 1)
	}
	e.mu.Unlock()
	if oldest != nil {
		oldest.close()
	}
}

// guard kills the connection's statement when ctx ends. The caller must call the returned function when the statement is over,
// before it releases the connection. The function reports whether guard killed the statement. A read that does not end in time
// although it was killed is stuck.
func (e *Engine) guard(ctx context.Context, c *connection, of read) func() bool {
	over, finished := make(chan struct{}), make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(finished)
		// The statement may not be registered yet, or may have just ended: try again until the caller says that it is over. Some
		// statements take long to end, and each try costs a connection, so the delay grows.
		begun := time.Now()
		for delay := time.Millisecond; ; delay = min(2*delay, time.Second) {
			e.kill(c.tag)
			select {
			case <-over:
				return
			case <-time.After(delay):
			}
			if e.stuck != nil && of.organization != "" && time.Since(begun) > limits.ReadEnd {
				e.stuck(of)
			}
		}
	})
	return func() bool {
		close(over)
		if stop() {
			return false
		}
		<-finished
		c.broken = true
		return true
	}
}

func (e *Engine) kill(tag string) {
	killer, err := connect(e.lib, e.args)
	if err != nil {
		return // the caller tries again
	}
	defer killer.close()
	if _, _, err := killer.exec("USE "+quoteName(e.cfg.Database), "TSV", params{}); err != nil { // in another database it sees no statements
		return
	}
	_, _, _ = killer.exec("KILL QUERY WHERE Settings['log_comment'] = "+quoteString(tag)+" ASYNC", "TSV", params{})
}
