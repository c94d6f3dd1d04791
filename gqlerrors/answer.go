package gqlerrors

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/gqlresilience/gqlresilience/policy"
)

// Answer is what a client is told about one kind of policy error. A zero field says what it
// says by default.
type Answer struct {
	Code       string // extensions.code
	HTTPStatus int    // extensions.httpStatus, from 400 to 599; never the status of the response
	Message    string
}

// or fills a's zero fields.
func (a Answer) or(standard Answer) Answer {
	return Answer{
		Code:       cmp.Or(a.Code, standard.Code),
		HTTPStatus: cmp.Or(a.HTTPStatus, standard.HTTPStatus),
		Message:    cmp.Or(a.Message, standard.Message),
	}
}

// Answers replace the default codes, statuses and messages, for clients that know others. A
// kind that is not in them is answered as by default. Whether an error tells when to come
// back, in "retryAfter", depends on its kind alone.
//
// The extension's WithErrorCodes is where a server says them, once: what converts errors finds
// them in the operation's context.
type Answers map[policy.ErrorKind]Answer

var standardAnswers = Answers{
	policy.KindTimeout:      {CodeTimeout, http.StatusGatewayTimeout, "The operation timed out"},
	policy.KindCircuitOpen:  {CodeCircuitOpen, http.StatusServiceUnavailable, "Service temporarily unavailable"},
	policy.KindBulkheadFull: {CodeBulkheadFull, http.StatusServiceUnavailable, "Server is at capacity"},
	policy.KindRateLimited:  {CodeRateLimited, http.StatusServiceUnavailable, "Rate limit of a dependency exceeded"},
}

// of returns what to answer to an error of a kind. Unknown kinds have no answer.
func (a Answers) of(kind policy.ErrorKind) (Answer, bool) {
	return a[kind].or(standardAnswers[kind]), isKnown(kind)
}

func isKnown(kind policy.ErrorKind) bool {
	_, known := standardAnswers[kind]
	return known
}

// Validate returns all that is wrong with the answers, joined: unknown kinds, blank codes and
// messages, statuses that are no errors'.
func (a Answers) Validate() error {
	var mistakes []error
	for _, kind := range slices.Sorted(maps.Keys(a)) {
		mistake := func(format string, args ...any) {
			mistakes = append(mistakes, fmt.Errorf("answer to %q: "+format, append([]any{kind}, args...)...))
		}
		answer := a[kind]
		if !isKnown(kind) {
			mistake("no such kind of policy error")
		}
		if isBlank(answer.Code) {
			mistake("code: %q: must not be blank", answer.Code)
		}
		if status := answer.HTTPStatus; status != 0 && (status < 400 || status > 599) {
			mistake("httpStatus: %d: must be from 400 to 599", status)
		}
		if isBlank(answer.Message) {
			mistake("message: %q: must not be blank", answer.Message)
		}
	}
	return errors.Join(mistakes...)
}

// isBlank reports whether there is text, but nothing to see of it.
func isBlank(text string) bool { return text != "" && strings.TrimSpace(text) == "" }

type answersKey struct{}

// WithAnswers returns a context in which a [Presenter] answers with a. It is for those who wrap
// an operation, as the extension does.
func WithAnswers(ctx context.Context, a Answers) context.Context {
	return context.WithValue(ctx, answersKey{}, a)
}

// answersOf finds what WithAnswers put into ctx. Nothing: the default answers.
func answersOf(ctx context.Context) Answers {
	answers, _ := ctx.Value(answersKey{}).(Answers)
	return answers
}
