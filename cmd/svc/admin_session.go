package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/svc-observability/svc/server/auth"
	"github.com/svc-observability/svc/server/config"
	"github.com/svc-observability/svc/server/installation"
	"github.com/svc-observability/svc/server/publicid"
	"github.com/svc-observability/svc/server/store"
)

// session is an invocation of an admin command on the database, usually on one organization.
type session struct {
	*store.Store
	cli  *cli
	cfg  config.Config
	org  store.Organization
	json bool
}

// onOrg makes a command work on one organization: it adds the settings, --org and --json, and opens the database for run.
func (c *cli) onOrg(cmd *cobra.Command, run func(ctx context.Context, s *session, list []string) error) *cobra.Command {
	var org string
	cmd.Flags().StringVar(&org, "org", "", "id (org_…) or slug of the organization; not needed if there is only one")
	return c.onDatabase(cmd, func(ctx context.Context, s *session, list []string) (err error) {
		if s.org, err = s.organization(ctx, org); err != nil {
			return err
		}
		return s.explain(cmd, run(ctx, s, list))
	}, "ingest-addr", "ingest-public-url")
}

// onDatabase makes a command work on the whole database: it adds the settings, including the additional ones, and --json, and
// opens the database for run.
func (c *cli) onDatabase(
	cmd *cobra.Command,
	run func(ctx context.Context, s *session, list []string) error,
	more ...string,
) *cobra.Command {
	var asJSON bool
	settings(cmd, append(placeKeys(), more...)...)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	if cmd.Args == nil {
		cmd.Args = args(cobra.NoArgs)
	}
	cmd.RunE = func(cmd *cobra.Command, list []string) (err error) {
		cfg, err := c.load(cmd)
		if err != nil {
			return err
		}
		s := &session{cli: c, cfg: cfg, json: asJSON}
		if s.Store, err = openExisting(cmd.Context(), cfg); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, s.Close()) }()
		return run(cmd.Context(), s, list)
	}
	return cmd
}

// openExisting opens the database but does not create one, so that a mistyped folder does not look like an empty server.
func openExisting(ctx context.Context, cfg config.Config) (*store.Store, error) {
	sc := storeConfig(cfg)
	if sc.Path != "" {
		if _, err := os.Stat(sc.Path); err != nil {
			if errors.Is(err, os.ErrNotExist) {
				return nil, fmt.Errorf(
					"the data folder %s has no database: give the --data-dir of a server that was started before, or --database-url",
					cfg.DataDir,
				)
			}
			return nil, err
		}
	}
	return store.Open(ctx, sc)
}

// hasher returns the hasher for secrets that this invocation makes. It never creates a pepper, because the server would not
// accept secrets hashed with it.
func (s *session) hasher() (*auth.Hasher, error) {
	if path := installation.PepperFile(s.cfg); s.cfg.SecretKey.Reveal() == "" {
		if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
			return nil, fmt.Errorf(
				"%s does not exist, and the server would not accept a secret that was made without it: give the server's --data-dir or its --secret-key",
				path,
			)
		}
	}
	return installation.OpenHasher(s.cfg)
}

// secret makes a secret. It returns the text to show once and the form to store.
func (s *session) secret(prefix string) (string, store.Secret, error) {
	h, err := s.hasher()
	if err != nil {
		return "", store.Secret{}, err
	}
	text := auth.NewSecret(prefix)
	return text, h.Secret(text), nil
}

func (s *session) organization(ctx context.Context, name string) (store.Organization, error) {
	all, err := s.ListOrganizations(ctx)
	if err != nil {
		return store.Organization{}, err
	}
	var slugs []string
	for _, org := range all {
		if string(org.ID) == name || org.Slug == name || name == "" && len(all) == 1 {
			return org, nil
		}
		slugs = append(slugs, org.Slug)
	}
	const shown = 10
	if len(slugs) > shown {
		slugs = append(slugs[:shown], "…")
	}
	switch {
	case len(all) == 0:
		return store.Organization{}, errors.New("there is no organization yet: start 'svc serve' once, or use 'svc admin org create'")
	case name == "":
		return store.Organization{}, &usageError{
			fmt.Errorf("--org is required: there are %d organizations (%s)", len(all), strings.Join(slugs, ", ")),
		}
	default:
		return store.Organization{}, fmt.Errorf("--org: there is no organization %q; there is %s", name, strings.Join(slugs, ", "))
	}
}

