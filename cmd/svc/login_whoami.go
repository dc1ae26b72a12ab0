package main

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/auth"
	"github.com/svc-observability/svc/server/console"
)

// identity is the output of whoami.
type identity struct {
	URL string `json:"url"`
	// Credential is the kind of the credential, and Source the variable or the file that has it.
	Credential   string      `json:"credential"`
	Source       string      `json:"source"`
	User         *account    `json:"user"`
	Organization *membership `json:"organization"`
	KeyID        string      `json:"key_id"`
	KeyPrefix    string      `json:"key_prefix"`
	Scopes       []string    `json:"scopes"`
	ExpiresAt    *time.Time  `json:"expires_at"`
}

func (c *cli) whoami() *cobra.Command {
	var output string
	var from source
	cmd := &cobra.Command{
		Use:   "whoami",
		Short: "Show the user and the key of this command line",
		Long: `Ask the server about the credential of this command line: user, organization, scopes and expiry of the key. It is the credential that
all commands use: of SVC_API_TOKEN, of the login, or of the server of this machine.`,
		Example: "  svc whoami --output json",
		Args:    args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if output != "table" && output != "json" {
				return &usageError{fmt.Errorf("--output %q: use table or json", output)}
			}
			target, err := c.target(&from)
			if err != nil {
				return err
			}
			session, err := console.Connect(target).Session(cmd.Context())
			if err != nil {
				return inFormat(&console.Output{Format: output}, err)
			}
			who := identify(target, session)
			if output == "json" {
				return c.printJSON(who)
			}
			return c.printIdentity(who)
		},
	}
	cmd.Flags().StringVarP(&output, "output", "o", "table", "table or json")
	from.flags(cmd)
	return cmd
}

func identify(target console.Target, s *svcv2.Session) identity {
	who := identity{
		URL: target.URL, Source: target.Origin, Credential: s.GetCredential(), KeyID: s.GetKeyId(), KeyPrefix: auth.KeyPrefix(target.Token),
		Scopes: s.GetScopes(),
	}
	if u := s.GetUser(); u != nil {
		who.User = &account{ID: u.GetId(), Email: u.GetEmail(), Name: u.Name}
	}
	if o := s.GetOrganization(); o != nil {
		who.Organization = &membership{ID: o.GetId(), Name: o.GetName(), Role: o.GetRole()}
	}
	if s.GetExpiresAt() != nil {
		at := s.GetExpiresAt().AsTime()
		who.ExpiresAt = &at
	}
	return who
}

func (c *cli) printIdentity(who identity) error {
	w := tabwriter.NewWriter(c.stdout, 0, 0, 2, ' ', 0)
	user, organization, scopes := "-", "-", "full access"
	if who.User != nil {
		user = who.User.Email
	}
	if o := who.Organization; o != nil {
		organization = plain(o.Name) + " (" + o.ID + "), " + o.Role
	}
	if len(who.Scopes) > 0 {
		scopes = strings.Join(who.Scopes, ", ")
	}
	expires := at(who.ExpiresAt)
	if who.ExpiresAt != nil {
		expires += " UTC"
	}
	for _, line := range [][2]string{
		{"User", user},
		{"Organization", organization},
		{"Key", who.KeyPrefix + " of " + who.Source},
		{"Scopes", scopes},
		{"Expires", expires},
		{"Server", who.URL},
	} {
		row(w, line[0], line[1])
	}
	return w.Flush()
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
