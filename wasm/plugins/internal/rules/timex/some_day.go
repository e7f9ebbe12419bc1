package timex

import (
	"strings"

	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
)

// Moves reports whether v is a verb with which an appointment is moved.
func Moves(v string) bool {
	switch v {
	case "move", "reschedule", "push", "shift", "postpone", "change", "bring", "switch":
		return true
	}
	return false
}

// PresentState reports whether a participle says how something is, and not what it did: "the kita
// is closed on Friday". before are the words before it, the last first.
func PresentState(before ...string) bool {
	for _, w := range before {
		base, rest := syntax.Contraction(w)
		switch {
		case rest == "is" || rest == "are" || rest == "am":
			return true
		case base == "is" || base == "are" || base == "am" || base == "be" || base == "being":
			return true
		case !syntax.Adverb(base) && base != "not":
			return false
		}
	}
	return false
}

// recurs reports whether a sentence says after token k that something happens each week: "moved to
// Thursdays", "from now on".
func recurs(s syntax.Sentence, k int) bool {
	for i := k; i < min(len(s.Toks), k+nearby); i++ {
		w := s.At(i)
		if strings.HasSuffix(w, "s") && syntax.WeekdayOf(w[:len(w)-1], false) >= 0 || w == "from" && s.At(i+1) == "now" && s.At(i+2) == "on" || w == "every" {
			return true
		}
	}
	return false
}

// Something that is due, ends or arrives has one day of its own: the rent is due on Monday, the
// rent for the garage on Friday, and neither replaces the other. The same thing with a new day has
// moved.

// ageAt returns the number of tokens from k on that say, after "at", how old somebody was: "the age
// of ten", a number that can't be an hour, such as "sixteen", or one with a change in somebody's
// life, as in "at eleven I moved to Leeds".
func ageAt(s syntax.Sentence, k int) int {
	if s.At(k) == "the" && s.At(k+1) == "age" && s.At(k+2) == "of" {
		if _, ok := syntax.Number(s.At(k + 3)); ok {
			return 4
		}
		return 0
	}
	n, ok := syntax.Number(s.At(k))
	if !ok || n < 4 || n > 90 || !phraseEnds(s, k+1) || k+1 < len(s.Toks) && syntax.Preposition(s.At(k+1)) {
		return 0
	}
	if last := k+1 >= len(s.Toks) || s.Toks[k+1].Kind == 'p'; last && n > 12 && s.Toks[k].Kind != 'n' || turnsLife(s) {
		return 1
	}
	return 0
}

// turnsLife reports whether a sentence tells of what people do once or twice in a life, and not at
// an hour: "I left home".
func turnsLife(s syntax.Sentence) bool {
	for i := range s.Toks {
		base, past, _ := syntax.Lemma(s.At(i))
		if !past {
			continue
		}
		switch next, after := s.At(i+1), s.At(i+2); base {
		case "emigrate", "immigrate", "marry", "retire", "become":
			return true
		case "get":
			return next == "married" || next == "divorced"
		case "leave":
			return next == "school" || next == "college" || next == "university"
		case "drop":
			return next == "out" && after == "of"
		case "learn":
			return next == "to" || next == "how"
		case "start", "quit":
			return next == "school" || next == "smoking" || next == "university"
		case "move":
			return next == "to" && !syntax.Determiner(after) && after != "my" && after != "our" || next == "out"
		case "have":
			return (next == "my" || next == "her" || next == "our") && after == "first"
		}
	}
	return false
}

// roughAge reports whether "about seven" at token i is an age and not an hour: "when my brother was
// about seven".
func roughAge(s syntax.Sentence, i int) bool {
	if rough, be := s.At(i), s.At(i-1); rough != "about" && rough != "around" || be != "was" && be != "were" {
		return false
	}
	for k := i - 2; k >= max(0, i-5); k-- {
		if s.At(k) == "when" {
			return true
		}
	}
	return false
}

// RestsAt reports whether no noun follows at token i.
func RestsAt(s syntax.Sentence, i int, timed []bool) bool {
	if i >= len(s.Toks) || timed[i] || s.Toks[i].Kind == 'p' {
		return true
	}
	w := s.At(i)
	return syntax.Adverb(w) || syntax.Preposition(w) || w == "and" || w == "but" || w == "since" || w == "because" || w == "until"
}

// Days that are named without saying which one, "on a Friday", or once for several clauses.

// someWeekday reads "a Friday" after "on" at token k. What somebody then does is done each week;
// for the past and the future it is not known on which day.
func (w *When) someWeekday(s syntax.Sentence, k int, now Moment) int {
	verb := s.At(k - 2)
	_, rest := syntax.Contraction(verb)
	w.Set(now.Day, 'd')
	if tells(s) || rest == "is" || syntax.Auxiliary(verb) || once(s) {
		w.Void, w.Vague = true, true
	} else {
		w.Habit = true
	}
	if _, ok := partsOfDay[s.At(k+2)]; ok {
		return 3
	}
	return 2
}

// pastBefore reports whether the verb to which a time at token k belongs, the last one before it,
// is in the past tense: "it went out on the twentieth". With some verbs, people arrange something
// for the future.
func pastBefore(s syntax.Sentence, k int) bool {
	for i := k - 1; i >= 0; i-- {
		w, before := s.At(i), s.At(i-1)
		base, rest := syntax.Contraction(w)
		switch {
		case base == "will" || rest == "will" || w == "gonna" || rest == "would", base == "could" || base == "would" || base == "might" || base == "should":
			return false
		}
		l, past, ing := syntax.Lemma(w)
		switch {
		case l == "" && !syntax.PastForm(w):
			continue
		case ing:
			return before == "was" || before == "were" || before == "been"
		case past || l == "":
			return w != "been" && !arranged[l] && !PresentState(before, s.At(i-2))
		case before == "to" || syntax.Determiner(before) || syntax.Preposition(before) || syntax.Auxiliary(before) || syntax.Verbish(before) && !syntax.SubjectPronoun(before):
			continue // "didn't go", "bought presents"
		}
		return false
	}
	return false
}

