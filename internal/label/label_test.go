package label

import (
	"strings"
	"testing"
	"unicode/utf8"
	"unsafe"

	"github.com/stretchr/testify/assert"
)

func TestNamesAreShownAsUTF8OfBoundedLength(t *testing.T) {
	for name, tc := range map[string]struct{ name, shown string }{
		"empty":                             {"", ""},
		"plain":                             {"Query.shippingQuotes", "Query.shippingQuotes"},
		"as long as may be":                 {strings.Repeat("x", 200), strings.Repeat("x", 200)},
		"longer":                            {strings.Repeat("x", 201), strings.Repeat("x", 200)},
		"cut between letters":               {strings.Repeat("x", 198) + "éa", strings.Repeat("x", 198) + "é"},
		"not within a letter of two bytes":  {strings.Repeat("x", 199) + "é", strings.Repeat("x", 199)},
		"not within a letter of four bytes": {strings.Repeat("x", 197) + "🐁", strings.Repeat("x", 197)},
		"no UTF-8":                          {"a\xff\xfeb", "a\uFFFDb"},
		"no letter begins":                  {strings.Repeat("\x80", 300), "\uFFFD"},
		"what replaces it is longer":        {strings.Repeat("\xffa", 100), strings.Repeat("\uFFFDa", 50)},
	} {
		t.Run(name, func(t *testing.T) {
			shown := Printable(tc.name)
			assert.Equal(t, tc.shown, shown)
			assert.LessOrEqual(t, len(shown), 200)
			assert.True(t, utf8.ValidString(shown))
		})
	}
}

func TestALongTextIsNotKeptForItsBeginning(t *testing.T) {
	long := strings.Repeat("x", 1<<20)
	assert.NotSame(t, unsafe.StringData(long), unsafe.StringData(Printable(long)))
}
