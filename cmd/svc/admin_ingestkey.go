package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/svc-observability/svc/server/auth"
	"github.com/svc-observability/svc/server/publicid"
	"github.com/svc-observability/svc/server/services/ingestkeys"
	"github.com/svc-observability/svc/server/store"
)

func (c *cli) adminIngestKey() *cobra.Command {
	cmd := group("ingest-key", "Ingest keys of an organization: the default pair and custom keys")
	cmd.Long = cmd.Short + `.

Changes reach a running server within a second. Secrets are printed once; only their hashes are stored.`
	cmd.AddCommand(
		c.ingestKeyList(),
		c.ingestKeyCreate(),
		c.ingestKeyShow(),
		c.ingestKeyEdit(),
		c.ingestKeyEnable(true),
		c.ingestKeyEnable(false),
		c.ingestKeyRoll(),
		c.ingestKeyRollDefault(),
		c.ingestKeyDelete(),
	)
	return cmd
}

// keyJSON is a key as the API shows it, with its kind and, after create and roll, its secret.
func keyJSON(k store.IngestKey, secret string) (json.RawMessage, error) {
	more := []any{"kind", k.Kind}
	if secret != "" {
		more = append(more, "secret", secret)
	}
	return messageJSON(ingestkeys.ToProto(k), more...)
}

