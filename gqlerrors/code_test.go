package gqlerrors_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"github.com/gqlresilience/gqlresilience/gqlerrors"
	"github.com/gqlresilience/gqlresilience/policy"
)

func TestCodeIsWhatAClientIsToldOfAnError(t *testing.T) {
	ofOwnType := &gqlerror.Error{Message: "mine", Extensions: map[string]any{"code": errorCode("NOT_FOUND")}}
	for behaviour, row := range map[string]struct {
		err  error
		want string
	}{
		"a plain error":                           {errSecret, "INTERNAL"},
		"a policy's error":                        {fmt.Errorf("quotes: %w", timeout), "SLOW"},
		"a code":                                  {fmt.Errorf("quotes: %w", coded("NOT_FOUND", errSecret)), "NOT_FOUND"},
		"a code of a type of its own":             {ofOwnType, "NOT_FOUND"},
		"a code that is no text":                  {&gqlerror.Error{Extensions: map[string]any{"code": 404}}, "INTERNAL"},
		"a GraphQL error without a code":          {gqlerror.Errorf("no such order"), "INTERNAL"},
		"a code beside another error":             {errors.Join(errSecret, coded("DB_DOWN", nil)), "DB_DOWN"},
		"not that of a fallback's cause":          {&policy.FallbackError{Err: errSecret, Cause: coded("DB_DOWN", nil)}, "INTERNAL"},
		"not that of the cause of unknown errors": {&policy.Error{Kind: 99, Cause: coded("DB_DOWN", nil)}, "INTERNAL"},
		"an error that wraps itself":              {forever{}, "INTERNAL"},
	} {
		t.Run(behaviour, func(t *testing.T) {
			assert.Equal(t, row.want, gqlerrors.Answers{policy.KindTimeout: {Code: "SLOW"}}.Code(row.err))
		})
	}

	info, ok := gqlerrors.Read(ofOwnType)
	assert.True(t, ok)
	assert.Equal(t, "NOT_FOUND", info.Code, "as it would be on the wire")
}
