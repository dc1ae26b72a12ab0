package e2e

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"testing"
)

// shown is the page as the browser saw it.
type shown struct {
	ID       string         `json:"id"`
	Failure  string         `json:"failure"`
	Seen     map[string]any `json:"seen"`
	URL      string         `json:"url"`
	Title    string         `json:"title"`
	Problems []string       `json:"problems"`
	Foreign  []string       `json:"foreign"`
}

// walker is one Chromium for the walks of all tests, because its start costs more than most walks. It outlives the tests.
type walker struct {
	start   sync.Once
	err     error
	cmd     *exec.Cmd
	mu      sync.Mutex
	input   io.WriteCloser
	last    int
	waiting map[string]chan shown
	ended   error
}

var walks walker

// run starts pages.mjs.
func (w *walker) run(dir, browser string) error {
	w.cmd = exec.Command("node", "pages.mjs", browser)
	w.cmd.Dir, w.cmd.Stderr = dir, os.Stderr
	w.waiting = map[string]chan shown{}
	output, err := w.cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if w.input, err = w.cmd.StdinPipe(); err != nil {
		return err
	}
	if err := w.cmd.Start(); err != nil {
		return err
	}
	go w.read(output)
	return nil
}

// read passes each answer to its test. When the program has ended, nobody waits any longer.
func (w *walker) read(output io.Reader) {
	answers := json.NewDecoder(bufio.NewReader(output))
	for {
		var got shown
		err := answers.Decode(&got)
		w.mu.Lock()
		if err != nil {
			w.ended = errors.Join(errors.New("pages.mjs has ended, see its messages above"), err)
			for _, c := range w.waiting {
				close(c)
			}
			w.mu.Unlock()
			return
		}
		c := w.waiting[got.ID]
		delete(w.waiting, got.ID)
		w.mu.Unlock()
		if c != nil {
			c <- got
		}
	}
}

// ask sends a request and returns the channel of its answer.
func (w *walker) ask(request map[string]any) (chan shown, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ended != nil {
		return nil, w.ended
	}
	w.last++
	id := strconv.Itoa(w.last)
	request["id"] = id
	line, err := json.Marshal(request)
	if err != nil {
		return nil, err
	}
	c := make(chan shown, 1)
	w.waiting[id] = c
	_, err = w.input.Write(append(line, '\n'))
	return c, err
}

// close ends the browser, if a test has started it.
func (w *walker) close() error {
	if w.input == nil {
		return nil
	}
	return errors.Join(w.input.Close(), w.cmd.Wait())
}

// browse takes the steps in Chromium, with cookies and storage of its own.
func browse(t *testing.T, allowed []string, steps ...step) shown {
	t.Helper()
	browser := chromium(t, os.Getenv("SVC_TEST_REQUIRE_CHROMIUM") == "1")
	dir := npmInstall(t, "browser", "playwright-core")
	walks.start.Do(func() { walks.err = walks.run(dir, browser) })
	if walks.err != nil {
		t.Fatal(walks.err)
	}
	answer, err := walks.ask(map[string]any{"steps": steps, "allowed": allowed, "screenshots": screenshots(t)})
	if err != nil {
		t.Fatal(err)
	}
	got, ok := <-answer
	if !ok {
		t.Fatal("the browser has ended, see the messages of pages.mjs")
	}
	if got.Failure != "" {
		t.Fatalf("pages.mjs: %s", got.Failure)
	}
	return got
}
