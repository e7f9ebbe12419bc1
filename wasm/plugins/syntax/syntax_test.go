package syntax_test

import (
	"strings"
	"testing"

	"github.com/locket-dev/locket/wasm/plugins/syntax"
	"github.com/locket-dev/locket/wasm/plugins/syntax/sample"
)

// TestOffsets: each token is the text between its offsets, in order, nothing
// but space is left between them, and each sentence is one tree.
func TestOffsets(t *testing.T) {
	for _, c := range []struct{ lang, text string }{
		{"en", "I don't live in Oslo; Tom's sister (a doctor) can't come on 3/4/2026 at 10am…"},
		{"en", "\"I live in Rome,\" said Ann.\nU.S. firms, e.g. Acme Inc., pay $5.50 -- or 5%!!"},
		{"en", "'"}, {"en", "..."}, {"en", ""}, {"en", "\xff\xfe x\xf0"}, {"en", strings.Repeat("and then we went ", 200)},
		{"zh", "我姐夫是律师,对海鲜过敏。他說:「我住在成都」!"}, {"zh", "2026年3月4日,我在IBM上班 OK?"}, {"zh", "\xe6\x88 我\xff"}, {"zh", strings.Repeat("我们去了", 300)},
	} {
		at := 0
		for _, s := range syntax.Read(c.text, c.lang) {
			roots := 0
			for i, tok := range s.Tokens {
				if tok.Start < at || tok.End <= tok.Start || tok.Text != c.text[tok.Start:tok.End] {
					t.Fatalf("%q: token %d of %q is %+v", c.text, i, c.text[at:], tok)
				}
				if strings.TrimSpace(c.text[at:tok.Start]) != "" {
					t.Errorf("%q: %q is in no token", c.text, c.text[at:tok.Start])
				}
				at = tok.End
				up := i
				for n := 0; s.Tokens[up].Head >= 0; n++ {
					if up = s.Tokens[up].Head; n > len(s.Tokens) {
						t.Fatalf("%q: a circle at %q", c.text, tok.Text)
					}
				}
				if tok.Head < 0 {
					roots++
				}
			}
			if roots != 1 {
				t.Errorf("%q: %d roots", c.text, roots)
			}
		}
		if strings.TrimSpace(c.text[at:]) != "" {
			t.Errorf("%q: %q is in no token", c.text, c.text[at:])
		}
	}
}

func TestWords(t *testing.T) {
	for text, want := range map[string]string{
		"I don't live in Oslo.":                   "I do n't live in Oslo .",
		"She'll say \"Tom's ill\".":               "She 'll say \" Tom 's ill \" .",
		"dont you wanna see dr. Wu at 10am?":      "do nt you wan na see dr. Wu at 10 am ?",
		"the well-known co-worker, and/or e-mail": "the well - known co-worker , and / or e-mail",
		"my parents' house cost $5,000 (50%)":     "my parents ' house cost $ 5,000 ( 50 % )",
		"see www.x.org/a-b, or a@b.org.":          "see www.x.org/a-b , or a@b.org .",
		"wait... what?! no!!":                     "wait ... / what ?! / no !!",
	} {
		var got []string
		for i, list := range syntax.CutEnglish(text) {
			if i > 0 {
				got = append(got, "/")
			}
			for _, s := range list {
				got = append(got, text[s.Start:s.End])
			}
		}
		if g := strings.Join(got, " "); g != want {
			t.Errorf("%q: %s", text, g)
		}
	}
}

// TestScores holds the weights to what they read of texts that they were not learnt from.
func TestScores(t *testing.T) {
	for _, c := range []struct {
		lang, name      string
		words, tag, las float64 // floors
	}{
		{"en", "en_ewt", 98, 93.5, 77},
		{"zh", "zh_gsdsimp", 88, 85, 47.5},
		{"zh", "zh_hk", 90, 87.5, 50},
	} {
		t.Run(c.name, func(t *testing.T) {
			list, err := sample.Load(c.name)
			if err != nil {
				t.Fatal(err)
			}
			r := sample.Measure(syntax.Default(c.lang), list)
			t.Logf("%s: words %.2f, UPOS %.2f, LAS %.2f; of the text %.2f; %v a sentence", c.name, r.Text.WordsF1(), r.Words.UPOS(), r.Words.LAS(), r.Text.LAS(), r.Each)
			if r.Text.WordsF1() < c.words || r.Words.UPOS() < c.tag || r.Words.LAS() < c.las {
				t.Errorf("%s: below the floors of %g, %g and %g", c.name, c.words, c.tag, c.las)
			}
			if c.lang == "en" {
				heard := sample.Measure(syntax.Default(c.lang), sample.Spoken(list))
				t.Logf("as heard: UPOS %.2f, LAS %.2f", heard.Words.UPOS(), heard.Words.LAS())
				if heard.Words.LAS() < r.Words.LAS()-6 {
					t.Errorf("as heard, LAS is %.2f", heard.Words.LAS())
				}
			}
		})
	}
}

// TestModelIsChecked: no cut or longer file opens.
func TestModelIsChecked(t *testing.T) {
	good := string(syntax.EncodeModel([]string{"NOUN/NN", "VERB/VB"}, []string{"root", "obj"}, nil, nil, nil, nil, ""))
	for _, bad := range []string{"", good[:8], good[:len(good)-1], good + "x", good} {
		if _, err := syntax.OpenModel(bad); err == nil {
			t.Errorf("%d bytes were taken", len(bad))
		}
	}
}
