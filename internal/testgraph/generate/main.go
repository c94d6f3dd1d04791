// Command generate writes the generated code of internal/testgraph and of the
// variants below it. It runs in that folder.
package main

import (
	_ "embed"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"

	"github.com/99designs/gqlgen/api"
	"github.com/99designs/gqlgen/codegen"
	"github.com/99designs/gqlgen/codegen/config"
	"github.com/99designs/gqlgen/codegen/templates"

	"github.com/gqlresilience/gqlresilience/schema/plugin"
)

func main() {
	log.SetOutput(io.Discard) // gqlgen tells which fields got a resolver
	if err := generateAll(); err != nil {
		fmt.Fprintln(os.Stderr, "testgraph:", err)
		os.Exit(1)
	}
}

func generateAll() error {
	variants := []struct {
		config string
		adapt  func(*config.Config)
	}{
		{config: "gqlgen.yml"},
		{config: "gqlgen.yml", adapt: func(cfg *config.Config) {
			cfg.OmitPanicHandler = true
			cfg.Exec.WorkerLimit = 2
			cfg.Exec.Filename, cfg.Exec.Package = "nopanic/generated.go", "nopanic"
		}},
		{config: "federated/gqlgen.yml"},
	}
	for _, variant := range variants {
		cfg, err := config.LoadConfig(variant.config)
		if err != nil {
			return err
		}
		if variant.adapt != nil {
			variant.adapt(cfg)
		}
		if err := api.Generate(cfg, api.AddPlugin(stubs{}), api.AddPlugin(plugin.New(cfg, plugin.GuardAll()))); err != nil {
			return fmt.Errorf("%s: %w", cfg.Exec.Package, err)
		}
	}
	return nil
}

//go:embed stub.gotpl
var stubTemplate string

// stubs writes stub.go beside the generated code. gqlgen's own plugin/stubgen
// declares batch resolvers with the signature of single ones, and has no place
// for directives.
type stubs struct{}

func (stubs) Name() string { return "stubs" }

func (stubs) GenerateCode(data *codegen.Data) error {
	return templates.Render(templates.Options{
		PackageName:     data.Config.Exec.Package,
		Filename:        filepath.Join(data.Config.Exec.Dir(), "stub.go"),
		Data:            data,
		GeneratedHeader: true,
		Packages:        data.Config.Packages,
		Template:        stubTemplate,
		PruneOptions:    data.Config.GetPruneOptions(),
	})
}
