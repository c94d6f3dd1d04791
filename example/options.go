package main

import (
	"flag"
	"fmt"
	"io"
	"time"
)

// options is what the command line sets, what comes of it, and the two times that only tests change.
type options struct {
	addr           string
	carrierAddr    string
	carrierURL     string
	reprice        time.Duration
	openDuration   time.Duration
	exportDuration time.Duration
	demo           bool
	plan           bool
	trace          bool

	// notice is the time from reporting not ready to refusing connections, for load balancers
	// to look elsewhere; grace is the time for all of the shutdown, the notice included.
	notice time.Duration
	grace  time.Duration

	traces io.Writer // where -trace writes to; nil: nowhere
}

const (
	demoOpenDuration    = 2 * time.Second
	demoOpenDurationMin = time.Second
	demoOpenDurationMax = 5 * time.Second
)

// parseOptions reads the command line. On -help it writes the usage and returns [flag.ErrHelp].
func parseOptions(args []string, usage io.Writer) (options, error) {
	parsed := options{notice: time.Second, grace: 15 * time.Second}
	flags := flag.NewFlagSet("example", flag.ContinueOnError)
	flags.SetOutput(io.Discard) // the caller reports the error, and once is enough
	flags.StringVar(&parsed.addr, "addr", "127.0.0.1:8080", "`address` of the store; with -demo, a free port unless given")
	flags.StringVar(&parsed.carrierAddr, "carrier-addr", "127.0.0.1:8081", "`address` of the carrier stub; with -demo, a free port unless given")
	flags.StringVar(&parsed.carrierURL, "carrier-url", "", "base `URL` of a real carrier to use in place of the stub")
	flags.DurationVar(&parsed.reprice, "reprice", 15*time.Minute, "`interval` at which pending orders are re-quoted; 0 never does")
	flags.DurationVar(&parsed.openDuration, "open-duration", 30*time.Second, "how long the carrier's circuit stays open; with -demo, 2s unless given, and from 1s to 5s")
	flags.DurationVar(&parsed.exportDuration, "export-duration", 2*time.Second, "how long an export takes")
	flags.BoolVar(&parsed.demo, "demo", false, "play an outage of the carrier, show what clients see, and exit")
	flags.BoolVar(&parsed.plan, "plan", false, "print what the policies of the schema's fields come to, and exit")
	flags.BoolVar(&parsed.trace, "trace", false, "write a trace of each request to the standard output, as JSON")
	if err := flags.Parse(args); err != nil {
		if err == flag.ErrHelp {
			fmt.Fprintln(usage, "usage: example [flags]")
			flags.SetOutput(usage)
			flags.PrintDefaults()
		}
		return options{}, err
	}
	given := make(map[string]bool)
	flags.Visit(func(f *flag.Flag) { given[f.Name] = true })
	if parsed.demo {
		parsed.prepareDemo(given)
	}
	return parsed, parsed.check(flags.Args(), given)
}

func (o *options) prepareDemo(given map[string]bool) {
	if !given["addr"] {
		o.addr = "127.0.0.1:0"
	}
	if !given["carrier-addr"] {
		o.carrierAddr = "127.0.0.1:0"
	}
	if !given["open-duration"] {
		o.openDuration = demoOpenDuration
	}
	if !given["reprice"] {
		o.reprice = 0 // its calls would be counted among the demo's
	}
	o.notice = 0
}

func (o *options) check(rest []string, given map[string]bool) error {
	switch {
	case len(rest) > 0:
		return fmt.Errorf("unexpected argument %q", rest[0])
	case o.openDuration <= 0:
		return fmt.Errorf("-open-duration: must be positive, is %v", o.openDuration)
	case o.reprice < 0:
		return fmt.Errorf("-reprice: must not be negative, is %v", o.reprice)
	case o.exportDuration < 0:
		return fmt.Errorf("-export-duration: must not be negative, is %v", o.exportDuration)
	case o.carrierURL != "" && given["carrier-addr"]:
		return fmt.Errorf("-carrier-addr: the stub is not started with -carrier-url")
	case o.demo && o.plan:
		return fmt.Errorf("-plan: not together with -demo")
	case o.trace && (o.demo || o.plan):
		return fmt.Errorf("-trace: not together with -demo or -plan")
	case o.demo && o.carrierURL != "":
		return fmt.Errorf("-carrier-url: -demo needs the stub, which it makes hang")
	case o.demo && o.reprice > 0:
		return fmt.Errorf("-reprice: must be 0 with -demo, which counts the carrier's calls")
	case o.demo && (o.openDuration < demoOpenDurationMin || o.openDuration > demoOpenDurationMax):
		return fmt.Errorf("-open-duration: must be from %v to %v with -demo, is %v", demoOpenDurationMin, demoOpenDurationMax, o.openDuration)
	}
	return nil
}
