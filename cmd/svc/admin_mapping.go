package main

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/svc-observability/svc/server/publicid"
	"github.com/svc-observability/svc/server/store"
)

func (c *cli) adminMapping() *cobra.Command {
	cmd := group("mapping", "Attribute mappings, which copy or move attributes of spans while they are ingested")
	cmd.AddCommand(c.mappingList(), c.mappingCreate(), c.mappingEdit(), c.mappingDelete())
	return cmd
}

// mappingJSON is an attribute mapping by the names of the API.
type mappingJSON struct {
	Object        string                 `json:"object"`
	ID            string                 `json:"id"`
	Name          string                 `json:"name"`
	SourceContext store.MappingSource    `json:"source_context"`
	SourceKey     string                 `json:"source_key"`
	TargetKey     string                 `json:"target_key"`
	Operation     store.MappingOperation `json:"operation"`
	Enabled       bool                   `json:"enabled"`
	CreatedAt     time.Time              `json:"created_at"`
	UpdatedAt     time.Time              `json:"updated_at"`
}

func toMappingJSON(m store.AttributeMapping) mappingJSON {
	return mappingJSON{
		Object: "attribute_mapping", ID: publicid.Encode(publicid.AttributeMapping, m.ID), Name: m.Name, SourceContext: m.Source,
		SourceKey: m.SourceKey, TargetKey: m.TargetKey, Operation: m.Operation, Enabled: m.Enabled, CreatedAt: m.CreatedAt, UpdatedAt: m.UpdatedAt,
	}
}

func mappingTable(w io.Writer, list ...store.AttributeMapping) {
	row(w, "ID", "NAME", "OPERATION", "FROM", "SOURCE KEY", "TARGET KEY", "ENABLED")
	for _, m := range list {
		row(w, publicid.Encode(publicid.AttributeMapping, m.ID), m.Name, m.Operation, m.Source, m.SourceKey, m.TargetKey, m.Enabled)
	}
}

// mappingFlags adds the flags of a mapping.
func mappingFlags(cmd *cobra.Command, in *store.NewAttributeMapping) {
	oneOfFlag(cmd, "source-context", &in.Source, "where the source is: span or resource", store.MappingFromSpan, store.MappingFromResource)
	cmd.Flags().StringVar(&in.SourceKey, "source-key", "", "attribute to read")
	cmd.Flags().StringVar(&in.TargetKey, "target-key", "", "attribute of the span to write; one that exists is kept")
	oneOfFlag(cmd, "operation", &in.Operation, "copy, or move, which removes a source that is an attribute of the span", store.MappingCopy, store.MappingMove)
}

func (c *cli) mappingList() *cobra.Command {
	return c.onOrg(&cobra.Command{Use: "list", Short: "List the mappings in the order in which they run"},
		func(ctx context.Context, s *session, _ []string) error {
			list, err := s.ListAttributeMappings(ctx, s.org.ID)
			if err != nil {
				return err
			}
			if len(list) == 0 {
				s.none("attribute mapping")
			}
			out := make([]mappingJSON, len(list))
			for i, m := range list {
				out[i] = toMappingJSON(m)
			}
			return s.print(out, func(w io.Writer) { mappingTable(w, list...) })
		})
}

func (c *cli) mappingCreate() *cobra.Command {
	in := store.NewAttributeMapping{Source: store.MappingFromSpan, Operation: store.MappingCopy}
	cmd := &cobra.Command{
		Use: "create NAME --source-key KEY --target-key KEY", Short: "Create a mapping, which runs after those that exist", Args: nameArgument(),
		Example: "  svc admin mapping create route --source-key http.target --target-key http.route --operation move",
	}
	mappingFlags(cmd, &in)
	cmd.Flags().BoolVar(&in.Disabled, "disabled", false, "create it disabled")
	return c.onOrg(cmd, func(ctx context.Context, s *session, list []string) error {
		in.Name = list[0]
		m, err := s.CreateAttributeMapping(ctx, s.org.ID, in)
		if err != nil {
			return err
		}
		return s.print(toMappingJSON(m), func(w io.Writer) { mappingTable(w, m) })
	})
}

func (c *cli) mappingEdit() *cobra.Command {
	var in store.NewAttributeMapping
	var enable, disable bool
	cmd := &cobra.Command{
		Use: "edit ID", Short: "Change a mapping; what is not named stays", Args: idArgument(publicid.AttributeMapping, "an attribute mapping"),
		Example: "  svc admin mapping edit amap_… --disable",
	}
	cmd.Flags().StringVar(&in.Name, "name", "", "new name")
	mappingFlags(cmd, &in)
	cmd.Flags().BoolVar(&enable, "enable", false, "run it")
	cmd.Flags().BoolVar(&disable, "disable", false, "do not run it")
	return c.onOrg(cmd, func(ctx context.Context, s *session, list []string) error {
		if enable && disable {
			return &usageError{errors.New("--enable and --disable exclude each other")}
		}
		changed := cmd.Flags().Changed
		m, err := s.EditAttributeMapping(ctx, s.org.ID, decodeID(publicid.AttributeMapping, list[0]), store.AttributeMappingEdit{
			Name:      store.Patch[string]{Set: changed("name"), Value: in.Name},
			Source:    store.Patch[store.MappingSource]{Set: changed("source-context"), Value: in.Source},
			SourceKey: store.Patch[string]{Set: changed("source-key"), Value: in.SourceKey},
			TargetKey: store.Patch[string]{Set: changed("target-key"), Value: in.TargetKey},
			Operation: store.Patch[store.MappingOperation]{Set: changed("operation"), Value: in.Operation},
			Enabled:   store.Patch[bool]{Set: enable || disable, Value: enable},
		})
		if err != nil {
			return s.missing(err, "attribute mapping", list[0])
		}
		return s.print(toMappingJSON(m), func(w io.Writer) { mappingTable(w, m) })
	})
}

func (c *cli) mappingDelete() *cobra.Command {
	return c.onOrg(&cobra.Command{
		Use: "delete ID", Short: "Delete a mapping; spans that it has changed stay as they are", Args: idArgument(publicid.AttributeMapping, "an attribute mapping"),
	}, func(ctx context.Context, s *session, list []string) error {
		if err := s.DeleteAttributeMapping(ctx, s.org.ID, decodeID(publicid.AttributeMapping, list[0])); err != nil {
			return s.missing(err, "attribute mapping", list[0])
		}
		return s.printDeleted(list[0])
	})
}
