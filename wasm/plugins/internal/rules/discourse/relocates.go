package discourse

import (
	"slices"

	"github.com/locket-dev/locket/wasm/abi"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/timex"
)

// movedOut are words after "moved" that say that somebody left a place, and not that an
// appointment has another time.
var movedOut = syntax.Set("away house home out premises offices abroad")

// Relocates reports whether a sentence tells of a move to another place: "the dentist moved back to
// Graz a week ago". Such a sentence gives no appointment another time.
func Relocates(s syntax.Sentence, whens []timex.When) bool {
	for i := 1; i+1 < len(s.Toks); i++ {
		if l, _, _ := syntax.Lemma(s.At(i)); l != "move" || passiveAt(s, i) {
			continue
		}
		k := i + 1
		for s.At(k) == "back" || s.At(k) == "over" || s.At(k) == "again" || s.At(k) == "up" || s.At(k) == "down" || s.At(k) == "from" && k+1 < len(s.Toks) && s.Toks[k+1].Cap {
			if s.At(k) == "from" {
				k++
			}
			k++
		}
		if next := s.At(k + 1); movedOut[s.At(k)] || s.At(k) == "in" && (next == "with" || next == "together" || next == "next" || k+1 == len(s.Toks) || timedAt(whens, s, k+1)) {
			return true // "Karen's moving in with Steve"
		}
		if s.At(k) != "to" && s.At(k) != "into" || k+1 >= len(s.Toks) {
			continue
		}
		if _, number := syntax.Number(s.At(k + 1)); number && !syntax.Determiner(s.At(k+1)) || timedAt(whens, s, k+1) {
			continue
		}
		return true
	}
	return false
}

// MovesOther reports whether the verb at token i, which gives an event another time, has an object
// that is neither an event nor a word for its time: "we changed the music for the party on Sunday".
func MovesOther(s syntax.Sentence, i int, whens []timex.When) bool {
	if passiveAt(s, i) {
		return false
	}
	k := i + 1
	for s.At(k) == "back" || s.At(k) == "forward" || s.At(k) == "up" || s.At(k) == "out" || syntax.Adverb(s.At(k)) {
		k++
	}
	from := k
	for ; k < len(s.Toks) && s.Toks[k].Kind != 'p' && !syntax.Preposition(s.At(k)) && s.At(k) != "and" && s.At(k) != "so" && s.At(k) != "because"; k++ {
		w, _ := syntax.Contraction(s.At(k))
		if _, event := syntax.EventNoun(syntax.OneEvent(w)); event || Pronoun(w) || Personal(w) || timesOf[syntax.Singular(w)] || s.Toks[k].Cap || timedAt(whens, s, k) {
			return false
		}
	}
	return k > from
}

// timesOf are words for an event or for its time, which may stand for any event.
var timesOf = syntax.Set("time date day slot hour start appointment booking reservation thing everything one lot minute week month half")

// passiveAt reports whether the form at token i says what was done to the subject: "was moved",
// "got moved", "has been moved".
func passiveAt(s syntax.Sentence, i int) bool {
	if _, _, ing := syntax.Lemma(s.At(i)); ing {
		return false
	}
	k := i - 1
	for k > 0 && syntax.Adverb(s.At(k)) {
		k--
	}
	base, rest := syntax.Contraction(s.At(k))
	for _, w := range [...]string{base, rest} {
		switch w {
		case "be", "is", "are", "was", "were", "been", "being", "get", "gets", "got", "getting":
			return base == s.At(k) || rest != "is" || s.At(i+1) != "back" && s.At(i+1) != "to" // "the dentist's moved to Graz"
		}
	}
	return false
}

// lastHomes drops the home of somebody who moves elsewhere in the same text: "I live in Leeds, well, I
// moved to York in May".
func lastHomes(all []abi.Candidate) []abi.Candidate {
	for i := len(all) - 1; i > 0; i-- {
		if now := &all[i]; homeOf(now) != "" && syntax.ContainsAny(now.Text, " moved ", "搬") {
			return slices.DeleteFunc(all, func(a abi.Candidate) bool {
				return homeOf(&a) == homeOf(now) && a.Slot.Value != now.Slot.Value
			})
		}
	}
	return all
}

// homeOf returns whose home a candidate states, or "".
func homeOf(a *abi.Candidate) string {
	if a.Slot == nil || a.Slot.Attribute != "home" || a.Negates {
		return ""
	}
	return a.Slot.Subject
}

// timedAt reports whether token i is in a time, perhaps after a determiner.
func timedAt(whens []timex.When, s syntax.Sentence, i int) bool {
	for _, w := range whens {
		if w.First <= i+1 && i < w.Next && (w.First <= i || syntax.Determiner(s.At(i))) {
			return true
		}
	}
	return false
}
