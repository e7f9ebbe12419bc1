package secrets

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// lines returns the lines of a test file without comments and blanks.
func lines(t *testing.T, file string) []string {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for l := range strings.SplitSeq(string(b), "\n") {
		if l != "" && !strings.HasPrefix(l, "#") {
			all = append(all, l)
		}
	}
	return all
}

// Secrets in unusual words are found and redacted.
func TestUnusualSecrets(t *testing.T) {
	found, of := 0, 0
	for _, l := range lines(t, "testdata/unusual.txt") {
		turns, want, _ := strings.Cut(l, "\t")
		if want == "-" { // nothing that could be assembled, but it must not fail
			run(t, turns, false)
			continue
		}
		got, texts := run(t, turns, false)
		for secret := range strings.SplitSeq(want, "; ") {
			of++
			if !slices.ContainsFunc(values(got), func(s string) bool { return strings.EqualFold(s, secret) }) {
				t.Logf("%q: got %q, want %q", turns, got, secret)
				continue
			}
			found++
			if left := strings.Join(texts, " "); len(secret) > 3 && strings.Contains(left, secret) {
				t.Errorf("%q: still in %q", turns, left)
			}
		}
	}
	t.Logf("secrets in unusual words: %d of %d", found, of)
	if found*100 < of*90 {
		t.Errorf("%d of %d were found, want 90 in a hundred", found, of)
	}
}

func values(m map[string]string) (all []string) {
	for _, v := range m {
		all = append(all, v)
	}
	return all
}

// Ordinary talk with many numbers yields hardly any secrets.
func TestOrdinaryTalkHasNoSecrets(t *testing.T) {
	wrong, all := 0, lines(t, "testdata/ordinary.txt")
	for _, l := range all {
		if got, _ := run(t, l, false); len(got) > 0 {
			wrong++
			t.Logf("%q: got %q", l, got)
		}
	}
	t.Logf("ordinary lines: %d false in %d, %.1f per 1,000", wrong, len(all), 1000*float64(wrong)/float64(len(all)))
	if wrong*200 > len(all) {
		t.Errorf("%d false in %d lines, want at most 5 per 1,000", wrong, len(all))
	}
}
