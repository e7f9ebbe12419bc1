package english

import (
	"strings"

	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/noted"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
)

// Endings: a job, a habit, a relationship, a debt, something that somebody had or took. Each ending
// names the slot and the value that is no longer true, so that it ends only that memory, and
// nothing if nobody ever said it.

// over proposes the endings of which a clause tells.
func over(t *discourse.Talk, c *discourse.Clause) {
	if c.Ends == "?" || c.Conditional() || c.Maybe || c.Modal || c.Future || c.Intend || c.Must || c.Can || c.Almost() || c.Vi >= len(c.Words) {
		return
	}
	i, done := c.Vi+1, (c.Past || c.Perfect) && !c.Neg && !c.UsedTo
	switch {
	case c.NoLonger && c.Neg && !c.Past && c.Kind != 't':
		gaveUp(t, c, c.Verb, i)
	case !done:
		if c.Verb == "be" && !c.Neg && c.Kind == 'w' {
			parted(t, c, i)
		}
		if discourse.Last(strings.ToLower(c.Raw())) == "again" && !c.Neg && c.Kind != 't' && c.Verb == "eat" && discourse.ObjectOf(c, i) == "meat" {
			eatsMeat(t, c)
		}
		if off := c.W(i) == "off" && c.Verb == "be" && !c.Neg && c.Kind != 't'; off && medicineNamed(discourse.ObjectOf(c, i+1)) {
			noMedicine(t, c, c.Subj, discourse.ObjectOf(c, i+1))
		}
	case c.Kind == 't':
		wasDoneTo(t, c, i)
	default:
		lostJob(t, c, i)
		parted(t, c, i)
		stopped(t, c, i)
		gone(t, c, i)
		wasDoneTo(t, c, i)
	}
}

// lostJob takes "I quit the bakery", "I was let go by Acme", "I resigned from the library".
func lostJob(t *discourse.Talk, c *discourse.Clause, i int) {
	end := func(k int) {
		if k == len(c.Words) {
			outOfWork(t, c)
		}
		for k < len(c.Words) && c.W(k) != "from" && c.W(k) != "by" && c.W(k) != "at" {
			k++
		}
		if firm := discourse.ObjectOf(c, k+1); firm != "" && employs(firm, t.Plain) {
			t.Ended(c, c.Subj, "work", "employer", firm, false)
		}
	}
	switch c.Verb {
	case "quit":
		if firm := discourse.ObjectOf(c, i); syntax.Determiner(c.W(i)) && !strings.Contains(firm, " ") && firm != "gym" && organisations[strings.ToLower(firm)] { // people are members of a gym
			t.Ended(c, c.Subj, "work", "employer", firm, false)
		}
	case "resigned", "resign":
		end(i)
	case "be", "get":
		for k := i; k < min(len(c.Words), i+3); k++ {
			switch c.W(k) {
			case "fired", "sacked", "dismissed":
				end(k + 1)
			case "let", "laid", "made":
				if w := c.W(k + 1); w == "go" || w == "off" || w == "redundant" {
					end(k + 2)
				}
			}
		}
	case "stop":
		if c.W(i) == "working" && (c.W(i+1) == "at" || c.W(i+1) == "for") && employs(discourse.ObjectOf(c, i+2), t.Plain) {
			t.Ended(c, c.Subj, "work", "employer", discourse.ObjectOf(c, i+2), false)
		}
		if c.W(i) == "working" && c.W(i+1) == "as" {
			t.Ended(c, c.Subj, "work", "job", post(c, i+2, true, t.Plain), false)
			if firm, ok := c.After(i+2, 6, "at", "for"); ok && !discourse.Vague(firm) && employs(firm, t.Plain) {
				t.Ended(c, c.Subj, "work", "employer", firm, false)
			}
		}
	}
}

// unmarried are what two people are to each other until they part, by the verb that parts them.
var unmarried = [...]string{"girlfriend", "boyfriend", "partner", "fiancé", "fiancée"}

var married = [...]string{"spouse", "wife", "husband"}

