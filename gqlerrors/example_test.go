package gqlerrors_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

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