func nullable(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

func keyStatus(k store.IngestKey) string {
	switch {
	case k.DisabledAt != nil:
		return "disabled"
	case k.ExpiresAt != nil && !time.Now().Before(*k.ExpiresAt):
		return "expired"
	}
	return "active"
}

func keyRate(k store.IngestKey) string {
	if k.RateLimit == nil {
		return "none"
	}
	return strconv.FormatFloat(*k.RateLimit, 'f', -1, 64)
}

// printIngestKey shows one key with all its settings.
func (s *session) printIngestKey(k store.IngestKey, secret string) error {
	v, err := keyJSON(k, secret)
	if err != nil {
		return err
	}
	return s.print(v, func(w io.Writer) {
		row(w, "Id", publicid.Encode(publicid.IngestKey, k.ID))
		row(w, "Kind", k.Kind)
		row(w, "Name", k.Name)
		if k.Description != nil {
			row(w, "Description", strings.ReplaceAll(*k.Description, "\n", " "))
		}
		row(w, "Key", k.KeyPrefix)
		row(w, "Status", keyStatus(k))
		signals := k.Signals
		if signals == nil {
			signals = store.Signals()
		}
		row(w, "Signals", strings.Join(signals, ", "))
		row(w, "Requests/s", keyRate(k))
		for i, a := range k.ResourceAttributes {
			label := "Attributes"
			if i > 0 {
				label = ""
			}
			row(w, label, fmt.Sprintf("%s=%s (%s)", a.Key, a.Value, strings.ReplaceAll(string(a.Mode), "_", " ")))
		}
		row(w, "Expires", at(k.ExpiresAt))
		row(w, "Last used", at(k.LastUsedAt))
		row(w, "Rotated", at(k.RotatedAt))
		row(w, "Created", at(&k.CreatedAt))
		if secret != "" {
			row(w, "Secret", secret+"  (shown only this once)")
		}
	})
}

func (c *cli) ingestKeyList() *cobra.Command {
	return c.onOrg(&cobra.Command{Use: "list", Short: "List the keys, newest first", Example: "  svc admin ingest-key list --json"},
		func(ctx context.Context, s *session, _ []string) error {
			keys, err := s.ListIngestKeys(ctx, s.org.ID)
			if err != nil {
				return err
			}
			if len(keys) == 0 {
				s.none("ingest key")
			}
			out := make([]json.RawMessage, len(keys))
			for i, k := range keys {
				if out[i], err = keyJSON(k, ""); err != nil {
					return err
				}
			}
			return s.print(out, func(w io.Writer) {
				row(w, "ID", "KIND", "NAME", "KEY", "STATUS", "SIGNALS", "REQUESTS/S", "EXPIRES", "LAST USED")
				for _, k := range keys {
					signals := strings.Join(k.Signals, ",")
					if k.Signals == nil {
						signals = "all"
					}
					row(
						w,
						publicid.Encode(publicid.IngestKey, k.ID),
						k.Kind,
						k.Name,
						k.KeyPrefix,
						keyStatus(k),
						signals,
						keyRate(k),
						at(k.ExpiresAt),
						at(k.LastUsedAt),
					)
				}
			})
		})
}

func (c *cli) ingestKeyCreate() *cobra.Command {
	var in store.NewIngestKey
	var description string
	cmd := &cobra.Command{
		Use: "create NAME", Short: "Create a custom key and print its secret once", Args: nameArgument(),
		Example: "  svc admin ingest-key create edge --signals traces,logs --rate-limit 200 --attribute team=edge --expires 90d",
	}
	signalsFlag(cmd, &in.Signals, "signals that the key may send, of "+strings.Join(store.Signals(), ", ")+" (required)")
	rateFlag(cmd, &in.RateLimit)
	attributeFlags(cmd, &in.ResourceAttributes)
	expiresFlag(cmd, &in.ExpiresAt, time.Now)
	cmd.Flags().StringVar(&description, "description", "", "purpose of the key")
	cmd.Flags().BoolVar(&in.Disabled, "disabled", false, "create it disabled")
	return c.onOrg(cmd, func(ctx context.Context, s *session, list []string) error {
		in.Name, in.Description = list[0], nullable(description)
		text, secret, err := s.secret(auth.PrefixCustomKey)
		if err != nil {
			return err
		}
		in.Secret = secret
		key, err := s.CreateIngestKey(ctx, s.org.ID, in)
		if err != nil {
			return err
		}
		return s.printIngestKey(key, text)
	})
}

func (c *cli) ingestKeyShow() *cobra.Command {
	return c.onOrg(
		&cobra.Command{
			Use:     "show ID",
			Aliases: []string{"get"},
			Short:   "Show a key with all its settings",
			Args:    idArgument(publicid.IngestKey, "an ingest key"),
		},
		func(ctx context.Context, s *session, list []string) error {
			key, err := s.GetIngestKey(ctx, s.org.ID, decodeID(publicid.IngestKey, list[0]))
			if err != nil {
				return s.missing(err, "ingest key", list[0])
			}
			return s.printIngestKey(key, "")
		},
	)
}

func (c *cli) ingestKeyEdit() *cobra.Command {
	var in store.NewIngestKey
	var description string
	var noAttributes bool
	cmd := &cobra.Command{
		Use:     "edit ID",
		Short:   "Change settings of a custom key; settings without a flag stay",
		Args:    idArgument(publicid.IngestKey, "an ingest key"),
		Example: "  svc admin ingest-key edit ingk_… --signals traces --rate-limit none --expires never",
	}
	cmd.Flags().StringVar(&in.Name, "name", "", "new name")
	cmd.Flags().StringVar(&description, "description", "", "new description; empty removes it")
	signalsFlag(cmd, &in.Signals, "new list of signals that the key may send, of "+strings.Join(store.Signals(), ", "))
	rateFlag(cmd, &in.RateLimit)
	attributeFlags(cmd, &in.ResourceAttributes)
	cmd.Flags().BoolVar(&noAttributes, "no-attributes", false, "write no attributes")
	expiresFlag(cmd, &in.ExpiresAt, time.Now)
	return c.onOrg(cmd, func(ctx context.Context, s *session, list []string) error {
		changed := cmd.Flags().Changed
		var edit store.IngestKeyEdit
		if changed("name") {
			edit.Name = store.Set(in.Name)
		}
		if changed("description") {
			edit.Description = store.Set(nullable(description))
		}
		if changed("signals") {
			edit.Signals = store.Set(in.Signals)
		}
		if changed("rate-limit") {
			edit.RateLimit = store.Set(in.RateLimit)
		}
		if len(in.ResourceAttributes) > 0 || noAttributes {
			if len(in.ResourceAttributes) > 0 && noAttributes {
				return &usageError{errors.New("--no-attributes and --attribute exclude each other")}
			}
			edit.ResourceAttributes = store.Set(in.ResourceAttributes)
		}
		if changed("expires") {
			edit.ExpiresAt = store.Set(in.ExpiresAt)
		}
		return s.editIngestKey(ctx, list[0], edit)
	})
}

func (c *cli) ingestKeyEnable(enabled bool) *cobra.Command {
	use, short := "disable", "Refuse a custom key until it is enabled again"
	if enabled {
		use, short = "enable", "Accept a disabled custom key again"
	}
	return c.onOrg(&cobra.Command{Use: use + " ID", Short: short, Args: idArgument(publicid.IngestKey, "an ingest key")},
		func(ctx context.Context, s *session, list []string) error {
			return s.editIngestKey(ctx, list[0], store.IngestKeyEdit{Enabled: store.Set(enabled)})
		})
}

func (s *session) editIngestKey(ctx context.Context, id string, edit store.IngestKeyEdit) error {
	key, err := s.EditIngestKey(ctx, s.org.ID, decodeID(publicid.IngestKey, id), edit)
	if err != nil {
		return s.missing(err, "custom ingest key", id)
	}
	return s.printIngestKey(key, "")
}

func (c *cli) ingestKeyRoll() *cobra.Command {
	return c.onOrg(&cobra.Command{
		Use: "roll ID", Short: "Give a custom key a new secret, print it once, and refuse the old one",
		Args: idArgument(publicid.IngestKey, "an ingest key"),
	}, func(ctx context.Context, s *session, list []string) error {
		text, secret, err := s.secret(auth.PrefixCustomKey)
		if err != nil {
			return err
		}
		key, err := s.RollIngestKey(ctx, s.org.ID, decodeID(publicid.IngestKey, list[0]), secret)
		if err != nil {
			return s.missing(err, "custom ingest key", list[0])
		}
		return s.printIngestKey(key, text)
	})
}

func (c *cli) ingestKeyRollDefault() *cobra.Command {
	return c.onOrg(&cobra.Command{
		Use: "roll-default public|private", Short: "Give a default key a new secret, print it once, and refuse the old one",
		Args: args(func(_ *cobra.Command, list []string) error {
			if len(list) != 1 || list[0] != string(store.IngestKeyPublic) && list[0] != string(store.IngestKeyPrivate) {
				return errors.New("name the key: public or private")
			}
			return nil
		}),
	}, func(ctx context.Context, s *session, list []string) error {
		prefix := auth.PrefixPublicKey
		if list[0] == string(store.IngestKeyPrivate) {
			prefix = auth.PrefixPrivateKey
		}
		text, secret, err := s.secret(prefix)
		if err != nil {
			return err
		}
		key, err := s.RollDefaultIngestKey(ctx, s.org.ID, store.IngestKeyKind(list[0]), secret)
		if err != nil {
			return s.missing(err, list[0], "ingest key")
		}
		return s.printIngestKey(key, text)
	})
}

func (c *cli) ingestKeyDelete() *cobra.Command {
	return c.onOrg(&cobra.Command{
		Use: "delete ID", Short: "Delete a custom key; its telemetry stays", Args: idArgument(publicid.IngestKey, "an ingest key"),
	}, func(ctx context.Context, s *session, list []string) error {
		if err := s.DeleteIngestKey(ctx, s.org.ID, decodeID(publicid.IngestKey, list[0])); err != nil {
			return s.missing(err, "custom ingest key", list[0])
		}
		return s.printDeleted(list[0])
	})
}