// parted takes "Mia and I broke up", "I broke up with Mia", "I divorced Tom".
func parted(t *discourse.Talk, c *discourse.Clause, i int) {
	divorced, with := false, i
	switch c.Verb {
	case "break", "split":
		if c.W(i) != "up" {
			return
		}
		with = i + 1
	case "divorce":
		divorced = true
	case "be", "get":
		for syntax.Adverb(c.W(with)) {
			with++
		}
		divorced = c.W(with) == "divorced"
		if !divorced && c.W(with) != "separated" {
			return
		}
		with++
	default:
		return
	}
	k := 0
	switch {
	case c.W(with) == "with" || c.W(with) == "from":
		k = with + 1
	case c.Verb == "divorce" && c.Kind == 's':
		k = with
	case c.Kind != 'w' || c.W(with) != "" || c.W(0) == "we":
		return
	}
	if c.Kind != 's' && c.Kind != 'w' {
		return
	}
	if c.W(k) == "my" && syntax.Kin(c.W(k+1)) {
		t.Ended(c, t.Self, "relation", c.W(k+1), "", false)
		return
	}
	if !c.Capital(k) || !syntax.NameWord(c.W(k)) || k > 0 && k != len(c.Words)-1 || k == 0 && c.W(1) != "and" {
		return
	}
	name := c.Cased(k)
	all := unmarried[:]
	if divorced || c.Verb == "be" {
		all = married[:]
	}
	sex := t.Sex(discourse.Person{Name: name, Key: strings.ToLower(name)})
	for _, noun := range all {
		if s := syntax.SexOf(noun, ""); s == 0 || sex == 0 || s == sex {
			t.Ended(c, t.Self, "relation", noun, name, false)
		}
	}
}

// stopped takes "I stopped playing tennis", "I gave up running", "I quit smoking".
func stopped(t *discourse.Talk, c *discourse.Clause, i int) {
	switch c.Verb {
	case "stop", "quit":
	case "give":
		if c.W(i) != "up" {
			return
		}
		i++
	default:
		return
	}
	if l, _, ing := syntax.Lemma(c.W(i)); ing || c.W(i) == "doing" {
		before := len(t.Out.Candidates)
		gaveUp(t, c, l, i+1)
		drug := len(t.Out.Candidates) > before && t.Out.Candidates[before].Kind == "health"
		if o, _ := c.Object(i); len(t.Out.Candidates) > before && !drug && o != "" && o != "smoking" && c.Verb != "quit" {
			t.Ended(c, c.Subj, "habit", "does", o, true)
		}
	}
}

// gaveUp ends what somebody does or takes: the verb, and its object from word i on.
func gaveUp(t *discourse.Talk, c *discourse.Clause, verb string, i int) {
	o, _ := c.Object(i)
	switch verb {
	case "eat", "drink":
		if diet := dietOf(o); diet != "" {
			t.Ended(c, c.Subj, "diet", "diet", diet, false)
		} else if o != "" {
			t.Ended(c, c.Subj, "diet", verb+"s", o, true)
		}
	case "smoke":
		t.Ended(c, c.Subj, "diet", "smokes", "smoking", true)
	case "": // doing
		if o != "" {
			t.Ended(c, c.Subj, "habit", "does", cutTail(o), true)
		}
	case "play":
		if o != "" {
			t.Ended(c, c.Subj, "habit", "plays", cutTail(o), true)
		}
	case "learn", "study":
		if o != "" {
			t.Ended(c, c.Subj, "habit", "learning", o, true)
		}
	case "take", "use", "inject":
		if drug, _ := medicine(c, i); drug != "" && (verb == "take" || applies(c, i)) {
			noMedicine(t, c, c.Subj, drug)
			return
		}
		fallthrough
	default:
		if what := routineOf(c, verb, i); what != "" {
			t.Ended(c, c.Subj, "habit", discourse.RoutineSlot(what), howOften(c), true)
		}
	}
}

// absent takes "Priya can't make it tomorrow": the only plan with that person, on that day if one
// is named, is cancelled. If several plans match, none is cancelled.
func absent(t *discourse.Talk, c *discourse.Clause) bool {
	if c.Kind != 'p' && !expected(discourse.Last(c.Thing)) || c.Ends == "?" || c.Conditional() || c.Maybe || !c.Neg || c.Verb != "make" && c.Verb != "come" || c.Verb == "make" && c.W(c.Vi+1) != "it" || !c.Can && !c.Future && !c.Ing {
		return false
	}
	name := strings.ToLower(c.Subj.Name)
	if c.Kind != 'p' {
		name = discourse.Last(c.Thing)
	}
	if t.OffWith(c.Sentence, c.Whens, name, t.Rewrite(c)) {
		return true
	}
	w := c.FirstTime()
	if w == nil || !w.HasDay || w.Day < t.Now.Day {
		return false
	}
	noted.NoteClause(t, c, c.Sentence, false, true, discourse.NotedSure)
	return true
}

// expected reports whether noun is somebody who comes to a house to do something there.
func expected(noun string) bool {
	return keepers[noun] || discourse.Trade(noun) || syntax.Profession(noun)
}

