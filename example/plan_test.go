package main

import (
	"bytes"
	"flag"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var updatePlan = flag.Bool("update-plan", false, "write testdata/plan.txt anew")

func TestNoPolicyChangesUnnoticed(t *testing.T) {
	plan := newTestShop(t).resilience.Plan().String()
	if *updatePlan {
		require.NoError(t, os.WriteFile("testdata/plan.txt", []byte(plan), 0o600))
	}
	want, err := os.ReadFile("testdata/plan.txt")
	require.NoError(t, err)
	assert.Equal(t, string(want), plan, "if you mean to change it: go test ./example -update-plan")
}

func TestThePlanIsPrintedWithoutServing(t *testing.T) {
	var output, problems bytes.Buffer

	status := run(t.Context(), []string{"-plan", "-addr", "nowhere", "-carrier-addr", "nowhere"}, &output, &problems)

	require.Zero(t, status)
	assert.Equal(t, newTestShop(t).resilience.Plan().String(), output.String())
	assert.Empty(t, problems.String())
}
