package main

import "context"

const handingOff = "hand-off"

// handOff has a new goroutine call the resolver, and waits for it: the floor of all that can let go of
// a resolver that does not return.
func handOff(ctx context.Context, resolve resolver) (value any, err error) {
	done := make(chan struct{})
	go func() {
		value, err = resolve(ctx)
		close(done)
	}()
	<-done
	return value, err
}
