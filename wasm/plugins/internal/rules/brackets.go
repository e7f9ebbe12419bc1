package rules

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/timex"
)

// maxBracketed bounds the time in brackets, in bytes.
const maxBracketed = 80

// bracketed joins what stands in brackets with the words before it, if it is a time or a name. In
// "on Friday (4 December) at ten" the date takes the place of the weekday, in "on 4 December (a
// Friday)" the weekday is left out, and in "on Friday (10 am)" the hour joins the day. "My sister
// (Anna)" is "my sister Anna". What is left out becomes spaces, so that the offsets of all other
// words stay.
func bracketed(text string, now timex.Moment) string {
	if len(text) > syntax.MaxBefore || !strings.ContainsAny(text, "(（") {
		return text
	}
	b := gapped(text)
	for open := 0; open < len(text); open++ {
		r, n := utf8.DecodeRuneInString(text[open:])
		if r != '(' && r != '（' {
			continue
		}
		size := strings.IndexAny(text[open+n:], ")）")
		if size < 0 || size > maxBracketed {
			continue
		}
		end := open + n + size
		_, m := utf8.DecodeRuneInString(text[end:])
		inner := text[open+n : end]
		switch {
		case nameBehind(text[:open], inner):
			b.blank(open, open+n)
			b.blank(end, end+m)
			if syntax.HasHan(inner) { // a space before it would part the name from the words that it belongs to
				b.blank(open, end)
				copy(b[open:], inner)
			}
		default:
			in, ok := loneTime(inner, now)
			if !ok {
				in, ok = loneTime("on "+inner, now) // (the 22nd)
			}
			if !ok {
				continue
			}
			switch b.joinTime(open, &in, now) {
			case joined:
				b.blank(open, open+n)
				b.blank(end, end+m)
			case known:
				b.blank(open, end+m)
			}
		}
	}
	return string(b)
}

// gapped is a text in which words become spaces.
type gapped []byte

func (b gapped) blank(from, to int) {
	for i := from; i < to; i++ {
		b[i] = ' '
	}
}

// What becomes of a time in brackets.
const (
	apart  = iota // it stays in its brackets
	joined        // it stands without them
	known         // it says nothing new
)

// joinTime makes room for the time in the brackets that open at a byte: what it says better than
// the time before it is blanked there.
func (b gapped) joinTime(open int, in *timex.When, now timex.Moment) int {
	said := syntax.Sentences(string(b[:open]))
	if len(said) == 0 {
		return apart
	}
	s := said[len(said)-1]
	whens := timex.FindWhens(s, now)
	if len(whens) == 0 {
		return apart
	}
	w := &whens[len(whens)-1]
	switch {
	case w.Next != len(s.Toks) || w.Habit || !w.HasDay || !in.HasDay && w.Clock:
		return apart
	case !in.HasDay: // Friday (10 am)
		return joined
	case in.Weekday:
		return known
	}
	from, to := w.First, w.Next
	if w.Clock && !in.Clock { // Friday at ten (4 December)
		if to = dayEnd(s, w, now); to == from {
			return apart
		}
	} else if s.At(from) == "on" {
		from++
	}
	b.blank(s.Toks[from].Start, s.Toks[to-1].End)
	return joined
}

// loneTime returns the time that a text names, if it names nothing else. Unlike [timex.Alone] it
// allows articles and commas beside the time.
func loneTime(text string, now timex.Moment) (in timex.When, ok bool) {
	all := syntax.Sentences(text)
	if len(all) != 1 {
		return in, false
	}
	s := all[0]
	next := 0 // the token behind the last time
	for _, w := range timex.FindWhens(s, now) {
		if w.Habit || !onlyFills(s, next, w.First) {
			return in, false
		}
		next = w.Next
		if !ok || in.Weekday && w.HasDay && !w.Weekday {
			in, ok = w, true
		}
	}
	return in, ok && onlyFills(s, next, len(s.Toks))
}

// onlyFills reports whether the tokens from i to j are articles, "on" and commas.
func onlyFills(s syntax.Sentence, i, j int) bool {
	for ; i < j; i++ {
		if w := s.At(i); w != "the" && w != "a" && w != "on" && w != "," {
			return false
		}
	}
	return true
}

// dayEnd returns the token behind the day with which a day and an hour begin, or their first token if
// they don't.
func dayEnd(s syntax.Sentence, w *timex.When, now timex.Moment) int {
	for to := w.Next - 1; to > w.First; to-- {
		if whens := timex.FindWhens(s.Sub(w.First, to), now); len(whens) == 1 && whens[0].HasDay && !whens[0].Clock && whens[0].Next == to-w.First {
			return to
		}
	}
	return w.First
}

// nameBehind reports whether a text in brackets is the name of the relative, colleague or pet that
// the words before it end with.
func nameBehind(before, name string) bool {
	if syntax.HasHan(name) {
		return (syntax.PersonZh(name) || syntax.CalledSmallZh(name) || discourse.ForeignZh(name)) &&
			slices.ContainsFunc(syntax.KinZh[:], func(kin string) bool { return strings.HasSuffix(before, kin) })
	}
	words := strings.Fields(name)
	for _, w := range words {
		if w[0] < 'A' || w[0] > 'Z' || w == strings.ToUpper(w) || strings.Trim(w, ".'-") != w && w != "Mr." && w != "Dr." {
			return false
		}
	}
	said := strings.Fields(before)
	if len(words) == 0 || len(words) > 3 || len(said) < 2 {
		return false
	}
	noun := strings.ToLower(said[len(said)-1])
	return syntax.Kin(noun) || noun == "dog" || noun == "cat"
}
