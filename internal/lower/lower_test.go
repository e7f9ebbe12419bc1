package lower

import (
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestOf(t *testing.T) {
	for s, want := range map[string]string{"": "", "WiFi 5": "wifi 5", "ÄÖÜ ẞ Straße": "äöü ẞ straße", "İş Wi-Fi": "İş wi-fi", "ȺB \u212a": "Ⱥb \u212a", "明天 OK": "明天 ok"} {
		if got := Of(s); got != want {
			t.Errorf("%q: %q, want %q", s, got, want)
		}
	}
	for r := range rune(unicode.MaxRune) {
		if s := string(r); utf8.ValidRune(r) && len(Of(s)) != len(s) {
			t.Fatalf("%q takes %d bytes", s, len(Of(s)))
		}
	}
}
