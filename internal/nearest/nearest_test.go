package nearest_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/gqlresilience/gqlresilience/internal/nearest"
)

func TestNameFindsWhatAMisspelledNameWasMeantToBe(t *testing.T) {
	for _, row := range []struct {
		behaviour  string
		name       string
		candidates []string
		want       string
	}{
		{"a missing letter", "carier", []string{"export", "carrier"}, "carrier"},
		{"an added letter", "carrrier", []string{"export", "carrier"}, "carrier"},
		{"a replaced letter", "carriar", []string{"export", "carrier"}, "carrier"},
		{"swapped letters are one mistake", "Qurey", []string{"Query"}, "Query"},
		{"upper and lower case are alike", "CARRIER", []string{"carrier"}, "carrier"},
		{"a plural", "shippingQuote", []string{"order", "shippingQuotes"}, "shippingQuotes"},
		{"the nearer one wins", "orders", []string{"order", "borders", "orders2x"}, "borders"},
		{"a name of one letter may have a mistake", "a", []string{"ab"}, "ab"},
		{"three mistakes in nine letters are near", "shipQuote", []string{"shopQuoted2"}, "shopQuoted2"},
		{"two mistakes in five letters are too many", "order", []string{"orbit"}, ""},
		{"nothing is like it", "carrier", []string{"export", "warehouse"}, ""},
		{"the name itself", "carrier", []string{"carriers", "carrier"}, "carrier"},
		{"letters are counted, not bytes", "größe", []string{"grösse"}, ""},
		{"letters are compared, not bytes", "größe", []string{"grö7e"}, "grö7e"},
		{"no candidates", "carrier", nil, ""},
		{"no name", "", []string{"a"}, ""},
		{"an empty candidate is none", "a", []string{""}, ""},
	} {
		t.Run(row.behaviour, func(t *testing.T) {
			assert.Equal(t, row.want, nearest.Name(row.name, row.candidates))
		})
	}
}

func TestNameDoesNotDependOnTheOrderOfTheCandidates(t *testing.T) {
	candidates := []string{"border", "orders", "older"}
	reversed := slices.Clone(candidates)
	slices.Reverse(reversed)

	assert.Equal(t, "border", nearest.Name("order", candidates))
	assert.Equal(t, "border", nearest.Name("order", reversed))
}

func ExampleName() {
	if name := nearest.Name("carier", []string{"carrier", "export"}); name != "" {
		fmt.Printf("did you mean %q?\n", name)
	}
	// Output: did you mean "carrier"?
}
