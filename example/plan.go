package main

import (
	"fmt"
	"io"
	"log/slog"

	"github.com/gqlresilience/gqlresilience/example/carrier"
)

// printPlan makes the shop, which calls and serves nobody, and prints its plan.
func printPlan(options options, stdout io.Writer, logger *slog.Logger) error {
	client, err := carrier.NewClient("http://"+options.carrierAddr, nil)
	if err != nil {
		return err
	}
	shop, err := newShop(options, client, logger)
	if err != nil {
		return err
	}
	_, err = fmt.Fprint(stdout, shop.resilience.Plan())
	return err
}
