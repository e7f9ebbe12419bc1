package rules

import "strings"

// takesBack are the words, between commas or without, by which somebody takes back what they just said, the longer first.
var takesBack = wordLists("no , sorry|no sorry|no , wait|no wait|wait , no|wait no|oh no , sorry|or rather|no i mean|i mean|scratch that|make that|actually no|no actually|sorry")

// putsRight are words that do so only between two times: "on the fifth, well, the sixth now", "tuesday no wednesday".
var putsRight = wordLists("no|well|actually|nope")

// retaken is a sentence without what its speaker takes back in it: "on the first, no, sorry, the second of December",
// "in Leeds, no wait, Bradford". A time is put right by a time, a word by a word.
func (s sentence) retaken(now moment) (string, bool) {
	for i := 2; i+1 < len(s.toks); i++ {
		j := s.takesBackAt(i, takesBack)
		timeOnly := j == 0
		if timeOnly {
			j = s.takesBackAt(i, putsRight)
		}
		if j == 0 {
			continue
		}
		end := i
		if s.at(end-1) == "," {
			end--
		}
		for _, x := range findWhens(s, now) {
			if x.next != end {
				continue
			}
			from := x.first
			if preposition(s.at(from)) && !preposition(s.at(j)) {
				from++
			}
			head := s.text[s.start:s.toks[from].start]
			if said := head + s.text[s.toks[j].start:s.end]; timeAt(said, len(head), now) {
				return said, true
			}
		}
		if timeOnly {
			continue
		}
		before := s.at(end - 2)
		if s.at(j) == before && j+1 < len(s.toks) {
			j++ // "in London, no sorry, in Leeds"
		}
		last := j+1 == len(s.toks) || s.toks[j+1].kind == 'p'
		if called := kin(s.at(j)) || calledSo[s.at(j)] || sexOf("", s.at(j)) != 0 && sexOf("", s.at(end-1)) == 0; s.at(i) == "sorry" || called {
			continue // "I work for Google, sorry, Mum"
		}
		if last && s.toks[j].kind == 'w' && s.toks[end-1].kind == 'w' && s.toks[j].cap == s.toks[end-1].cap && (preposition(before) || determiner(before)) {
			return s.text[s.start:s.toks[end-1].start] + s.text[s.toks[j].start:s.end], true
		}
	}
	return "", false
}

// timeAt reports whether a time stands at a byte of a text.
func timeAt(text string, at int, now moment) bool {
	for _, o := range sentences(text) {
		for _, w := range findWhens(o, now) {
			if o.toks[w.first].start <= at && at < o.toks[w.next-1].end {
				return true
			}
		}
	}
	return false
}

// takesBackAt is the token after such words at token i, and after a comma behind them; 0 where there are none. A word alone
// stands between commas, if not between two times of a text without marks.
func (s sentence) takesBackAt(i int, all [][]string) int {
	for _, words := range all {
		alone := len(words) == 1 && (words[0] == "sorry" || strings.Contains(s.text, ","))
		if !s.has(i, words) || alone && s.at(i-1) != "," {
			continue
		}
		j := i + len(words)
		if s.at(j) == "," {
			j++
		} else if alone {
			continue
		}
		if j < len(s.toks) {
			return j
		}
	}
	return 0
}

// retakenNext is sentence i of a turn, which the next one puts right, where that is no more than a time: "at four. No, half
// four."
func (t *talk) retakenNext(i int) (string, bool) {
	s := t.own[i]
	if i+1 == len(t.own) || s.ends == "?" || s.ends == "？" || len(s.toks) < 4 {
		return "", false
	}
	next, from := t.own[i+1], 0
	for from < min(3, len(next.toks)) && (next.at(from) == "no" || next.at(from) == "sorry" || next.at(from) == "," || next.at(from) == "wait") {
		from++
	}
	if next.has(from, []string{"i", "mean"}) {
		from += 2
	}
	if s.chinese() {
		return t.retakenNextZh(s, next)
	}
	const most = 5 // tokens of a time
	if from == 0 || from >= len(next.toks) || len(next.toks)-from > most || next.ends == "?" {
		return "", false
	}
	both := sentences(s.raw() + ", sorry, " + next.text[next.toks[from].start:next.end])
	if len(both) != 1 {
		return "", false
	}
	return both[0].retaken(t.now)
}

// corrects reads sentence i of a turn without what its speaker takes back, and says how many sentences that takes; 0 where
// nothing is taken back.
func (t *talk) corrects(i int) int {
	s, n := t.own[i], 1
	if len(s.toks) > maxTokens {
		return 0
	}
	retaken := sentence.retaken
	if s.chinese() {
		retaken = sentence.retakenZh
	}
	said, ok := retaken(s, t.now)
	if !ok {
		if said, ok = t.retakenNext(i); !ok {
			return 0
		}
		n, s.end = 2, t.own[i+1].end
	}
	from := len(t.out.Candidates)
	defer t.otherText()()
	for _, o := range sentences(strings.TrimSpace(said)) {
		o.ends = s.ends
		t.sentence(o)
	}
	t.standsFor(from, s)
	return n
}
