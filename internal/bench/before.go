package main

import (
	"encoding/json"
	"fmt"
	"os"
)

// document is what -json prints.
type document struct {
	Rows []row `json:"rows"`
}

// readBefore reads the rows that -json has printed, with another checkout of the library. "" is none.
func readBefore(file string) ([]row, error) {
	if file == "" {
		return nil, nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var before document
	if err := json.Unmarshal(text, &before); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return before.Rows, nil
}

// compare tells the row what the same one was before. It goes by the rival, which has not
// changed while the machine may have been busier: where there is none, nothing is told.
func (r *row) compare(before []row, most float64) {
	for _, old := range before {
		if old.Case == r.Case && old.Rival == r.Rival && old.Ratio > 0 {
			r.Before = r.Ratio / old.Ratio
			r.limit("× before", r.Before, most)
		}
	}
}
