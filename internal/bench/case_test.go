package main

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gqlresilience/gqlresilience/policy"
)

func TestMain(m *testing.M) {
	slog.SetDefault(slog.New(slog.DiscardHandler)) // as main does
	os.Exit(m.Run())
}

func TestEachCaseAndRivalComesOutAsItMust(t *testing.T) {
	for _, c := range allCases() {
		t.Run(c.name, func(t *testing.T) {
			for _, set := range c.setUps() {
				var s stand
				l, err := set(&s)
				require.NoError(t, err)
				if l.held == nil {
					require.NoError(t, l.calls(3))
				}
				require.NoError(t, s.close())
			}
		})
	}
}

func TestNamesOfCasesDiffer(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range allCases() {
		require.False(t, seen[c.name], c.name)
		seen[c.name] = true
	}
}

func TestACallThatComesOutOtherwiseEndsTheMeasurement(t *testing.T) {
	spec := specOf(policy.Cooperative, retry)
	spec.Retry.Attempts = new(1)
	_, err := measure(benchCase{ours: protected(guard, spec, flaky)}, 1)
	require.ErrorIs(t, err, errDown)
	_, err = measure(benchCase{ours: protected(guard, specOf(policy.Cooperative, breaker), untouched)}, 1)
	require.ErrorContains(t, err, "the dependency was asked")
	_, err = measure(benchCase{ours: executed(specOf(policy.Cooperative, breaker), func(*stand) *dependency {
		return &dependency{ask: func(context.Context) (*int, error) { return new(7), nil }}
	})}, 1)
	require.ErrorContains(t, err, "not the dependency's")
}

func TestRowsTellWhichBoundsAreMissed(t *testing.T) {
	c := benchCase{mostNs: 100, mostAllocs: 1, rivals: []rival{{name: "a", mostRatio: 0.5}, {name: "b", noAllocs: true}}}
	rows := rowsOf(c, []measurement{
		{ours: sample{ns: 100, allocs: 1.01}, rivals: sample{ns: 190, allocs: 9}, ratio: 0.51},
		{ours: sample{ns: 100, allocs: 1.01}, rivals: sample{ns: 90, allocs: 1}, ratio: 1.1},
	})
	require.Equal(t, []bound{{"ns", 100, true}, {"allocs", 1, true}, {"ratio", 0.5, false}}, rows[0].Bounds)
	require.Equal(t, []bound{{"allocs more", 0, true}}, rows[1].Bounds)
	require.True(t, rows[0].missed())
	require.False(t, rows[1].missed())
}

func TestRunPrintsATableOrJSONAndChecksBounds(t *testing.T) {
	var out strings.Builder
	require.NoError(t, run([]string{"-rounds", "1", "-run", "^policy/only"}, &out))
	require.Contains(t, out.String(), "| policy/only-circuit-breaker |")
	require.Contains(t, out.String(), "| gobreaker ")
	out.Reset()
	require.NoError(t, run([]string{"-rounds", "1", "-run", "^policy/only", "-json"}, &out))
	var printed document
	require.NoError(t, json.Unmarshal([]byte(out.String()), &printed))
	require.Len(t, printed.Rows, 2)
	require.Positive(t, printed.Rows[0].Ratio)

	require.Error(t, run([]string{"-rounds", "0"}, io.Discard))
	require.Error(t, run([]string{"-run", "("}, io.Discard))
}

func TestRowsAreComparedWithTheSameOnesOfBefore(t *testing.T) {
	file := filepath.Join(t.TempDir(), "before.json")
	require.NoError(t, os.WriteFile(file, []byte(`{"rows": [
		{"case": "a", "rival": "x", "ratio": 9}, {"case": "a", "rival": "y", "ratio": 2}, {"case": "b", "ratio": 0}]}`), 0o600))
	before, err := readBefore(file)
	require.NoError(t, err)
	same := row{Case: "a", Rival: "y", Ratio: 2.4}
	same.compare(before, 1.1)
	require.InDelta(t, 1.2, same.Before, 1e-9)
	require.True(t, same.missed())
	alone := row{Case: "b"}
	alone.compare(before, 1.1)
	require.Zero(t, alone.Before)
	require.Empty(t, alone.Bounds)

	_, err = readBefore(filepath.Join(t.TempDir(), "none.json"))
	require.ErrorIs(t, err, os.ErrNotExist)
}
