package config

import (
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/svc-observability/svc/server/multihost"
)

const hidden = "***"

// Secret is a value that prints as *** wherever it is formatted, logged or marshalled.
type Secret string

// Reveal returns the value itself.
func (s Secret) Reveal() string { return string(s) }

func (s Secret) String() string {
	if s == "" {
		return ""
	}
	return hidden
}

// GoString keeps the value out of %#v.
func (s Secret) GoString() string { return strconv.Quote(s.String()) }

// MarshalText keeps the value out of JSON and YAML.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// LogValue keeps the value out of logs.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

// DSN is the URL of a server; its password prints as ***.
type DSN string

// Reveal returns the URL with its password.
func (d DSN) Reveal() string { return string(d) }

func (d DSN) String() string {
	if d == "" {
		return ""
	}
	u, _, err := multihost.Parse(string(d))
	if err != nil {
		return hidden
	}
	// ClickHouse and PostgreSQL also take passwords as parameters: password, sslpassword, sql_password.
	for name := range u.Query() {
		if strings.Contains(name, "password") {
			u.RawQuery = hidden
			break
		}
	}
	if _, has := u.User.Password(); has {
		u.User = url.User(u.User.Username())
		return strings.Replace(u.String(), "@", ":"+hidden+"@", 1)
	}
	return u.String()
}

// GoString keeps the password out of %#v.
func (d DSN) GoString() string { return strconv.Quote(d.String()) }

// MarshalText keeps the password out of JSON and YAML.
func (d DSN) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// LogValue keeps the password out of logs.
func (d DSN) LogValue() slog.Value { return slog.StringValue(d.String()) }

// Size is a number of bytes.
type Size int64

var sizeUnits = []struct {
	suffix string
	bytes  int64
}{
	{"TiB", 1 << 40},
	{"GiB", 1 << 30},
	{"MiB", 1 << 20},
	{"KiB", 1 << 10},
	{"TB", 1e12},
	{"GB", 1e9},
	{"MB", 1e6},
	{"KB", 1e3},
	{"kB", 1e3},
	{"B", 1},
}

// String prints the largest binary unit that divides the size, so that ParseSize reads it back.
func (s Size) String() string {
	for _, unit := range sizeUnits[:4] {
		if s != 0 && int64(s)%unit.bytes == 0 {
			return strconv.FormatInt(int64(s)/unit.bytes, 10) + unit.suffix
		}
	}
	return strconv.FormatInt(int64(s), 10)
}

// ParseSize reads "64MiB", "20 MB", "1.5GiB" or a plain number of bytes.
func ParseSize(text string) (Size, error) {
	number, factor := strings.TrimSpace(text), int64(1)
	for _, unit := range sizeUnits {
		if rest, ok := strings.CutSuffix(number, unit.suffix); ok {
			number, factor = strings.TrimSpace(rest), unit.bytes
			break
		}
	}
	if n, err := strconv.ParseInt(number, 10, 64); err == nil {
		if n < 0 || n > math.MaxInt64/factor {
			return 0, errors.New("out of range")
		}
		return Size(n * factor), nil
	}
	f, err := strconv.ParseFloat(number, 64)
	if err != nil || !(f >= 0) || f*float64(factor) >= math.MaxInt64 {
		return 0, errors.New("not a size")
	}
	return Size(f * float64(factor)), nil
}

// Roles are the tasks of a process, in the order api, ingest, worker.
type Roles []string

// Roles of a process.
const (
	RoleAPI    = "api"
	RoleIngest = "ingest"
	RoleWorker = "worker"
)

func allRoles() []string { return []string{RoleAPI, RoleIngest, RoleWorker} }

// Has reports whether the process has the role.
func (r Roles) Has(role string) bool { return slices.Contains(r, role) }

func (r Roles) String() string { return strings.Join(r, ",") }

func parseRoles(text string) (Roles, error) {
	wanted := map[string]bool{}
	for part := range strings.SplitSeq(text, ",") {
		part = strings.TrimSpace(part)
		if !slices.Contains(allRoles(), part) {
			return nil, fmt.Errorf("%q is not a role", part)
		}
		wanted[part] = true
	}
	var roles Roles
	for _, role := range allRoles() {
		if wanted[role] {
			roles = append(roles, role)
		}
	}
	return roles, nil
}

