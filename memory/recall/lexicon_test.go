package recall

import (
	"strings"
	"testing"
	"unicode"
)

func TestLexiconFiles(t *testing.T) {
	seen := map[string]bool{}
	for n, line := range strings.Split(strings.TrimSpace(lexiconText), "\n") {
		if strings.HasPrefix(line, "#") {
			continue
		}
		heads, members, ok := strings.Cut(line, " : ")
		if !ok || len(strings.Fields(heads)) == 0 || len(strings.Fields(members)) < 2 || strings.Count(line, ":") != 1 {
			t.Errorf("lexicon.txt line %d: want HEADS : MEMBERS: %s", n+1, line)
		}
		if seen[heads] {
			t.Errorf("lexicon.txt line %d: %q is there twice", n+1, heads)
		}
		seen[heads] = true
	}
	for n, line := range strings.Split(strings.TrimSpace(pairsText), "\n") {
		if strings.HasPrefix(line, "#") {
			continue
		}
		f := strings.Fields(line)
		if len(f) < 2 || spaced(f[0]) == "" || len(strings.Fields(spaced(f[0]))) > 2 {
			t.Errorf("pairs.txt line %d: %q", n+1, line)
			continue
		}
		for _, zh := range f[1:] {
			for _, r := range zh {
				if !unicode.Is(unicode.Han, r) {
					t.Errorf("pairs.txt line %d: %q is not Chinese", n+1, zh)
				}
			}
		}
	}
	l := theLexicon()
	if len(l.clusters) < 100 || len(l.chinese) < 300 {
		t.Fatalf("%d matters, %d Chinese words", len(l.clusters), len(l.chinese))
	}
}
