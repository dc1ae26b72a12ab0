package warehouse

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/svc-observability/svc/server/multihost"
	"github.com/svc-observability/svc/server/warehouse/chdb"
)

// endpoint is the address of ClickHouse.
type endpoint struct {
	base           url.URL  // scheme, host and port of the HTTP interface; the first of the hosts
	hosts          []string // all hosts with their ports; empty for the embedded engine
	socket         string   // of the embedded engine; empty for a server
	user, password string
	database       string
	cluster        string
	// quorum is the number of replicas of a shard that must have an insert before it is answered, or auto for most of them.
	quorum string
	// tenantRole is the role of the users that run the SQL of organizations on a server. Without it they cannot use SQL.
	tenantRole string
}

func (p endpoint) String() string {
	if p.socket != "" {
		return "embedded engine at " + p.socket
	}
	return fmt.Sprintf("ClickHouse at %s/%s", strings.Join(p.hosts, ","), p.database)
}

var namePattern = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

var quorumPattern = regexp.MustCompile(`^([0-9]{1,2}|auto)$`)

// ParseURL reads a warehouse URL: clickhouse://user:password@host:8123/database?cluster=name, or clickhouses://, http://, https://. A
// cluster may have several hosts: a:8123,b:8123. quorum is a number of replicas or auto, the default on a cluster. The parameters
// sql_role names the role for the SQL of organizations, see TenantGrants. The default port is 8123, or 8443 with TLS. The
// default database is `svc`. Errors never repeat the URL, which may hold a password.
func ParseURL(raw string) (endpoint, error) {
	u, hosts, err := multihost.Parse(raw)
	if err != nil {
		return endpoint{}, errors.New("warehouse URL: not a URL; write clickhouse://user:password@host:8123/database")
	}
	var p endpoint
	port := "8123"
	switch u.Scheme {
	case "clickhouse", "http":
		p.base.Scheme = "http"
	case "clickhouses", "https":
		p.base.Scheme, port = "https", "8443"
	default:
		return endpoint{}, fmt.Errorf("warehouse URL: unknown scheme %q; use clickhouse://, clickhouses://, http:// or https://", u.Scheme)
	}
	for _, h := range hosts {
		if h.Hostname() == "" {
			return endpoint{}, errors.New("warehouse URL: no host")
		}
		port := cmp.Or(h.Port(), port)
		if port == "9000" || port == "9440" {
			return endpoint{}, fmt.Errorf("warehouse URL: port %s is ClickHouse's native protocol; svc speaks ClickHouse's HTTP interface, "+
				"usually port 8123, or 8443 with TLS (clickhouses://)", port)
		}
		address := net.JoinHostPort(h.Hostname(), port)
		if slices.Contains(p.hosts, address) {
			return endpoint{}, fmt.Errorf("warehouse URL: the host %s is there twice", address)
		}
		p.hosts = append(p.hosts, address)
	}
	p.base.Host = p.hosts[0]
	if u.User != nil {
		p.user = u.User.Username()
		p.password, _ = u.User.Password()
	}
	p.database = strings.Trim(u.Path, "/")
	if p.database == "" {
		p.database = chdb.DefaultDatabase
	}
	if !namePattern.MatchString(p.database) {
		return endpoint{}, fmt.Errorf("warehouse URL: database %q: use letters, digits and underscores", p.database)
	}
	for name, values := range u.Query() {
		value := values[len(values)-1]
		switch name {
		case "cluster":
			p.cluster = value
		case "quorum":
			if !quorumPattern.MatchString(value) {
				return endpoint{}, fmt.Errorf("warehouse URL: quorum %q: use a number of replicas, or auto for most of them", value)
			}
			p.quorum = value
			continue
		case "sql_role":
			p.tenantRole = value
		case "sql_user", "sql_password":
			return endpoint{}, fmt.Errorf("warehouse URL: %s is gone, because each organization has a user of its own now; use sql_role as "+
				"`svc doctor --warehouse-grants` says", name)
		default:
			return endpoint{}, fmt.Errorf("warehouse URL: unknown parameter %q; known are cluster, quorum and sql_role", name)
		}
		if !namePattern.MatchString(value) {
			return endpoint{}, fmt.Errorf("warehouse URL: %s %q: use letters, digits and underscores", name, value)
		}
	}
	if p.quorum != "" && p.cluster == "" {
		return endpoint{}, errors.New("warehouse URL: quorum needs cluster, because only tables of a cluster have replicas")
	}
	if len(p.hosts) > 1 && p.cluster == "" {
		return endpoint{}, errors.New("warehouse URL: several hosts need cluster, because separate servers do not share their rows")
	}
	if p.cluster != "" && p.quorum == "" {
		p.quorum = "auto"
	}
	return p, nil
}
