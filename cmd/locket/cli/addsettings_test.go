package cli

import (
	"slices"
	"testing"
)

// The settings of a new home join those that its file has already.
func TestAddSettings(t *testing.T) {
	settings := map[string]any{"wearer": "Zoe", "languages": []string{"en", "fr"}, "unlock": map[string]any{"passphrase_file": "/pw"}, "sync": map[string]any{"relay": "https://relay.example"}}
	const all = "languages = ['en', 'fr']\nwearer = 'Zoe'\n"
	for name, c := range map[string]struct {
		was, is string // is "": refused
		other   []string
	}{
		"no file":        {"", all + "\n[sync]\nrelay = 'https://relay.example'\n\n[unlock]\npassphrase_file = '/pw'\n", nil},
		"another table":  {"# mine\n[broker]\nlisten = \":1\"", all + "# mine\n[broker]\nlisten = \":1\"\n\n[sync]\nrelay = 'https://relay.example'\n\n[unlock]\npassphrase_file = '/pw'\n", nil},
		"the same table": {"[sync] # mine\nlan = true\n[unlock]\n", all + "[sync] # mine\nrelay = 'https://relay.example'\nlan = true\n[unlock]\npassphrase_file = '/pw'\n", nil},
		"other values": {"wearer = \"Ann\"\nlanguages = [\"en\", \"fr\"]\n[sync]\nrelay = \"https://other.example\"\n[unlock]\npassphrase_file = \"/pw\"\n",
			"wearer = \"Ann\"\nlanguages = [\"en\", \"fr\"]\n[sync]\nrelay = \"https://other.example\"\n[unlock]\npassphrase_file = \"/pw\"\n", []string{"sync.relay", "wearer"}},
		"a table inline":  {"sync = {lan = true}\n", "", nil},
		"a key with dots": {"sync.lan = true\n", "", nil},
		"damaged":         {"wearer = ", "", nil},
	} {
		t.Run(name, func(t *testing.T) {
			b, other, err := addSettings([]byte(c.was), settings)
			if string(b) != c.is || !slices.Equal(other, c.other) || (err != nil) != (c.is == "") {
				t.Errorf("%q, %q, %v", b, other, err)
			}
		})
	}
}
