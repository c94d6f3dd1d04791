// Package context has the name of a package that guards import.
package context

type Context struct{ ID string }
