// Command gqlgen-resilience generates a GraphQL server as gqlgen does, with guards around the
// resolvers that have resilience policies:
//
//	go get -tool github.com/gqlresilience/gqlresilience/cmd/gqlgen-resilience
//	go tool gqlgen-resilience
//
// It also tells, and checks, what the policies of a schema's fields come to:
//
//	go tool gqlgen-resilience plan -schema 'graph/*.graphqls' -policies policies.json
//
// It exits with 0 on success, 1 on failure, and 2 if it was called the wrong way.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
)

const program = "gqlgen-resilience"

// A command is one of the things the program does.
type command struct {
	name    string
	summary string
	note    string // what else its usage says; "": nothing
	// run parses the arguments with the flags, whose usage and errors it leaves to them, and
	// does the work.
	run func(flags *flag.FlagSet, arguments []string, stdout, stderr io.Writer) error
}

// commands lists the commands. The first is the default.
func commands() []command {
	return []command{
		{"generate", "generate the server and its guards, as gqlgen.yml says", "", generate},
		{"plan", "print and check what the policies of a schema's fields come to",
			"A non-null field without a fallback is not warned about: Go code may give it one.", plan},
	}
}

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// run runs the command that the arguments name and returns the exit code.
func run(arguments []string, stdout, stderr io.Writer) int {
	chosen := commands()[0]
	if len(arguments) > 0 && !strings.HasPrefix(arguments[0], "-") {
		found := false
		for _, candidate := range commands() {
			if candidate.name == arguments[0] {
				chosen, found = candidate, true
			}
		}
		if !found {
			fmt.Fprintf(stderr, "%s: unknown command %q\n", program, arguments[0])
			overview(stderr)
			return 2
		}
		arguments = arguments[1:]
	}

	flags := flag.NewFlagSet(program+" "+chosen.name, flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Usage = func() {
		overview(stderr)
		if chosen.note != "" {
			fmt.Fprintf(stderr, "\n%s\n", chosen.note)
		}
		fmt.Fprintf(stderr, "\nFlags of %s:\n", chosen.name)
		flags.PrintDefaults()
	}
	err := chosen.run(flags, arguments, stdout, stderr)
	var usage usageError
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
		return 0
	case errors.As(err, &usage):
		return 2
	}
	fmt.Fprintf(stderr, "%s: %v\n", program, err)
	return 1
}

func overview(w io.Writer) {
	fmt.Fprintf(w, "usage: %s [command] [flags]\n\nCommands:\n", program)
	for i, command := range commands() {
		summary := command.summary
		if i == 0 {
			summary += " (default)"
		}
		fmt.Fprintf(w, "  %-10s %s\n", command.name, summary)
	}
}

// usageError is a mistake in the arguments, which was printed already.
type usageError struct{ error }

// parse parses the arguments of a command that takes flags alone. Its error is for run.
func parse(flags *flag.FlagSet, arguments []string) error {
	err := flags.Parse(arguments)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return err
	case err != nil:
		return usageError{err}
	case flags.NArg() > 0:
		err = fmt.Errorf("unexpected argument %q", flags.Arg(0))
		fmt.Fprintln(flags.Output(), err)
		flags.Usage()
		return usageError{err}
	}
	return nil
}
