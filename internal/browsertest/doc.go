// Package browsertest holds the proof that the page of package dashboard tells
// what it must: in headless Chromium, with real servers behind it. It is a
// module of its own, for the root module must not require what drives the
// browser.
//
// Without a browser its tests are skipped, or fail if BROWSERTEST_REQUIRED=1.
package browsertest
