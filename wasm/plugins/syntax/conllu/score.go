package conllu

import (
	"slices"
	"strings"
)

// Score counts how a reader's trees agree with a treebank's, as the shared task
// of 2018 did (Zeman et al.): words are the same where they stand at the same
// letters, and labels are compared without their subtypes.
type Score struct {
	Gold, Told, Words, Tags, Heads, Arcs int
	Labels                               map[string]*Label
}

// Label counts the arcs of one label.
type Label struct{ Gold, Told, Right int }

// F1 is the share of arcs that are right, in percent.
func (l Label) F1() float64 { return f1(l.Right, l.Gold, l.Told) }

// WordsF1 is the share of words that were cut as the treebank has them.
func (s *Score) WordsF1() float64 { return f1(s.Words, s.Gold, s.Told) }

// UPOS is the share of words with the right part of speech.
func (s *Score) UPOS() float64 { return f1(s.Tags, s.Gold, s.Told) }

// UAS is the share of words with the right head.
func (s *Score) UAS() float64 { return f1(s.Heads, s.Gold, s.Told) }

// LAS is the share of words with the right head and label.
func (s *Score) LAS() float64 { return f1(s.Arcs, s.Gold, s.Told) }

func f1(right, gold, told int) float64 {
	if gold+told == 0 {
		return 0
	}
	return 200 * float64(right) / float64(gold+told)
}

// Add counts a sentence. What was told may be several trees.
func (s *Score) Add(gold, told []Word) {
	if s.Labels == nil {
		s.Labels = map[string]*Label{}
	}
	s.Gold += len(gold)
	s.Told += len(told)
	goldAt, toldAt := places(gold), places(told)
	same := make([]int, len(gold)) // index of the same word, -1 if none
	k := 0
	for i, p := range goldAt {
		same[i] = -1
		for k < len(told) && toldAt[k][0] < p[0] {
			k++
		}
		if k < len(told) && toldAt[k] == p {
			same[i] = k
		}
	}
	for _, w := range gold {
		s.label(labelOf(w)).Gold++
	}
	for _, w := range told {
		s.label(labelOf(w)).Told++
	}
	for i, w := range gold {
		if same[i] < 0 {
			continue
		}
		t := told[same[i]]
		s.Words++
		if t.UPOS == w.UPOS {
			s.Tags++
		}
		if w.Head < 0 && t.Head >= 0 || w.Head >= 0 && (t.Head < 0 || same[w.Head] != t.Head) {
			continue
		}
		s.Heads++
		if Universal(t.Label) == Universal(w.Label) {
			s.Arcs++
			if labelOf(w) == labelOf(t) {
				s.label(labelOf(w)).Right++
			}
		}
	}
}

// labelOf tells negation from other adverbs.
func labelOf(w Word) string {
	u := Universal(w.Label)
	if u == "advmod" && slices.Contains([]string{"not", "n't", "n’t", "never", "nt", "不", "没", "沒", "没有", "沒有", "别", "別"}, strings.ToLower(w.Form)) {
		return "negation"
	}
	return u
}

func (s *Score) label(name string) *Label {
	if s.Labels[name] == nil {
		s.Labels[name] = &Label{}
	}
	return s.Labels[name]
}

// places are the first letter of each word and the letter after it, spaces not counted.
func places(list []Word) [][2]int {
	out := make([][2]int, len(list))
	at := 0
	for i, w := range list {
		n := len(strings.ReplaceAll(w.Form, " ", ""))
		out[i] = [2]int{at, at + n}
		at += n
	}
	return out
}

// Spoken is a sentence as speech recognition without marks gives it: lower
// case, no marks. It is false for one that has no tree then.
func Spoken(s Sentence) (Sentence, bool) {
	index := make([]int, len(s.Words))
	var out Sentence
	var text strings.Builder
	for i, w := range s.Words {
		index[i] = -1
		if w.UPOS == "PUNCT" {
			if len(out.Words) > 0 && !w.Joined {
				out.Words[len(out.Words)-1].Joined = false
			}
			continue
		}
		index[i] = len(out.Words)
		w.Form = strings.ToLower(w.Form)
		out.Words = append(out.Words, w)
	}
	roots := 0
	for i := range out.Words {
		w := &out.Words[i]
		h := w.Head
		for h >= 0 && index[h] < 0 {
			h = s.Words[h].Head
		}
		if h >= 0 {
			h = index[h]
		}
		if w.Head = h; h < 0 {
			roots++
		}
		text.WriteString(w.Form)
		if !w.Joined {
			text.WriteByte(' ')
		}
	}
	out.Text = strings.TrimSpace(text.String())
	return out, roots == 1
}
