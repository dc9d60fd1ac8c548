# Every target with a comment behind it is listed by `make help`.
GO ?= go
BIN := bin
LINT := $(GO) tool -modfile=.ci/tools/go.mod

.DEFAULT_GOAL := help
.PHONY: golden help demo serve-demo build test test-fast aa bench fuzz lint fmt setup clean

help: ## list what can be made
	@awk 'BEGIN {FS = ":.*## "} /^[a-z-]+:.*## / {printf "  %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: build ## run a simulated campaign through the real path, print the grid and the verdict, exit
	$(BIN)/ledgerd demo --once

serve-demo: build ## the same, and keep serving until interrupted
	$(BIN)/ledgerd demo

build: ## build both binaries into bin/
	$(GO) build -o $(BIN)/ ./cmd/...

test: setup lint ## everything: linters, then all tests with the race detector
	$(GO) test -race -timeout 15m ./...

test-fast: ## all tests without the race detector, short ones only
	$(GO) test -short ./...

bench: ## the writer, the rebuild and the decoders, each beside its floor in the same run
	$(GO) test -run '^$$' -bench . -benchmem ./...

aa: ## try comparisons on nothing: 2,000 pairs of campaigns from one truth in each setting
	LEDGERD_AA=1 $(GO) test -count 1 -v -run TestTriedOnNothing ./internal/numbers

FUZZTIME ?= 30s
fuzz: ## fuzz every decoder for FUZZTIME (30s) each
	.ci/fuzz $(FUZZTIME)

lint: ## gofmt, vet, staticcheck and the import rules
	@test -z "$$(gofmt -l $$(git ls-files '*.go'))" || { echo 'gofmt these:'; gofmt -l $$(git ls-files '*.go'); exit 1; }
	$(GO) vet ./...
	$(LINT) staticcheck ./...
	.ci/imports

fmt: ## format every Go file
	gofmt -w $$(git ls-files '*.go')

setup: ## install what the tests need and the machine lacks: a C compiler, PostgreSQL, promtool, systemd-analyze
	.ci/setup

golden: ## make the golden files of the open rule version anew; look at what changed
	$(GO) test ./internal/golden ./domain/canonicaljson -run TestGolden -golden

clean: ## remove what was built
	rm -rf $(BIN)
