# svc. `make run` starts it from a fresh clone; needs Go, Node.js with npm, and make. `make help` lists the targets.
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

BIN    := $(CURDIR)/.cache/bin
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
COMMIT  ?= $(shell git rev-parse HEAD 2>/dev/null || echo unknown)
# Build results hold no path of this clone. So a machine compiles packages once for all clones, and binaries do not reveal their
# build folder.
export GOFLAGS += -trimpath
LDFLAGS := -s -w -X main.version=$(VERSION) -X main.commit=$(COMMIT)

# Its dependencies clash with the other tools', so it is installed by version.
GOLANGCI_VERSION := v2.15.0
GOLANGCI_LINT    := $(CURDIR)/.cache/golangci-lint/$(GOLANGCI_VERSION)/golangci-lint
GOVULNCHECK_VERSION := v1.8.0
GOVULNCHECK         := $(CURDIR)/.cache/govulncheck/$(GOVULNCHECK_VERSION)/govulncheck
# Code written by hand. gofumpt does not format generated code.
GO_FILES = $(shell git ls-files -co --exclude-standard '*.go' | grep -v -e '^gen/' -e '^ent/[^/]*\.go$$' | xargs grep -L '^// Code generated')

# Tests: packages (PKG=./server/config), a pattern (RUN=TestName), and how often (COUNT=1 passes over Go's cache).
PKG     ?= ./...
TIMEOUT ?= 50m
# Lint does the vetting. A test binary of a whole run is never debugged, and without DWARF and symbols it links in less than half the
# time. The parallel tests of a package mostly wait for processes, so three times as many run as there are processors.
TEST_FLAGS = -vet=off -ldflags='-s -w' -shuffle=on -p=$(PARALLEL) -parallel=$$((3 * $(PROCESSORS))) -timeout=$(TIMEOUT) $(if $(RUN),-run '$(RUN)') $(if $(COUNT),-count=$(COUNT))
BENCH   ?= .
BENCHTIME ?= 1s

.PHONY: help
help: ## list the targets
	@grep -hE '^[a-z_-]+:.*## ' $(MAKEFILE_LIST) | awk -F':.*## ' '{printf "  make %-12s %s\n", $$1, $$2}'

.PHONY: deps
deps: ## fetch the embedded engine and the API definitions that git does not hold (pinned, verified)
	@tools/deps.sh

# UI=0 leaves the web application and the browser SDK out: the program then has the pages for signing in only.
UI ?= 1
.PHONY: ui
ui: ## build the web application into server/web/dist (npm; free when nothing changed); UI=0 leaves it out
	@$(if $(filter 0,$(UI)),:,tools/ui.sh)

.PHONY: ui-check
ui-check: ## build the web application, and hold its types, tests and sizes
	@$(if $(filter 0,$(UI)),:,tools/ui.sh check)

.PHONY: browser-sdk
browser-sdk: ## build the browser SDK into server/ingest/browsersdk/dist (npm; free when nothing changed); UI=0 leaves it out
	@$(if $(filter 0,$(UI)),:,tools/browser-sdk.sh)

.PHONY: browser-sdk-check
browser-sdk-check: ## build the browser SDK, and hold its types, tests and sizes
	@$(if $(filter 0,$(UI)),:,tools/browser-sdk.sh check)

.PHONY: browser-sdk-pack
browser-sdk-pack: ## bin/svc-browser-VERSION.tgz, the package of the browser SDK for bundlers
	@mkdir -p bin && tools/browser-sdk.sh && npm --prefix clients/browser run --silent tarball

.PHONY: ui-dev
ui-dev: ## serve the web application with hot reload on port 5173; SVC_DEV_API names the server (http://127.0.0.1:8080)
	cd server/web/ui && ../../../tools/npm.sh --ignore-scripts && npx vite

.PHONY: build
build: deps ui browser-sdk ## bin/svc, and the engine library beside it
	@mkdir -p bin
	go build -ldflags '$(LDFLAGS)' -o bin/svc ./cmd/svc
	@if [ -f .cache/chdb/libchdb.so ] && ! [ bin/libchdb.so -ef .cache/chdb/libchdb.so ]; then \
		ln -f .cache/chdb/libchdb.so bin/libchdb.so 2>/dev/null || cp -f .cache/chdb/libchdb.so bin/libchdb.so; fi

