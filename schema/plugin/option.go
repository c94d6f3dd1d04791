package plugin

import (
	"fmt"

	"github.com/gqlresilience/gqlresilience/schema"
)

// Option changes which guards a [Plugin] generates.
type Option func(*Plugin)

// GuardFields guards the fields at the coordinates, such as "Query.shippingQuotes", too: those
// that have no annotation, because only the server's code gives them a policy. A coordinate
// that is no field of an object type, or whose field has no resolver, fails the generation.
func GuardFields(coordinates ...string) Option {
	return func(p *Plugin) {
		for _, coordinate := range coordinates {
			p.settings[coordinate] = schema.Settings{Origin: fmt.Sprintf("guarding %q", coordinate)}
		}
	}
}

// GuardAll guards every resolver, so that any field can be given a policy without generating
// again.
func GuardAll() Option { return func(p *Plugin) { p.all = true } }

// FuncName gives the generated func another name, for a package that has a Guard already. The
// default is "Guard". A name that is not exported, or is no Go name, fails the generation.
func FuncName(name string) Option { return func(p *Plugin) { p.funcName = name } }
