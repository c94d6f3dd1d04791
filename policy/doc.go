// Package policy keeps calls to a failing dependency from taking their caller down with it.
//
// A [Registry] turns sparse [Spec] values into policies. A [Policy] runs a function through
// its stages, outermost first:
//
//	fallback → total timeout → retry → (open circuit? reject) → bulkhead → rate limit
//	         → circuit breaker's permit → per-attempt timeout → function
//
// A stage that no spec mentions costs a nil check. Breakers, bulkheads and limiters, in short
// the gates, are shared by name: [Execute] runs a function under the policy, and so through
// the gates, that the gqlgen extension runs resolvers under.
package policy
