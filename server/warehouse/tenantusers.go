package warehouse

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/warehouse/chdb"
)

// ClickHouse's codes of failures that the set-up of an organization mends, or that say that the server is not set up.
const (
	codeUnknownDatabase = 81
	codeAccessDenied    = 497
	codeUnknownRole     = 511
	codeNoAccessStorage = 514 // the server keeps its users in files, so that no statement can make one
	codeAuthentication  = 516 // also for a user that does not exist
)

// onCluster is the clause that sends a statement to every server of the cluster. It is empty without a cluster.
func (w *Warehouse) onCluster() string {
	if w.endpoint.cluster == "" {
		return ""
	}
	return fmt.Sprintf(" ON CLUSTER '%s'", w.endpoint.cluster)
}

// tenant returns the user that runs the SQL of an organization, and the database of its connection. Row policies tell organizations
// apart. On the embedded engine, which has one user, they compare the name of the database: an empty one for each organization. On a
// server they compare the name of the user, because a statement that goes on to other shards keeps its user and not its database.
func (w *Warehouse) tenant(ctx context.Context, org principal.OrgID) (as credentials, database string, err error) {
	if _, made := w.tenants.Load(org); !made {
		if err := w.makeTenant(ctx, org, false); err != nil {
			return credentials{}, "", err
		}
	}
	if w.endpoint.socket != "" {
		return credentials{user: chdb.TenantUser}, chdb.TenantPrefix + string(org), nil
	}
	return credentials{user: chdb.TenantPrefix + string(org), password: w.tenantPassword(org)}, w.endpoint.database, nil
}

// renewTenant makes the database or the user of an organization again, with the present password.
func (w *Warehouse) renewTenant(ctx context.Context, org principal.OrgID) error {
	w.tenants.Delete(org)
	return w.makeTenant(ctx, org, true)
}

// makeTenant makes the database or the user of an organization if it does not exist. With reset, an existing user gets the present
// password, too.
func (w *Warehouse) makeTenant(ctx context.Context, org principal.OrgID, reset bool) error {
	for _, sql := range w.tenantStatements(org, reset) {
		if err := w.exec(ctx, w.endpoint.database, sql, w.accessSettings()); err != nil {
			return notSetUp(ofOurs(err))
		}
	}
	w.tenants.Store(org, true)
	return nil
}

func (w *Warehouse) tenantStatements(org principal.OrgID, reset bool) []string {
	name := chdb.TenantPrefix + string(org)
	if w.endpoint.socket != "" {
		return []string{"CREATE DATABASE IF NOT EXISTS " + name + " ENGINE = Memory"}
	}
	// The server gets the hash, so that no log of statements has the password.
	hash := sha256.Sum256([]byte(w.tenantPassword(org)))
	identified := fmt.Sprintf(" IDENTIFIED WITH sha256_hash BY '%s'", hex.EncodeToString(hash[:]))
	statements := []string{"CREATE USER IF NOT EXISTS " + name + w.onCluster() + identified}
	if reset {
		statements = append(statements, "ALTER USER IF EXISTS "+name+w.onCluster()+identified)
	}
	return append(statements, "GRANT"+w.onCluster()+" "+w.endpoint.tenantRole+" TO "+name)
}

// tenantPassword is the password of the user of an organization: an HMAC-SHA256 of its name.
func (w *Warehouse) tenantPassword(org principal.OrgID) string {
	mac := hmac.New(sha256.New, w.tenantKey)
	mac.Write([]byte(org))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// dropTenant removes the database or the user of an organization.
func (w *Warehouse) dropTenant(ctx context.Context, org principal.OrgID) error {
	if !orgPattern.MatchString(string(org)) {
		return nil // the organization never had one
	}
	name := chdb.TenantPrefix + string(org)
	var sql string
	switch {
	case w.endpoint.socket != "":
		sql = "DROP DATABASE IF EXISTS " + name
	case w.endpoint.tenantRole != "":
		sql = "DROP USER IF EXISTS " + name + w.onCluster()
	default:
		return nil
	}
	defer w.tenants.Delete(org)
	return w.exec(ctx, w.endpoint.database, sql, w.accessSettings())
}

// accessSettings are the settings of statements about users. Where the servers of a cluster share their users, ON CLUSTER has no
// effect on them.
func (w *Warehouse) accessSettings() map[string]string {
	if w.endpoint.cluster == "" {
		return nil
	}
	return map[string]string{"ignore_on_cluster_for_replicated_access_entities_queries": "1"}
}

// notSetUp turns refusals that an administrator of the server must mend into ErrTenantNotSetUp.
func notSetUp(err error) error {
	var e *Error
	if !errors.As(err, &e) {
		return err
	}
	switch e.Code {
	case codeAccessDenied, codeUnknownRole, codeNoAccessStorage:
		return fmt.Errorf("%w: %w", ErrTenantNotSetUp, err)
	}
	return err
}

// verifyShards checks that the servers of a cluster run the parts of a statement as the user that sent it. They do so if the cluster has
// a secret. Otherwise they run them as the user that the cluster's configuration names, to whom no row policy of organizations applies.
func (w *Warehouse) verifyShards(ctx context.Context) error {
	if w.endpoint.cluster == "" {
		return nil
	}
	same, err := w.texts(ctx, "SELECT DISTINCT user FROM system.clusters WHERE cluster = "+quoteText(w.endpoint.cluster)+
		" AND user = currentUser()")
	if err != nil {
		return err
	}
	if len(same) > 0 {
		return fmt.Errorf("%w: svc uses the user %q, which the configuration of the cluster %q names, too, so it cannot see whether shards "+
			"keep the user of a statement; give svc another user", ErrFence, same[0], w.endpoint.cluster)
	}
	others, err := w.texts(ctx, "SELECT DISTINCT user FROM clusterAllReplicas("+quoteText(w.endpoint.cluster)+
		", system.processes) WHERE initial_query_id = initialQueryID() AND user != initial_user")
	if err != nil {
		return err
	}
	if len(others) > 0 {
		return fmt.Errorf("%w: the cluster %q has no secret, so its servers run statements of others as the user %q",
			ErrFence, w.endpoint.cluster, others[0])
	}
	return nil
}
