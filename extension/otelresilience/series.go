package otelresilience

import "github.com/gqlresilience/gqlresilience/policy"

// series are the labels of a policy and a field that it runs.
type series struct {
	plain      labels
	outcomes   map[policy.Outcome]labels
	timeouts   map[string]labels // by reason
	rejections map[string]labels // by reason
	fallbacks  map[string]labels // by outcome
}

func newSeries(policyName, field string) *series {
	base := identity(policyName, field)
	return &series{
		plain: labelled(base...),
		outcomes: labelledEach(base, outcomeKey,
			policy.OutcomeSuccess, policy.OutcomeFailure, policy.OutcomeTimeout, policy.OutcomeRejected,
			policy.OutcomeClientError, policy.OutcomeCancelled, policy.OutcomeFallback),
		timeouts: labelledEach(base, reasonKey, attemptTimeout, totalTimeout, budgetTimeout),
		rejections: labelledEach(base, reasonKey,
			circuitOpen, bulkheadFull, queueTimeout, tooManyAbandoned, rateLimited),
		fallbacks: labelledEach(base, outcomeKey, fallbackAnswered, fallbackFailed),
	}
}
