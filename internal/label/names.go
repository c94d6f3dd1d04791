package label

// Names tells the first so many names apart. It is safe for concurrent use.
type Names struct{ table *Table[string] }

// NewNames returns a Names for limit names, at least 1.
func NewNames(limit int) Names {
	return Names{NewTable(limit, func(name, _ string) string { return name })}
}

// Of returns what the name is called: what is [Printable] of it, or [Other].
func (n Names) Of(name string) string { return n.table.Of(name, "") }
