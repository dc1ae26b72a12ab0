package main

import (
	"errors"
	"fmt"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/svc-observability/svc/server/installation"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/store"
)

// listedOrganization is one line of the output of admin org list.
type listedOrganization struct {
	OrgID     principal.OrgID `json:"org_id"`
	Name      string          `json:"name"`
	Slug      string          `json:"slug"`
	CreatedAt *time.Time      `json:"created_at,omitempty"`
	// DeletedAt and DeletedBy describe a deletion. Deletions before migration 0006 of the database have no name and no actor.
	DeletedAt *time.Time        `json:"deleted_at,omitempty"`
	DeletedBy *store.AuditActor `json:"deleted_by,omitempty"`
}

func (c *cli) adminOrgList() *cobra.Command {
	var deleted, asJSON bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the organizations, or the deleted ones with the person that deleted each",
		Long: `List the organizations, or the deleted ones with the person that deleted each.

Deleting an organization deletes its audit log. This list keeps the person, the time, the address and the request of the deletion.`,
		Example: `  svc admin org list --json
  svc admin org list --deleted`,
		Args: args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			cfg, err := c.load(cmd)
			if err != nil {
				return err
			}
			s, err := installation.OpenDatabase(cmd.Context(), cfg)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, s.Close()) }()
			all := []listedOrganization{}
			if deleted {
				rows, err := s.ListTombstones(cmd.Context())
				if err != nil {
					return err
				}
				for _, r := range rows {
					all = append(all, listedOrganization{OrgID: r.Org, Name: r.Name, Slug: r.Slug, DeletedAt: &r.DeletedAt, DeletedBy: r.By})
				}
			} else {
				rows, err := s.ListOrganizations(cmd.Context())
				if err != nil {
					return err
				}
				for _, r := range rows {
					all = append(all, listedOrganization{OrgID: r.ID, Name: r.Name, Slug: r.Slug, CreatedAt: &r.CreatedAt})
				}
			}
			if asJSON {
				return c.printJSON(all)
			}
			return c.printOrganizations(all)
		},
	}
	settings(cmd, placeKeys()...)
	cmd.Flags().BoolVar(&deleted, "deleted", false, "list deleted organizations, the latest first")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func (c *cli) printOrganizations(all []listedOrganization) error {
	w := tabwriter.NewWriter(c.stdout, 0, 0, 2, ' ', 0)
	for _, o := range all {
		if o.DeletedAt == nil {
			fmt.Fprintf(w, "%s\t%s\t%s\tcreated %s\n", o.OrgID, o.Slug, o.Name, o.CreatedAt.Format(time.RFC3339))
			continue
		}
		by := "by an earlier version"
		if a := o.DeletedBy; a != nil {
			by = fmt.Sprintf("by %s %s %s, from %s", a.Type, a.ID, a.Name, a.OriginIP)
			if a.Type == store.ActorSystem {
				by = "by the owner of the data folder"
			}
		}
		fmt.Fprintf(w, "%s\t%s\t%s\tdeleted %s\t%s\n", o.OrgID, o.Slug, o.Name, o.DeletedAt.Format(time.RFC3339), by)
	}
	return w.Flush()
}
