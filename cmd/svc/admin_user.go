package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/svc-observability/svc/server/auth"
	"github.com/svc-observability/svc/server/config"
	"github.com/svc-observability/svc/server/installation"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/store"
)

func (c *cli) adminUserCreate() *cobra.Command {
	var org, role, name string
	var passwordStdin, asJSON bool
	cmd := &cobra.Command{
		Use:   "create EMAIL --org ORG",
		Short: "Create a user in an organization and print the password once",
		Example: `  svc admin user create ada@example.com --org org_… --role org:admin
  svc admin user create ada@example.com --org org_… --password-stdin < password.txt`,
		Args: args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, list []string) error {
			if err := checkEmail(list[0]); err != nil {
				return err
			}
			if r := principal.Role(role); r != principal.RoleAdmin && r != principal.RoleMember {
				return &usageError{fmt.Errorf("--role %q: use %s or %s", role, principal.RoleAdmin, principal.RoleMember)}
			}
			password, err := c.givenPassword(passwordStdin)
			if err != nil {
				return err
			}
			cfg, err := c.load(cmd)
			if err != nil {
				return err
			}
			user, err := c.createUser(cmd.Context(), cfg, principal.OrgID(org), principal.Role(role), list[0], name, password)
			if err != nil {
				return err
			}
			if asJSON {
				return c.printJSON(user)
			}
			text := fmt.Sprintf("User      %s\nEmail     %s\nRole      %s\n", user.UserID, user.Email, user.Role)
			if user.Password != "" {
				text += "Password  " + user.Password + "\n"
			}
			_, err = io.WriteString(c.stdout, text)
			return err
		},
	}
	settings(cmd, placeKeys()...)
	cmd.Flags().StringVar(&org, "org", "", "id of the organization, org_… (required)")
	cmd.Flags().StringVar(&role, "role", string(principal.RoleMember), "org:admin or org:member")
	cmd.Flags().StringVar(&name, "name", "", "the person's name")
	cmd.Flags().BoolVar(&passwordStdin, "password-stdin", false, "read the password from standard input instead of generating one")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	required(cmd, "org")
	return cmd
}

// givenPassword reads the password to use. It returns an empty text if a password must be generated.
func (c *cli) givenPassword(fromStdin bool) (string, error) {
	if !fromStdin {
		return "", nil
	}
	text, err := c.readStdin(limits.MaxPasswordBytes + int64(len("\r\n")))
	if err != nil {
		return "", err
	}
	password := strings.TrimRight(text, "\r\n")
	if password == "" {
		return "", &usageError{errors.New("--password-stdin: the standard input is empty")}
	}
	return password, nil
}

// createdUser is the output of admin user create.
type createdUser struct {
	UserID   principal.UserID `json:"user_id"`
	Email    string           `json:"email"`
	OrgID    principal.OrgID  `json:"org_id"`
	Role     principal.Role   `json:"role"`
	Password string           `json:"password,omitempty"` // only a generated password, never a given one
}

// createUser adds a user to an organization. A person who already has an account becomes a member with that account.
func (c *cli) createUser(
	ctx context.Context,
	cfg config.Config,
	org principal.OrgID,
	role principal.Role,
	email, name, password string,
) (_ createdUser, err error) {
	s, err := installation.OpenDatabase(ctx, cfg)
	if err != nil {
		return createdUser{}, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if _, err := s.GetOrganization(ctx, org); err != nil {
		if errors.Is(err, store.ErrNotFound) {
			return createdUser{}, fmt.Errorf("there is no organization %q", org)
		}
		return createdUser{}, err
	}
	made := ""
	if password == "" {
		made = rand.Text()
		password = made
	}
	hash, err := auth.HashPassword(ctx, password)
	if err != nil {
		return createdUser{}, err
	}
	user, err := s.CreateUser(ctx, store.NewUser{Email: email, Name: name, PasswordHash: hash})
	if errors.Is(err, store.ErrConflict) {
		fmt.Fprintf(c.stderr, "svc: %s has an account: it becomes a member and keeps its name and password\n", email)
		made = ""
		user, err = s.UserByEmail(ctx, email)
	}
	if err != nil {
		return createdUser{}, err
	}
	if err := s.CreateMembership(ctx, org, user.ID, role); err != nil {
		if errors.Is(err, store.ErrConflict) {
			return createdUser{}, fmt.Errorf("%s is a member of %s already", email, org)
		}
		return createdUser{}, err
	}
	return createdUser{UserID: user.ID, Email: user.Email, OrgID: org, Role: role, Password: made}, nil
}
