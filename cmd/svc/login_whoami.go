package main

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
)

// identity is the output of whoami.
type identity struct {
	URL          string     `json:"url"`
	User         *account   `json:"user"`
	Organization place      `json:"organization"`
	KeyID        string     `json:"key_id"`
	KeyPrefix    string     `json:"key_prefix"`
	ExpiresAt    *time.Time `json:"expires_at"`
}

func (c *cli) whoami() *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use:     "whoami",
		Short:   "Show the user and the key of this command line",
		Long:    "Ask the server about the login of this command line: user, organization, key and its expiry.",
		Example: "  svc whoami --output json",
		Args:    args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if output != "table" && output != "json" {
				return &usageError{fmt.Errorf("--output %q: use table or json", output)}
			}
			kept, _, err := c.kept()
			if err != nil {
				return err
			}
			who := identity{URL: kept.URL, KeyPrefix: kept.KeyPrefix}
			if err := apiCall(cmd.Context(), http.MethodGet, kept.URL+"/v2/session", kept.Token, nil, &who); err != nil {
				return ended(err)
			}
			if output == "json" {
				return c.printJSON(who)
			}
			w := tabwriter.NewWriter(c.stdout, 0, 0, 2, ' ', 0)
			user := "-"
			if who.User != nil {
				user = who.User.Email
			}
			for _, line := range [][2]string{
				{"User", user},
				{"Organization", who.Organization.Name + " (" + who.Organization.ID + ")"},
				{"Key", who.KeyPrefix},
				{"Expires", at(who.ExpiresAt)},
				{"Server", who.URL},
			} {
				row(w, line[0], line[1])
			}
			return w.Flush()
		},
	}
	cmd.Flags().StringVarP(&output, "output", "o", "table", "table or json")
	return cmd
}

func (c *cli) logout() *cobra.Command {
	var local bool
	cmd := &cobra.Command{
		Use:   "logout",
		Short: "Revoke the key of this command line and forget it",
		Args:  args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			kept, path, err := c.kept()
			if err != nil {
				return err
			}
			if !local {
				err := apiCall(cmd.Context(), http.MethodDelete, kept.URL+"/v2/cli/session", kept.Token, nil, nil)
				var refused *refusal
				switch {
				case err == nil:
				case errors.As(err, &refused) && refused.status == http.StatusUnauthorized:
					fmt.Fprintln(c.stderr, "svc: the key was no longer valid")
				default:
					return fmt.Errorf("the key was not revoked, so the login is kept; --local forgets it without revoking the key: %w", err)
				}
			}
			if err := os.Remove(path); err != nil {
				return fmt.Errorf("forget the login: %w", err)
			}
			_, err = io.WriteString(c.stderr, "svc: logged out of "+kept.URL+"\n")
			return err
		},
	}
	cmd.Flags().BoolVar(&local, "local", false, "only forget the key here: it stays valid until it is revoked or expires")
	return cmd
}

// kept returns the stored login of this user and the path of its file.
func (c *cli) kept() (credential, string, error) {
	path, err := c.credentialFile()
	if err != nil {
		return credential{}, "", err
	}
	k, err := readCredential(path)
	if errors.Is(err, os.ErrNotExist) {
		return credential{}, "", errNotLoggedIn
	}
	return k, path, err
}

// ended says what to do about a key that the server no longer accepts.
func ended(err error) error {
	var refused *refusal
	if errors.As(err, &refused) && refused.status == http.StatusUnauthorized {
		return errors.New("the server no longer accepts the key of this login (it may have expired or been revoked): run 'svc login'")
	}
	return err
}
