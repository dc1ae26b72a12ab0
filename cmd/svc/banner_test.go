package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/svc-observability/svc/server/bootstrap"
	"github.com/svc-observability/svc/server/config"
)

// TestBannerSecrets: the first start prints the credentials, unless a bootstrap file has them. Output is often kept longer than wanted.
func TestBannerSecrets(t *testing.T) {
	first := bootstrap.File{
		OrgID: "org_1", APIKey: "svc_ak_1", PublicKey: "svc_pk_1", PrivateKey: "svc_sk_1", AdminEmail: "admin@localhost", AdminPassword: "sesame",
	}
	at := bootstrap.File{BaseURL: "http://127.0.0.1:1", IngestURL: "http://127.0.0.1:2"}
	for _, file := range []string{"", "/run/keys.json"} {
		var out bytes.Buffer
		c := &cli{stdout: &out}
		c.banner(config.Config{BootstrapFile: file}, at, first)
		for _, secret := range []string{first.APIKey, first.PrivateKey, first.PublicKey, first.AdminPassword} {
			if strings.Contains(out.String(), secret) != (file == "") {
				t.Errorf("bootstrap file %q, secret %s:\n%s", file, secret, out.String())
			}
		}
		if !strings.Contains(out.String(), "credentials of the first organization are in "+file) && file != "" {
			t.Errorf("the file is not named:\n%s", out.String())
		}
	}
}
