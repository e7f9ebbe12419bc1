package noted

import (
	"math"
	"strings"
	"unicode/utf8"

	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/refuse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/timex"
)

// What is worth noting is decided by a sum of marks that anybody can read: whose it is, when,
// names, numbers, the kind of verb, what it is about. The weights in worth_en.go and worth_zh.go
// come from testdata/worth.txt and our other lines, by TestWorth: each is what its mark adds to the
// logarithm of the odds.

// The least likelihood of a sentence that is noted.
const (
	WorthNoting = 0.85
	worthZhSaid = 0.8  // for a Chinese sentence
	worthPerson = 0.65 // if another person is its subject
	worthAlone  = 0.88 // for a Chinese sentence that names nobody
	worthDeedZh = 0.6  // for a Chinese sentence that tells what the speaker did
)

// Mark is one property of a sentence that counts for or against keeping it.
type Mark struct {
	Name   string
	Weight float64
	Found  func(*view) float64 // how much of it there is, 0 to 1; for "content" up to 8
}

// view is a sentence as the marks see it.
type view struct {
	s       syntax.Sentence
	whens   []timex.When
	words   []string // English: in lower case, contractions split
	caps    []bool
	raw     string // Chinese: without marks
	ahead   bool
	day     bool
	content int
}

// worthOf returns how likely a sentence is to be worth keeping, 0 to 1.
func worthOf(v *view, marks []Mark) float64 {
	sum := 0.0
	for i := range marks {
		sum += marks[i].Weight * marks[i].Found(v)
	}
	return 1 / (1 + math.Exp(-sum))
}

// ViewOf returns a sentence as the marks see it.
func ViewOf(t *discourse.Talk, s syntax.Sentence) *view {
	v := &view{s: s, whens: timex.FindWhens(s, t.Now)}
	for i := range v.whens {
		w := &v.whens[i]
		v.day = v.day || w.HasDay && !w.Habit
		v.ahead = v.ahead || w.HasDay && !w.Habit && w.Day > t.Now.Day && !(w.Assumed > 0 && timex.WasBefore(s, w.First))
	}
	v.day = v.day || timex.UnreadAt(s, t.Now) > 0 // it can't be read, but it counts as much
	if s.Chinese() {
		v.raw = strings.Trim(s.Raw(), " ，,。！!")
		return v
	}
	for i, tok := range s.Toks {
		if tok.Kind == 'p' {
			continue
		}
		base, rest := syntax.Contraction(tok.S)
		v.words, v.caps = append(v.words, base), append(v.caps, tok.Cap && (i > 0 || syntax.SexOf("", base) != 0 || syntax.NameWord(base) && !syntax.Verbish(base) && (syntax.Verbish(s.At(1)) || rest == "is" || syntax.PastForm(s.At(1)) || strings.HasSuffix(s.At(1), "s"))))
		if rest != "" {
			v.words, v.caps = append(v.words, rest), append(v.caps, false)
		}
		if utf8.RuneCountInString(base) > 3 && !syntax.Function(base) && !syntax.Preposition(base) && !syntax.Adverb(base) && !syntax.Auxiliary(base) && !syntax.Determiner(base) && !syntax.Lead(base) && !discourse.Hosts[base] {
			v.content++
		}
	}
	return v
}

// Yes returns 1 for true, and 0 for false.
func Yes(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// has counts the words that are in a set, up to two, as halves.
func (v *view) has(words map[string]bool) float64 {
	n := 0
	for _, w := range v.words {
		if words[w] || len(w) > 4 && (words[strings.TrimSuffix(w, "s")] || words[strings.TrimSuffix(w, "es")]) {
			n++
		}
	}
	return float64(min(n, 2)) / 2
}

func (v *view) at(i int) string {
	if i >= 0 && i < len(v.words) {
		return v.words[i]
	}
	return ""
}

// start returns the first word that is not a lead word.
func (v *view) start() int {
	i := 0
	for i < len(v.words)-1 && (syntax.Lead(v.words[i]) || discourse.Sounds[v.words[i]] || noWords[v.words[i]]) {
		i++
	}
	return i
}

func (v *view) anyTimes(f func(i int) bool) float64 {
	for i := range v.words {
		if f(i) {
			return 1
		}
	}
	return 0
}

// says counts the given Chinese words in the sentence, up to two, as halves.
func (v *view) says(words []string) float64 { return saysZh(v.raw, words) }

// saysAlone does the same outside of [refuse.CompoundsZh].
func (v *view) saysAlone(words []string) float64 {
	return saysZh(refuse.CompoundsZh.Replace(v.raw), words)
}

func saysZh(raw string, words []string) float64 {
	n := 0
	for _, w := range words {
		if strings.Contains(raw, w) {
			n++
		}
	}
	return float64(min(n, 2)) / 2
}

func (v *view) timed(f func(w *timex.When) bool) float64 {
	for i := range v.whens {
		if f(&v.whens[i]) {
			return 1
		}
	}
	return 0
}

func (v *view) number() float64 {
	for i, tok := range v.s.Toks {
		in := false
		for k := range v.whens {
			in = in || i >= v.whens[k].First && i < v.whens[k].Next
		}
		if !in && (tok.Kind == 'n' || tok.Kind == 'w' && Counts(tok.S)) {
			return 1
		}
	}
	return 0
}

// Employers are words with which people speak of the firm for which they work.
var Employers = syntax.Set("employer company firm workplace work")

// employersZh are the same in Chinese.
var employersZh = [...]string{"我公司", "我们公司", "我的公司", "我单位", "我们单位", "我的单位", "咱们公司", "咱们单位", "公司给我", "单位给我", "公司让我", "单位让我", "公司允许", "老板让我", "老板允许"}

// ofEmployer reports whether a sentence is about an employer, which may change.
func (v *view) ofEmployer() bool {
	if syntax.ContainsAny(v.raw, employersZh[:]...) {
		return true
	}
	return v.anyTimes(func(i int) bool {
		return (v.words[i] == "my" || v.words[i] == "our" || v.words[i] == "his" || v.words[i] == "her") && Employers[v.at(i+1)] ||
			v.words[i] == "work" && v.at(i-1) == "at" && v.at(i+1) == ""
	}) > 0
}
