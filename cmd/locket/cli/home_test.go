package cli

import (
	"testing"
)

// A table is removed from a file with its comments, and nothing else is.
func TestRemoveTOMLTable(t *testing.T) {
	const before, after = "zone = \"UTC\" # mine\n\n", "# of the log\n[log]\nlevel = \"error\"\n"
	for _, table := range []string{"", "[backup]\nto = \"/x\" # there\n\n", "[backup] # each day\n# to\nto = \"/x\"\n"} {
		if got := string(withoutTable([]byte(before+table+after), "backup")); got != before+after && got != before+"\n"+after {
			t.Errorf("%q", got)
		}
	}
}
