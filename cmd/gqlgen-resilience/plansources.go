package main

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/99designs/gqlgen/codegen/config"
	"github.com/99designs/gqlgen/plugin/federation"
	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/parser"

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
	version, linked := linkedFederation(cfg.Sources)
	if !linked && !cfg.Federation.IsDefined() {
		cfg.Sources = append(cfg.Sources, missing...)
		return nil
	}
	federated, err := federation.New(cmp.Or(cfg.Federation.Version, version), cfg)
	if err != nil {
		return err
	}
	declarations, err := federated.InjectSourcesEarly()
	if err != nil {
		return err
	}
	cfg.Sources = slices.Concat(cfg.Sources, missing, declarations)
	return declareEntities(cfg, federated)
}

// linkedFederation looks for federation's specification among those that the schema links, and
// returns its major version, as far as gqlgen tells them apart.
func linkedFederation(sources []*ast.Source) (version int, linked bool) {
	for _, source := range sources {
		document, err := parser.ParseSchema(source)
		if err != nil {
			continue // which loading the schema reports
		}
		for _, definition := range slices.Concat(document.Schema, document.SchemaExtension) {
			for _, link := range definition.Directives.ForNames("link") {
				url := link.Arguments.ForName("url")
				if url == nil || url.Value == nil {
					continue
				}
				if _, spec, ok := strings.Cut(url.Value.Raw, "specs.apollo.dev/federation/"); ok {
					linked = true
					if strings.HasPrefix(spec, "v2") {
						version = 2
					}
				}
			}
		}
	}
	return version, linked
}

// declareEntities adds Query._entities and _service, for a failure under an entity takes _entities'
// item along. A schema that was printed with them has them already.
func declareEntities(cfg *config.Config, federated *federation.Federation) error {
	s, err := gqlparser.LoadSchema(cfg.Sources...)
	if err != nil || s.Query == nil || s.Query.Fields.ForName("_service") != nil {
		return nil // of a schema that can't be loaded, loading it again tells
	}
	entities, err := federated.InjectSourcesLate(s)
	if err != nil {
		return err
	}
	cfg.Sources = append(cfg.Sources, entities...)
	return nil
}
