// Package g has the name of the guards' receiver.
package g

type G struct{ ID string }

type Root struct{}

type Filter struct {
	Name *string
	Ids  []string
}

// Bound has a method in place of a resolver.
type Bound struct{}

func (Bound) Total() *int { return nil }
