package rules

import (
	"strings"

	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/refuse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/timex"
)

// takesBack are the words with which somebody takes back what they just said, between commas or
// without, the longer first.
var takesBack = refuse.WordLists("no , sorry|no sorry|no , wait|no wait|wait , no|wait no|oh no , sorry|or rather|no i mean|i mean|scratch that|make that|actually no|no actually|sorry")

// putsRight are words that do so only between two times: "on the fifth, well, the sixth now",
// "tuesday no wednesday".
var putsRight = refuse.WordLists("no|well|actually|nope")

// retaken returns a sentence without what its speaker takes back in it: "on the first, no, sorry,
// the second of December", "in Leeds, no wait, Bradford". A time is corrected by a time, a word by
// a word.
func retaken(s syntax.Sentence, now timex.Moment) (string, bool) {
	for i := 2; i+1 < len(s.Toks); i++ {
		j := takesBackAt(s, i, takesBack)
		timeOnly := j == 0
		if timeOnly {
			j = takesBackAt(s, i, putsRight)
		}
		if j == 0 {
			continue
		}
		end := i
		if s.At(end-1) == "," {
			end--
		}
		for _, x := range timex.FindWhens(s, now) {
			if x.Next != end {
				continue
			}
			from := x.First
			if syntax.Preposition(s.At(from)) && !syntax.Preposition(s.At(j)) {
				from++
			}
			if said, ok := otherHour(s, &x, j, now); ok {
				return said, true
			}
			if said, ok := otherThanHourFirst(s, &x, j, now); ok {
				return said, true
			}
			head := s.Text[s.Start:s.Toks[from].Start]
			said := head + s.Text[s.Toks[j].Start:s.End]
			if right := timeAt(said, len(head), now); right != nil {
				if hour := timex.HourIn(s, &x, now); hour > 0 && right.HasDay && !right.Clock && right.Grain == 'd' {
					hour := " " + s.Text[s.Toks[hour].Start:s.Toks[x.Next-1].End] // "on Wednesday at three, no, Thursday"
					said = said[:right.end] + hour + said[right.end:]
				}
				return withMonth(said, right, s, &x), true
			}
		}
		if timeOnly {
			continue
		}
		before := s.At(end - 2)
		if s.At(j) == before && j+1 < len(s.Toks) {
			j++ // "in London, no sorry, in Leeds"
		}
		if numbered(s, end-1) && numbered(s, j) && s.At(j-1) == before && (j+1 == len(s.Toks) || s.Toks[j+1].Kind == 'p') {
			return s.Text[s.Start:s.Toks[end-1].Start] + s.Text[s.Toks[j].Start:s.End], true // "in room two, sorry, room twelve"
		}
		last := j+1 == len(s.Toks) || s.Toks[j+1].Kind == 'p'
		if called := syntax.Kin(s.At(j)) || discourse.CalledSo[s.At(j)] || syntax.SexOf("", s.At(j)) != 0 && syntax.SexOf("", s.At(end-1)) == 0; s.At(i) == "sorry" || called {
			continue // "I work for Google, sorry, Mum"
		}
		if last && s.Toks[j].Kind == 'w' && s.Toks[end-1].Kind == 'w' && s.Toks[j].Cap == s.Toks[end-1].Cap && (syntax.Preposition(before) || syntax.Determiner(before)) {
			return s.Text[s.Start:s.Toks[end-1].Start] + s.Text[s.Toks[j].Start:s.End], true
		}
	}
	return "", unreadCorrection(s)
}

// numbered reports whether token i is a number that tells one of several things from another: "room 12",
// "gate four".
func numbered(s syntax.Sentence, i int) bool {
	_, ok := syntax.Number(s.At(i))
	return ok && s.At(i) != "a" && s.At(i) != "an"
}

// otherHour returns a sentence in which the hour at token j takes the place of that of x, whose day
// stays: "on Thursday at three, no, four".
func otherHour(s syntax.Sentence, x *timex.When, j int, now timex.Moment) (string, bool) {
	hour := timex.HourIn(s, x, now)
	if hour <= x.First || !x.HasDay {
		return "", false
	}
	if s.At(hour-1) == s.At(j) {
		hour-- // at
	} else if syntax.Preposition(s.At(hour)) && !syntax.Preposition(s.At(j)) {
		hour++ // "at nine, actually ten"
	}
	head := s.Text[s.Start:s.Toks[hour].Start]
	said := head + s.Text[s.Toks[j].Start:s.End]
	right := timeAt(said, len(head), now)
	return said, right != nil && right.HasDay && right.Clock && right.Day == x.Day
}

