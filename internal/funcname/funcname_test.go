package funcname_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/gqlresilience/gqlresilience/internal/funcname"
)

type client struct{}

func (*client) quotes() {}

func flatRate() {}

func TestAFunctionIsNamedWithTheLastElementOfItsPackagesPath(t *testing.T) {
	for want, fn := range map[string]any{
		"funcname_test.flatRate":         flatRate,
		"funcname_test.(*client).quotes": new(client).quotes,
		"json.Marshal":                   json.Marshal,
		"funcname_test.TestAFunctionIsNamedWithTheLastElementOfItsPackagesPath.func1": func() {},
	} {
		assert.Equal(t, want, funcname.Of(fn))
	}
}
