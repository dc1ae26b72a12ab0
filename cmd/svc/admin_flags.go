package main

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/svc-observability/svc/server/store"
)

// Flags of admin commands check the form of their values while they are parsed. So an error names the flag, and comes before
// anything is opened. The store checks everything beyond the form.

// signalsFlag adds --signals.
func signalsFlag(cmd *cobra.Command, to *[]string, usage string) {
	cmd.Flags().Func("signals", usage, func(text string) error {
		*to = nil
		for _, s := range strings.Split(text, ",") {
			if s = strings.TrimSpace(s); s != "" {
				*to = append(*to, s)
			}
		}
		return nil
	})
}

// rateFlag adds --rate-limit.
func rateFlag(cmd *cobra.Command, to **float64) {
	cmd.Flags().Func("rate-limit", "requests per second over all ingest servers, or 'none'", func(text string) error {
		if *to = nil; text == "none" {
			return nil
		}
		v, err := strconv.ParseFloat(text, 64)
		if err != nil || !(v > 0) || math.IsInf(v, 1) {
			return errors.New("give a number greater than 0, or 'none'")
		}
		*to = &v
		return nil
	})
}

// attributeFlags adds --attribute and --attribute-if-missing, which both extend one list.
func attributeFlags(cmd *cobra.Command, to *[]store.ResourceAttribute) {
	add := func(mode store.AttributeMode) func(string) error {
		return func(text string) error {
			key, value, ok := strings.Cut(text, "=")
			if !ok || strings.TrimSpace(key) == "" {
				return errors.New("give KEY=VALUE")
			}
			*to = append(*to, store.ResourceAttribute{Key: strings.TrimSpace(key), Value: value, Mode: mode})
			return nil
		}
	}
	cmd.Flags().Func(
		"attribute",
		"KEY=VALUE to write on every resource in place of the sender's value (repeatable)",
		add(store.AttributeAlwaysSet),
	)
	cmd.Flags().Func("attribute-if-missing", "KEY=VALUE to write on resources that lack the key (repeatable)", add(store.AttributeIfMissing))
}

// expiresFlag adds --expires.
func expiresFlag(cmd *cobra.Command, to **time.Time, now func() time.Time) {
	cmd.Flags().Func(
		"expires",
		"'never', a time from now such as 30d or 12h, or a date such as 2027-01-31 or 2027-01-31T12:00:00Z",
		func(text string) error {
			at, err := parseExpiry(text, now())
			if err != nil {
				return err
			}
			*to = at
			return nil
		},
	)
}

func parseExpiry(text string, now time.Time) (*time.Time, error) {
	if text == "never" {
		return nil, nil // no time is a valid value: the key does not expire
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		at, err = time.Parse(time.DateOnly, text)
	}
	if err != nil {
		var d time.Duration
		if days, ok := strings.CutSuffix(text, "d"); ok {
			var n int
			n, err = strconv.Atoi(days)
			d = time.Duration(n) * 24 * time.Hour
		} else {
			d, err = time.ParseDuration(text)
		}
		at = now.Add(d)
	}
	if err != nil {
		return nil, errors.New("give 'never', a time from now such as 30d or 12h, or a date such as 2027-01-31 or 2027-01-31T12:00:00Z")
	}
	if !at.After(now) {
		return nil, fmt.Errorf("%s is in the past", at.UTC().Format(time.RFC3339))
	}
	at = at.UTC()
	return &at, nil
}

// limitFlag adds --limit.
func limitFlag(cmd *cobra.Command, to *[]store.PlanLimit) {
	cmd.Flags().Func(
		"limit",
		"SIGNAL.items=COUNT or SIGNAL.bytes=SIZE for a calendar month, as in traces.items=1000000 or logs.bytes=10GB (repeatable)",
		func(text string) error {
			what, amount, ok := strings.Cut(text, "=")
			signal, unit, dotted := strings.Cut(what, ".")
			if !ok || !dotted || unit != "items" && unit != "bytes" {
				return errors.New("give SIGNAL.items=COUNT or SIGNAL.bytes=SIZE, as in traces.items=1000000 or logs.bytes=10GB")
			}
			n, err := parseAmount(amount, unit == "bytes")
			if err != nil {
				return err
			}
			at := -1
			for i, l := range *to {
				if l.Signal == signal {
					at = i
				}
			}
			if at < 0 {
				at = len(*to)
				*to = append(*to, store.PlanLimit{Signal: signal})
			}
			if unit == "items" {
				(*to)[at].Items = &n
			} else {
				(*to)[at].Bytes = &n
			}
			return nil
		},
	)
}

// parseAmount reads a whole number with a decimal (k, M, G, T) or binary (Ki …) suffix. An amount of bytes may end in B.
func parseAmount(text string, bytes bool) (int64, error) {
	bad := fmt.Errorf("%q is not an amount: give a number such as 1000000 or 10M", text)
	if bytes {
		bad = fmt.Errorf("%q is not a size: give a number such as 1000000, 10GB or 10GiB", text)
	}
	number := strings.TrimRight(text, "kKMGTiB")
	suffix := strings.ToUpper(text[len(number):])
	if bytes {
		suffix = strings.TrimSuffix(suffix, "B")
	}
	base := int64(1000)
	if s, binary := strings.CutSuffix(suffix, "I"); binary {
		suffix, base = s, 1024
	}
	power := strings.Index("KMGT", suffix) + 1
	if suffix == "" {
		power = 0
		if base == 1024 {
			return 0, bad
		}
	}
	if len(suffix) > 1 || suffix != "" && power == 0 {
		return 0, bad
	}
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil || n < 0 {
		return 0, bad
	}
	for range power {
		if n > math.MaxInt64/base {
			return 0, bad
		}
		n *= base
	}
	return n, nil
}

// monthFlag adds --month.
func monthFlag(cmd *cobra.Command, to *time.Time, now func() time.Time) {
	*to = now().UTC()
	cmd.Flags().Func("month", "calendar month (UTC), as in 2026-11 (default: this month)", func(text string) error {
		t, err := time.Parse("2006-01", text)
		if err != nil {
			return errors.New("give a month such as 2026-11")
		}
		*to = t
		return nil
	})
}

// oneOfFlag adds a flag that accepts only the given values.
func oneOfFlag[T ~string](cmd *cobra.Command, name string, to *T, usage string, values ...T) {
	cmd.Flags().Func(name, usage, func(text string) error {
		for _, v := range values {
			if text == string(v) {
				*to = v
				return nil
			}
		}
		return fmt.Errorf("use one of %s", join(values))
	})
}

func join[T ~string](values []T) string {
	parts := make([]string, len(values))
	for i, v := range values {
		parts[i] = string(v)
	}
	return strings.Join(parts, ", ")
}
