package main

import (
	"flag"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestDefaultsAreThoseOfALocalStore(t *testing.T) {
	parsed, err := parseOptions(nil, io.Discard)
	require.NoError(t, err)
	assert.Equal(t, options{
		addr:           "127.0.0.1:8080",
		carrierAddr:    "127.0.0.1:8081",
		reprice:        15 * time.Minute,
		openDuration:   30 * time.Second,
		exportDuration: 2 * time.Second,
		notice:         time.Second,
		grace:          15 * time.Second,
	}, parsed)
}

func TestDemoTakesFreePortsAndAShortOutageUnlessTold(t *testing.T) {
	parsed, err := parseOptions([]string{"-demo"}, io.Discard)
	require.NoError(t, err)
	assert.Equal(t, "127.0.0.1:0", parsed.addr)
	assert.Equal(t, "127.0.0.1:0", parsed.carrierAddr)
	assert.Equal(t, 2*time.Second, parsed.openDuration)
	assert.Zero(t, parsed.reprice)

	parsed, err = parseOptions([]string{"-demo", "-addr", "127.0.0.1:8090", "-open-duration", "1s"}, io.Discard)
	require.NoError(t, err)
	assert.Equal(t, "127.0.0.1:8090", parsed.addr)
	assert.Equal(t, time.Second, parsed.openDuration)
}

func TestBadFlagsAreNamed(t *testing.T) {
	for _, row := range []struct{ args, message string }{
		{"serve", `unexpected argument "serve"`},
		{"-port 80", "-port"},
		{"-reprice soon", "-reprice"},
		{"-reprice -1m", "-reprice: must not be negative, is -1m0s"},
		{"-open-duration 0s", "-open-duration: must be positive, is 0s"},
		{"-export-duration -1s", "-export-duration: must not be negative, is -1s"},
		{"-carrier-url http://carrier -carrier-addr :0", "-carrier-addr: the stub is not started"},
		{"-demo -carrier-url http://carrier", "-carrier-url: -demo needs the stub"},
		{"-demo -reprice 1s", "-reprice: must be 0 with -demo"},
		{"-demo -plan", "-plan: not together with -demo"},
		{"-demo -trace", "-trace: not together with -demo or -plan"},
		{"-plan -trace", "-trace: not together with -demo or -plan"},
		{"-demo -open-duration 30s", "-open-duration: must be from 1s to 5s with -demo, is 30s"},
	} {
		t.Run(row.args, func(t *testing.T) {
			_, err := parseOptions(strings.Fields(row.args), io.Discard)
			assert.ErrorContains(t, err, row.message)
		})
	}
}

func TestHelpListsTheFlags(t *testing.T) {
	var usage strings.Builder
	_, err := parseOptions([]string{"-help"}, &usage)
	assert.ErrorIs(t, err, flag.ErrHelp)
	for _, name := range []string{"-addr", "-carrier-addr", "-carrier-url", "-open-duration", "-reprice", "-export-duration", "-trace", "-demo", "-plan"} {
		assert.Regexp(t, "\n  "+name+"[ \n]", usage.String())
	}
}
