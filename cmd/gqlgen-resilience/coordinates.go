package main

import (
	"errors"
	"strings"
)

// coordinates is a flag that takes fields, several with commas between them, and may be
// repeated.
type coordinates []string

func (c *coordinates) String() string { return strings.Join(*c, ",") }

// Set adds the fields. Whether they exist is not known here.
func (c *coordinates) Set(text string) error {
	for coordinate := range strings.SplitSeq(text, ",") {
		coordinate = strings.TrimSpace(coordinate)
		if coordinate == "" {
			return errors.New("a field is missing")
		}
		*c = append(*c, coordinate)
	}
	return nil
}
