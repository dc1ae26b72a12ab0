package demo

import (
	"cmp"
	"fmt"

	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	resourcepb "go.opentelemetry.io/proto/otlp/resource/v1"
)

// service is a program of the shop.
type service struct {
	name, language, version string
	// replicas is the number of replicas in production. Staging has one.
	replicas int
	// legacy services write attributes under the names of older semantic conventions.
	legacy bool
	// unversioned services send neither a version nor a commit.
	unversioned bool
	// library is the instrumentation library that makes the spans.
	library, libraryVersion string
}

// The services of the shop.
const (
	web            = "storefront-web"
	edge           = "edge-gateway"
	catalog        = "catalog"
	search         = "search"
	cart           = "cart"
	checkout       = "checkout"
	payments       = "payments"
	inventory      = "inventory"
	shipping       = "shipping"
	email          = "email-worker"
	recommendation = "recommendation"
	agent          = "support-agent"
)

func services() []*service {
	return []*service{
		{name: web, language: "webjs", version: "2026.47.2", replicas: 1, library: "@svc/browser", libraryVersion: "1.4.0"},
		{
			name: edge, language: "go", version: "3.11.0", replicas: 3, library: "go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp",
			libraryVersion: "0.72.0",
		},
		{name: catalog, language: "java", replicas: 3, library: "io.opentelemetry.tomcat-10.0", libraryVersion: "2.20.1-alpha"},
		{
			name: search, language: "nodejs", version: "1.88.4", replicas: 2, library: "@opentelemetry/instrumentation-http",
			libraryVersion: "0.208.0",
		},
		{
			name: cart, language: "nodejs", version: "5.2.1", replicas: 3, library: "@opentelemetry/instrumentation-http",
			libraryVersion: "0.208.0",
		},
		{
			name: checkout, language: "go", version: "2.40.3", replicas: 2,
			library: "go.opentelemetry.io/contrib/instrumentation/google.golang.org/grpc/otelgrpc", libraryVersion: "0.72.0",
		},
		{
			name: payments, language: "java", version: "7.3.0", replicas: 2, legacy: true, library: "io.opentelemetry.grpc-1.6",
			libraryVersion: "2.4.0-alpha",
		},
		{name: inventory, language: "java", version: "1.19.7", replicas: 2, library: "io.opentelemetry.grpc-1.6", libraryVersion: "2.20.1-alpha"},
		{
			name: shipping, language: "go", version: "0.27.5", replicas: 2,
			library: "go.opentelemetry.io/contrib/instrumentation/google.golang.org/grpc/otelgrpc", libraryVersion: "0.72.0",
		},
		{
			name: email, language: "nodejs", version: "1.6.0", replicas: 1, legacy: true, library: "@opentelemetry/instrumentation-http",
			libraryVersion: "0.41.2",
		},
		{
			name: recommendation, language: "python", replicas: 2, unversioned: true, library: "opentelemetry.instrumentation.grpc",
			libraryVersion: "0.60b0",
		},
		{
			name: agent, language: "python", version: "0.14.2", replicas: 1, library: "opentelemetry.instrumentation.genai",
			libraryVersion: "0.3b0",
		},
	}
}

// Environments.
const (
	production = "production"
	staging    = "staging"
)

const nodes = 4

func nodeName(environment string, n int) string {
	if environment == staging {
		return "ip-10-1-0-11"
	}
	return fmt.Sprintf("ip-10-0-%d-%d", n%2, 21+n)
}

func clusterName(environment string) string {
	if environment == staging {
		return "shop-staging"
	}
	return "shop-production"
}

// podName returns the name of a replica, in the form that a deployment creates.
func podName(s *service, environment, version string, n int) string {
	h := fmt.Sprintf("%016x", hash(s.name, environment, version))
	return fmt.Sprintf("%s-%s-%05x", s.name, h[:9], hash(s.name, environment, version, fmt.Sprint(n))&0xfffff)
}

func (sh *shop) podNode(s *service, environment string, n int) string {
	first := int(hash(s.name) % nodes)
	if sh.plan != nil { // nodes with even numbers are in the first region, and so are the replicas
		return nodeName(environment, (2*(first/2+n/2)+n%2)%nodes)
	}
	return nodeName(environment, (first+n)%nodes)
}

type instance struct {
	service, environment, version string
	replica                       int
}

