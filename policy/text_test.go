package policy_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gqlresilience/gqlresilience/policy"
)

func TestWhoFailedIsToldOnce(t *testing.T) {
	timeout := &policy.Error{Kind: policy.KindTimeout, Policy: "carrier", Source: "Query.quotes", Cause: errors.New("reset")}
	open := &policy.Error{Kind: policy.KindCircuitOpen, Policy: "carrier", Source: "Query.quotes", Cause: timeout}
	require.EqualError(t, open, `policy "carrier" for Query.quotes: the circuit is open: the operation timed out: reset`)
	open.Source = "Repricer.run"
	require.EqualError(t, open, `policy "carrier" for Repricer.run: the circuit is open: policy "carrier" for Query.quotes: the operation timed out: reset`)
}

func TestValuesReadAsTheirNames(t *testing.T) {
	require.Equal(t, "timeout circuit open bulkhead full rate limited ErrorKind(9)", fmt.Sprint(
		policy.KindTimeout, " ", policy.KindCircuitOpen, " ", policy.KindBulkheadFull, " ", policy.KindRateLimited, " ", policy.ErrorKind(9)))
	require.Equal(t, "Cooperative Enforced TimeoutMode(9)", fmt.Sprint(policy.Cooperative, " ", policy.Enforced, " ", policy.TimeoutMode(9)))
	require.Equal(t, "JitterFull JitterEqual JitterNone Jitter(9)", fmt.Sprint(
		policy.JitterFull, " ", policy.JitterEqual, " ", policy.JitterNone, " ", policy.Jitter(9)))
}