func parseSecretKey(text string) (Secret, error) {
	if text != "" && len(text) < 32 {
		return "", fmt.Errorf("it has %d characters", len(text))
	}
	return Secret(text), nil
}

// checkAddress takes host:port with a numeric port; an empty host means all interfaces.
func checkAddress(text string) error {
	host, port, err := net.SplitHostPort(text)
	if err != nil {
		return errors.New("it is not host:port")
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || strconv.FormatUint(n, 10) != port {
		return errors.New("the port is not a number from 0 to 65535")
	}
	if strings.ContainsAny(host, "/ \t@?#") {
		return errors.New("the host is neither a name nor an IP address")
	}
	return nil
}

func parseLink(text string) (string, error) {
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return "", errors.New("not a URL")
	case u.Scheme != "http" && u.Scheme != "https":
		return "", errors.New("the scheme is neither http nor https")
	case u.Host == "":
		return "", errors.New("the host is missing")
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return "", errors.New("remove the user, the query and the fragment")
	}
	return strings.TrimRight(text, "/"), nil
}

var regionPattern = regexp.MustCompile(`^[a-z][a-z0-9-]{0,31}$`)

// CheckRegion returns the reason why a text is not the name of a region.
func CheckRegion(text string) error {
	if !regionPattern.MatchString(text) {
		return fmt.Errorf("%q is not a region: give %s", text, Key{Kind: KindName, Default: "us"}.Allowed())
	}
	return nil
}

func text(field func(*Config) *string) func(*Config, string) error {
	return func(c *Config, s string) error { *field(c) = s; return nil }
}

func link(field func(*Config) *string) func(*Config, string) error {
	return func(c *Config, s string) error {
		if s == "" {
			return nil
		}
		u, err := parseLink(s)
		*field(c) = u
		return err
	}
}

func dsn(field func(*Config) *DSN, schemes ...string) func(*Config, string) error {
	return func(c *Config, s string) error {
		if s == "" {
			return nil
		}
		u, _, err := multihost.Parse(s)
		switch {
		case err != nil: // its text would repeat the password
			return errors.New("not a URL")
		case !slices.Contains(schemes, u.Scheme):
			return fmt.Errorf("the scheme %q is not one of %s", u.Scheme, strings.Join(schemes, ", "))
		case u.Host == "" && !u.Query().Has("host"): // PostgreSQL's unix sockets are named by a parameter
			return errors.New("the host is missing")
		}
		if password, _ := u.User.Password(); password == hidden {
			return errors.New("the password is the *** that `svc config print` writes in place of a password")
		}
		*field(c) = DSN(s)
		return nil
	}
}

func duration(field func(*Config) *time.Duration) func(*Config, string) error {
	return func(c *Config, s string) error {
		d, err := time.ParseDuration(s)
		if err != nil {
			return errors.New("not a duration")
		}
		if d <= 0 {
			return errors.New("not above zero")
		}
		*field(c) = d
		return nil
	}
}

func size(field func(*Config) *Size) func(*Config, string) error {
	return func(c *Config, s string) (err error) { *field(c), err = ParseSize(s); return err }
}

func count(field func(*Config) *int) func(*Config, string) error {
	return func(c *Config, s string) error {
		n, err := strconv.Atoi(s)
		if err != nil {
			return errors.New("not a whole number")
		}
		*field(c) = n
		return nil
	}
}

// parsePrefixes reads networks, or single addresses, between commas.
func parsePrefixes(s string) ([]netip.Prefix, error) {
	var all []netip.Prefix
	for part := range strings.SplitSeq(s, ",") {
		if part = strings.TrimSpace(part); part == "" {
			continue
		}
		prefix, err := netip.ParsePrefix(part)
		if err != nil {
			addr, addrErr := netip.ParseAddr(part)
			if addrErr != nil {
				return nil, fmt.Errorf("%q is neither a network, as in 10.0.0.0/8, nor an address", part)
			}
			prefix = netip.PrefixFrom(addr, addr.BitLen())
		}
		all = append(all, prefix.Masked())
	}
	return all, nil
}
