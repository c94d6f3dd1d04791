// Package label has the words by which metrics, traces and the dashboard call what events are about:
// bounded in number and length, and with nothing of what an error says.
package label

import (
	"strings"
	"unicode/utf8"
)

// Other is the name of all that are not told apart, as in OpenTelemetry's conventions.
const Other = "_OTHER"

// longest is how many bytes of a name are shown.
const longest = 200

// Printable makes a name fit to be shown: no longer than 200 bytes, and UTF-8. Exporters of metrics refuse
// all that they are to export over one value that is not. Of a longer name nothing is kept in memory but that.
func Printable(name string) string {
	name = start(name)
	if !utf8.ValidString(name) {
		name = start(strings.ToValidUTF8(name, "\uFFFD")) // which may be three times as long
	}
	return name
}

// start is as much of the name as is shown.
func start(name string) string {
	if len(name) <= longest {
		return name
	}
	end := longest
	for end > longest-utf8.UTFMax && !utf8.RuneStart(name[end]) {
		end--
	}
	return strings.Clone(name[:end])
}
