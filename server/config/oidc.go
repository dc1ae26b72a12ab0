package config

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"regexp"
	"strings"
)

// issuer reads the URL of a provider without changing it, because it must equal the issuer in the provider's metadata character
// by character.
func issuer(field func(*Config) *string) func(*Config, string) error {
	return func(c *Config, s string) error {
		*field(c) = s
		if s == "" {
			return nil
		}
		u, err := url.Parse(s)
		switch {
		case err != nil || u.Host == "":
			return errors.New("not a URL")
		case u.Scheme != "https" && (u.Scheme != "http" || !loopback(u.Hostname())):
			return errors.New("the scheme must be https; http is allowed only for this machine")
		case u.User != nil || u.RawQuery != "" || u.Fragment != "":
			return errors.New("remove the user, the query and the fragment")
		}
		return nil
	}
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// secret reads a text that is not printed.
func secret(field func(*Config) *Secret) func(*Config, string) error {
	return func(c *Config, s string) error {
		if s == hidden {
			return errors.New("it is the *** that `svc config print` writes in place of a secret")
		}
		*field(c) = Secret(s)
		return nil
	}
}

// words reads a list between commas or spaces.
func words(field func(*Config) *[]string) func(*Config, string) error {
	return func(c *Config, s string) error {
		*field(c) = nil
		for word := range strings.FieldsFuncSeq(s, func(r rune) bool { return r == ',' || r == ' ' }) {
			*field(c) = append(*field(c), word)
		}
		return nil
	}
}

var domainPattern = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$`)

func domains(field func(*Config) *[]string) func(*Config, string) error {
	return func(c *Config, s string) error {
		if err := words(field)(c, strings.ToLower(s)); err != nil {
			return err
		}
		for _, d := range *field(c) {
			if !domainPattern.MatchString(d) {
				return fmt.Errorf("%q is not a domain", d)
			}
		}
		return nil
	}
}
