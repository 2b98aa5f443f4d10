# demo and test set up all that they need but Go, Node and a C compiler.
.DEFAULT_GOAL := build
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c

GO ?= go
TOOLS := $(CURDIR)/.tools
VERSITYGW_VERSION := v1.8.0
STATICCHECK_VERSION := v0.8.2
GOVULNCHECK_VERSION := v1.9.0
STATICCHECK := $(TOOLS)/staticcheck
WASM_EXEC = $(shell $(GO) env GOROOT)/lib/wasm/go_js_wasm_exec
# What runs in WebAssembly too, with the same golden files. The log's reader is
# tested there through analysis, whose fixtures are parts: the tests of rawlog
# itself write parts, and would compile Parquet's writer for WebAssembly.
WASM_ROOMS := ./stats/... ./analysis/... ./figure/... ./report/...
NESTED := wasm interop/browser interop/kubernetes

.PHONY: faults kills soak build page bench bench-min analyze demo test test-interop test-spark test-trino bench-scale lint test-unit test-wasm test-browser bench-delta bench-runner bench-log bench-analyze bench-page tools clean fuzz fuzz-keep fuzz-reach licences release reproducible vulnerabilities reliability

build: bench analyze

bench:
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags "-s -w" -o bin/bench ./cmd/bench

# Delta and memory only. A single queue is left out by a tag of its own, such as
# nokafka.
bench-min:
	CGO_ENABLED=0 $(GO) build -tags min -trimpath -ldflags "-s -w" -o bin/bench-min ./cmd/bench

analyze: page
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags "-s -w" -o bin/analyze ./cmd/analyze

page:
	site/build.sh

demo: build
	scripts/demo.sh

test: tools page lint test-unit test-wasm test-browser

lint: tools
	@unformatted=$$(gofmt -l $$(git ls-files -co --exclude-standard '*.go')); \
	if [ -n "$$unformatted" ]; then echo "gofmt would change: $$unformatted"; exit 1; fi
	$(GO) vet ./...
	$(STATICCHECK) ./...
	for dir in . $(NESTED); do (cd $$dir && $(GO) mod tidy -diff); done
	cd wasm && GOOS=js GOARCH=wasm $(GO) vet -tags minimal ./... && GOOS=js GOARCH=wasm $(STATICCHECK) -tags minimal ./...
	cd interop/browser && $(GO) vet ./... && $(STATICCHECK) ./...

test-unit: tools page
	$(GO) test -race -timeout 25m ./...

test-wasm:
	GOOS=js GOARCH=wasm $(GO) test -tags minimal -exec "$(WASM_EXEC)" $(WASM_ROOMS)

test-browser: page
	scripts/need-chromium.sh
	cd interop/browser && $(GO) test -timeout 25m ./...

# What a row of the log costs: to record, to encode and store, in bytes.
bench-log:
	$(GO) test ./rawlog/logwriter -run '^$$' -bench 'Record|Encode|Bytes' -benchmem

# The tables of docs/delta.md, through a versitygw of its own: some 8 minutes.
# BENCH_DELTA_ROWS=1,4 takes some of the loads, BENCH_DELTA_SECONDS=3
# BENCH_DELTA_REPEATS=1 BENCH_DELTA_PATHWAY=0 makes it short. The last lines are
# the processor time of a message without load and recording, and what of it
# the requests alone take.
bench-delta: tools
	$(GO) test -run '^$$' -bench '^BenchmarkDelta$$' -benchtime 1x -timeout 30m ./queue/deltalake
	$(GO) test -run '^$$' -bench '^Benchmark(CPU|Floor)$$' -benchtime 4000000x ./queue/deltalake

# What the page takes in Chromium, medians in ms: a published digest until its
# first figure (at most 1,500), a raw log of 10 million messages until its first
# figure (at most 6,000), a zoom until its new figure (at most 100).
bench-page: page
	scripts/need-chromium.sh
	cd interop/browser && $(GO) test -run '^$$' -bench '^BenchmarkPage' -benchtime 11x -v

test-interop:
	scripts/test-interop.sh

# Needs Java, takes minutes, and is no part of the other targets.
test-spark:
	scripts/test-spark.sh

# The SQL of `analyze sql` in Trino: Java 23 or later, and 920 MB from Maven
# Central. No part of the other targets.
test-trino:
	scripts/test-trino.sh

# 200 million messages, read by analyze, Spark and Trino: a table for
# docs/scale.md. For a machine that is quiet; MESSAGES=2000000 makes it short.
bench-scale:
	scripts/bench-scale.sh

# Delta, a real Apache Kafka and the uploads of the raw log through a network that
# loses answers, damages them, is overloaded, slow, half open, and gone: ten minutes of
# each, some two hours in all. FAULTS_ONLY=delta/gone,kafka takes some of them, by parts
# of their names; FAULTS_DURATION=1m makes each short, FAULTS_RATE=1000 slow. A few
# seconds of each are in make test. Results are rows of docs/reliability.md.
faults: tools
	RELIABILITY=$(RESULTS) FAULTS_DURATION=$${FAULTS_DURATION:-10m} FAULTS_RATE=$${FAULTS_RATE:-10000} \
	$(GO) test -tags interop -count=1 -v -timeout 5h -run 'ThroughFaults$$' ./interop/faults