// cutTail removes what follows a preposition: "tennis on Mondays".
func cutTail(o string) string {
	words := strings.Fields(o)
	for k, w := range words {
		if k > 0 && syntax.Preposition(strings.ToLower(w)) {
			return strings.Join(words[:k], " ")
		}
	}
	return o
}

// routineOf returns the name of something that somebody does regularly, in a base form: "swim" for
// "go swimming", "go to gym"; "" if the words do not say it.
func routineOf(c *discourse.Clause, verb string, i int) string {
	w := c.W(i)
	if verb == "go" || verb == "come" {
		if l, _, ing := syntax.Lemma(w); ing {
			return l
		}
		if w == "for" && c.W(i+1) == "a" && c.W(i+2) != "" {
			return c.W(i + 2)
		}
		if o, _ := c.Object(i + 1); w == "to" && o != "" && !discourse.Vague(o) {
			return "go to " + strings.ToLower(cutTail(o))
		}
		return ""
	}
	switch verb {
	case "be", "have", "do", "get", "make", "want", "like", "love", "work", "live", "know", "think", "feel", "need", "see", "talk", "speak", "own":
		return ""
	case "run", "swim", "jog", "cycle", "meditate", "climb", "row", "hike", "ski", "walk", "paint", "read", "cook", "bake", "sing", "knit", "box", "surf", "dance":
		if !syntax.Determiner(w) {
			return verb
		}
	}
	o, _ := c.Object(i)
	if o = strings.ToLower(cutTail(o)); o == "" || discourse.Vague(o) || discourse.Personal(o) {
		return ""
	}
	return verb + " " + o
}

// howOften returns the weekdays of a habit, else its time in the words of the clause; "" if there
// is none.
func howOften(c *discourse.Clause) string {
	var days []string
	for _, w := range c.Whens {
		for k := w.First; k < w.Next && w.Habit; k++ {
			if syntax.WeekdayOf(strings.TrimSuffix(c.At(k), "s"), false) >= 0 {
				days = append(days, strings.TrimSuffix(c.At(k), "s"))
			}
		}
	}
	if len(days) > 0 {
		return strings.Join(days, " ")
	}
	for _, w := range c.Whens {
		if w.Habit && w.Next > w.First {
			return strings.ToLower(c.Text[c.Toks[w.First].Start:c.Toks[w.Next-1].End])
		}
	}
	return ""
}

// eatsMeat ends the diets without meat.
func eatsMeat(t *discourse.Talk, c *discourse.Clause) {
	for _, diet := range [...]string{"vegetarian", "vegan"} {
		t.Ended(c, c.Subj, "diet", "diet", diet, false)
	}
	t.Ended(c, c.Subj, "diet", "avoids", "meat", true)
}

// gone takes what somebody gave away or paid back, and who died.
func gone(t *discourse.Talk, c *discourse.Clause, i int) {
	switch c.Verb {
	case "give", "get", "trade":
		if c.Verb == "give" && c.Find(i, len(c.Words)-i, "back") >= 0 {
			repaid(t, c, i)
			return
		}
		k := i
		switch {
		case c.Verb == "give" && c.W(i) == "away", c.Verb == "trade" && c.W(i) == "in":
			k = i + 1
		case c.Verb == "get" && c.W(i) == "rid" && c.W(i+1) == "of":
			k = i + 2
		case c.Verb == "give" && c.W(len(c.Words)-1) == "away" || c.Verb == "trade" && c.W(len(c.Words)-1) == "in":
		default:
			return
		}
		if what := hadOwn(c, k, strings.TrimSuffix(strings.TrimSuffix(discourse.ObjectOf(c, k), " away"), " in")); what != "" {
			t.Ended(c, c.Subj, "possession", "owns", what, true)
		}
	case "pay", "repay":
		repaid(t, c, i)
	case "die", "pass":
		if c.Kind != 'p' || c.Verb == "pass" && c.W(i) != "away" {
			return
		}
		if c.Own && c.Owner != "" && c.Owner != t.Self.Name {
			return // "my neighbour's dog", "Anna's cat"
		}
		if noun := discourse.Last(c.Thing); c.Own && syntax.Pet(noun) && c.Name == "" {
			t.Ended(c, t.Self, "family", "pets", noun, true)
		} else if !c.Own && c.Subj.Key != t.Introduced && !strings.Contains(c.Subj.Name, " ") || syntax.Pet(noun) {
			t.Ended(c, t.Self, "family", "pets", c.Subj.Name, true)
			if c.Own {
				t.Ended(c, t.Self, "relation", noun, c.Subj.Name, true)
			}
		}
	}
}