.PHONY: run
run: build ## build, and start everything on the defaults; ARGS='--api-addr 127.0.0.1:9090' adds flags
	@exec bin/svc serve $(ARGS)

# go.tool.mod pins the tools, separately from the go.mod of the product.
.PHONY: tools
tools: $(BIN)/.stamp ## install the pinned development tools into .cache/bin

$(BIN)/.stamp: go.tool.mod go.tool.sum
	@mkdir -p $(BIN)
	GOBIN=$(BIN) go install -modfile=go.tool.mod tool
	@touch $@

$(GOLANGCI_LINT):
	GOBIN=$(@D) go install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(GOLANGCI_VERSION)

# The real Collector, which the end-to-end tests run. It is a separate module, so that its dependencies do not become those of the product.
OTELCOL := $(BIN)/otelcol
$(OTELCOL): $(addprefix server/e2e/otelcol/,go.mod go.sum main.go)
	@mkdir -p $(BIN)
	@echo 'building the OpenTelemetry Collector for the tests (once, about a minute)' >&2
	go -C server/e2e/otelcol build -buildvcs=false -o $@ .

.PHONY: otelcol
otelcol: $(OTELCOL) ## build the OpenTelemetry Collector that the end-to-end tests run

# The Collector with the prometheus receiver. Its build takes 6 minutes of CPU, so TestScrapeEqualsCollector runs only where it was made.
OTELSCRAPE := $(BIN)/otelscrape
$(OTELSCRAPE): $(addprefix server/e2e/otelscrape/,go.mod go.sum main.go)
	@mkdir -p $(BIN)
	go -C server/e2e/otelscrape build -buildvcs=false -o $@ .

.PHONY: otelscrape
otelscrape: $(OTELSCRAPE) ## build the Collector with the prometheus receiver, for the comparison of scrape targets (6 minutes of CPU)

.PHONY: generate
generate: generated ## generate code from the contract (proto) and the data model (ent/schema)
	@$(MAKE) fmt

.PHONY: migration
migration: ## write the next relational migration of both databases from ent/schema: NAME=add_things (needs PostgreSQL's programs)
	@$(if $(NAME),,echo 'give the migration a name: make migration NAME=add_things' >&2; exit 1)
	go test -vet=off -count=1 -v -run '^TestNewMigration$$' ./server/store -args -migration '$(NAME)'

.PHONY: generated
generated: tools deps
	$(BIN)/buf generate
	$(BIN)/buf build --path proto/svc --exclude-imports --as-file-descriptor-set -o server/contract/image.binpb
	go run ./server/apierr/gentags
	go run ./server/rest/genservices
	go run ./server/mcp/tool/genclients
	go run ./server/web/gentypes
	go generate ./ent

.PHONY: fmt
fmt: tools ui browser-sdk ## format code written by hand
	@$(BIN)/gofumpt -w $(GO_FILES)
	@if [ -x server/web/ui/node_modules/.bin/prettier ]; then npm --prefix server/web/ui run --silent format; else echo 'The web application is not formatted: run make ui-check once.'; fi
	@if [ -x clients/browser/node_modules/.bin/prettier ]; then npm --prefix clients/browser run --silent format; fi

# The contract of the last release, without comments.
RELEASED := proto/released.binpb

.PHONY: breaking
breaking: tools deps ## compare the contract with that of the last release: a change that breaks callers fails
	$(BIN)/buf breaking proto --against $(RELEASED)

.PHONY: released
released: tools deps ## record the current contract as that of the last release (docs/adr/0015-breaking-changes.md)
	$(BIN)/buf build --path proto/svc --exclude-source-info -o $(RELEASED)

.PHONY: golden
golden: tools deps ## write every golden file anew; read the diff before you commit it
	@tools/golden.sh

# Each fuzz target runs for FUZZTIME, one after the other; FUZZ=Gunzip takes the targets whose name contains it, FUZZJOBS is the workers.
FUZZ     ?=
FUZZTIME ?= 30s
FUZZJOBS ?=
.PHONY: fuzz
fuzz: deps ## run every fuzz target for FUZZTIME; FUZZ=Gunzip, FUZZTIME=1h, FUZZJOBS=1
	@tools/fuzz.sh '$(FUZZ)' '$(FUZZTIME)' $(FUZZJOBS)

