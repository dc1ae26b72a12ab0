package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/svc-observability/svc/server/bootstrap"
	"github.com/svc-observability/svc/server/console"
)

// source says which server a command asks, and with which credential.
type source struct {
	url, org, file string
	local, remote  bool
}

func (s *source) flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&s.url, "api-url", "", "URL of the server (SVC_API_URL; default: that of the login)")
	cmd.Flags().StringVar(&s.org, "org-id", "", "organization, for a credential of several (SVC_ORG_ID)")
	cmd.Flags().StringVar(&s.file, "bootstrap-file", "", "take address and key from this file, which svc serve wrote (SVC_BOOTSTRAP_FILE)")
	cmd.Flags().BoolVar(&s.local, "local", false, "ask the server of this machine, with the key of its bootstrap file")
	cmd.Flags().BoolVar(&s.remote, "remote", false, "ask the server of the variables or of the login, never the one of this machine")
}

// localKeys is where `make run` and the examples keep the bootstrap file of the server of this machine.
const localKeys = "data/keys.json"

// localRelogin says how to get another key of the server of this machine.
const localRelogin = "'svc admin org create' creates an organization with a new key on the server of this machine."

// target finds the server and the credential: flags, then variables, then the login, then the server of this machine.
func (c *cli) target(s *source) (console.Target, error) {
	if s.local && s.remote {
		return console.Target{}, &usageError{errors.New("--local and --remote exclude each other")}
	}
	out := console.Target{Agent: "svc-cli/" + version, OrgID: first(s.org, c.variable("SVC_ORG_ID"))}
	url := first(s.url, c.variable("SVC_API_URL"))
	mode := modeAuto
	switch {
	case s.local:
		mode = modeLocal
	case s.remote:
		mode = modeRemote
	case s.url == "" && s.file == "":
		mode = c.mode()
	}
	if s.file != "" || mode == modeLocal {
		path := first(s.file, c.variable("SVC_BOOTSTRAP_FILE"), localKeys)
		file, err := c.bootstrapped(path)
		if err != nil {
			return out, err
		}
		out.Origin = path
		out.URL, out.Token = first(s.url, file.BaseURL), file.APIKey
		out.Relogin = localRelogin
		return c.checked(out)
	}
	for _, name := range []string{"SVC_API_TOKEN", "SVC_API_KEY"} {
		token := c.variable(name)
		if token == "" {
			continue
		}
		out.Origin = name
		out.URL, out.Token, out.Relogin = first(url, defaultServer), token, "Set "+name+" to a valid key."
		return c.checked(out)
	}
	kept, path, err := c.kept()
	switch {
	case err == nil:
		out.Origin = path
		if url != "" && strings.TrimRight(url, "/") != kept.URL {
			return out, fmt.Errorf("the login is for %s, not for %s: run 'svc login --url %s', or set SVC_API_TOKEN", kept.URL, plain(url),
				plain(url))
		}
		out.URL, out.Token, out.Relogin = kept.URL, kept.Token, "Run 'svc login'."
		return c.checked(out)
	case !errors.Is(err, errNotLoggedIn):
		return out, err
	}
	if mode == modeAuto && url == "" {
		path := first(c.variable("SVC_BOOTSTRAP_FILE"), localKeys)
		if file, err := c.bootstrapped(path); err == nil {
			out.URL, out.Token, out.Origin, out.Relogin = file.BaseURL, file.APIKey, path, localRelogin
			return c.checked(out)
		}
	}
	return out, fmt.Errorf("%w, or set SVC_API_URL and SVC_API_TOKEN, or give --bootstrap-file", errNotLoggedIn)
}

func (c *cli) checked(t console.Target) (console.Target, error) {
	url, err := serverURL(t.URL)
	if err != nil {
		return t, &usageError{fmt.Errorf("--api-url: %w", err)}
	}
	t.URL = url
	if strings.ContainsFunc(t.Token, func(r rune) bool { return r <= ' ' || r >= 0x7f }) {
		return t, &usageError{errors.New("SVC_API_TOKEN: a key has no spaces and line breaks")}
	}
	if warning := inClear(url); warning != "" {
		fmt.Fprintln(c.stderr, "svc: "+warning)
	}
	return t, nil
}

// bootstrapped reads a file that svc serve wrote.
func (c *cli) bootstrapped(path string) (bootstrap.File, error) {
	var file bootstrap.File
	text, err := os.ReadFile(path)
	if err != nil {
		return file, &usageError{fmt.Errorf("--bootstrap-file: %w: start 'svc serve' with --bootstrap-file, or run 'svc login'", err)}
	}
	if err := json.Unmarshal(text, &file); err != nil || file.BaseURL == "" || file.APIKey == "" {
		return file, &usageError{fmt.Errorf("--bootstrap-file: %s has no address and key: did 'svc serve' write it at its first start?", path)}
	}
	return file, nil
}

func first(list ...string) string {
	for _, text := range list {
		if text != "" {
			return text
		}
	}
	return ""
}

// Modes of the command line, which `svc use` keeps.
const (
	modeAuto   = "auto"
	modeLocal  = "local"
	modeRemote = "remote"
)

func (c *cli) modeFile() (string, error) {
	file, err := c.credentialFile()
	return filepath.Join(filepath.Dir(file), "mode"), err
}

// mode returns the kept mode. Without one, it is auto.
func (c *cli) mode() string {
	file, err := c.modeFile()
	if err != nil {
		return modeAuto
	}
	text, err := os.ReadFile(file)
	if mode := strings.TrimSpace(string(text)); err == nil && (mode == modeLocal || mode == modeRemote) {
		return mode
	}
	return modeAuto
}

func (c *cli) use() *cobra.Command {
	return &cobra.Command{
		Use:   "use [local|remote|auto]",
		Short: "Choose the server that commands ask: the one on this machine, that of the login, or the first that exists",
		Long: `Choose the server that commands ask. Without an argument, show the choice.

local is the server of this machine, with the key of its bootstrap file (--bootstrap-file, SVC_BOOTSTRAP_FILE, or ` + localKeys + `).
remote is the server of SVC_API_URL and SVC_API_TOKEN, or of the login. auto takes remote where there is a credential, and local otherwise.
The flags --local and --remote choose for one command.`,
		Example:   "  svc use local",
		Args:      args(cobra.MatchAll(cobra.MaximumNArgs(1), cobra.OnlyValidArgs)),
		ValidArgs: []string{modeLocal, modeRemote, modeAuto},
		RunE: func(_ *cobra.Command, list []string) error {
			if len(list) == 0 {
				_, err := fmt.Fprintln(c.stdout, c.mode())
				return err
			}
			file, err := c.modeFile()
			if err == nil {
				err = os.MkdirAll(filepath.Dir(file), 0o700)
			}
			if err == nil {
				err = os.WriteFile(file, []byte(list[0]+"\n"), 0o600)
			}
			if err != nil {
				return fmt.Errorf("keep the choice: %w", err)
			}
			return nil
		},
	}
}
