// Command bench measures what gqlresilience costs, beside what else does the same:
//
//	go run . [-rounds n] [-run regexp] [-json] [-check] [-before file]
//
// It prints a table: nanoseconds and allocations of each case, those of the rival in the same
// rounds, the ratio of the times (the median of the rounds' own, and what half of them are between),
// and the bounds. Only ratios can be compared between machines, and on a busy one a case may come
// out a quarter off even against itself: a bound near 1 needs a quiet machine and -rounds 50.
//
// It is a module of its own, for nobody who uses the library should get what it is measured
// against. To measure another checkout of the library, give it a go.mod that names that:
//
//	sed "s#=> ../..#=> $checkout#" go.mod >"$scratch/other.mod"; cp go.sum "$scratch/other.sum"
//	go run -modfile "$scratch/other.mod" .
//
// With -json, each run prints a document for the other's -before, which adds what has become of
// the ratios in between.
//
// The same cases are benchmarks, which benchstat reads.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"regexp"
	"strings"
	"text/tabwriter"
)

func main() {
	slog.SetDefault(slog.New(slog.DiscardHandler)) // servers without the guards that there are warn
	err := run(os.Args[1:], os.Stdout)
	if errors.Is(err, flag.ErrHelp) {
		return
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

var errMissed = errors.New("bounds are missed")

func run(arguments []string, out io.Writer) error {
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	rounds := flags.Int("rounds", 9, "`number` of rounds that the medians are of")
	pattern := flags.String("run", "", "measure only the cases whose names match the `regexp`")
	asJSON := flags.Bool("json", false, "print one JSON document in place of the table")
	check := flags.Bool("check", false, "fail if a bound is missed")
	beforeFile := flags.String("before", "", "compare with the `file` that -json has printed before")
	if err := flags.Parse(arguments); err != nil {
		return err
	}
	wanted, err := regexp.Compile(*pattern)
	if err != nil {
		return err
	}
	if *rounds < 1 {
		return fmt.Errorf("-rounds %d: there must be at least one", *rounds)
	}

	before, err := readBefore(*beforeFile)
	if err != nil {
		return err
	}

	var rows []row
	missed := false
	for _, c := range allCases() {
		if !wanted.MatchString(c.name) {
			continue
		}
		measured, err := measure(c, *rounds)
		if err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		for _, r := range rowsOf(c, measured) {
			r.compare(before, c.mostBefore)
			rows = append(rows, r)
			missed = missed || r.missed()
		}
	}
	if *asJSON {
		err = json.NewEncoder(out).Encode(document{rows})
	} else {
		err = print(out, rows)
	}
	if err == nil && missed && *check {
		err = errMissed
	}
	return err
}

// print prints the table as Markdown that can also be read as it is.
func print(out io.Writer, rows []row) error {
	table := tabwriter.NewWriter(out, 0, 0, 1, ' ', 0)
	fmt.Fprintln(table, "| case\t| ns\t| allocs\t| bytes\t| rival\t| its ns\t| its allocs\t| its bytes\t| ratio\t| × before\t| bound\t| \t|")
	fmt.Fprintln(table, strings.Repeat("|---\t", 12)+"|")
	for _, r := range rows {
		fmt.Fprintln(table, "| "+strings.Join(r.cells(), "\t| ")+"\t|")
	}
	return table.Flush()
}
