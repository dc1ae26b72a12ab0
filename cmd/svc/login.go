package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/limits"
)

// defaultServer is the address of a server with default settings.
const defaultServer = "http://127.0.0.1:8080"

// auth groups the commands of the account.
func (c *cli) auth() *cobra.Command {
	cmd := group("auth", "Sign in, show the login, sign out")
	status := c.whoami()
	status.Use, status.Example = "status", "  svc auth status"
	cmd.AddCommand(c.login(), status, c.logout())
	return cmd
}

func (c *cli) login() *cobra.Command {
	l := login{cli: c}
	cmd := &cobra.Command{
		Use:   "login",
		Short: "Sign in in a browser and get an API key for this command line",
		Long: `Sign in in a browser and get an API key for this command line.

A page of the server opens, or is printed where there is no browser: sign in, compare the code, choose the organization, and confirm.
The key has full access to that organization and expires after ` + limits.Days(limits.CLIKey) + `. It is kept in the configuration folder of this user, in a file
that only this user can read. A login that was there before is replaced, and its key revoked.`,
		Example: `  svc login
  svc login --url https://svc.example.com --no-browser`,
		Args: args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, stop := stopSignals(cmd.Context(), func() { os.Exit(exitFailure) })
			defer stop()
			return l.run(ctx)
		},
	}
	cmd.Flags().StringVar(&l.server, "url", "", "URL of the server (default: the URL of the last login, else "+defaultServer+")")
	cmd.Flags().StringVar(&l.name, "name", "", "name of this machine, for the page and the key (default: its host name)")
	cmd.Flags().BoolVar(&l.noBrowser, "no-browser", false, "print the address instead of opening a browser")
	return cmd
}

// login is one invocation of svc login.
type login struct {
	*cli
	server, name string
	noBrowser    bool
}

func (l *login) run(ctx context.Context) error {
	file, err := l.credentialFile()
	if err != nil {
		return err
	}
	prior, err := readCredential(file)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if l.server == "" {
		l.server = defaultServer
		if prior.URL != "" {
			l.server = prior.URL
		}
	}
	if l.server, err = serverURL(l.server); err != nil {
		return &usageError{fmt.Errorf("--url: %w", err)}
	}
	if warning := inClear(l.server); warning != "" {
		fmt.Fprintln(l.stderr, "svc: "+warning)
	}
	// Check the folder before asking a person for anything: no key may be made that cannot be stored.
	if err := prepareFolder(file); err != nil {
		return err
	}
	if l.name == "" {
		if l.name, err = os.Hostname(); err != nil || l.name == "" {
			l.name = "this machine"
		}
	}
	began := &svcv2.CliLogin{}
	if err := apiCall(ctx, http.MethodPost, l.server+"/v2/cli/device", "", map[string]string{"client_name": l.name}, began); err != nil {
		return err
	}
	l.show(ctx, began)
	made, err := l.wait(ctx, began)
	if err != nil {
		return err
	}
	made.URL = l.server
	if err := made.write(file); err != nil {
		return errors.Join(err, fmt.Errorf("the new key %s could not be stored: revoke it", made.KeyPrefix))
	}
	fmt.Fprintf(
		l.stderr,
		"svc: signed in as %s to %s; the key %s expires on %s\n",
		made.User.Email,
		made.Organization.Name,
		made.KeyPrefix,
		made.ExpiresAt.Format(time.DateOnly),
	)
	if prior.Token != "" {
		l.forget(ctx, prior)
	}
	return nil
}

// forget revokes the key of the previous login.
func (l *login) forget(ctx context.Context, prior credential) {
	err := apiCall(ctx, http.MethodDelete, prior.URL+"/v2/cli/session", prior.Token, nil, nil)
	var refused *refusal
	if err == nil || errors.As(err, &refused) && refused.status == http.StatusUnauthorized {
		return
	}
	fmt.Fprintf(l.stderr, "svc: the key of the previous login, %s, was not revoked: %v\n", prior.KeyPrefix, err)
}

