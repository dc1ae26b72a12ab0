package e2e

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/svc-observability/svc/server/testkit"
)

// cliFollow: a follower shows each record once, also those from while the server was away, and Ctrl-C ends it with success.
func cliFollow(t *testing.T, c *commandLine, p *testkit.Process) {
	cmd := c.command("logs", "--follow", "-s", "followed")
	var stderr lockedText
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	bodies, ended := make(chan string, 100), make(chan error, 1)
	go func() {
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			var record struct{ Body string }
			if json.Unmarshal(lines.Bytes(), &record) == nil {
				bodies <- record.Body
			}
		}
		ended <- cmd.Wait()
	}()
	wait := func(want string) {
		t.Helper()
		select {
		case got := <-bodies:
			if got != want {
				t.Fatalf("the follower shows %q, want %q; %s", got, want, &stderr)
			}
		case <-time.After(time.Minute):
			t.Fatalf("the follower does not show %q; %s", want, &stderr)
		}
	}
	// An agent whose bridge was there before the restart has its call answered after it.
	agent, err := sdk.NewClient(&sdk.Implementation{Name: "e2e", Version: "1"}, nil).Connect(t.Context(),
		&sdk.CommandTransport{Command: c.command("mcp")}, nil)
	if err != nil {
		t.Fatal(err)
	}
	sendLog(t, p, "before the restart")
	wait("before the restart")
	addresses := []string{"--api-addr", strings.TrimPrefix(p.BaseURL, "http://"), "--ingest-addr", strings.TrimPrefix(p.IngestURL, "http://")}
	if code := p.Stop(t); code != 0 {
		t.Fatalf("the server ended with %d: %s", code, p.Log())
	}
	deadline := time.Now().Add(30 * time.Second)
	for !strings.Contains(stderr.String(), "trying again until it answers") {
		if time.Now().After(deadline) {
			t.Fatalf("the follower does not say that the server is away: %s", &stderr)
		}
		time.Sleep(50 * time.Millisecond)
	}
	called := make(chan error, 1)
	go func() {
		result, err := agent.CallTool(t.Context(), &sdk.CallToolParams{Name: "list_services", Arguments: map[string]any{}})
		if err == nil && result.IsError {
			err = fmt.Errorf("%+v", result.Content)
		}
		called <- err
	}()
	p = testkit.StartProcess(t, p.DataDir, addresses...)
	if err := errors.Join(<-called, agent.Close()); err != nil {
		t.Errorf("a call of an agent across the restart: %v", err)
	}
	sendLog(t, p, "after the restart")
	wait("after the restart")
	if !strings.Contains(stderr.String(), "the server answers again") {
		t.Errorf("%s", &stderr)
	}
	// Two more polls: nothing is shown again.
	sendLog(t, p, "last")
	wait("last")
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-ended:
		if err != nil {
			t.Errorf("Ctrl-C: %v %s", err, &stderr)
		}
	case <-time.After(20 * time.Second):
		t.Errorf("Ctrl-C does not end the follower: %s", &stderr)
	}
}

// sendLog sends one log record of the service "followed".
func sendLog(t *testing.T, p *testkit.Process, body string) {
	t.Helper()
	text := fmt.Sprintf(`{"resourceLogs":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"followed"}}]},
		"scopeLogs":[{"logRecords":[{"timeUnixNano":"%d","severityText":"INFO","severityNumber":9,"body":{"stringValue":%q}}]}]}]}`,
		time.Now().UnixNano(), body)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, p.IngestURL+"/v1/logs", strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("X-Svc-Ingest-Key", p.PrivateKey)
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	if res.StatusCode != http.StatusOK {
		t.Fatal(res.Status)
	}
}

// lockedText is the output of a process that a test reads while the process runs.
type lockedText struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *lockedText) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lockedText) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}
