package main

import "github.com/gqlresilience/gqlresilience/policy"

// presetCases tell whether a call costs more where the registry has many presets.
func presetCases() []benchCase {
	return underEach("presets/10000", func(by hook, mode policy.TimeoutMode) benchCase {
		spec := specOf(mode, fourStages...)
		return benchCase{
			ours:   protectedBeside(9_999, by, spec, idle),
			rivals: []rival{{name: "1 preset", setUp: protected(by, spec, idle), mostRatio: 1.05}},
		}
	})
}
