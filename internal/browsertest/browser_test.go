package browsertest

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"sync"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// browser is the one of all tests, which has a tab for each of them.
var browser struct {
	start  sync.Once
	err    error
	ctx    context.Context
	cancel context.CancelFunc
}

// starts is how often the browser is started at most: it may crash at that by itself, which says nothing of the page.
const starts = 3

var errNoBrowser = errors.New("there is no Chromium on the PATH: install it, on Debian by apt-get install --no-install-recommends chromium")

// startedBrowser returns the context of the browser, or skips the test where there is none.
func startedBrowser(t *testing.T) context.Context {
	t.Helper()
	browser.start.Do(func() {
		for range starts {
			if browser.err = startBrowser(); browser.err == nil || errors.Is(browser.err, errNoBrowser) {
				return
			}
			browser.cancel()
			t.Log("once more, for the browser has not started:", browser.err)
		}
	})
	if errors.Is(browser.err, errNoBrowser) && os.Getenv("BROWSERTEST_REQUIRED") == "" {
		t.Skip(browser.err)
	}
	require.NoError(t, browser.err)
	return browser.ctx
}

func startBrowser() error {
	path, err := findBrowser()
	if err != nil {
		return err
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(path), chromedp.NoSandbox, // which root can't have
		chromedp.WindowSize(1280, 1000), chromedp.WSURLReadTimeout(patience))
	allocator, cancelAllocator := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, cancel := chromedp.NewContext(allocator)
	browser.ctx = ctx
	browser.cancel = func() {
		_ = chromedp.Cancel(ctx) // waits for the browser to have ended
		cancel()
		cancelAllocator()
	}
	return chromedp.Do(ctx)
}

func findBrowser() (path string, err error) {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err = exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", errNoBrowser
}

func closeBrowser() {
	if browser.cancel != nil {
		browser.cancel()
	}
}
