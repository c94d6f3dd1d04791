package browsertest

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// program is the example, built once for all tests.
var program struct {
	build     sync.Once
	directory string
	err       error
	output    []byte
}

func builtProgram(t *testing.T) (path string) {
	t.Helper()
	program.build.Do(func() {
		if program.directory, program.err = os.MkdirTemp("", "browsertest"); program.err != nil {
			return
		}
		build := exec.Command("go", "build", "-o", program.directory, "./example")
		build.Dir = filepath.Join("..", "..")
		program.output, program.err = build.CombinedOutput()
	})
	require.NoError(t, program.err, string(program.output))
	return filepath.Join(program.directory, "example")
}

func removeProgram() {
	if program.directory != "" {
		os.RemoveAll(program.directory)
	}
}

// example is one that runs.
type example struct {
	t      *testing.T
	lines  *bufio.Reader
	stderr bytes.Buffer
	wait   func() error
}

// startExample starts the example on free ports.
func startExample(t *testing.T, args ...string) *example {
	t.Helper()
	e := &example{t: t}
	ctx, cancel := context.WithCancel(context.Background())
	command := exec.CommandContext(ctx, builtProgram(t), append([]string{"-addr", "127.0.0.1:0", "-carrier-addr", "127.0.0.1:0"}, args...)...)
	command.Cancel = func() error { return command.Process.Signal(syscall.SIGTERM) }
	command.WaitDelay = patience
	output, err := command.StdoutPipe()
	require.NoError(t, err)
	command.Stderr = &e.stderr
	require.NoError(t, command.Start())
	e.lines = bufio.NewReader(output)
	e.wait = sync.OnceValue(command.Wait)
	t.Cleanup(func() {
		cancel()
		_ = e.wait()
	})
	return e
}

// address returns the first address of the next line, which is to begin like that.
func (e *example) address(beginning string) string {
	e.t.Helper()
	line, err := e.lines.ReadString('\n')
	if err != nil {
		require.FailNow(e.t, "the example has ended", "%v: %s", e.wait(), e.stderr.String())
	}
	require.True(e.t, strings.HasPrefix(line, beginning), line)
	return regexp.MustCompile(`http://[^ \n]*`).FindString(line)
}

// rest waits for the end of the example and returns what else it has written.
func (e *example) rest() string {
	e.t.Helper()
	text, err := io.ReadAll(e.lines)
	require.NoError(e.t, err)
	require.NoError(e.t, e.wait(), "%s%s", text, e.stderr.String())
	return string(text)
}

// send sends a request whose answer is not of interest.
func send(t testing.TB, method, url, body string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	require.NoError(t, err)
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	_, _ = io.Copy(io.Discard, response.Body)
	response.Body.Close()
	require.Less(t, response.StatusCode, 300)
}
