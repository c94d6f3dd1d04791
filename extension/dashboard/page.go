package dashboard

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"encoding/hex"
	"net/http"
	"strings"
	"text/template"
)

//go:embed page
var pageFiles embed.FS

// scriptParts are joined in the order in which they are best read. Only the last needs its place: it connects at once.
var scriptParts = []string{
	"nodes.js", "items.js", "words.js", "outages.js",
	"headline.js", "notes.js", "fallbacks.js", "breakers.js", "strip.js", "controls.js", "fields.js", "loads.js", "policies.js",
	"charts.js", "events.js", "plan.js",
	"stream.js",
}

// The page is one document: style and script are in it, and the policy that is sent with it lets nothing else
// run or be fetched. Trusted Types keep the script from making HTML of names.
var (
	pageHTML     = pagePart("page.html")
	pageStyle    = pagePart("style.css")
	pageScript   = joinedScript()
	pageVersion  = hashOf(pageHTML, pageStyle, pageScript)
	readOnlyPage = newPage(false)
	controlPage  = newPage(true)

	contentPolicy = strings.Join([]string{
		"default-src 'none'", "script-src " + sourceHash(pageScript), "style-src " + sourceHash(pageStyle), "connect-src 'self'",
		"img-src data:", "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'", "require-trusted-types-for 'script'",
		"trusted-types 'none'",
	}, "; ")
)

func newPage(control bool) []byte {
	var page bytes.Buffer
	t := template.Must(template.New("page").Parse(pageHTML)) // which is ours, as is all that is put into it
	err := t.Execute(&page, struct {
		Style, Script, Version string
		Control                bool
	}{pageStyle, pageScript, pageVersion, control})
	if err != nil {
		panic(err)
	}
	return page.Bytes()
}

func pagePart(name string) string {
	text, err := pageFiles.ReadFile("page/" + name)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// joinedScript is one function, so that what the parts share is not global: a browser makes a global of each id too.
func joinedScript() string {
	var script strings.Builder
	script.WriteString("(() => {\n\"use strict\";\n")
	for _, name := range scriptParts {
		script.WriteString("\n" + pagePart(name))
	}
	script.WriteString("})();\n")
	return script.String()
}

func hashOf(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return hex.EncodeToString(sum[:8])
}

// sourceHash names an inline script or style, see https://www.w3.org/TR/CSP3/#grammardef-hash-source.
func sourceHash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

func (d *Dashboard) page(w http.ResponseWriter, r *http.Request) {
	page := readOnlyPage
	if d.config.authorize != nil && d.config.authorize(r) {
		page = controlPage
	}
	header := w.Header()
	header.Set("Content-Type", "text/html; charset=utf-8")
	header.Set("Content-Security-Policy", contentPolicy)
	header.Set("X-Frame-Options", "DENY") // for browsers that don't know frame-ancestors
	_, _ = w.Write(page)
}
