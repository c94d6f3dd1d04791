package gqlerrors_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"github.com/gqlresilience/gqlresilience/gqlerrors"
	"github.com/gqlresilience/gqlresilience/policy"
)

func ExampleConvert() {
	err := fmt.Errorf("quotes of order 1001: %w", &policy.Error{
		Kind: policy.KindCircuitOpen, Policy: "carrier", RetryAfter: 29500 * time.Millisecond,
	})

	onTheWire, _ := json.Marshal(gqlerrors.Convert(err))
	fmt.Println(string(onTheWire))

	other := errors.New("no such order")
	fmt.Println(gqlerrors.Convert(other) == other)
	// Output:
	// {"message":"Service temporarily unavailable","extensions":{"code":"CIRCUIT_OPEN","httpStatus":503,"retryAfter":30}}
	// true
}

func ExamplePresenter() {
	// Give it to a gqlgen server: srv.SetErrorPresenter(presenter)
	presenter := gqlerrors.Presenter(func(_ context.Context, err error) *gqlerror.Error {
		if failure, ok := errors.AsType[*policy.Error](err); ok {
			fmt.Println("log:", failure)
		}
		presented, _ := errors.AsType[*gqlerror.Error](err)
		return presented
	})

	presented := presenter(context.Background(), &policy.Error{Kind: policy.KindTimeout, Policy: "carrier"})
	fmt.Println("client:", presented.Message, presented.Extensions["code"])
	// Output:
	// log: policy "carrier": the operation timed out
	// client: The operation timed out TIMEOUT
}

func ExampleMaskUnknown() {
	logger := slog.New(slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{
		ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			switch a.Key {
			case "msg", "error":
				return a
			}
			return slog.Attr{} // the time, and an instance that is another one each time
		},
	}))
	presenter := gqlerrors.Presenter(nil, gqlerrors.MaskUnknown(logger))

	for _, err := range []error{
		errors.New("dial tcp 10.0.0.7:5432: connection refused"),
		fmt.Errorf("orders: %w", policy.AsClientError(errors.New("no such order"))),
	} {
		presented := presenter(context.Background(), err)
		fmt.Println("client:", presented.Message, presented.Extensions["code"])
	}
	// Output:
	// msg="hid an error from the client" error="dial tcp 10.0.0.7:5432: connection refused"
	// client: Internal server error INTERNAL
	// client: no such order <nil>
}

// A presenter that knows errors of its application gives them a code. All that it does not know
// stays hidden.
func ExampleMaskUnknown_next() {
	errSoldOut := errors.New("sold out")
	presenter := gqlerrors.Presenter(func(ctx context.Context, err error) *gqlerror.Error {
		presented := graphql.DefaultErrorPresenter(ctx, err)
		if errors.Is(err, errSoldOut) {
			presented.Message = "Sold out until Monday"
			presented.Extensions = map[string]any{"code": "SOLD_OUT"}
		}
		return presented
	}, gqlerrors.MaskUnknown(slog.New(slog.DiscardHandler)))

	for _, err := range []error{fmt.Errorf("stock at 10.0.0.7: %w", errSoldOut), errors.New("no route to 10.0.0.7")} {
		presented := presenter(context.Background(), err)
		fmt.Println(presented.Message, presented.Extensions["code"])
	}
	// Output:
	// Sold out until Monday SOLD_OUT
	// Internal server error INTERNAL
}

func ExampleAnswers() {
	answers := gqlerrors.Answers{
		policy.KindTimeout:     {Code: "DEADLINE_EXCEEDED"},
		policy.KindCircuitOpen: {Code: "UNAVAILABLE", Message: "Try again later"},
	}
	fmt.Println(answers.Validate())

	onTheWire, _ := json.Marshal(answers.Convert(&policy.Error{Kind: policy.KindCircuitOpen, RetryAfter: 30 * time.Second}))
	fmt.Println(string(onTheWire))
	// Output:
	// <nil>
	// {"message":"Try again later","extensions":{"code":"UNAVAILABLE","httpStatus":503,"retryAfter":30}}
}

func ExampleRead() {
	// What a GraphQL client returned:
	var err error = gqlerror.List{{
		Message:    "Service temporarily unavailable",
		Extensions: map[string]any{"code": "CIRCUIT_OPEN", "httpStatus": 503.0, "retryAfter": 30.0},
	}}

	if info, ok := gqlerrors.Read(err); ok && info.Code == gqlerrors.CodeCircuitOpen {
		fmt.Println("try again in", info.RetryAfter)
	}
	// Output: try again in 30s
}
