// Package syntax reads what was said: sentences, words, parts of speech,
// lemmas, and who does what to whom, as trees of Universal Dependencies
// (https://universaldependencies.org), in English and Chinese. Its models are
// small and linear, learnt from treebanks by the command in train;
// docs/extract.md has how well they read, LICENSE the terms of their weights.
package syntax

import (
	"strings"
	"sync"

	"github.com/locket-dev/locket/wasm/plugins/syntax/greedy"
)

// Token is a word of a sentence, or a mark.
type Token struct {
	Text       string // as it is written
	Lemma      string // as a dictionary lists it, in lower case; in Chinese the word in simplified characters
	UPOS       string // part of speech: "NOUN", "VERB", …
	Fine       string // the treebank's own part of speech, "VBD"; of Chinese the same as UPOS
	Head       int    // index of the word that it depends on, -1 if on none
	Label      string // what it is to its head: "nsubj", "obj", …; "root" if it has none
	Start, End int    // bytes of the text
}

// Sentence is a tree: one token has no head.
type Sentence struct {
	Lang   string
	Tokens []Token
}

// Read reads a text in a language, "en" or "zh"; of others it gives nothing.
// It may be called by many at once.
func Read(text, lang string) []Sentence {
	pool := readers(lang)
	if pool == nil {
		return nil
	}
	r := pool.Get().(*Reader)
	defer pool.Put(r)
	return r.Read(text)
}

func readers(lang string) *sync.Pool {
	switch lang {
	case "en":
		return &english
	case "zh":
		return &chinese
	}
	return nil
}

var (
	english = sync.Pool{New: func() any { return NewReader("en", englishModel()) }}
	chinese = sync.Pool{New: func() any { return NewReader("zh", chineseModel()) }}
)

// Reader reads one text after the other with a model.
type Reader struct {
	lang    string
	model   *Model
	segment greedy.Tagger
	tagger  greedy.Tagger
	parser  greedy.Parser

	words []greedy.Word
	tags  []uint8
}

// NewReader makes a reader of "en" or "zh".
func NewReader(lang string, m *Model) *Reader {
	return &Reader{
		lang: lang, model: m,
		segment: greedy.Tagger{Weights: m.Segment, Tags: segmentTags},
		tagger:  greedy.Tagger{Weights: m.Tag, Tags: len(m.Tags)},
		parser:  greedy.Parser{Weights: m.Parse, Moves: m.Moves, Coarse: m.coarse},
	}
}

// Read reads a text.
func (r *Reader) Read(text string) []Sentence {
	var out []Sentence
	var spans [][]Span
	if r.lang == "zh" {
		spans = r.cutChinese(text)
	} else {
		spans = CutEnglish(text)
	}
	for _, list := range spans {
		// A sentence without an end is read in pieces, so that the time that it takes is bounded.
		for len(list) > 0 {
			n := min(len(list), longest)
			out = append(out, r.sentence(text, list[:n]))
			list = list[n:]
		}
	}
	return out
}

const longest = 120 // words of a sentence that are read as one

func (r *Reader) sentence(text string, list []Span) Sentence {
	s := Sentence{Lang: r.lang, Tokens: make([]Token, len(list))}
	r.words = r.words[:0]
	for i, span := range list {
		t := &s.Tokens[i]
		t.Text, t.Start, t.End = text[span.Start:span.End], span.Start, span.End
		if r.lang == "zh" {
			t.Lemma = Simplified(t.Text)
			r.words = append(r.words, ChineseWord(wide(t.Lemma)))
		} else {
			r.words = append(r.words, greedy.NewWord(t.Text, 0))
		}
	}
	r.tags = append(r.tags[:0], make([]uint8, len(list))...)
	r.tagger.Tag(r.words, r.tags)
	heads, labels := r.parser.Parse(r.words, r.tags)
	for i := range s.Tokens {
		t := &s.Tokens[i]
		t.UPOS, t.Fine = r.model.split(r.tags[i])
		t.Head, t.Label = heads[i], r.model.Labels[labels[i]]
		if t.Head == len(list) {
			t.Head = -1
		}
		if r.lang == "en" {
			t.Lemma = r.model.lemma(t.Text, r.tags[i])
		}
	}
	return s
}

// ReadWords reads a sentence that is cut into words already.
func (r *Reader) ReadWords(forms []string) Sentence {
	var text strings.Builder
	list := make([]Span, len(forms))
	for i, f := range forms {
		list[i] = Span{text.Len(), text.Len() + len(f)}
		text.WriteString(f + " ")
	}
	return r.sentence(text.String(), list)
}

// Default is a reader with the weights that are embedded, for one caller.
func Default(lang string) *Reader {
	if lang == "zh" {
		return NewReader("zh", chineseModel())
	}
	return NewReader("en", englishModel())
}
