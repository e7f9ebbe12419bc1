package english

import (
	"strings"

	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
)

// Introduces takes a clause that only says about whom the next one is, "my cousin Erik, he's a
// pilot" or "my old boss, Graham, he died". It records who they are to the speaker, and that "he"
// means them.
func Introduces(t *discourse.Talk, s, next syntax.Sentence) bool {
	word, _ := syntax.Contraction(next.At(0))
	if word != "he" && word != "she" || s.Chinese() {
		return false
	}
	i := 0
	for i < len(s.Toks) && (syntax.Lead(s.At(i)) || s.Toks[i].Kind == 'p') {
		i++
	}
	if s.At(i) != "my" && s.At(i) != "our" {
		return false
	}
	first := i + 1
	k := first
	for k < len(s.Toks) && k < first+3 && s.Toks[k].Kind == 'w' && !s.Toks[k].Cap {
		k++
	}
	noun := s.At(k - 1)
	if sex := syntax.SexOf(noun, ""); k == first || !syntax.Kin(noun) && !syntax.Pet(noun) && !syntax.Offspring[noun] || sex != 0 && (sex == syntax.Male) != (word == "he") {
		return false
	}
	said := strings.ToLower(s.Text[s.Toks[first].Start:s.Toks[k-1].End])
	if k == len(s.Toks) {
		t.Spoken(discourse.Met{Person: discourse.Person{Key: discourse.Mine + said}, At: s.Start})
		return true
	}
	if s.At(k) == "," {
		k++
	}
	if len(s.Toks)-k < 1 || len(s.Toks)-k > 2 {
		return false
	}
	for j := k; j < len(s.Toks); j++ {
		if !s.Toks[j].Cap || !syntax.NameWord(s.At(j)) {
			return false
		}
	}
	p := t.Named(s.Text[s.Toks[k].Start:s.End])
	t.Spoken(discourse.Met{Person: p, At: s.Start})
	if !syntax.Pet(noun) {
		t.Introduced = p.Key
	}
	c := discourse.Clause{Sentence: s, Subj: t.Self, Kind: 's'}
	switch died, _, _ := syntax.Lemma(next.At(1)); {
	case syntax.Pet(noun) && (died == "die" || died == "pass" || noun != said):
	case syntax.Pet(noun):
		if f := t.Fact(&c, "family", "pets", p.Name, true, 0.9); f != nil {
			f.Text, f.Object = discourse.SentenceCase(discourse.Possessive(t.Self.Name)+" "+noun+" is called "+p.Name), p.Name+", "+noun
		}
	default:
		t.Relation(&c, t.Self, said, p.Name, 0.9)
	}
	return true
}
