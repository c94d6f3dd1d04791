package otelresilience_test

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// imported returns what a package brings into a program, by import path.
func imported(t *testing.T, packages ...string) []string {
	t.Helper()
	text, err := exec.CommandContext(t.Context(), "go", append([]string{"list", "-deps"}, packages...)...).Output()
	require.NoError(t, err)
	return strings.Fields(string(text))
}

func TestOnlyWhoImportsThisPackageGetsOpenTelemetry(t *testing.T) {
	for _, path := range imported(t, "../../policy", "../../extension", "../../gqlerrors", "../../schema") {
		assert.NotContains(t, path, "opentelemetry")
		assert.NotContains(t, path, "prometheus")
	}
}

func TestThisPackageNeedsTheAPIAlone(t *testing.T) {
	for _, path := range imported(t, ".") {
		assert.False(t, strings.HasPrefix(path, "go.opentelemetry.io/otel/sdk"), path)
		assert.False(t, strings.HasPrefix(path, "go.opentelemetry.io/otel/exporters"), path)
		assert.NotContains(t, path, "prometheus")
	}
}