// otherThanHourFirst does the same if the hour is before the day: "at ten on Thursday, no, half ten". What
// is corrected may also be the day, whose hour stays: "at ten on Thursday, no, Friday".
func otherThanHourFirst(s syntax.Sentence, x *timex.When, j int, now timex.Moment) (string, bool) {
	if !x.HasDay || !x.Clock || x.ByPart {
		return "", false
	}
	for k := x.First + 1; k < x.Next; k++ {
		day, ok := timex.WhenAt(s, k, now)
		if !ok || !day.HasDay || day.Clock || day.Next != x.Next {
			continue
		}
		from, words := x.First, " "+s.Text[s.Toks[k].Start:s.Toks[x.Next-1].End]
		if syntax.Preposition(s.At(from)) && !syntax.Preposition(s.At(j)) {
			from++
		}
		head, rest := s.Text[s.Start:s.Toks[from].Start], s.Text[s.Toks[j].Start:s.End]
		right := timeAt(head+rest, len(head), now)
		if right == nil {
			return "", false
		}
		if right.HasDay && !right.Clock && right.Grain == 'd' {
			if syntax.Preposition(s.At(k)) && !syntax.Preposition(s.At(j)) {
				k++
			}
			return s.Text[s.Start:s.Toks[k].Start] + rest, true
		}
		said := (head + rest)[:right.end] + words + (head + rest)[right.end:]
		right = timeAt(said, len(head), now)
		return said, right != nil && right.HasDay && right.Clock && right.Day == x.Day
	}
	return "", false
}

// unreadCorrection reports whether a sentence takes something back that no rule can correct: "My
// sister's called Hannah, no, Anna", "on Monday, no, sorry, I can't read this". Such a sentence
// says nothing certain.
func unreadCorrection(s syntax.Sentence) bool {
	for i := 3; i+3 < len(s.Toks); i++ {
		no := s.At(i) == "," && s.At(i+1) == "no" && (s.At(i+2) == "," || s.At(i+2) == "not" || s.At(i+2) == "sorry" || s.At(i+2) == "wait")
		number := s.At(i) == "," && refuse.Has(s, i+1, []string{"i", "mean"}) && s.Toks[i-1].Kind == 'n' && s.Toks[i+3].Kind == 'n'
		if no && !s.Chinese() && s.Ends != "?" || number {
			return true
		}
	}
	return false
}

// withMonth returns text with the month of the time w of s after the time right in it, if that is
// only a day: "the second" for "the first of March".
func withMonth(text string, right *timeIn, s syntax.Sentence, w *timex.When) string {
	month := ""
	for k := w.First; k < w.Next; k++ {
		if syntax.MonthOf(s.At(k)) > 0 {
			month = s.Text[s.Toks[k].Start:s.Toks[k].End]
		}
	}
	if month == "" || right.Assumed != 1 {
		return text
	}
	return text[:right.end] + " of " + month + text[right.end:]
}

// timeIn is a time, and the byte of the text at which it ends.
type timeIn struct {
	timex.When
	end int
}

// timeAt returns the time at a byte of a text, or nil.
func timeAt(text string, at int, now timex.Moment) *timeIn {
	for _, o := range syntax.Sentences(text) {
		for _, w := range timex.FindWhens(o, now) {
			if end := o.Toks[w.Next-1].End; o.Toks[w.First].Start <= at && at < end {
				return &timeIn{w, end}
			}
		}
	}
	return nil
}

// takesBackAt returns the token after such words at token i, and after a comma that follows them; 0
// if there are none. A single word must be between commas, unless it is between two times of a text
// without marks.
func takesBackAt(s syntax.Sentence, i int, all [][]string) int {
	for _, words := range all {
		alone := len(words) == 1 && (words[0] == "sorry" || strings.Contains(s.Text, ","))
		if !refuse.Has(s, i, words) || alone && s.At(i-1) != "," {
			continue
		}
		j := i + len(words)
		if s.At(j) == "," {
			j++
		} else if alone && (words[0] != "actually" || j+1 != len(s.Toks)) {
			continue // "on Wednesday, actually Thursday"
		}
		if j < len(s.Toks) {
			return j
		}
	}
	return 0
}

