package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"log"

	"github.com/99designs/gqlgen/api"
	"github.com/99designs/gqlgen/codegen/config"

	"github.com/gqlresilience/gqlresilience/schema/plugin"
)

// generate is gqlgen's generate with the guards' plugin.
func generate(flags *flag.FlagSet, arguments []string, _, stderr io.Writer) error {
	configFile := flags.String("config", "", "gqlgen's configuration `file` "+
		"(default: gqlgen.yml, .gqlgen.yml or gqlgen.yaml here or in a folder above)")
	var guarded coordinates
	flags.Var(&guarded, "guard", "guard the `fields` without an annotation too, such as Query.orders,Order.quotes; may be repeated")
	all := flags.Bool("guard-all", false, "guard every resolver")
	funcName := flags.String("func", "Guard", "`name` of the generated func")
	verbose := flags.Bool("verbose", false, "print gqlgen's log")
	if err := parse(flags, arguments); err != nil {
		return err
	}

	output, flagsOfLog := log.Writer(), log.Flags()
	defer func() {
		log.SetOutput(output)
		log.SetFlags(flagsOfLog)
	}()
	log.SetFlags(0)
	log.SetOutput(io.Discard)
	options := []plugin.Option{plugin.GuardFields(guarded...), plugin.FuncName(*funcName)}
	if *all {
		options = append(options, plugin.GuardAll())
	}
	if err := checkAnnotations(*configFile, options); err != nil {
		return err
	}
	if *verbose {
		log.SetOutput(stderr)
	}

	cfg, err := loadConfig(*configFile)
	if err != nil {
		return err
	}
	return api.Generate(cfg, api.AddPlugin(plugin.New(cfg, options...)))
}

// checkAnnotations tells what the plugin would, before gqlgen deletes the code that it has generated.
// What can't be loaded it leaves to gqlgen to tell.
func checkAnnotations(configFile string, options []plugin.Option) error {
	s, err := loadSchema(nil, configFile)
	if err != nil {
		return nil
	}
	guards := plugin.New(nil, options...)
	if err := guards.MutateSchema(s); err != nil {
		return fmt.Errorf("%s: %w", guards.Name(), err)
	}
	return nil
}

// loadConfig loads the file, or if that is empty what gqlgen would. The latter goes to the
// folder of the file it finds.
func loadConfig(file string) (*config.Config, error) {
	if file != "" {
		return config.LoadConfig(file)
	}
	cfg, err := config.LoadConfigFromDefaultLocations()
	if !errors.Is(err, fs.ErrNotExist) {
		return cfg, err
	}
	cfg, err = config.LoadDefaultConfig()
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errNoSchema
	}
	return cfg, err
}

// errNoSchema says what loadConfig has looked for.
var errNoSchema = errors.New("no gqlgen.yml, .gqlgen.yml or gqlgen.yaml here or in a folder above, and no schema.graphql here: name the configuration with -config")
