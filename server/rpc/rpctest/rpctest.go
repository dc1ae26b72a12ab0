// Package rpctest gives tests the chain of the API methods.
package rpctest

import (
	"log/slog"
	"testing"

	"github.com/svc-observability/svc/server/contract"
	"github.com/svc-observability/svc/server/rpc"
)

// New returns the contract and a chain without limits and without a log.
func New(t testing.TB) (*contract.Contract, *rpc.Chain) {
	t.Helper()
	c, err := contract.Load()
	if err != nil {
		t.Fatal(err)
	}
	chain, err := rpc.New(rpc.Config{Contract: c, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	return c, chain
}
