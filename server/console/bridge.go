package console

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"sync"

	"github.com/svc-observability/svc/server/limits"
)

// Bridge speaks MCP with an agent over standard input and output, and forwards each message to the MCP endpoint of a server. Only
// messages of the protocol, one on each line, go to the agent. Texts for a person go to messages.
type Bridge struct {
	door     *mcpDoor
	messages io.Writer

	out   sync.Mutex // held while a line is written
	agent io.Writer

	mu sync.Mutex
	// session and version are those of the handshake; hello is its request, with which a lost session begins again.
	session, version string
	hello            []byte
	// running cancels the requests without an answer yet, by id.
	running map[string]context.CancelFunc
	told    map[string]bool
}

// NewBridge makes a bridge. query narrows the tools that the agent sees.
func NewBridge(target Target, query url.Values, messages io.Writer) *Bridge {
	door := newMCPDoor(target, query)
	door.wait = limits.BridgeWait
	return &Bridge{door: door, messages: messages, running: map[string]context.CancelFunc{}, told: map[string]bool{}}
}

// Run forwards messages until the agent closes its end, and then waits for the answers that are due.
func (b *Bridge) Run(ctx context.Context, in io.Reader, out io.Writer) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	b.agent = &agentPipe{next: out, gone: cancel}
	var calls sync.WaitGroup
	turn := make(chan struct{}, limits.BridgeRequests)
	err := lines(ctx, in, func(line []byte, tooLong bool) {
		var e envelope
		switch {
		case tooLong:
			b.fail(nil, codeInvalid, "The message is longer than "+limits.Size(limits.BridgeMessage)+".")
			return
		case !json.Valid(line):
			b.fail(nil, codeParse, "The line is not JSON.")
			return
		case json.Unmarshal(line, &e) != nil || e.Version != "2.0":
			b.fail(e.ID, codeInvalid, "The line is not a JSON-RPC 2.0 message. A list of messages must be sent one by one.")
			return
		case e.Method == methodCancel:
			b.cancel(e.Params)
		}
		if !e.asks() || e.Method == methodHello {
			// Later messages depend on the handshake, and notifications keep their order.
			b.forward(ctx, &e, line)
			return
		}
		call, stop := context.WithCancel(ctx)
		b.mu.Lock()
		b.running[string(e.ID)] = stop
		b.mu.Unlock()
		calls.Go(func() {
			// The wait is here, so that a cancellation overtakes the requests that wait.
			select {
			case turn <- struct{}{}:
				b.forward(call, &e, line)
				<-turn
			case <-call.Done():
			}
			b.mu.Lock()
			delete(b.running, string(e.ID))
			b.mu.Unlock()
			stop()
		})
	})
	calls.Wait()
	b.leave(context.WithoutCancel(ctx))
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// cancel ends the request to the server that a cancellation names. The server stops work on a request that is closed.
func (b *Bridge) cancel(params json.RawMessage) {
	var p struct {
		ID json.RawMessage `json:"requestId"`
	}
	if json.Unmarshal(params, &p) != nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if stop := b.running[string(p.ID)]; stop != nil {
		stop()
	}
}

// forward sends one message, and gives the agent what comes back.
func (b *Bridge) forward(ctx context.Context, e *envelope, line []byte) {
	res, reason, err := b.send(ctx, e, line)
	if err == nil && res.StatusCode == http.StatusNotFound && res.Request.Header.Get(headerSession) != "" && e.Method != methodHello {
		// The server forgot the session, as after a restart. The protocol asks for a new one.
		_ = res.Body.Close()
		if b.again(ctx, res.Request.Header.Get(headerSession)) {
			res, reason, err = b.send(ctx, e, line)
		}
	}
	if ctx.Err() != nil {
		if err == nil {
			_ = res.Body.Close()
		}
		return // an answer to a cancelled request must not be sent
	}
	if err != nil {
		b.away(e, err.Error())
		return
	}
	defer func() { _ = res.Body.Close() }()
	answered := false
	err = each(res, func(text []byte) error {
		var a envelope
		if json.Unmarshal(text, &a) != nil || a.Version != "2.0" {
			return nil //nolint:nilerr // not the protocol: the status says what it is
		}
		if e.Method == methodHello {
			b.greeted(res, line, &a)
		}
		answered = answered || a.Method == "" && bytes.Equal(a.ID, e.ID)
		return b.write(text)
	})
	switch {
	case answered:
		b.mu.Lock()
		clear(b.told) // the next outage gets its own message
		b.mu.Unlock()
	case ctx.Err() != nil:
	case err != nil:
		b.away(e, "the answer of "+b.door.target.URL+" broke off: "+err.Error())
	case res.StatusCode >= http.StatusBadRequest:
		b.away(e, reason)
	case e.asks():
		b.away(e, b.door.target.URL+" did not answer the request: is it the address of an svc server?")
	}
}

