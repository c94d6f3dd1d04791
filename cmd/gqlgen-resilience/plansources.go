package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/99designs/gqlgen/codegen/config"
	"github.com/99designs/gqlgen/plugin/federation"
	"github.com/vektah/gqlparser/v2/ast"

	"github.com/gqlresilience/gqlresilience/schema/plugin"
)

// schemaConfig returns a configuration with the files that match the patterns or, if there are no
// patterns, gqlgen's.
func schemaConfig(patterns []string, configFile string) (*config.Config, error) {
	if len(patterns) == 0 {
		cfg, err := loadConfig(configFile)
		if errors.Is(err, errNoSchema) {
			err = fmt.Errorf("%w, or the schema with -schema", err)
		}
		return cfg, err
	}
	cfg := config.DefaultConfig()
	for _, pattern := range patterns {
		matching := config.DefaultConfig()
		matching.SchemaFilename = config.StringList{pattern}
		if err := config.CompleteConfig(matching); err != nil {
			return nil, fmt.Errorf("-schema: %w", err)
		}
		if len(matching.Sources) == 0 {
			return nil, fmt.Errorf("-schema: no file matches %q", pattern)
		}
		for _, source := range matching.Sources {
			if !slices.ContainsFunc(cfg.Sources, func(has *ast.Source) bool { return has.Name == source.Name }) {
				cfg.Sources = append(cfg.Sources, source)
			}
		}
	}
	return cfg, nil
}

// declare adds the declarations that generating adds: that of @resilience, and federation's where
// the configuration, or a link in the schema, says that it is one of a federation.
func declare(cfg *config.Config) error {
	missing, err := plugin.New(cfg).InjectSourcesEarly()
	if err != nil {
		return err
	}
	const specs = "specs.apollo.dev/federation/"
	links := func(version string) bool {
		return slices.ContainsFunc(cfg.Sources, func(source *ast.Source) bool { return strings.Contains(source.Input, specs+version) })
	}
	if cfg.Federation.IsDefined() || links("") {
		version := cfg.Federation.Version
		if version == 0 && links("v2") {
			version = 2
		}
		federated, err := federation.New(version, cfg)
		if err != nil {
			return err
		}
		declarations, err := federated.InjectSourcesEarly()
		if err != nil {
			return err
		}
		missing = append(missing, declarations...)
	}
	cfg.Sources = append(cfg.Sources, missing...)
	return nil
}
