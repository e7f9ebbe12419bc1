package english

import (
	"strings"

	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/timex"
)

// rang are verbs with which somebody gives news.
var rang = syntax.Set("rang called phoned texted emailed messaged wrote")

// Rang takes "the dentist rang, they've moved me to the 19th": the appointment with whoever gave the
// news has another time. It is read as "the dentist has moved my appointment to the 19th".
func Rang(t *discourse.Talk, s syntax.Sentence) bool {
	if s.Chinese() || s.Ends == "?" {
		return false
	}
	who, i := caller(s)
	for k := len(t.Own) - 1; k >= 0 && who == ""; k-- {
		if before := t.Own[k]; before.End <= s.Start {
			if who, i = caller(before); i < len(before.Toks) {
				return false
			}
			i = 0
			break
		}
	}
	if who == "" {
		return false
	}
	switch by, rest := syntax.Contraction(s.At(i)); by {
	case "they", "she", "he":
		if i++; rest == "" && (s.At(i) == "have" || s.At(i) == "had" || s.At(i) == "has") {
			i++
		}
	default:
		return false
	}
	verb := i
	if l, past, _ := syntax.Lemma(s.At(verb)); !past && l != "put" || !timex.Moves(l) && l != "put" && l != "bring" {
		return false
	}
	switch i++; s.At(i) {
	case "me", "us", "it":
		i++
	case "my", "our", "the":
		if s.At(i+1) != "appointment" {
			return false
		}
		i += 2
	default:
		return false
	}
	if i >= len(s.Toks) {
		return false
	}
	made := len(t.Out.Candidates)
	for _, o := range syntax.Sentences(strings.Join([]string{"my", who, "has", s.At(verb), "my appointment", s.Text[s.Toks[i].Start:s.End]}, " ")) {
		clause(t, o)
	}
	discourse.StandsFor(t, made, s)
	return len(t.Out.Candidates) > made
}

// caller returns who gave news at the beginning of a sentence, of those with whom people have
// appointments, and the token after it; "" if nobody did.
func caller(s syntax.Sentence) (who string, i int) {
	for syntax.Lead(s.At(i)) || s.At(i) == "," {
		i++
	}
	if s.At(i) != "the" && s.At(i) != "my" && s.At(i) != "our" || !syntax.Profession(s.At(i+1)) {
		return "", 0
	}
	who = s.At(i + 1)
	for i += 2; s.At(i) == "just" || s.At(i) == "has" || s.At(i) == "surgery" || s.At(i) == "clinic"; i++ {
	}
	if !rang[s.At(i)] {
		return "", 0
	}
	for i++; s.At(i) == "me" || s.At(i) == "us" || s.At(i) == "," || s.At(i) == "and" || s.At(i) == "back"; i++ {
	}
	return who, i
}
