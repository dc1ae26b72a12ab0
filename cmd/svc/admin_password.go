package main

import (
	"crypto/rand"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/svc-observability/svc/server/auth"
	"github.com/svc-observability/svc/server/installation"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/store"
)

// changedPassword is the output of admin user set-password.
type changedPassword struct {
	UserID        principal.UserID `json:"user_id"`
	Email         string           `json:"email"`
	SessionsEnded int              `json:"sessions_ended"`
	Password      string           `json:"password,omitempty"` // only a generated password, never a given one
}

func (c *cli) adminUserSetPassword() *cobra.Command {
	var passwordStdin, asJSON bool
	cmd := &cobra.Command{
		Use:   "set-password EMAIL",
		Short: "Give a user a new password, print it once, and end the user's sessions",
		Long: `Give a user a new password, print it once, and end the user's sessions.

Use it for a lost password. It works beside a running server. The API keys and the connected assistants of the user stay.`,
		Example: `  svc admin user set-password ada@example.com
  svc admin user set-password ada@example.com --password-stdin < password.txt`,
		Args: args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, list []string) (err error) {
			password, err := c.givenPassword(passwordStdin)
			if err != nil {
				return err
			}
			out := changedPassword{}
			if password == "" {
				out.Password = rand.Text()
				password = out.Password
			}
			if len([]rune(password)) < auth.MinPasswordLength {
				return &usageError{fmt.Errorf("the password has fewer than %d characters", auth.MinPasswordLength)}
			}
			cfg, err := c.load(cmd)
			if err != nil {
				return err
			}
			hash, err := auth.HashPassword(cmd.Context(), password)
			if err != nil {
				return err
			}
			s, err := installation.OpenDatabase(cmd.Context(), cfg)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, s.Close()) }()
			user, err := s.UserByEmail(cmd.Context(), list[0])
			if errors.Is(err, store.ErrNotFound) {
				return fmt.Errorf("there is no user %q", list[0])
			}
			if err != nil {
				return err
			}
			out.UserID, out.Email = user.ID, user.Email
			if out.SessionsEnded, err = s.ChangePassword(cmd.Context(), user.ID, hash, uuid.Nil); err != nil {
				return err
			}
			if asJSON {
				return c.printJSON(out)
			}
			text := fmt.Sprintf("User            %s\nEmail           %s\nSessions ended  %d\n", out.UserID, out.Email, out.SessionsEnded)
			if out.Password != "" {
				text += "Password        " + out.Password + "\n"
			}
			_, err = fmt.Fprint(c.stdout, text)
			return err
		},
	}
	settings(cmd, placeKeys()...)
	cmd.Flags().BoolVar(&passwordStdin, "password-stdin", false, "read the password from standard input instead of generating one")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}
