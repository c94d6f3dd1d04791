// Package gqlerrors turns the errors of resilience policies into GraphQL errors, and back.
//
//	resolver or policy fails → Convert (or Presenter) → extensions on the wire → Read
//
// On the server, [Convert] gives the error of a policy its code, status and fixed message;
// [Presenter] does the same for errors that reach only the error presenter, and [Answers] are
// for clients that know other codes. In a Go client, [Read] recovers what they wrote. Names of
// policies and causes of errors never reach a client; errors that no policy has to do with
// pass unchanged, unless [MaskUnknown] hides those that are not meant for clients.
package gqlerrors
