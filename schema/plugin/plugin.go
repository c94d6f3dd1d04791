package plugin

import (
	"fmt"
	"go/token"
	"log"

	"github.com/99designs/gqlgen/codegen/config"
	"github.com/99designs/gqlgen/plugin"
	"github.com/vektah/gqlparser/v2/ast"

	"github.com/gqlresilience/gqlresilience/directive"
	"github.com/gqlresilience/gqlresilience/schema"
)

// Plugin is the gqlgen plugin. Make one with [New], for one run of api.Generate:
//
//   - It adds the declaration of @resilience to a schema that has none, and configures the
//     directive as one that gqlgen has nothing to run for (skip_runtime).
//   - Malformed annotations, and a declaration that differs, fail the generation: all of them
//     at once, with file and line. Whether a preset exists is only known to the server.
//   - It writes resilience_guards.go into the folder of the generated server (exec), with the
//     func Guard. Guarded are the resolvers of annotated fields, of fields of annotated object
//     types, and of federation's entities, which cannot be annotated. A guard without a policy
//     just calls the resolver.
//
// Fields bound to Go methods and resolvers of input fields have no guards. With nothing to
// guard, Guard returns its argument. The file also tells the extension which fields are bound to Go
// methods, so that it knows plain data for sure.
type Plugin struct {
	config   *config.Config
	settings map[string]schema.Settings // the fields of GuardFields
	all      bool
	funcName string

	annotated map[string]bool // by coordinate, those of settings included; set by MutateSchema
}

var (
	_ plugin.EarlySourcesInjector = (*Plugin)(nil)
	_ plugin.SchemaMutator        = (*Plugin)(nil)
	_ plugin.ConfigMutator        = (*Plugin)(nil)
	_ plugin.CodeGenerator        = (*Plugin)(nil)
)

// New returns the plugin for cfg, which must be what api.Generate is called with.
func New(cfg *config.Config, options ...Option) *Plugin {
	p := &Plugin{
		config:    cfg,
		settings:  map[string]schema.Settings{},
		funcName:  "Guard",
		annotated: map[string]bool{},
	}
	for _, option := range options {
		option(p)
	}
	return p
}

// Name is what gqlgen calls the plugin in errors.
func (p *Plugin) Name() string { return "resilience" }

// MutateSchema leaves the schema as it is, and finds and checks its annotations.
func (p *Plugin) MutateSchema(s *ast.Schema) error {
	if !token.IsIdentifier(p.funcName) || !token.IsExported(p.funcName) {
		return fmt.Errorf("the func's name %q must be an exported Go name", p.funcName)
	}
	fields, warnings, err := schema.Walk(s, p.settings)
	if err != nil {
		return fmt.Errorf("mistakes found:\n%w", err)
	}
	for _, warning := range warnings {
		log.Println(warning)
	}
	for _, field := range fields {
		p.annotated[field.Coordinate()] = true
	}
	return nil
}

// MutateConfig sets skip_runtime of the directive, whatever the configuration says.
func (p *Plugin) MutateConfig(cfg *config.Config) error {
	if cfg.Directives == nil {
		cfg.Directives = map[string]config.DirectiveConfig{}
	}
	cfg.Directives[directive.Name] = config.DirectiveConfig{SkipRuntime: true}
	return nil
}
