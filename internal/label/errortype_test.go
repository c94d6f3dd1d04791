package label

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"github.com/gqlresilience/gqlresilience/gqlerrors"
	"github.com/gqlresilience/gqlresilience/policy"
)

type answer struct{ status int }

func (a *answer) Error() string       { return "the carrier is down" }
func (a *answer) HTTPStatusCode() int { return a.status }

// reserved is an error that can't do without its pointer.
type reserved struct{ text string }

func (r *reserved) Error() string { return r.text }

func coded(code string) error {
	return &gqlerror.Error{Message: "secret", Extensions: map[string]any{"code": code}}
}

func TestErrorsAreToldBySortAndNotByText(t *testing.T) {
	for name, tc := range map[string]struct {
		err error
		is  string
	}{
		"a code":                          {&policy.Error{Kind: policy.KindTimeout}, "TIMEOUT"},
		"another server's code":           {coded("OUT_OF_STOCK"), "OUT_OF_STOCK"},
		"a code that is none":             {coded("user 42 may not"), "_OTHER"},
		"a code as long as may be":        {coded(strings.Repeat("X", 64)), strings.Repeat("X", 64)},
		"one that is longer":              {coded(strings.Repeat("X", 65)), "_OTHER"},
		"a status":                        {fmt.Errorf("asking: %w", &answer{503}), "503"},
		"a type":                          {errors.New("secret"), "*errors.errorString"},
		"a nil pointer":                   {(*reserved)(nil), "*label.reserved"},
		"a nil pointer that has a status": {(*answer)(nil), "*label.answer"},
		"a nil pointer within":            {fmt.Errorf("asking: %w", (*answer)(nil)), "*fmt.wrapError"},
	} {
		t.Run(name, func(t *testing.T) { assert.Equal(t, tc.is, ErrorType(tc.err)) })
	}
}

func TestAnErrorWhoseMethodsPanicHasTheCodeOfAnyOther(t *testing.T) {
	assert.Equal(t, gqlerrors.CodeInternal, Code((*reserved)(nil)))
	assert.Equal(t, "TIMEOUT", Code(&policy.Error{Kind: policy.KindTimeout}))
}
