package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strconv"
	"time"

	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"

	"github.com/gqlresilience/gqlresilience/extension"
	"github.com/gqlresilience/gqlresilience/policy"
	"github.com/gqlresilience/gqlresilience/schema"
)

// planFlags are what the command line says of a plan.
type planFlags struct {
	patterns         []string // of the schema's files
	config, policies string   // files
	budget           extension.Budget
	asJSON, strict   bool
}

// define has the flags fill in f.
func (f *planFlags) define(flags *flag.FlagSet) {
	flags.Func("schema", "read the schema from `files`, such as 'graph/*.graphqls'; may be repeated (default: those of gqlgen's configuration)",
		func(pattern string) error { f.patterns = append(f.patterns, pattern); return nil })
	flags.StringVar(&f.config, "config", "", "gqlgen's configuration `file` "+
		"(default: gqlgen.yml, .gqlgen.yml or gqlgen.yaml here or in a folder above)")
	flags.StringVar(&f.policies, "policies", "", "the policies' configuration, a JSON `file` (default: none, for a schema without presets)")
	flags.Func("budget", "the `time` that an operation of the server may take: warn of fields that may take longer",
		func(text string) (err error) { f.budget.Timeout, err = positiveDuration(text); return err })
	flags.Func("retries", "the `number` of retries that an operation of the server may make: nested ones are then not warned about",
		func(text string) (err error) { f.budget.Retries, err = count(text); return err })
	flags.BoolVar(&f.asJSON, "json", false, "print the plan as JSON")
	flags.BoolVar(&f.strict, "strict", false, "fail on warnings")
}

// plan prints what the annotated fields of a schema come to, and fails on what a server's Use
// would fail on. What Go code gives the extension beside the policies is not known to it.
func plan(flags *flag.FlagSet, arguments []string, stdout, stderr io.Writer) error {
	var given planFlags
	given.define(flags)
	if err := parse(flags, arguments); err != nil {
		return err
	}
	if len(given.patterns) > 0 && given.config != "" {
		err := errors.New("-schema and -config: give one of them")
		fmt.Fprintln(stderr, err)
		return usageError{err}
	}
	made, warnings, err := given.plan()
	if err != nil {
		return err
	}
	if err := write(stdout, made, given.asJSON); err != nil {
		return err
	}
	for _, warning := range warnings {
		fmt.Fprintln(stderr, "warning:", warning)
	}
	if given.strict && len(warnings) > 0 {
		return fmt.Errorf("warnings: %d", len(warnings))
	}
	return nil
}

// plan makes the plan.
func (f *planFlags) plan() (made extension.Plan, warnings []string, err error) {
	registry, policiesErr := newRegistry(f.policies) // before the configuration is looked for, which may lie elsewhere
	s, schemaErr := loadSchema(f.patterns, f.config)
	if policiesErr != nil && s != nil {
		_, _, schemaErr = schema.Walk(s, nil) // as far as it can be checked without policies
	}
	if err := errors.Join(policiesErr, schemaErr); err != nil {
		return extension.Plan{}, nil, err
	}
	var options []extension.Option
	if f.budget != (extension.Budget{}) {
		options = append(options, extension.WithOperationBudget(f.budget))
	}
	if made, _, err = extension.New(registry, options...).PlanSchema(s); err != nil {
		return extension.Plan{}, nil, err
	}
	// Warn as if no field lacked a fallback: Go code may give it one.
	_, warnings, err = extension.New(registry, append(options, missingFallbacks(made)...)...).PlanSchema(s)
	return made, warnings, err
}

// newRegistry makes a registry of the policies in the file, of none if that is empty.
func newRegistry(file string) (*policy.Registry, error) {
	var config policy.Config
	if file != "" {
		content, err := os.Open(file)
		if err != nil {
			return nil, fmt.Errorf("-policies: %w", err)
		}
		defer content.Close()
		if config, err = policy.DecodeConfig(content); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
	}
	registry, err := policy.NewRegistry(config)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return registry, nil
}

// loadSchema loads the files that match the patterns or, if there are none, those that gqlgen's
// configuration names.
func loadSchema(patterns []string, configFile string) (*ast.Schema, error) {
	cfg, err := schemaConfig(patterns, configFile)
	if err != nil {
		return nil, err
	}
	if err := declare(cfg); err != nil {
		return nil, err
	}
	s, err := gqlparser.LoadSchema(cfg.Sources...)
	if err != nil {
		return nil, err
	}
	return s, nil
}

// missingFallbacks gives a fallback to each non-null field that has none in the plan.
func missingFallbacks(made extension.Plan) (options []extension.Option) {
	for _, f := range made.Fields {
		if len(f.TakesAlong) > 0 && len(f.Fallbacks) == 0 && !f.ByType {
			options = append(options, extension.WithFallback(f.Coordinate, func(context.Context, error) (any, error) {
				return nil, policy.ErrNoFallback
			}))
		}
	}
	return options
}

// positiveDuration reads a flag's duration.
func positiveDuration(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 {
		return 0, errors.New("must be a positive duration such as 3s")
	}
	return d, nil
}

// count reads a flag's number, which may be 0.
func count(text string) (*int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return nil, errors.New("must be a number such as 10, or 0")
	}
	return &n, nil
}

func write(to io.Writer, made extension.Plan, asJSON bool) error {
	if !asJSON {
		_, err := io.WriteString(to, made.String())
		return err
	}
	encoder := json.NewEncoder(to)
	encoder.SetIndent("", "  ")
	return encoder.Encode(made)
}
