package recall

import (
	"os"
	"slices"
	"strings"
	"testing"
	"unicode"
)

// wordFiles returns lexicon.txt and pairs.txt.
func wordFiles(t *testing.T) (lexicon, pairs string) {
	t.Helper()
	var out [2]string
	for i, name := range []string{"lexicon.txt", "pairs.txt"} {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		out[i] = string(b)
	}
	return out[0], out[1]
}

func lemmas(s string) []string {
	var out []string
	for _, w := range strings.Fields(s) {
		if t := lemma(strings.ReplaceAll(w, "-", "")); !slices.Contains(out, t) {
			out = append(out, t)
		}
	}
	return out
}

// spaced returns the terms of an English word, or of two separated by a space if it has a hyphen:
// "credit-card", "mother-in-law". A grammar word counts only as the second of two: "give-up".
func spaced(s string) string {
	words := strings.Split(s, "-")
	var out []string
	for i, w := range words {
		switch {
		case !stopWords[w]:
			out = append(out, lemma(w))
		case i == 1 && len(words) == 2:
			out = append(out, w)
		}
	}
	return strings.Join(out, " ")
}

// TestLexiconFiles: the files are well-formed, and the embedded data has everything that they have.
func TestLexiconFiles(t *testing.T) {
	lexicon, pairs := wordFiles(t)
	var packed strings.Builder
	seen := map[string]bool{}
	for n, line := range strings.Split(strings.TrimSpace(lexicon), "\n") {
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
		packed.WriteString(strings.Join(lemmas(heads), " ") + ":" + strings.Join(lemmas(members), " ") + "\n")
	}
	chinese, words := map[string][]string{}, map[string]bool{}
	var english []string
	for n, line := range strings.Split(strings.TrimSpace(pairs), "\n") {
		if strings.HasPrefix(line, "#") {
			continue
		}
		f := strings.Fields(line)
		en := spaced(f[0])
		if len(f) < 2 || en == "" || en[0] == ' ' || len(strings.Fields(en)) > 2 {
			t.Errorf("pairs.txt line %d: %q", n+1, line)
			continue
		}
		if words[f[0]] {
			t.Errorf("pairs.txt line %d: %q is there twice", n+1, f[0])
		}
		words[f[0]] = true
		if chinese[en] == nil {
			english = append(english, en)
		}
		for _, zh := range f[1:] {
			if strings.ContainsFunc(zh, func(r rune) bool { return !unicode.Is(unicode.Han, r) }) {
				t.Errorf("pairs.txt line %d: %q is not Chinese", n+1, zh)
			}
			if !slices.Contains(chinese[en], zh) {
				chinese[en] = append(chinese[en], zh)
			}
		}
	}
	slices.Sort(english)
	packed.WriteByte(0)
	for _, en := range english {
		packed.WriteString(en + "\t" + strings.Join(chinese[en], "\t") + "\n")
	}
	if *update {
		if err := os.WriteFile("words.deflate", deflated("", []byte(packed.String())), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if b, err := inflated(packedWords); err != nil || string(b) != packed.String() {
		t.Errorf("words.deflate is not lexicon.txt and pairs.txt; run go test ./memory/recall -run TestLexiconFiles -update: %v", err)
	}
	l := theLexicon()
	if en, zh := len(l.pairs.english.at), len(l.pairs.chinese.at); len(l.clusters) != len(seen) || en != len(english) || zh < 300 {
		t.Fatalf("%d of %d matters, %d of %d English words, %d Chinese ones", len(l.clusters), len(seen), en, len(english), zh)
	}
}
