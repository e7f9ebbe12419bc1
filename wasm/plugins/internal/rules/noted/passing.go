package noted

import (
	"strings"

	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
)

// Some sentences have the marks of what is worth keeping, and nobody wants them a month later: what holds for a
// minute, what somebody jokes about, a score, numbers that open something.

// passing reports a sentence that is about the moment in which it is said.
func passing(s syntax.Sentence) bool {
	n := len(s.Toks)
	if last := s.At(n - 1); n > 2 && last == "on" && (s.At(n-2) == "hang" || s.At(n-2) == "hold") {
		return true // "I've got the change somewhere, hang on"
	}
	turns, score := 0, false
	for i := range s.Toks {
		w := s.At(i)
		switch w {
		case "left", "right":
			if Counts(s.At(i-1)) || syntax.Numeric(s.At(i-1)) || Counts(s.At(i+1)) || syntax.Numeric(s.At(i+1)) {
				turns++
			}
		case "nil":
			score = score || Counts(s.At(i-1)) || syntax.Numeric(s.At(i-1)) || s.At(i-1) == "to"
		case "weather", "forecast":
			if s.At(i+1) == "says" {
				return true
			}
		case "clockwise":
			turns += 2
		case "combination", "passcode", "pin", "combo":
			if next := s.At(i + 2); s.At(i+1) == "is" && (Counts(next) || syntax.Numeric(next)) {
				return true
			}
		}
	}
	return turns > 1 || score
}

// ofNobody reports a clause about "they", where nothing names them and it is nothing of the speaker's.
func ofNobody(t *discourse.Talk, c *discourse.Clause) bool {
	if c.Thing != "they" || namesThing(t, c) {
		return false
	}
	for i := c.Vi; i < len(c.Words); i++ {
		switch c.W(i) {
		case "my", "our", "me", "us", "i", "we":
			return t.JustSaid() != nil
		}
	}
	return true
}

// phase reports what somebody wants to be for a week: "she wants to be a vet this week".
func phase(c *discourse.Clause) bool {
	k := c.Find(0, len(c.Words), "wants")
	if k < 0 || c.W(k+1) != "to" || c.W(k+2) != "be" {
		return false
	}
	low := strings.ToLower(c.Raw())
	return strings.Contains(low, " this week") || strings.Contains(low, " today") || strings.Contains(low, " right now") || strings.Contains(low, " at the moment")
}
