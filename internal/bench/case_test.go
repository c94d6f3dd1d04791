package main

import (
	"io"
	"log/slog"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
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
				require.NoError(t, l.calls(3))
				require.NoError(t, s.close())
			}
		})
	}
}

func TestRunPrintsATable(t *testing.T) {
	require.NoError(t, run([]string{"-rounds", "1", "-run", "^field/guarded/guard"}, io.Discard))
}
