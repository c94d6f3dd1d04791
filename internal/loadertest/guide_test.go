package loadertest

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var goBlock = regexp.MustCompile("(?ms)^```go\n(.*?)^```$")

// unindented is a text without what each line begins with.
func unindented(text string) string {
	var lines strings.Builder
	for line := range strings.Lines(text) {
		lines.WriteString(strings.TrimLeft(line, "\t"))
	}
	return lines.String()
}

func TestTheGuideShowsTheCodeThatIsTested(t *testing.T) {
	guide, err := os.ReadFile("../../docs/dataloaders.md")
	require.NoError(t, err)
	files, err := filepath.Glob("*.go")
	require.NoError(t, err)
	var code strings.Builder
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		code.WriteString("\n" + unindented(string(text)))
	}
	loader, err := os.ReadFile("loader.go")
	require.NoError(t, err)
	_, loaderCode, _ := strings.Cut(string(loader), "package loadertest\n\n")

	blocks := goBlock.FindAllStringSubmatch(string(guide), -1)
	require.Len(t, blocks, 4)
	require.Equal(t, loaderCode, blocks[0][1], "the loader, complete")
	for _, block := range blocks[1:] {
		require.True(t, strings.Contains(code.String(), "\n"+unindented(block[1])), "no tested code is\n%s", block[1])
	}
}
