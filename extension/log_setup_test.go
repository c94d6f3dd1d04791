package extension_test

import (
	"bytes"
	"log/slog"
	"slices"
	"strings"
	"testing"
)

// logs is a logger and what it was given, one line each without the time, and without the warning
// that servers in middleware mode begin with.
func logs() (logger *slog.Logger, lines func() []string) {
	var text bytes.Buffer
	logger = slog.New(slog.NewTextHandler(&text, &slog.HandlerOptions{
		Level:       slog.LevelDebug,
		ReplaceAttr: withoutTime,
	}))
	return logger, func() []string {
		lines := strings.FieldsFunc(text.String(), func(r rune) bool { return r == '\n' })
		return slices.DeleteFunc(lines, func(line string) bool { return strings.Contains(line, forgotten) })
	}
}

// defaultLogs catches what goes to slog's default logger until the test ends.
func defaultLogs(t testing.TB) (lines func() []string) {
	t.Helper()
	logger, lines := logs()
	before := slog.Default()
	slog.SetDefault(logger)
	t.Cleanup(func() { slog.SetDefault(before) })
	return lines
}