// retakenNext returns sentence i of a turn, corrected by the next one, if that is only a time: "at
// four. No, half four." Sentences that only take it back may be between them: "Hang on, no. Four." It
// returns how many sentences that takes.
func retakenNext(t *discourse.Talk, i int) (said string, n int, ok bool) {
	s, n := t.Own[i], 2
	if i+1 == len(t.Own) || s.Ends == "?" || s.Ends == "？" || len(s.Toks) < 4 {
		return "", 0, false
	}
	next, from := t.Own[i+1], 0
	if i+2 < len(t.Own) && onlyMarks(next) {
		const most = 3 // tokens of an hour or a day
		if next, n = t.Own[i+2], 3; len(next.Toks) > most || next.Ends == "?" {
			return "", 0, false
		}
		said, ok := retakenBy(t, s, next, 0)
		return said, n, ok
	}
	for from < min(3, len(next.Toks)) && (next.At(from) == "no" || next.At(from) == "sorry" || next.At(from) == "," || next.At(from) == "wait") {
		from++
	}
	if refuse.Has(next, from, []string{"i", "mean"}) {
		from += 2
	}
	if s.Chinese() {
		said, ok = retakenNextZh(t, s, next)
		return said, n, ok
	}
	const most = 5 // tokens of a time
	if m := marksAt(next); m > from {
		from = m
	}
	next, meant := withoutWrong(next)
	if from == 0 && !meant || from >= len(next.Toks) || len(next.Toks)-from > most || next.Ends == "?" {
		return "", 0, false
	}
	said, ok = retakenBy(t, s, next, from)
	return said, n, ok
}

// withoutWrong returns "the 15th, not the 14th" or "half six, I mean" without what follows the comma, and
// whether the rest is what its speaker meant.
func withoutWrong(s syntax.Sentence) (syntax.Sentence, bool) {
	for k := 1; k+1 < len(s.Toks); k++ {
		if s.At(k) != "," {
			continue
		}
		meant := s.At(k+1) == "i" && (s.At(k+2) == "mean" || s.At(k+2) == "meant") && k+3 == len(s.Toks) || s.At(k+1) == "rather" && k+2 == len(s.Toks)
		if meant || k > 1 && s.At(k+1) == "not" {
			return s.Sub(0, k), meant
		}
	}
	return s, false
}

// retakenBy returns s, corrected by the time at token from of the next sentence.
func retakenBy(t *discourse.Talk, s, next syntax.Sentence, from int) (string, bool) {
	right := next.Text[next.Toks[from].Start:next.End]
	if w := next.At(from); syntax.WeekdayOf(w, false) < 0 && syntax.MonthOf(w) == 0 {
		right = w + next.Text[next.Toks[from].End:next.End] // "Half six" after a full stop
	}
	for _, in := range [...]string{"", "at "} { // "Four" is an hour only after "at"
		both := syntax.Sentences(s.Raw() + ", sorry, " + in + right)
		if len(both) != 1 {
			return "", false
		}
		if said, ok := retaken(both[0], t.Now); ok && said != "" {
			return said, true
		}
	}
	return "", false
}

// corrects reads sentence i of a turn without what its speaker takes back, and returns how many
// sentences that takes; 0 if nothing is taken back.
func corrects(t *discourse.Talk, i int) int {
	s, n := t.Own[i], 1
	if len(s.Toks) > maxTokens {
		return 0
	}
	if (s.At(0) == "sorry" && marksAt(s) > 0 || waitsZh(s)) && correction(t, s) {
		return 1 // "sorry, Friday" is no greeting
	}
	if putsRightNext(t, i) {
		return 2
	}
	retaken := retaken
	if s.Chinese() {
		retaken = retakenZh
	}
	said, ok := misled(s, t.Now)
	if !ok {
		said, ok = retaken(s, t.Now)
	}
	if !ok {
		if said, n, ok = retakenNext(t, i); !ok {
			if withdrawnNext(t, i) {
				t.Refuse("story", "taken back in the next sentence", s.Start, s.End)
				return 1
			}
			return 0
		}
		s.End = t.Own[i+n-1].End
	}
	if again := syntax.Sentences(strings.TrimSpace(said)); len(again) == 1 {
		if twice, ok := retaken(again[0], t.Now); ok && twice != "" {
			said = twice // 周三，哦不，周四，等等，还是周三
		}
	}
	from := len(t.Out.Candidates)
	defer otherText(t, s)()
	for _, o := range syntax.Sentences(strings.TrimSpace(said)) {
		o.Ends = s.Ends
		if i > 0 || !s.Chinese() || !resolvedZh(t, o) { // 演唱会几号 / 十二号，哦不，十三号
			sentence(t, o)
		}
	}
	discourse.StandsFor(t, from, s)
	return n
}
