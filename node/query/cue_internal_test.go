package query

import (
	"regexp/syntax"
	"strings"
	"testing"
)

// TestCues checks that a text has the cue if it has any of the words of the
// expression.
func TestCues(t *testing.T) {
	for expr, has := range map[string]cue{partnerEn: namesPartner, partnerZh: namesPartner, propertyEn: namesProperty, propertyZh: namesProperty} {
		re, err := syntax.Parse(expr, syntax.Perl)
		if err != nil {
			t.Fatal(err)
		}
		all := matches(re)
		if len(all) < 10 {
			t.Fatalf("%s gives %d words", expr, len(all))
		}
		for _, w := range all {
			for _, text := range []string{w, strings.ToUpper(w), "我的" + w + "叫什么", "Is that Tom's " + w + "?", "x " + w + "’s"} {
				if !has(text) {
					t.Errorf("%q has %q", text, w)
				}
			}
		}
		for _, text := range []string{"", "We met at the station.", "DOCTORATE", "我在上海", "(?:|)", strings.Repeat("x", 40)} {
			if has(text) {
				t.Errorf("%q has none", text)
			}
		}
	}
}

// matches returns all that an expression without repetitions matches.
func matches(re *syntax.Regexp) []string {
	switch re.Op {
	case syntax.OpEmptyMatch:
		return []string{""}
	case syntax.OpLiteral:
		return []string{string(re.Rune)}
	case syntax.OpCharClass:
		var all []string
		for i := 0; i < len(re.Rune); i += 2 {
			for r := re.Rune[i]; r <= re.Rune[i+1]; r++ {
				all = append(all, string(r))
			}
		}
		return all
	case syntax.OpCapture:
		return matches(re.Sub[0])
	case syntax.OpQuest:
		return append(matches(re.Sub[0]), "")
	case syntax.OpAlternate:
		var all []string
		for _, s := range re.Sub {
			all = append(all, matches(s)...)
		}
		return all
	case syntax.OpConcat:
		all := []string{""}
		for _, s := range re.Sub {
			var longer []string
			for _, head := range all {
				for _, tail := range matches(s) {
					longer = append(longer, head+tail)
				}
			}
			all = longer
		}
		return all
	}
	panic(re.String())
}
