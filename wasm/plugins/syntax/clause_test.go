package syntax_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/locket-dev/locket/wasm/plugins/syntax"
)

// describe says who does what in a text: a line for each clause.
func describe(text, lang string) string {
	var out []string
	for _, s := range syntax.Read(text, lang) {
		word := func(i int) string {
			if i < 0 {
				return "-"
			}
			return s.Tokens[i].Lemma
		}
		for _, c := range s.Clauses() {
			line := fmt.Sprintf("%s %s %s", word(c.Subject), word(c.Predicate), word(c.Object))
			if c.Inherited {
				line += " inherited"
			}
			for _, o := range c.Obliques {
				line += " " + o.Case + ":" + word(o.Head)
			}
			if c.Negated {
				line += " not"
			}
			if c.Modal != "" {
				line += " " + c.Modal
			}
			if c.Quoted {
				line += " quoted"
			}
			if c.Reported >= 0 {
				line += " reported"
			}
			if c.Tense == syntax.Past {
				line += " past"
			}
			out = append(out, line)
		}
	}
	return strings.Join(out, "; ")
}

func TestClauses(t *testing.T) {
	for _, c := range []struct{ lang, text, want string }{
		{"en", "I don't live in Oslo.", "i live - in:oslo not"},
		{"en", "My dad worked at IBM and lives in Graz.", "dad work - at:ibm past; dad live - inherited in:graz"},
		{"en", "I paid Anna for the tickets.", "i pay anna for:ticket past"},
		{"en", "Tom said he lives in Berlin.", "tom say - past; he live - in:berlin reported"},
		{"en", "She could sell the car.", "she sell car could"},
		{"en", "\"I live in Rome,\" said Ann.", "i live - in:rome quoted reported; ann say - past"},
		{"en", "i dont live in oslo any more", "i live - in:oslo not"},
		{"zh", "我昨天在公司见了王经理。", "我 见 经理 :昨天 在:公司"},
	} {
		t.Run(c.lang, func(t *testing.T) {
			if got := describe(c.text, c.lang); got != c.want {
				t.Errorf("%s\n got %s\nwant %s", c.text, got, c.want)
			}
		})
	}
}
