// Command example is a store for cat food: a GraphQL server whose carrier fails as you tell it to.
//
//	go run ./example          serves the store and a stub of the carrier
//	go run ./example -demo    plays an outage of the carrier and shows what clients see
//	go run ./example -trace   also writes a trace of each request
//	go run ./example -plan    prints what the policies of the schema's fields come to
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	// The first signal shuts down in order; from then on a signal ends the process as usual.
	context.AfterFunc(ctx, stop)
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) (status int) {
	options, err := parseOptions(args, stdout)
	if errors.Is(err, flag.ErrHelp) {
		return 0
	}
	if err != nil {
		fmt.Fprintln(stderr, "example:", err)
		return 2
	}
	logger := slog.New(slog.NewTextHandler(stderr, nil))
	switch {
	case options.plan:
		err = printPlan(options, stdout, logger)
	case options.demo:
		err = playDemo(ctx, options, stdout)
	default:
		err = serve(ctx, options, stdout, logger)
	}
	if err != nil {
		fmt.Fprintln(stderr, "example:", err)
		return 1
	}
	return 0
}
