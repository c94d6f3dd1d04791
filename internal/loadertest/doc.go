// Package loadertest holds the code of docs/dataloaders.md and the proof that
// it does what the guide says: through a gqlgen server, with a loader library.
// It is a module of its own, for the root module must not require that library.
package loadertest
