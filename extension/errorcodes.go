package extension

import (
	"fmt"
	"maps"

	"github.com/gqlresilience/gqlresilience/gqlerrors"
)

// WithErrorCodes tells clients of policies' errors with other codes, statuses and messages than
// gqlresilience's own, for teams whose clients know others already. It holds for what the
// extension maps, for what reaches only [gqlerrors.Presenter], and in extensions.degraded. A
// kind, or a part of an answer, that is not given stays as it is by default.
func WithErrorCodes(answers gqlerrors.Answers) Option {
	return func(e *Extension) {
		if e.answers != nil {
			e.mistake("WithErrorCodes: given twice")
			return
		}
		e.answers = gqlerrors.Answers{}
		maps.Copy(e.answers, answers)
		if len(answers) == 0 {
			e.mistake("WithErrorCodes: gives no answer")
		}
		if err := answers.Validate(); err != nil {
			e.mistakes = append(e.mistakes, fmt.Errorf("WithErrorCodes: %w", err))
		}
	}
}
