package console

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	aWord    = regexp.MustCompile(`"([a-zA-Z][\w-]*(?:\.[\w-]+)*)": "`)
	template = regexp.MustCompile("`([\\w.-]*(?:\\$\\{[^}]*\\}[\\w.-]*)+)`")
	hole     = regexp.MustCompile(`\$\{[^}]*\}`)
	partSaid = regexp.MustCompile(`said\("([\w.]+)"`)
	quoted   = regexp.MustCompile(`"(\w+)"`)
)

// The page has no unused texts: each key is in its source, or can be composed of parts
// there.
func TestNoUnusedWords(t *testing.T) {
	files, err := filepath.Glob("web/src/*.ts*")
	if err != nil {
		t.Fatal(err)
	}
	words, code := map[string]string{}, ""
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Base(file)
		if !strings.HasSuffix(name, ".en.ts") && !strings.HasSuffix(name, ".zh.ts") {
			code += string(b)
			continue
		}
		for _, m := range aWord.FindAllStringSubmatch(string(b), -1) {
			if !strings.HasPrefix(m[1], "problem.") { // see TestProblemsHaveChineseWords
				words[m[1]] = name
			}
		}
	}
	var forms []string
	for _, m := range template.FindAllStringSubmatch(code, -1) {
		if strings.HasPrefix(m[1], "$") && !quoted.MatchString(hole.FindString(m[1])) {
			continue // it may begin with anything
		}
		form := "" // the text between the placeholders, and in the first one, if it begins it
		at := 0
		for _, h := range hole.FindAllStringIndex(m[1], -1) {
			form += regexp.QuoteMeta(m[1][at:h[0]])
			if h[0] > 0 {
				form += `[\w.-]+`
			} else {
				var first []string
				for _, q := range quoted.FindAllStringSubmatch(m[1][:h[1]], -1) {
					first = append(first, q[1])
				}
				form += "(?:" + strings.Join(first, "|") + ")"
			}
			at = h[1]
		}
		forms = append(forms, form+regexp.QuoteMeta(m[1][at:]))
	}
	for _, m := range partSaid.FindAllStringSubmatch(code, -1) {
		forms = append(forms, regexp.QuoteMeta(m[1])+`\..+`)
	}
	made := regexp.MustCompile("^(?:" + strings.Join(forms, "|") + ")$")
	if len(words) < 500 || len(forms) < 10 {
		t.Fatalf("%d words, %d forms", len(words), len(forms))
	}
	for word, file := range words {
		if !strings.Contains(code, `"`+word+`"`) && !made.MatchString(word) {
			t.Errorf("%s: the text %s is used nowhere", file, word)
		}
	}
}
