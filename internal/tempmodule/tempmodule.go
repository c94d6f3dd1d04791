// Package tempmodule makes modules for tests to generate code in and compile it.
package tempmodule

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
)

const ours = "github.com/gqlresilience/gqlresilience"

// New makes the module example.com/app of files, in a folder of its own, and makes that the
// working directory for the rest of the test. The module uses ours as it is on disk and
// requires what ours requires; nothing is downloaded. Under the race detector the test is
// skipped: generating code takes several times as long, and has nothing to race.
func New(t *testing.T, files fs.FS) {
	t.Helper()
	if raceDetector {
		t.Skip("code generation is too slow under the race detector")
	}
	root := strings.TrimSpace(Go(t, "list", "-m", "-f", "{{.Dir}}", ours))
	for name, value := range map[string]string{"GOFLAGS": "-mod=mod", "GOPROXY": "off", "GOWORK": "off"} {
		t.Setenv(name, value)
	}
	directory := t.TempDir()
	require.NoError(t, os.CopyFS(directory, files))
	t.Chdir(directory)
	for _, file := range []string{"go.mod", "go.sum"} {
		content, err := os.ReadFile(filepath.Join(root, file))
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(file, content, 0o600))
	}
	Go(t, "mod", "edit", "-module=example.com/app", "-require="+ours+"@v0.0.0", "-replace="+ours+"="+root)
}

// Files are files by name, with their content.
func Files(contents map[string]string) fs.FS {
	files := fstest.MapFS{}
	for name, content := range contents {
		files[name] = &fstest.MapFile{Data: []byte(content), Mode: 0o600}
	}
	return files
}

// Go runs the go command in the working directory and returns what it prints. The test fails if
// the command does.
func Go(t *testing.T, arguments ...string) string {
	t.Helper()
	command := exec.Command("go", arguments...)
	var problems strings.Builder
	command.Stderr = &problems
	output, err := command.Output()
	require.NoError(t, err, "go %s: %s", strings.Join(arguments, " "), &problems)
	return string(output)
}