.PHONY: vuln
vuln: ## look for known vulnerabilities in the code that the program calls (govulncheck)
	@tools/vuln.sh '$(GOVULNCHECK)' '$(GOVULNCHECK_VERSION)'

# Packages that hold code written by hand. Reports on generated code are dropped anyway, and its analysis took a third of the time. With
# more memory per collection, lint spends less time on the collection of garbage.
LINTED = $(shell go list ./... | grep -v -e '/gen/' -e '/ent$$' -e '/ent/') ./ent/schema

.PHONY: lint
lint: tools deps $(GOLANGCI_LINT) ## golangci-lint (vet and staticcheck among its linters), gofumpt, buf lint
	@unformatted=$$($(BIN)/gofumpt -l $(GO_FILES)); \
		if [ -n "$$unformatted" ]; then echo "not formatted (run make fmt):" >&2; echo "$$unformatted" >&2; exit 1; fi
	@tools/subjects.sh
	$(BIN)/buf lint
	@$(MAKE) breaking
	GOGC=200 GOMEMLIMIT=8GiB $(GOLANGCI_LINT) run --allow-serial-runners $(LINTED:github.com/svc-observability/svc%=.%)

# The program that tests run as a process, built once for all test binaries. It is up to date with the sources whenever they run.
TEST_BINARY := $(CURDIR)/.cache/test/svc
E2E := $(filter ./... ./server/... ./server/e2e%,$(PKG))
# The end-to-end tests take longest and often wait. They start first, and one package for each processor runs beside them. Other packages
# with long tests follow, so that only short ones are left when the end-to-end tests end.
FIRST := $(if $(filter ./... ./server/...,$(PKG)),./server/e2e ./server/e2e/oracle $(addprefix ./server/,warehouse warehouse/warehousetest \
	query/reads query/read query/engine store services services/metrics services/logs source/pack ingest))
PROCESSORS := $(shell getconf _NPROCESSORS_ONLN)
PARALLEL ?= $(shell echo $$(($(PROCESSORS) + 1)))

# What CI prepares is also checked, in one run of npm.
.PHONY: test-binary
test-binary: deps $(if $(filter prepare,$(MAKECMDGOALS)),ui-check browser-sdk-check,ui browser-sdk)
	@mkdir -p $(dir $(TEST_BINARY))
	go build -ldflags '-s -w' -o $(TEST_BINARY) ./cmd/svc

# Everything that tools/check.sh compiles before it runs its steps in parallel.
.PHONY: prepare
prepare: ui-check browser-sdk-check tools deps $(GOLANGCI_LINT) $(OTELCOL) test-binary

GOTESTSUM = $(BIN)/gotestsum --format pkgname-and-test-fails --format-hide-empty-pkg

# The temporary files of a run, and the folder in which its test binaries share a migrated engine. The processes of tests have memory to
# spare: with GOGC=400 they spend less on the collection of garbage. A test that measures memory sets its own bound.
SCRATCH = export GOGC=$${GOGC-400}; export TMPDIR=$$(tools/scratch.sh); trap 'rm -rf "$$TMPDIR"' EXIT; export SVC_TEST_MIGRATED=$$TMPDIR/migrated; mkdir "$$SVC_TEST_MIGRATED"

.PHONY: test
test: export SVC_TEST_BINARY = $(if $(E2E),$(TEST_BINARY))
test: tools deps $(if $(E2E),$(OTELCOL) test-binary) ## run all tests (shuffled); PKG, RUN and COUNT narrow it down
	@mkdir -p .cache/check
	@$(SCRATCH); $(GOTESTSUM) --jsonfile-timing-events .cache/check/test.json -- $(TEST_FLAGS) $(FIRST) $(PKG)

.PHONY: pictures
pictures: export SVC_TEST_BINARY = $(TEST_BINARY)
pictures: deps test-binary ## take the pictures of the README and of every page of the web application anew
	SVC_TEST_PICTURES=1 go test -vet=off -count=1 -run TestTakePictures ./server/e2e