// explain turns errors of the store into messages about flags.
func (s *session) explain(cmd *cobra.Command, err error) error {
	var invalid *store.InvalidError
	if !errors.As(err, &invalid) {
		return err
	}
	parts := make([]string, len(invalid.Violations))
	for i, v := range invalid.Violations {
		parts[i] = flagOf(cmd, v.Field) + " " + v.Reason
	}
	return &usageError{errors.New(strings.Join(parts, "; "))}
}

// flagOf returns the flag, or the argument, that sets a field.
func flagOf(cmd *cobra.Command, field string) string {
	name, _, _ := strings.Cut(field, "[")
	name = strings.ReplaceAll(name, "_", "-")
	if short, ok := map[string]string{
		"allowed-signals": "signals", "rate-limit-per-second": "rate-limit", "resource-attributes": "attribute", "expires-at": "expires",
		"limits": "limit", "zone-name": "zone",
	}[name]; ok {
		name = short
	}
	if cmd.Flags().Lookup(name) == nil {
		return strings.ToUpper(name)
	}
	if _, path, ok := strings.Cut(field, "]."); ok {
		return "--" + name + ": the " + path
	}
	return "--" + name
}

// print writes the value as JSON or with the table function.
func (s *session) print(value any, table func(w io.Writer)) error {
	if s.json {
		return s.cli.printJSON(value)
	}
	w := tabwriter.NewWriter(s.cli.stdout, 0, 0, 2, ' ', 0)
	table(w)
	return w.Flush()
}

// row writes one line of cells.
func row(w io.Writer, cells ...any) {
	for i, cell := range cells {
		end := "\t"
		if i == len(cells)-1 {
			end = "\n"
		}
		fmt.Fprint(w, cell, end)
	}
}

// none reports an empty list on stderr, so that stdout holds only data.
func (s *session) none(what string) {
	fmt.Fprintf(s.cli.stderr, "svc: %s has no %s\n", s.org.Slug, what)
}

// deleted is the output of a deletion.
type deleted struct {
	ID      string `json:"id"`
	Deleted bool   `json:"deleted"`
}

func (s *session) printDeleted(id string) error {
	return s.print(deleted{ID: id, Deleted: true}, func(w io.Writer) { row(w, "Deleted "+id) })
}

// idArgument checks that there is one argument, the public id of a resource.
func idArgument(prefix, what string) cobra.PositionalArgs {
	return args(func(cmd *cobra.Command, list []string) error {
		if len(list) != 1 {
			return fmt.Errorf("give the id of %s, as in %s_…", what, prefix)
		}
		if _, err := publicid.Decode(prefix, list[0]); err != nil {
			return fmt.Errorf("%q is not the id of %s: such an id begins with %s_", list[0], what, prefix)
		}
		return nil
	})
}

// decodeID decodes an id that idArgument has checked.
func decodeID(prefix, text string) uuid.UUID {
	id, err := publicid.Decode(prefix, text)
	if err != nil {
		return uuid.Nil
	}
	return id
}

// missing explains a not-found error. It returns other errors unchanged.
func (s *session) missing(err error, what, id string) error {
	if errors.Is(err, store.ErrNotFound) {
		return fmt.Errorf("organization %s has no %s %s", s.org.Slug, what, id)
	}
	return err
}

// nameArgument checks that there is one argument, the name of the new resource.
func nameArgument() cobra.PositionalArgs {
	return args(func(cmd *cobra.Command, list []string) error {
		if len(list) != 1 {
			return errors.New("give one NAME, in quotes when it has spaces")
		}
		return nil
	})
}

func at(t *time.Time) string {
	if t == nil {
		return "never"
	}
	return t.UTC().Format("2006-01-02 15:04:05")
}

// orDash returns a dash for an empty text.
func orDash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}
