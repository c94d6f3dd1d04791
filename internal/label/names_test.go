package label

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestNamesAreToldApartAsTheyAreShown(t *testing.T) {
	names := NewNames(2)
	assert.Equal(t, "a\uFFFD", names.Of("a\xff"))
	assert.Equal(t, "a\uFFFD", names.Of("a\xfe"))
	assert.Equal(t, "b", names.Of("b"))
	assert.Equal(t, "_OTHER", names.Of("c"))
}