# The race detector finds nothing in a package that runs in one goroutine, and makes its tests several times slower. SINCE=commit leaves
# out packages that no change since then reaches; WITHOUT=server/e2e leaves out a folder.
# SQLite is a translation of C with locks of its own. The detector finds nothing of ours in it, and makes it twenty times slower. No
# package with generic code may be left out: the linker could take its instances for those of other packages, and races would be reported
# that do not exist.
RACE_FLAGS = -race '-gcflags=modernc.org/sqlite/lib=-race=false'

.PHONY: race
race: export SVC_TEST_BINARY = $(TEST_BINARY)
race: tools deps $(OTELCOL) test-binary ## run the race detector on packages in which goroutines meet; SINCE=commit: only changed packages
	@packages=$$(go run ./tools/racepackages $(if $(SINCE),-since '$(SINCE)') $(if $(WITHOUT),-without '$(WITHOUT)')); \
		if [ -z "$$packages" ]; then echo 'race: no package in which goroutines meet has changed'; exit 0; fi; \
		$(SCRATCH); $(GOTESTSUM) -- $(RACE_FLAGS) $(TEST_FLAGS) $$packages
	@if [ -z '$(SINCE)$(RUN)' ] && [ -z "$$(git status --porcelain)" ]; then git rev-parse HEAD >.ci/raced && echo 'race: noted in .ci/raced; commit it'; fi

.PHONY: check
check: ## run the checks of CI: generated code is current, lint, tests
	@tools/check.sh

.PHONY: bench
bench: deps ## run the benchmarks; BENCH=pattern, PKG=./server/ingest/..., BENCHTIME=3s
	go test -run '^$$' -bench '$(BENCH)' -benchtime $(BENCHTIME) -benchmem -timeout 30m $(PKG)

# SIZE=long measures every combination to the end; SIGNALS and ITEMS narrow it down. Quote its figures only if no other work ran
# on the machine.
SIZE    ?= short
SIGNALS ?= traces,logs,metrics
.PHONY: bench-ingest
bench-ingest: build ## measure the cost of ingest in two minutes: CPU, disk, latency, memory; SIZE=long, SIGNALS=logs, ITEMS=5000000
	@go run ./server/e2e/benchingest -size '$(SIZE)' -signals '$(SIGNALS)' $(if $(ITEMS),-items $(ITEMS))
	$(if $(filter long,$(SIZE)),go test -run '^$$' -bench Soak -benchtime 1x ./server/e2e)

# The figures in docs/incidents.md are those of SEEDS=shown QUIET=4, which take eight to thirteen minutes. Tune with SEEDS=tuning (50 other
# seeds), tuning:13 (the first 13) or a list of seeds. DETAIL=1 tells what was planted and answered, DATA=folder keeps the warehouse to ask
# again.
SEEDS ?= tuning:13
QUIET ?= 1
.PHONY: bench-diagnose
bench-diagnose: build ## measure how well find_incidents finds planted faults; SEEDS=shown, QUIET=4, BEFORE=2026-11-26, DETAIL=1, DATA=folder
	SVC_TEST_BINARY=$(CURDIR)/bin/svc SVC_DIAGNOSE_SEEDS='$(SEEDS)' SVC_DIAGNOSE_QUIET='$(QUIET)' SVC_DIAGNOSE_BEFORE='$(BEFORE)' \
		SVC_DIAGNOSE_DETAIL='$(DETAIL)' SVC_DIAGNOSE_DATA='$(abspath $(DATA))' \
		go test -run '^$$' -bench Diagnose -benchtime 1x -timeout 60m ./server/e2e/benchdiagnose

# The other organization's p99 is held to its bound only here. Quote its figures only if no other work ran on the machine.
ATTACK ?= 5m
.PHONY: attack
attack: build deps ## play an attacker against a server; ATTACK=5m is how long each flood lasts
	SVC_TEST_ATTACK=$(ATTACK) go test -run 'TestAttack|TestKillLosesNothing|TestStopWithBacklog|TestIdleConnections|TestFullPort' -count=1 -v -timeout 60m ./server/e2e

.PHONY: clean
clean: ## remove built files; fetched files and data stay
	rm -rf bin