// send sends one message. reason says in words why the server refused it; the body of the refusal can still be read.
func (b *Bridge) send(ctx context.Context, e *envelope, line []byte) (res *http.Response, reason string, err error) {
	h := http.Header{}
	b.mu.Lock()
	session, version := b.session, b.version
	b.mu.Unlock()
	if e.Method == methodHello {
		session, version = "", ""
	}
	if session != "" {
		h.Set(headerSession, session)
	}
	e.headers(h, version)
	if res, err = b.door.post(ctx, line, h); err != nil || res.StatusCode < http.StatusBadRequest {
		return res, "", err
	}
	body, err := io.ReadAll(io.LimitReader(res.Body, limits.RESTBody))
	_ = res.Body.Close()
	if err != nil {
		return nil, "", err
	}
	res.Body = io.NopCloser(bytes.NewReader(body))
	return res, b.door.refused(res, body), nil
}

// greeted keeps the result of the handshake.
func (b *Bridge) greeted(res *http.Response, hello []byte, a *envelope) {
	var result struct {
		Version string `json:"protocolVersion"`
	}
	if len(a.Result) == 0 || json.Unmarshal(a.Result, &result) != nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.session, b.version, b.hello = res.Header.Get(headerSession), result.Version, hello
}

// again makes a new session in place of lost, unless another request did so already. The agent does not notice.
func (b *Bridge) again(ctx context.Context, lost string) bool {
	b.mu.Lock()
	hello, present := b.hello, b.session
	b.mu.Unlock()
	if hello == nil || present != lost {
		return hello != nil
	}
	res, _, err := b.send(ctx, &envelope{Method: methodHello}, hello)
	if err != nil {
		return false
	}
	defer func() { _ = res.Body.Close() }()
	err = each(res, func(text []byte) error {
		var a envelope
		if err := json.Unmarshal(text, &a); err != nil {
			return err
		}
		b.greeted(res, hello, &a)
		return nil
	})
	if err != nil || res.StatusCode >= http.StatusBadRequest {
		return false
	}
	ready, _, err := b.send(ctx, &envelope{Method: methodReady}, []byte(`{"jsonrpc":"2.0","method":"`+methodReady+`"}`))
	if err != nil {
		return false
	}
	return ready.Body.Close() == nil
}

// leave ends the session of the server, if it has one.
func (b *Bridge) leave(ctx context.Context) {
	b.mu.Lock()
	session := b.session
	b.mu.Unlock()
	if session == "" {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, limits.FollowBack)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodDelete, b.door.target.URL+mcpPath, nil)
	if err != nil {
		return
	}
	req.Header.Set(headerSession, session)
	if res, err := b.door.http.Do(req); err == nil {
		_ = res.Body.Close()
	}
}

// away answers a request that the server did not answer, and tells the person once.
func (b *Bridge) away(e *envelope, text string) {
	b.mu.Lock()
	known := b.told[text]
	b.told[text] = true
	b.mu.Unlock()
	if !known {
		(&Output{Messages: b.messages}).note(text)
	}
	if e.asks() {
		b.fail(e.ID, codeAway, text)
	}
}

// fail answers with an error of the bridge itself.
func (b *Bridge) fail(id json.RawMessage, code int, text string) {
	if len(id) == 0 {
		id = json.RawMessage("null")
	}
	line, err := json.Marshal(envelope{Version: "2.0", ID: id, Error: &rpcError{code, text}})
	if err == nil {
		err = b.write(line)
	}
	if err != nil && !errors.Is(err, errReaderLeft) {
		(&Output{Messages: b.messages}).note(err.Error())
	}
}

// write gives the agent one message on one line.
func (b *Bridge) write(text []byte) error {
	var line bytes.Buffer
	if err := json.Compact(&line, text); err != nil {
		return err
	}
	line.WriteByte('\n')
	b.out.Lock()
	defer b.out.Unlock()
	_, err := b.agent.Write(line.Bytes())
	return err
}

// agentPipe ends the bridge when the agent no longer reads.
type agentPipe struct {
	next io.Writer
	gone context.CancelFunc
}

func (p *agentPipe) Write(text []byte) (int, error) {
	n, err := p.next.Write(text)
	if err != nil {
		p.gone()
	}
	return n, left(err)
}

// lines reads lines until the end of the input, or of ctx. A line beyond the size of a body is passed over.
func lines(ctx context.Context, in io.Reader, each func(line []byte, tooLong bool)) error {
	read, failed := make(chan []byte), make(chan error, 1)
	go func() {
		r := bufio.NewReader(in)
		for {
			line, err := oneLine(r)
			if err == nil || len(bytes.TrimSpace(line)) > 0 {
				select {
				case read <- line:
				case <-ctx.Done():
					return
				}
			}
			if err != nil {
				failed <- err
				return
			}
		}
	}()
	for {
		select {
		case <-ctx.Done():
			return nil
		case line := <-read:
			if len(line) > limits.BridgeMessage {
				each(nil, true)
			} else if line = bytes.TrimSpace(line); len(line) > 0 {
				each(line, false)
			}
		case err := <-failed:
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
	}
}

// oneLine reads a line, and keeps at most one byte beyond the bound of a message.
func oneLine(r *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		line = append(line, part[:min(len(part), limits.BridgeMessage+1-len(line))]...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}
