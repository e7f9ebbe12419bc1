package devicecmd

import (
	"bytes"
	"strings"
	"testing"
)

// An attacker between two pairing devices can choose a name. No name can change how the words to
// compare are shown.
func TestThreatSwappedKeysAtPairingByTheName(t *testing.T) {
	words := []string{"one", "two", "three", "four", "five"}
	for name, line := range map[string]string{
		"Mina's phone": "The other device calls itself \"Mina's phone\".\n",
		"\x1b[8m":      "The other device calls itself \"[8m\".\n",
		"phone\".\n\n  other  words  stand  here  now\n\x1b[8m": "The other device calls itself \"phone\\\". other words stand here now [8m\".\n",
		"phone" + strings.Repeat(" ", 70) + "other":             "The other device calls itself \"phone other\".\n",
		"\u009b2J\u202e": "The other device calls itself \"2J\".\n",
		"\r\x1b":         "",
	} {
		var out bytes.Buffer
		showWords(&out, words, name)
		if want := line + "\n  one  two  three  four  five\n\n"; out.String() != want {
			t.Errorf("%q is shown as %q, want %q", name, out.String(), want)
		}
	}
}
