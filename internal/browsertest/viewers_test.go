//go:build !race

package browsertest

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const (
	viewers   = 50
	snapshots = 5 // that each viewer gets while it is measured
	// mostShare of a core is what that many viewers may take. It takes less than half of it on a machine
	// that is not busy; of time on a processor a busy one makes little more.
	mostShare = 0.02
)

// Not with -race, which costs several times as much.
func TestFiftyViewersTakeAFewHundredthsOfACore(t *testing.T) {
	server, url := startAlone(t)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	seen := make([]atomic.Int64, viewers)
	var watching sync.WaitGroup
	for i := range viewers {
		watching.Go(func() { view(ctx, url, &seen[i]) })
	}
	least := func() int64 {
		fewest := seen[0].Load()
		for i := range seen {
			fewest = min(fewest, seen[i].Load())
		}
		return fewest
	}
	waitUntil(t, ctx, func() bool { return least() >= 1 })
	start, usedBefore, before := time.Now(), server.used(t), least()
	waitUntil(t, ctx, func() bool { return least() >= before+snapshots })
	used, took := server.used(t)-usedBefore, time.Since(start)
	cancel()
	watching.Wait()

	share := used.Seconds() / took.Seconds()
	t.Logf("%d viewers for %.1f s: %.2f %% of a core", viewers, took.Seconds(), 100*share)
	assert.Less(t, share, mostShare)
}

// view counts the snapshots of a stream until ctx ends.
func view(ctx context.Context, url string, seen *atomic.Int64) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"stream", nil)
	if err != nil {
		return
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return
	}
	defer response.Body.Close()
	lines := bufio.NewReaderSize(response.Body, 1<<20)
	for {
		line, err := lines.ReadSlice('\n')
		if err != nil && err != bufio.ErrBufferFull {
			return
		}
		if string(line) == "event: snapshot\n" {
			seen.Add(1)
		}
	}
}

func waitUntil(t *testing.T, ctx context.Context, isSo func() bool) {
	t.Helper()
	for !isSo() {
		require.NoError(t, ctx.Err(), "the viewers got too few snapshots")
		<-time.After(glance)
	}
}

// alone is a process that only serves.
type alone struct {
	orders  io.Writer
	answers *bufio.Reader
}

func startAlone(t *testing.T) (server alone, url string) {
	t.Helper()
	command := exec.Command(os.Args[0])
	command.Env = append(os.Environ(), serveAloneVariable+"=1")
	command.Stderr = os.Stderr
	orders, err := command.StdinPipe()
	require.NoError(t, err)
	answers, err := command.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, command.Start())
	t.Cleanup(func() {
		orders.Close() // ends it
		assert.NoError(t, command.Wait())
	})
	server = alone{orders, bufio.NewReader(answers)}
	return server, server.answer(t)
}

// used returns the time that it has been on a processor.
func (a alone) used(t *testing.T) time.Duration {
	t.Helper()
	_, err := io.WriteString(a.orders, "\n")
	require.NoError(t, err)
	nanoseconds, err := strconv.ParseInt(a.answer(t), 10, 64)
	require.NoError(t, err)
	return time.Duration(nanoseconds)
}

func (a alone) answer(t *testing.T) string {
	t.Helper()
	line, err := a.answers.ReadString('\n')
	require.NoError(t, err)
	return strings.TrimSpace(line)
}
