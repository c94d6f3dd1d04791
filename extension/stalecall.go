package extension

import (
	"context"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
)

// kept are the last good values of one field of a server.
type kept struct {
	*staleCache
	key func(ctx context.Context, args map[string]any) (string, bool)
}

// keeps returns a place for the field's values, nil if none are kept.
func (e *Extension) keeps(coordinate string) *kept {
	spec, ok := e.stale[coordinate]
	if !ok {
		return nil
	}
	return &kept{newStaleCache(spec.MaxAge, spec.MaxEntries), spec.Key}
}

// staleCall is one call of a field whose values are kept.
type staleCall struct {
	kept  *kept
	key   string
	keyed bool // the call has a key
	began time.Time
	age   *int // in seconds, of the value that was served; nil: none was
}

type staleCallKey struct{}

// staleCallOf returns the call that the fallback's ctx belongs to.
func staleCallOf(ctx context.Context) *staleCall {
	call, _ := ctx.Value(staleCallKey{}).(*staleCall)
	return call
}

// newStaleCall finds out the call's key. A resolver that was called from Go has none: what is
// known of arguments is another field's.
func (r *resolution) newStaleCall() *staleCall {
	call := &staleCall{kept: r.field.kept, began: time.Now()}
	if r.selected {
		call.key, call.keyed = call.kept.key(r.ctx, r.fc.Args)
	}
	return call
}

// serve returns the last good value.
func (c *staleCall) serve() (any, bool) {
	if c == nil || !c.keyed {
		return nil, false
	}
	value, age, ok := c.kept.getAt(time.Now(), c.key)
	if ok {
		c.age = new(int(age / time.Second))
	}
	return value, ok
}

// servedAge is the age for those who are told of it, nil if no stale value was served.
func (c *staleCall) servedAge() *int {
	if c == nil {
		return nil
	}
	return c.age
}

// earliest is when the dependency may first have been asked for what the call returns: in a query
// the operation's start, for a batch or a loader may have read it for another field.
func (r *resolution) earliest() time.Time {
	start := graphql.GetOperationContext(r.ctx).Stats.OperationStart
	if r.op.kind == ast.Subscription || start.IsZero() { // what an event asks, it asks anew
		return r.stale.began
	}
	return start
}

// learn keeps what the call has come to, if it is good, and forgets what a client's error says is
// not to be served any more. The value is that of the last attempt, a.
func (r *resolution) learn(a *attempt, last resulting, err error) {
	switch {
	case !r.stale.keyed:
	case err != nil:
		if r.op.extension.registry.IsClientError(err) {
			r.stale.kept.dropAt(time.Now(), r.stale.key)
		}
	case r.Own():
		if value := last.result(); r.isGood(a, value) {
			r.stale.kept.putAt(time.Now(), r.stale.key, staleValue{value: value, began: r.stale.began, asked: r.earliest()})
		}
	}
}

// isGood reports whether what the attempt returned may stand for what it returns later.
func (r *resolution) isGood(a *attempt, value any) bool {
	if own := a.responded(); own != nil && own.added() != nil {
		return false
	}
	return !isNil(value) || !r.field.nonNull
}
