package main

import (
	"bytes"
	"flag"
	"os"
	"strings"
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

func TestThePageAboutThePlanShowsThisOne(t *testing.T) {
	page, err := os.ReadFile("../docs/plan.md")
	require.NoError(t, err)
	plan, err := os.ReadFile("testdata/plan.txt")
	require.NoError(t, err)
	printed := strings.ReplaceAll(string(plan), "example.flatRate", "main.flatRate   ") // as go run names the package
	assert.Contains(t, string(page), "```\n"+printed+"```\n")
}

func TestThePlanIsPrintedWithoutServing(t *testing.T) {
	var output, problems bytes.Buffer

	status := run(t.Context(), []string{"-plan", "-addr", "nowhere", "-carrier-addr", "nowhere"}, &output, &problems)

	require.Zero(t, status)
	assert.Equal(t, newTestShop(t).resilience.Plan().String(), output.String())
	assert.Empty(t, problems.String())
}
