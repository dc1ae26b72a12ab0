package config

import (
	"errors"
	"fmt"
	"net"
	"slices"
)

// assign parses every key into its field and checks it on its own.
func (c *Config) assign() error {
	var problems []error
	for _, key := range Keys() {
		r := c.resolved[key.Name]
		if why := key.check(c, r.text); why != nil {
			problems = append(problems, badValue(key, r, why.Error()))
		}
	}
	return errors.Join(problems...)
}

func (k Key) check(c *Config, text string) error {
	if text == "" && k.Default != "" {
		return errors.New("it is empty")
	}
	switch k.Kind {
	case KindAddress:
		if err := checkAddress(text); err != nil {
			return err
		}
	case KindName:
		if !regionPattern.MatchString(text) {
			return errors.New("not a name")
		}
	case KindChoice:
		if !slices.Contains(k.Choices, text) {
			return errors.New("not a choice")
		}
	case KindSize, KindCount:
		return k.checkNumber(c, text)
	}
	return k.assign(c, text)
}

func (k Key) checkNumber(c *Config, text string) error {
	if err := k.assign(c, text); err != nil {
		return err
	}
	n, err := ParseSize(text) // reads counts too
	if err != nil {
		return err
	}
	if int64(n) < k.Min {
		return errors.New("too small")
	}
	return nil
}

// validate checks the keys against each other.
func (c *Config) validate() error {
	var problems []error
	addresses := []struct{ name, value string }{
		{"api-addr", c.APIAddr}, {"ingest-addr", c.IngestAddr}, {"otlp-grpc-addr", c.OTLPGRPCAddr},
	}
	for i, a := range addresses {
		for _, b := range addresses[:i] {
			if _, port, _ := net.SplitHostPort(a.value); a.value == b.value && port != "0" {
				problems = append(
					problems,
					c.Invalid(a.name, fmt.Sprintf("%q is also the value of %s; every listener needs its own address", a.value, b.name)),
				)
			}
		}
	}
	l := c.Limits
	if l.QueueSegmentBytes > l.QueueMaxBytes {
		problems = append(
			problems,
			c.Invalid("queue-segment-bytes", fmt.Sprintf("%s is more than queue-max-bytes (%s)", l.QueueSegmentBytes, l.QueueMaxBytes)),
		)
	}
	if l.QueueMaxBytesPerOrg > l.QueueMaxBytes {
		problems = append(
			problems,
			c.Invalid("queue-max-bytes-per-org", fmt.Sprintf("%s is more than queue-max-bytes (%s)", l.QueueMaxBytesPerOrg, l.QueueMaxBytes)),
		)
	}
	if l.IngestMaxBodyBytes > l.IngestMaxDecompressedBytes {
		problems = append(
			problems,
			c.Invalid(
				"ingest-max-body-bytes",
				fmt.Sprintf("%s is more than ingest-max-decompressed-bytes (%s)", l.IngestMaxBodyBytes, l.IngestMaxDecompressedBytes),
			),
		)
	}
	return errors.Join(slices.Concat(problems, c.validateOIDC(), c.validateIntegrations())...)
}

// validateOIDC finds settings that have no effect without another one.
func (c *Config) validateOIDC() (problems []error) {
	o := c.OIDC
	needs := func(name string, set bool, other string, otherSet bool) {
		if set && !otherSet {
			problems = append(problems, c.Invalid(name, "it needs "+other+" too"))
		}
	}
	needs("oidc-issuer", o.Issuer != "", "oidc-client-id", o.ClientID != "")
	needs("oidc-client-id", o.ClientID != "", "oidc-issuer", o.Issuer != "")
	needs("oidc-client-secret", o.ClientSecret != "", "oidc-client-id", o.ClientID != "")
	needs("oidc-join-organization", o.JoinOrganization != "", "oidc-join-domains", len(o.JoinDomains) > 0)
	needs("oidc-join-domains", len(o.JoinDomains) > 0, "oidc-join-organization", o.JoinOrganization != "")
	needs("oidc-join-organization", o.JoinOrganization != "", "oidc-issuer", o.Issuer != "")
	if !slices.Contains(o.Scopes, "openid") {
		problems = append(problems, c.Invalid("oidc-scopes", "openid is missing"))
	}
	return problems
}

// Invalid is the error for a value that only its user can judge: it names the key and where the value came from.
func (c Config) Invalid(name, reason string) *Error {
	return &Error{Key: name, Source: c.resolved[name].source, Reason: reason}
}