// WasBefore is pastBefore for what took place then: "has signed up for a race in May" is not, and
// neither is an offer or a change.
func WasBefore(s syntax.Sentence, k int) bool {
	for i := k - 1; i >= 0; i-- {
		w := s.At(i)
		base, rest := syntax.Contraction(w)
		if rest == "have" || base == "have" || base == "has" || w == "to" || w == "for" {
			return false
		}
		if l, past, _ := syntax.Lemma(w); past || syntax.PastForm(w) {
			return !Moves(l) && !upcoming[l] && pastBefore(s, k)
		}
	}
	return false
}

// upcoming are verbs after which a date is in the future.
var upcoming = syntax.Set("get sign enrol enroll register apply accept agree decide ask offer promise extend confirm receive enter say tell announce want hope mean")

// arranged are verbs for what is done for a future day.
var arranged = syntax.Set("book reserve order buy plan schedule invite organise organize")

// itIsDay reports whether the text is "it's the twelfth" at the article k, without a noun that the
// number would count.
func itIsDay(s syntax.Sentence, k int) bool {
	if before := s.At(k - 2); s.At(k-1) != "it's" || k > 1 && before != "," && before != "and" && before != "but" {
		return false
	}
	d, ok := Ordinal(s.At(k + 1))
	return ok && d > 3 && endsDay(s.At(k+2))
}

// endsDay reports whether w may follow "is the eleventh" if that is a day and not a position in a
// list.
func endsDay(w string) bool {
	return w == "" || w == "," || w == "." || w == "at" || w == "now" || w == "then" || w == "instead"
}

// Until reports whether something lasts up to a time: "away until Friday".
func Until(s *syntax.Sentence, w *When) bool {
	return w.HasDay && LeadsUntil(s, w)
}

// LeadsUntil reports whether "until" comes before a time.
func LeadsUntil(s *syntax.Sentence, w *When) bool {
	lead := s.At(w.First)
	if lead != "until" && lead != "till" {
		lead = s.At(w.First - 1)
	}
	return lead == "until" || lead == "till"
}

// dayAlone reports whether a word is a day of a month, "the 28th", without a month after it.
func dayAlone(word, next string) bool {
	_, ok := Ordinal(word)
	return ok && next != "of" && syntax.MonthOf(next) == 0
}

// Ends returns the last moment of a time, in ms since 1970: for a day without an hour its end.
func (w *When) Ends() int64 {
	if w.Clock {
		return w.Unix()
	}
	if _, _, d := Date(w.Day + 7); w.Grain == 'w' && d == 1 { // the last week of a month
		return Moment{w.Day + 6, 24*60 - 1, w.Zone}.Unix()
	}
	if _, _, d := Date(w.Last + 1); w.Last > w.Day && w.Last-w.Day < 8 && d == 1 { // the end of a month
		return Moment{w.Last, 24*60 - 1, w.Zone}.Unix()
	}
	return Moment{w.Day, 24*60 - 1, w.Zone}.Unix()
}

// The first and the last day somewhere, the days of each week on which somebody works, and what a
// house lacks on a day.

// isDay reports whether the subject is a day, before "is the 31st" at the article k: "my last day
// at Acme".
func isDay(s syntax.Sentence, k int) bool {
	if d, ok := Ordinal(s.At(k + 1)); !ok || d < 4 && s.Toks[k+1].Kind != 'n' || !endsDay(s.At(k+2)) {
		return false
	}
	if _, rest := syntax.Contraction(s.At(k - 1)); s.At(k-1) != "is" && s.At(k-1) != "was" && rest != "is" {
		return false
	}
	for i := 0; i < k; i++ {
		w, _ := syntax.Contraction(s.At(i))
		if _, event := syntax.EventNoun(w); event || w == "day" || w == "date" || w == "deadline" || w == "shift" || w == "payday" || w == "completion" || w == "anniversary" {
			return true
		}
	}
	return false
}

// eachWeek reports whether these are the days from one to another on which somebody works, or
// usually does something: "I work Monday to Friday", 我周一到周五上班.
func eachWeek(s syntax.Sentence, first, last *When) bool {
	if !first.Weekday || !last.Weekday || s.At(first.Next) == "or" || s.At(first.Next) == "and" || last.First-first.Next != 1 && last.First != first.Next {
		return false
	}
	if s.Chinese() {
		for _, work := range [...]string{"上班", "上课", "上学", "工作", "营业", "开门"} {
			if head, rest, ok := strings.Cut(s.Raw(), work); ok {
				return !strings.ContainsAny(head+rest, "上下这本个要会得了没不前")
			}
		}
		return false
	}
	usual := false
	for i := range s.Toks {
		switch s.At(i) {
		case "usually", "normally", "always", "generally", "typically":
			usual = true
		case "next", "this", "last", "tomorrow", "will":
			return false
		}
	}
	if usual {
		return true
	}
	for i := 1; i < first.First; i++ {
		switch s.At(i) {
		case "work", "works", "teach", "teaches", "commute", "commutes", "open", "opens":
			before := s.At(i - 1)
			return before == "i" || before == "we" || before == "they" || before == "he" || before == "she" || before == "only" || before == "is" || strings.HasSuffix(before, "'s") || strings.HasSuffix(s.At(i), "s")
		}
	}
	return false
}

// Commands are words that begin what is said to a device or to somebody present.
var Commands = syntax.Set("please let let's don't come here alexa siri google hey locket ok okay careful imagine use")