// show tells the person which page to open and which code to compare.
func (l *login) show(ctx context.Context, began *svcv2.CliLogin) {
	opened := !l.noBrowser && openBrowser(ctx, began.GetVerificationUriComplete())
	text := "Open this page to sign in:"
	if opened {
		text = "A sign-in page opens in your browser. If it does not open, go to:"
	}
	fmt.Fprintf(
		l.stderr,
		"\n%s\n\n  %s\n\nCompare the code there with this one, and confirm:\n\n  %s\n\nWaiting, for %d minutes at most; Ctrl-C gives up.\n",
		text,
		plain(began.GetVerificationUriComplete()),
		plain(began.GetUserCode()),
		began.GetExpiresIn()/60,
	)
}

// plain prevents a server from writing anything but text to the terminal.
func plain(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 {
			return -1
		}
		return r
	}, text)
}

// Tags of the answers to the question whether a login was confirmed.
const (
	tagPending  = "@svc/http/errors/CliLoginPendingError"
	tagSlowDown = "@svc/http/errors/CliLoginSlowDownError"
	tagDenied   = "@svc/http/errors/CliLoginDeniedError"
	tagExpired  = "@svc/http/errors/CliLoginExpiredError"
)

// wait polls the server until the person has decided.
func (l *login) wait(ctx context.Context, began *svcv2.CliLogin) (credential, error) {
	interval := time.Duration(max(1, began.GetInterval())) * time.Second
	end := time.NewTimer(time.Duration(began.GetExpiresIn()) * time.Second)
	defer end.Stop()
	for {
		select {
		case <-ctx.Done():
			return credential{}, errors.New("the login was stopped before it was confirmed")
		case <-end.C:
			return credential{}, errors.New("the login was not confirmed in time: run 'svc login' again")
		case <-time.After(interval):
		}
		var made credential
		err := apiCall(ctx, http.MethodPost, l.server+"/v2/cli/token", "", map[string]string{"device_code": began.GetDeviceCode()}, &made)
		var refused *refusal
		switch {
		case err == nil:
			return made, nil
		case ctx.Err() != nil:
		case !errors.As(err, &refused), refused.status >= http.StatusInternalServerError, refused.status == http.StatusTooManyRequests:
			// The server or the connection fails, but the person may still confirm the login.
		case refused.tag == tagPending:
		case refused.tag == tagSlowDown:
			interval += limits.CLILoginSlowDown
		case refused.tag == tagDenied:
			return credential{}, errors.New("the login was refused in the browser")
		case refused.tag == tagExpired:
			return credential{}, errors.New("the login has expired: run 'svc login' again")
		default:
			return credential{}, err
		}
	}
}

// openBrowser opens a page in the person's browser, if there is one.
func openBrowser(ctx context.Context, page string) bool {
	// Open only web pages: the address comes from the server.
	if _, err := serverURL(page); err != nil {
		return false
	}
	var name string
	var list []string
	switch runtime.GOOS {
	case "darwin":
		name = "open"
	case "windows":
		name, list = "rundll32", []string{"url.dll,FileProtocolHandler"}
	default:
		if os.Getenv("DISPLAY") == "" && os.Getenv("WAYLAND_DISPLAY") == "" {
			return false
		}
		name = "xdg-open"
	}
	path, err := exec.LookPath(name)
	if err != nil {
		return false
	}
	// The browser outlives this command, whose context would end it.
	cmd := exec.CommandContext(context.WithoutCancel(ctx), path, append(list, page)...)
	if cmd.Start() != nil {
		return false
	}
	go func() { _ = cmd.Wait() }() // only to avoid a zombie process
	return true
}

// serverURL reads the address of a server, without a slash at the end.
func serverURL(text string) (string, error) {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.User != nil {
		return "", fmt.Errorf("%q is not an address such as https://svc.example.com", text)
	}
	return strings.TrimRight(text, "/"), nil
}

// inClear returns a warning if the key would cross a network unencrypted.
func inClear(server string) string {
	u, err := url.Parse(server)
	if err != nil || u.Scheme == "https" {
		return ""
	}
	host := u.Hostname()
	if ip := net.ParseIP(host); host == "localhost" || ip != nil && ip.IsLoopback() {
		return ""
	}
	return "the connection to " + u.Host + " is not encrypted, so others on the network could read the key: use https"
}
