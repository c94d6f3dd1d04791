package browsertest

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"syscall"
	"time"

	"github.com/gqlresilience/gqlresilience/extension/dashboard"
	"github.com/gqlresilience/gqlresilience/policy"
)

// serveAloneVariable has the program of the tests serve a dashboard in place of running them.
const serveAloneVariable = "BROWSERTEST_SERVE_ALONE"

// policiesAlone is how many there are, each with a breaker and three fields.
const policiesAlone = 20

// serveAlone serves a dashboard, writes its address, and after each line that it reads the time in nanoseconds
// that the process has been on a processor.
func serveAlone() error {
	presets := map[string]policy.Spec{}
	for i := range policiesAlone {
		presets[fmt.Sprint("carrier", i)] = breaking
	}
	registry, err := policy.NewRegistry(policy.Config{Presets: presets})
	if err != nil {
		return err
	}
	d, err := dashboard.New(registry)
	if err != nil {
		return err
	}
	for _, p := range registry.Presets() {
		for _, field := range []string{"Query.quotes", "Query.parcel", "Order.quotes"} {
			for range 20 {
				_, _ = policy.Execute(context.Background(), p.WithSource(field), func(context.Context) (int, error) { return 0, errDown })
			}
		}
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	server := &http.Server{Handler: d, ReadHeaderTimeout: patience}
	go func() { _ = server.Serve(listener) }()
	fmt.Printf("http://%s/\n", listener.Addr())
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		var usage syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
			return err
		}
		fmt.Println(time.Duration(usage.Utime.Nano() + usage.Stime.Nano()).Nanoseconds())
	}
	return nil
}
