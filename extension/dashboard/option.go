package dashboard

import (
	"errors"
	"log/slog"
	"net/http"

	"github.com/gqlresilience/gqlresilience/extension"
	"github.com/gqlresilience/gqlresilience/internal/label"
)

// Option configures [New].
type Option func(*config) error

type config struct {
	plan      func() extension.Plan
	authorize func(*http.Request) bool
	operator  func(*http.Request) string
	errorText func(error) string
	logger    *slog.Logger
}

func configured(options []Option) (config, error) {
	c := config{logger: slog.Default()}
	var mistakes []error
	for _, option := range options {
		err := errors.New("an option is nil")
		if option != nil {
			err = option(&c)
		}
		mistakes = append(mistakes, err)
	}
	switch {
	case c.operator == nil:
		c.operator = basicAuthUser
	case c.authorize == nil:
		mistakes = append(mistakes, errors.New("WithOperator: there is no WithControl whose use it could tell of"))
	}
	if c.errorText == nil {
		c.errorText = label.ErrorType
	}
	return c, errors.Join(mistakes...)
}

// WithPlan shows the plan of the server's fields, with the longest that each may take: give it the extension's
// [extension.Extension.Plan]. Without, the page has none. It is called every five seconds while somebody looks, and
// must return at once: all viewers wait for it.
func WithPlan(plan func() extension.Plan) Option {
	return func(c *config) error {
		if plan == nil {
			return errors.New("WithPlan: the function is nil")
		}
		c.plan = plan
		return nil
	}
}

// WithControl lets those trip and reset circuit breakers of whose requests authorize reports true. By default
// nobody may: the page is read-only. Authorize is asked about every use, and about the page itself, to know
// whether it should have buttons. It runs on the request's goroutine, must be safe for concurrent use, and must leave
// the body unread. Let it decide by who asks and not by the path, of which only the last segment counts here.
//
// A request from another site changes nothing, whatever authorize says of it, and neither does anything but
// a POST. Each use is logged, and each that was refused: see [WithLogger] and [WithOperator].
func WithControl(authorize func(*http.Request) bool) Option {
	return func(c *config) error {
		if authorize == nil {
			return errors.New("WithControl: the function is nil")
		}
		c.authorize = authorize
		return nil
	}
}

// WithOperator tells who sends a request, for the log of uses of [WithControl]. By default it is the user
// of HTTP's basic authentication, if there is one: whoever the request says. Where the function given to WithControl goes
// by something else, give this, too, or one operator may pass for another. The address is logged in any case.
func WithOperator(name func(*http.Request) string) Option {
	return func(c *config) error {
		if name == nil {
			return errors.New("WithOperator: the function is nil")
		}
		c.operator = name
		return nil
	}
}

// WithLogger sets where uses of [WithControl] are logged, and panics of the function given to [WithPlan]. By default that
// is [slog.Default].
func WithLogger(logger *slog.Logger) Option {
	return func(c *config) error {
		if logger == nil {
			return errors.New("WithLogger: the logger is nil")
		}
		c.logger = logger
		return nil
	}
}

// WithErrorText has the page tell errors by what text says of them, of which it shows 200 bytes: give it
// the method expression error.Error if all who see the page may read what errors say. By default errors are told by
// the code that a client would be told, the HTTP status of the dependency's answer, or the Go type. Text runs on the
// goroutine of the call that had the error.
func WithErrorText(text func(error) string) Option {
	return func(c *config) error {
		if text == nil {
			return errors.New("WithErrorText: the function is nil")
		}
		c.errorText = text
		return nil
	}
}

func basicAuthUser(r *http.Request) string {
	user, _, _ := r.BasicAuth()
	return user
}