# kill -9 of producer, consumer, store and broker (JetStream, and a real Apache Kafka) at
# 100 seeded moments each: KILLS is how many. KILLED=Stores takes one of Producers,
# Consumers, Stores, JetStream, Kafka.
KILLED ?=
kills: tools
	RELIABILITY=$(RESULTS) KILLS=$${KILLS:-100} $(GO) test -tags interop -count=1 -v -timeout 5h -run '^TestKilled$(KILLED)' ./interop/faults

# An hour at 20,000 messages per second: memory, goroutines, open files and the latency of
# commits each minute, and whether they stay flat.
soak: tools
	RELIABILITY=$(RESULTS) SOAK_DURATION=$${SOAK_DURATION:-60m} SOAK_RATE=$${SOAK_RATE:-20000} SOAK_SAMPLES=$${SOAK_SAMPLES:-60} \
	$(GO) test -count=1 -v -timeout 3h -run '^TestSoak$$' ./interop/faults

# How late messages are sent, and what they cost: medians of five steps of STEP,
# at 10,000 and 1,000,000 messages per second. For a machine that is quiet.
STEP ?= 30s
bench-runner:
	$(GO) test -run '^$$' -bench SendLag -benchtime 5x -timeout 1h ./runner -args -step=$(STEP)

# Messages per second of the analysis, time and peak memory: native, DuckDB over
# the same parts, and WebAssembly. MESSAGES=75000000 is 300 s at 250,000 per
# second; RUNS=1 DUCKDB=0 WASM=0 makes that short.
bench-analyze:
	scripts/bench-analyze.sh

# Every fuzz target for FUZZTIME, and a table of what came of each. FUZZTODO=1 leaves
# out those with a pass of FUZZTIME since what they try was changed, so that ten minutes
# of each, some ten hours, are done over as many sessions as it takes. FUZZJOBS=2 runs
# two at a time with one process each, FUZZSHARE=2/3 is the second of three shares,
# FUZZONLY='rawlog|Delta' those that the expression finds. Inputs that reach something
# new are kept in FUZZCACHE, where the next run begins; one that fails, as a seed below
# testdata/fuzz of its room. Each result becomes a row of docs/reliability.md at once.
FUZZTIME ?= 30s
FUZZSHARE ?= 1/1
FUZZONLY ?=
FUZZCACHE ?= .fuzz
FUZZJOBS ?= 1
FUZZTODO ?=
FUZZING = $(GO) run ./internal/fuzzing -share $(FUZZSHARE) -only '$(FUZZONLY)' -cache $(FUZZCACHE)
fuzz:
	RELIABILITY=$(RESULTS) $(FUZZING) -time $(FUZZTIME) -jobs $(FUZZJOBS) $(if $(FUZZTODO),-todo)

# Of what is in FUZZCACHE, small inputs that reach what no seed does become seeds below
# testdata/fuzz, 3 KB of a target at most.
fuzz-keep:
	$(FUZZING) -keep

# That each fuzz target executes the parsers which parsers_test.go says it is for, with
# its inputs and not only to make them: some minutes.
fuzz-reach:
	$(GO) test -tags reach -count=1 -timeout 60m -v -run '^TestTargetsReachTheirParsers$$' .

# Runs what leaves rows for docs/reliability.md and takes minutes, and writes it from
# these and from what longer targets left (faults, fuzz). RUN= only writes it.
RUN ?= 1
RESULTS := $(CURDIR)/docs/reliability.jsonl
reliability: tools
	RUN='$(RUN)' scripts/reliability.sh

tools: $(TOOLS)/versitygw-$(VERSITYGW_VERSION) $(TOOLS)/staticcheck-$(STATICCHECK_VERSION)

# An empty file named after the version says that this version is installed.
$(TOOLS)/versitygw-$(VERSITYGW_VERSION):
	GOBIN=$(TOOLS) $(GO) install github.com/versity/versitygw/cmd/versitygw@$(VERSITYGW_VERSION)
	touch $@

$(TOOLS)/staticcheck-$(STATICCHECK_VERSION):
	GOBIN=$(TOOLS) $(GO) install honnef.co/go/tools/cmd/staticcheck@$(STATICCHECK_VERSION)
	touch $@

# Licences of all that bench and analyze link, for every system of a release; one
# that must not be linked, or that is not known, is an error.
licences:
	scripts/release.sh licences

# Programs for Linux, macOS and Windows on amd64 and arm64 in dist, with
# LICENSES.txt, sbom.cdx.json and SHA256SUMS.
release:
	scripts/release.sh all

# The same sources twice, from two folders: the same bytes, of the page too.
reproducible:
	scripts/release.sh reproducible

# Known vulnerabilities in what is called, on each system. VULNDB=file:///… is another
# database. It is no part of make test, whose answer must be the same tomorrow and
# without a network: run it before a release, and each week.
VULNDB ?=
vulnerabilities: $(TOOLS)/govulncheck-$(GOVULNCHECK_VERSION)
	GOVULNCHECK=$(TOOLS)/govulncheck scripts/vulnerabilities.sh $(VULNDB)

$(TOOLS)/govulncheck-$(GOVULNCHECK_VERSION):
	GOBIN=$(TOOLS) $(GO) install golang.org/x/vuln/cmd/govulncheck@$(GOVULNCHECK_VERSION)
	touch $@

clean:
	rm -rf bin dist demo .tools site/built/*.wasm* site/built/wasm_exec.js
