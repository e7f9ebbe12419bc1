package discourse

import (
	"strings"

	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/timex"
)

// Episode reports whether a clause tells of something that takes place, took place or will take
// place, and not of a state, or of what was true for years. w is its first time, or nil.
func (c *Clause) Episode(w *timex.When, past, ahead bool) bool {
	dated := w != nil && w.HasDay && !w.Habit
	switch {
	case c.HasHabit(), c.UsedTo:
		return false
	case ahead, c.Future, c.Must, c.Ahead():
		return true
	case past:
		return dated && !(w.Grain == 'y' && years[c.Verb]) || !dated && !c.lasted()
	}
	return c.Ing && (dated || !ongoing[c.Verb]) || c.doing() // "we're hiking this weekend", "the surveyor is coming back"
}

// doing reports whether somebody is doing something, with a verb that is in no list: "we're
// swapping our supplier".
func (c *Clause) doing() bool {
	next := c.W(c.Vi + 1)
	return c.Verb == "be" && !c.Past && !c.Neg && len(next) > 5 && strings.HasSuffix(next, "ing") && syntax.Determiner(c.W(c.Vi+2))
}

// ongoing are verbs that with "is …ing" tell what somebody does for weeks or years, or a state.
var ongoing = syntax.Set("live stay study learn train work teach look struggle suffer wear try read watch play save grow run feel think have be depend care raise date use get take do make write keep support manage build " +
	"bring drive share rent hope fight follow worry act cost bother kill hurt ache itch drip leak fail wait sleep eat drink talk say tell ask speak enjoy love miss want need know see show lack lean miss practise practice")

// Ahead reports whether a clause tells of the future without a day: "we're gonna paint the hall",
// "I'm going to learn Greek".
func (c *Clause) Ahead() bool {
	return c.Future || c.Must || c.Verb == "gonna" || c.Verb == "gotta" || c.Verb == "go" && c.Ing && c.W(c.Vi+1) == "to" && !syntax.Determiner(c.W(c.Vi+2)) && !WordsOwn[c.W(c.Vi+2)]
}

// lasted reports whether a clause in the past tense tells of what was true for long: "my dad was a
// carpenter", "I've never been to Scotland", "he's been a nurse for ten years", "we had a dog
// called Rex".
func (c *Clause) lasted() bool {
	if c.Find(1, c.Vi, "never") > 0 {
		return true
	}
	next := c.W(c.Vi + 1)
	switch c.Verb {
	case "be":
		if originated[next] || next == "brought" && c.W(c.Vi+2) == "up" || c.Kind != 't' && c.forYears() || c.Kind == 'w' && c.atSchool() || c.Perfect && (c.Find(c.Vi, len(c.Words), "for") > 0 || c.Find(c.Vi, len(c.Words), "since") > 0) {
			return true
		}
		return (c.Kind != 't' && c.APerson() || c.Own) && (next == "a" || next == "an") && c.W(c.Vi+2) != "bit" && c.W(c.Vi+2) != "little"
	case "have":
		return (next == "a" || next == "an") && c.Find(c.Vi, len(c.Words), "called") > 0
	}
	return stative[c.Verb] || years[c.Verb] || c.Verb == "work" && c.forYears()
}

// originated are participles for how somebody or something came to be: "our house was built in
// 1894".
var originated = syntax.Set("born built founded raised")

// forYears reports whether the clause has "for twenty years" or "all his life".
func (c *Clause) forYears() bool {
	for i := range c.Toks {
		switch c.At(i) {
		case "years", "decades":
			if c.At(i-1) == "for" || c.At(i-2) == "for" || c.At(i-3) == "for" {
				return true
			}
		case "life":
			if c.At(i-2) == "all" {
				return true
			}
		}
	}
	return false
}

// APerson reports whether a clause's subject is certainly a person: "Kickboxing" may be read as a
// name.
func (c *Clause) APerson() bool {
	return c.Kind != 'p' || c.Own || Thirds[c.W(0)] || syntax.SexOf("", c.Subj.Name) != 0
}

// stative are verbs that tell of a state, and not of a deed.
var stative = syntax.Set("know own belong love like hate prefer believe contain")

// years are verbs for what people do for years: "I studied law in Leeds".
var years = syntax.Set("study live grow attend raise")
