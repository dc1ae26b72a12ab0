package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/google/uuid"
	"github.com/spf13/cobra"
	"google.golang.org/protobuf/proto"

	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/store"
	"github.com/svc-observability/svc/server/wirejson"
)

// resource is a resource of the API that admin commands handle. Its JSON output is the same as in the API.
type resource[T any] struct {
	// prefix is the prefix of its ids. noun is its name in sentences.
	prefix, noun string
	toProto      func(T) proto.Message
	// columns are the titles of its table. cells returns the values of one line.
	columns []any
	cells   func(T) []any
}

// argument checks that the only argument is an id of the resource.
func (r resource[T]) argument() cobra.PositionalArgs { return idArgument(r.prefix, article(r.noun)) }

// article returns a noun with its indefinite article.
func article(noun string) string {
	if strings.ContainsRune("aeiou", rune(noun[0])) {
		return "an " + noun
	}
	return "a " + noun
}

// show prints one resource.
func (r resource[T]) show(s *session, one T) error {
	return s.print(r.toProto(one), func(w io.Writer) { r.table(w, one) })
}

func (r resource[T]) table(w io.Writer, list ...T) {
	row(w, r.columns...)
	for _, one := range list {
		row(w, r.cells(one)...)
	}
}

// list returns the command that lists the resources of an organization.
func (r resource[T]) list(c *cli, short string, read func(*session, context.Context, principal.OrgID) ([]T, error)) *cobra.Command {
	return c.onOrg(&cobra.Command{Use: "list", Short: short}, func(ctx context.Context, s *session, _ []string) error {
		list, err := read(s, ctx, s.org.ID)
		if err != nil {
			return err
		}
		if len(list) == 0 {
			s.none(r.noun)
		}
		out := make([]proto.Message, len(list))
		for i, one := range list {
			out[i] = r.toProto(one)
		}
		return s.print(out, func(w io.Writer) { r.table(w, list...) })
	})
}

// remove returns the command that deletes one resource.
func (r resource[T]) remove(c *cli, short string, remove func(*session, context.Context, principal.OrgID, uuid.UUID) error) *cobra.Command {
	return c.onOrg(
		&cobra.Command{Use: "delete ID", Short: short, Args: r.argument()},
		func(ctx context.Context, s *session, list []string) error {
			if err := remove(s, ctx, s.org.ID, decodeID(r.prefix, list[0])); err != nil {
				return s.missing(err, r.noun, list[0])
			}
			return s.printDeleted(list[0])
		},
	)
}

// textFlag adds a flag that sets a text field. With choices, it accepts only these values.
func textFlag[T ~string](cmd *cobra.Command, name string, to *store.Patch[T], usage string, choices ...T) {
	cmd.Flags().Func(name, usage, func(text string) error {
		if len(choices) > 0 && !slices.Contains(choices, T(text)) {
			return fmt.Errorf("use one of %s", join(choices))
		}
		*to = store.Set(T(text))
		return nil
	})
}

// messageJSON encodes a message as the API shows it, with additional members at the end, given as names and values.
func messageJSON(m proto.Message, more ...any) (json.RawMessage, error) {
	out, err := wirejson.Marshal(m)
	if err != nil {
		return nil, err
	}
	for i := 0; i+1 < len(more); i += 2 {
		member, err := json.Marshal(map[string]any{fmt.Sprint(more[i]): more[i+1]})
		if err != nil {
			return nil, err
		}
		out = append(append(bytes.TrimSuffix(out, []byte("}")), ','), member[1:]...)
	}
	return out, nil
}
