// Package gqlresilience has the name by which guards import package extension.
package gqlresilience

type Resilience struct{ ID string }