func (sh *shop) versionOf(s *service, environment string, nano int64) string {
	switch {
	case s.unversioned:
		return ""
	case environment == production && sh.release(s.name, nano) != nil:
		return sh.release(s.name, nano).Version
	case sh.plan != nil && environment == production && s.name == catalog:
		return sh.plan.version(s.name, sh.faults.catalogVersion(nano), nano)
	case sh.plan != nil && environment == production:
		return sh.plan.version(s.name, s.version, nano)
	case s.name == catalog && environment == production:
		return sh.faults.catalogVersion(nano)
	case s.name == catalog:
		return fmt.Sprintf("4.%d.0-rc.1", nano/int64(day)-firstDay+1)
	default:
		return s.version
	}
}

// instance returns a running replica of a service at a time.
func (sh *shop) instance(s *service, environment string, replica int, nano int64) *resource {
	key := instance{s.name, environment, sh.versionOf(s, environment, nano), replica}
	if r := sh.instances[key]; r != nil {
		return r
	}
	r := &resource{
		pb:    &resourcepb.Resource{Attributes: sh.describe(s, key)},
		scope: &commonpb.InstrumentationScope{Name: s.library, Version: s.libraryVersion},
	}
	sh.instances[key] = r
	return r
}

func (sh *shop) describe(s *service, key instance) []attribute {
	a := []attribute{
		text("service.name", s.name), text("service.namespace", "shop"),
		text("telemetry.sdk.language", s.language), text("telemetry.sdk.name", "opentelemetry"),
	}
	if s.legacy {
		a = append(a, text("deployment.environment", key.environment))
	} else {
		a = append(a, text("deployment.environment.name", key.environment))
	}
	if key.version != "" {
		a = append(
			a, text("service.version", key.version),
			text("vcs.repository.url.full", cmp.Or(sh.repository, "https://git.example.com/shop/"+s.name)),
			text("vcs.ref.head.revision", sh.commitOf(s.name, key.version)),
		)
	}
	if s.name == web {
		return append(a, text("svc.sdk.type", "browser"), text("deployment.commit_sha", sh.commitOf(s.name, key.version)),
			text("deployment.environment", key.environment))
	}
	pod := podName(s, key.environment, key.version, key.replica)
	a = append(a, kubernetes(s, key.environment, pod)...)
	a = append(
		a, text("service.instance.id", pod), text("host.name", sh.podNode(s, key.environment, key.replica)),
		text("cloud.provider", "aws"), text("cloud.platform", "aws_eks"), text("cloud.region", sh.region(s, key.environment, key.replica)),
		text("os.type", "linux"),
	)
	if name := map[string]string{
		"java": "OpenJDK Runtime Environment", "nodejs": "nodejs", "python": "cpython",
		"go": "go",
	}[s.language]; name != "" {
		version := map[string]string{"java": "21.0.9", "nodejs": "22.21.1", "python": "3.13.9", "go": "go1.26.8"}[s.language]
		a = append(a, text("process.runtime.name", name), text("process.runtime.version", version))
	}
	return a
}

func kubernetes(s *service, environment, pod string) []attribute {
	return []attribute{
		text("k8s.cluster.name", clusterName(environment)), text("k8s.namespace.name", "shop"),
		text("k8s.deployment.name", s.name), text("k8s.pod.name", pod), text("k8s.container.name", s.name),
	}
}

// nodeRegion returns the region in which a node of production runs.
func (sh *shop) nodeRegion(n int) string {
	if sh.plan != nil {
		return regionOf(n)
	}
	return regions()[0]
}

// release is the last of the given releases of a service at a time; nil without one.
func (sh *shop) release(name string, nano int64) *Release {
	var last *Release
	for i := range sh.releases {
		if r := &sh.releases[i]; r.Service == name && r.From.UnixNano() <= nano && (last == nil || r.From.After(last.From)) {
			last = r
		}
	}
	return last
}

// commitOf returns the commit from which a version was built. Those of versions that are not given are made up.
func (sh *shop) commitOf(name, version string) string {
	for _, r := range sh.releases {
		if r.Service == name && r.Version == version {
			return r.Commit
		}
	}
	return fmt.Sprintf("%016x%016x%08x", hash("commit", name, version), hash(version, name), uint32(hash(name, version, "tail")))
}

func (sh *shop) replicas(s *service, environment string) int {
	switch {
	case environment == staging:
		return 1
	case sh.plan != nil && s.replicas > 1:
		return replicasInRegions
	}
	return s.replicas
}

// region returns the region in which a replica runs.
func (sh *shop) region(s *service, environment string, replica int) string {
	if sh.plan != nil && environment == production && s.replicas > 1 {
		return regionOf(replica)
	}
	return regions()[0]
}
