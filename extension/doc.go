// Package extension runs the resolvers of a gqlgen server under policies.
//
// Register it last, so that it is the innermost of the server's field interceptors:
//
//	request → operation → other extensions → this one: the policy's stages, and inside each
//	        attempt: schema directives → resolver
//
// A field has a policy when the schema annotates it with @resilience, or Go code names it with
// [WithField] or [WithFallback]. Only fields with a resolver or a bound Go method are run under
// one, wherever the annotation stands. A failure is that of its field alone.
package extension
