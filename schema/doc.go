// Package schema finds the fields of a GraphQL schema that have a resilience policy.
//
// [SDL] declares the directive. [Walk] collects, for each field, what is said about it, highest
// precedence first:
//
//	Go code ([Settings]) → the field's @resilience → its object type's @resilience
//
// and reports every mistake with file and line. Below these come the preset and the defaults,
// which belong to the policy registry: nothing is merged here, and whether a preset exists
// is not known.
//
// [Ancestry] tells what the failure of a non-null field makes null, and which fields lead to an
// object.
package schema
