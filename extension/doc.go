// Package extension runs the resolvers of a gqlgen server under policies.
//
//	request → operation (its budget) → other extensions → this one → schema directives
//	        → the field's guard: the policy's stages, and inside each attempt: the resolver
//
// A field has a policy when the schema annotates it with @resilience, or Go code names it with
// [WithField], [WithFallback] or [WithStale]. Guards are generated, by package schema/plugin. A
// field that has none runs under its policy in the field middleware instead, directives
// within each attempt; register the extension last for that, so that it is the innermost. Only
// fields with a resolver or a bound Go method have a policy, wherever the annotation stands. A
// failure is that of its field alone.
package extension
