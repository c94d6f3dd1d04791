package schema

import _ "embed"

// SDL declares the @resilience directive and describes it and its arguments. A schema whose
// fields use the directive must contain it, as a source of its own or copied into another.
//
//go:embed resilience.graphqls
var SDL string
