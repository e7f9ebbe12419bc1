package rules

import "strings"

// takesBack are the words, between commas or without, by which somebody takes back what they just said, the longer first.
var takesBack = wordLists("no , sorry|no sorry|no , wait|no wait|wait , no|wait no|oh no , sorry|or rather|no i mean|i mean|scratch that|make that|sorry")

// retaken is a sentence without what its speaker takes back in it: "on the first, no, sorry, the second of December",
// "in Leeds, no wait, Bradford". A time is put right by a time, a word by a word.
func (s sentence) retaken(now moment) (string, bool) {
	for i := 2; i+1 < len(s.toks); i++ {
		j := s.takesBackAt(i)
		if j == 0 {
			continue
		}
		end := i
		if s.at(end-1) == "," {
			end--
		}
		whens := findWhens(s, now)
		for k := 1; k < len(whens); k++ {
			x, y := whens[k-1], whens[k]
			if x.next != end || y.first != j {
				continue
			}
			from := x.first
			if preposition(s.at(from)) && !preposition(s.at(j)) {
				from++
			}
			return s.text[s.start:s.toks[from].start] + s.text[s.toks[j].start:s.end], true
		}
		last := j+1 == len(s.toks) || s.toks[j+1].kind == 'p'
		if before := s.at(end - 2); last && s.toks[j].kind == 'w' && s.toks[end-1].kind == 'w' && s.toks[j].cap == s.toks[end-1].cap && (preposition(before) || determiner(before)) {
			return s.text[s.start:s.toks[end-1].start] + s.text[s.toks[j].start:s.end], true
		}
	}
	return "", false
}

// takesBackAt is the token after such words at token i, and after a comma behind them; 0 where there are none.
func (s sentence) takesBackAt(i int) int {
	for _, words := range takesBack {
		if !s.has(i, words) || len(words) == 1 && s.at(i-1) != "," {
			continue
		}
		j := i + len(words)
		if s.at(j) == "," {
			j++
		} else if len(words) == 1 {
			continue
		}
		if j < len(s.toks) {
			return j
		}
	}
	return 0
}

// corrects reads a sentence without what its speaker takes back in it.
func (t *talk) corrects(s sentence) bool {
	if s.chinese() || len(s.toks) > maxTokens {
		return false
	}
	said, ok := s.retaken(t.now)
	if !ok {
		return false
	}
	from := len(t.out.Candidates)
	for _, o := range sentences(strings.TrimSpace(said)) {
		o.ends = s.ends
		t.sentence(o)
	}
	t.standsFor(from, s)
	return true
}
