package schema

// Ancestor is what becomes null in place of a non-null field that failed: the nearest value above
// it that may.
type Ancestor struct {
	// Coordinate is the field that it belongs to, such as "Query.orders". "": all of the
	// response's data.
	Coordinate string

	// Item is true if it is an item of that field's list, and the list stays.
	Item bool
}

// String is such as "Query.order", "an item of Query.orders" or "the whole response".
func (a Ancestor) String() string {
	switch {
	case a.Coordinate == "":
		return "the whole response"
	case a.Item:
		return "an item of " + a.Coordinate
	default:
		return a.Coordinate
	}
}
