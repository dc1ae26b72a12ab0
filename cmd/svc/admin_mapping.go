package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/proto"

	"github.com/svc-observability/svc/server/publicid"
	"github.com/svc-observability/svc/server/services/attributemappings"
	"github.com/svc-observability/svc/server/store"
)

func mappings() resource[store.AttributeMapping] {
	return resource[store.AttributeMapping]{
		prefix: publicid.AttributeMapping, noun: "attribute mapping",
		toProto: func(m store.AttributeMapping) proto.Message { return attributemappings.ToProto(m) },
		columns: []any{"ID", "NAME", "OPERATION", "FROM", "SOURCE KEY", "TARGET KEY", "ENABLED"},
		cells: func(m store.AttributeMapping) []any {
			return []any{publicid.Encode(publicid.AttributeMapping, m.ID), m.Name, m.Operation, m.SourceContext, m.SourceKey, m.TargetKey, m.Enabled}
		},
	}
}

func (c *cli) adminMapping() *cobra.Command {
	cmd := group("mapping", "Attribute mappings, which copy or move attributes of spans during ingest")
	cmd.AddCommand(
		mappings().list(
			c,
			"List the mappings in the order in which they run",
			(*session).ListAttributeMappings,
		),
		c.mappingCreate(),
		c.mappingEdit(),
		mappings().remove(c, "Delete a mapping; spans that it has changed stay as they are", (*session).DeleteAttributeMapping),
	)
	return cmd
}

func mappingFlags(cmd *cobra.Command, edit *store.AttributeMappingEdit) {
	textFlag(cmd, "source-context", &edit.SourceContext, "where the source is: span or resource", store.AttributeMappingSourceContexts()...)
	textFlag(cmd, "source-key", &edit.SourceKey, "attribute to read")
	textFlag(cmd, "target-key", &edit.TargetKey, "attribute of the span to write; an attribute that exists is kept")
	textFlag(
		cmd,
		"operation",
		&edit.Operation,
		"copy, or move, which removes a source that is an attribute of the span",
		store.AttributeMappingOperations()...)
}

func (c *cli) mappingCreate() *cobra.Command {
	edit := store.AttributeMappingEdit{
		SourceContext: store.Set(store.AttributeMappingSourceContextSpan), Operation: store.Set(store.AttributeMappingOperationCopy),
	}
	var disabled bool
	cmd := &cobra.Command{
		Use: "create NAME --source-key KEY --target-key KEY", Short: "Create a mapping, which runs after those that exist", Args: nameArgument(),
		Example: "  svc admin mapping create route --source-key http.target --target-key http.route --operation move",
	}
	mappingFlags(cmd, &edit)
	cmd.Flags().BoolVar(&disabled, "disabled", false, "create it disabled")
	return c.onOrg(cmd, func(ctx context.Context, s *session, list []string) error {
		m, err := s.CreateAttributeMapping(ctx, s.org.ID, store.NewAttributeMapping{
			Name: list[0], SourceContext: edit.SourceContext.Value, SourceKey: edit.SourceKey.Value, TargetKey: edit.TargetKey.Value,
			Operation: edit.Operation.Value, Enabled: new(!disabled),
		})
		if err != nil {
			return err
		}
		return mappings().show(s, m)
	})
}

func (c *cli) mappingEdit() *cobra.Command {
	var edit store.AttributeMappingEdit
	var enable, disable bool
	cmd := &cobra.Command{
		Use: "edit ID", Short: "Change a mapping; settings without a flag stay", Args: mappings().argument(),
		Example: "  svc admin mapping edit amap_… --disable",
	}
	textFlag(cmd, "name", &edit.Name, "new name")
	mappingFlags(cmd, &edit)
	cmd.Flags().BoolVar(&enable, "enable", false, "run it")
	cmd.Flags().BoolVar(&disable, "disable", false, "disable it")
	return c.onOrg(cmd, func(ctx context.Context, s *session, list []string) error {
		if enable && disable {
			return &usageError{errors.New("--enable and --disable exclude each other")}
		}
		edit.Enabled = store.Patch[bool]{Set: enable || disable, Value: enable}
		m, err := s.EditAttributeMapping(ctx, s.org.ID, decodeID(publicid.AttributeMapping, list[0]), edit)
		if err != nil {
			return s.missing(err, "attribute mapping", list[0])
		}
		return mappings().show(s, m)
	})
}
