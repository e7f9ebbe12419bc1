// Package sample holds a few hundred sentences of treebanks' test parts, which
// no weights are learnt from, and measures a reader on them or on others. Its
// texts are under CC BY-SA 4.0: see LICENSE in the folder above.
package sample

import (
	"bytes"
	"embed"
	"time"

	"github.com/locket-dev/locket/wasm/plugins/syntax"
	"github.com/locket-dev/locket/wasm/plugins/syntax/conllu"
)

//go:embed *.conllu
var files embed.FS

// Load gives a sample: "en_ewt", "zh_gsdsimp" or "zh_hk".
func Load(name string) ([]conllu.Sentence, error) {
	b, err := files.ReadFile(name + ".conllu")
	if err != nil {
		return nil, err
	}
	return conllu.Read(bytes.NewReader(b))
}

// Result is how a reader did.
type Result struct {
	Words conllu.Score  // told the treebank's words
	Text  conllu.Score  // told the text alone
	Each  time.Duration // to read one sentence's text
}

// Measure holds a reader against a treebank, in simplified characters.
func Measure(r *syntax.Reader, gold []conllu.Sentence) Result {
	var res Result
	var took time.Duration
	for _, g := range gold {
		forms := make([]string, len(g.Words))
		for i, w := range g.Words {
			forms[i] = w.Form
		}
		res.Words.Add(g.Words, words([]syntax.Sentence{r.ReadWords(forms)}))
		begin := time.Now()
		told := r.Read(g.Text)
		took += time.Since(begin)
		res.Text.Add(g.Words, words(told))
	}
	res.Each = took / time.Duration(len(gold))
	return res
}

// words puts the trees of one text into one list.
func words(list []syntax.Sentence) []conllu.Word {
	var out []conllu.Word
	for _, s := range list {
		from := len(out)
		for _, t := range s.Tokens {
			w := conllu.Word{Form: t.Text, Lemma: t.Lemma, UPOS: t.UPOS, XPOS: t.Fine, Head: t.Head, Label: t.Label}
			if w.Head >= 0 {
				w.Head += from
			}
			out = append(out, w)
		}
	}
	return out
}

// Spoken gives the sentences as they are heard, without those that have no tree then.
func Spoken(list []conllu.Sentence) []conllu.Sentence {
	var out []conllu.Sentence
	for _, s := range list {
		if b, ok := conllu.Spoken(s); ok {
			out = append(out, b)
		}
	}
	return out
}
