package console

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/locket-dev/locket/node/serve"
)

// The Chinese page has a text for each kind of problem, except those that have texts in both
// languages, and for no other.
func TestProblemsHaveChineseWords(t *testing.T) {
	source, err := os.ReadFile("web/src/problems.zh.ts")
	if err != nil {
		t.Fatal(err)
	}
	saying, err := os.ReadFile("web/src/i18n.ts")
	if err != nil {
		t.Fatal(err)
	}
	both := map[string]bool{}
	for _, m := range regexp.MustCompile(`if \(p\.is\("([a-z-]+)"\)\) return t\(`).FindAllStringSubmatch(string(saying), -1) {
		both[m[1]] = true
	}
	words := map[string]string{}
	for _, m := range regexp.MustCompile(`"problem\.([a-z-]+)": "([^"]*)"`).FindAllStringSubmatch(string(source), -1) {
		words[m[1]] = m[2]
	}
	for _, p := range serve.Problems() {
		kind := p.Type[strings.LastIndex(p.Type, ":")+1:]
		if both[kind] {
			continue
		}
		if !regexp.MustCompile(`\p{Han}`).MatchString(words[kind]) {
			t.Errorf("%s (%s): %q", kind, p.Title, words[kind])
		}
		delete(words, kind)
	}
	if len(words) > 0 {
		t.Errorf("no kinds of problem: %v", words)
	}
}
