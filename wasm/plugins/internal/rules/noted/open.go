package noted

import (
	"strings"

	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
)

// Clauses that are never noted, whatever their marks: because they are soon over, or do not say
// what they are about.

// refused reports whether c is such a clause.
func refused(t *discourse.Talk, c *discourse.Clause) bool {
	return soonPast(c) || open(t, c) || ofNobody(t, c) || phase(c) || judged(c) || doing(c) || wasThere(c) || ofHistory(c)
}

// soonPast reports whether a clause is about something that nobody asks for a week later.
func soonPast(c *discourse.Clause) bool {
	next := c.W(c.Vi + 1)
	if c.Perfect && !c.Past && forMinutes(c) || c.Find(0, c.Vi, "always") > 0 && c.Find(c.Vi, len(c.Words), "wrong") > 0 {
		return true
	}
	switch c.Verb {
	case "think":
		what := c.W(c.Vi + 3)
		return (next == "he" || next == "she") && (syntax.Determiner(what) || c.Capital(c.Vi+3)) // "my boss thinks she's the queen"
	case "end":
		return next == "up" && !c.Past
	case "bet", "reckon", "doubt", "predict":
		return next != "i" && next != "we"
	case "pay", "do", "cook", "let", "give", "buy", "wear", "stand", "make":
		if w := c.FirstTime(); c.Neg && c.Ing && !c.Past && w == nil {
			return true // "I'm not paying nine quid for hummus"
		}
	case "be":
		for i := c.Vi - 1; i < c.Vi+2; i++ {
			if exaggerates[c.W(i)] && (c.W(i+1) == "a" || c.W(i+1) == "an") {
				return true // "my toddler is basically a tiny drunk"
			}
		}
		if (next == "a" || next == "an" || next == "such") && calledSo[c.W(len(c.Words)-1)] {
			return true
		}
	case "sound", "look", "seem":
		return c.Past || c.Kind == 't'
	case "sleep":
		return c.Neg && c.Perfect // "I haven't slept since the baby came"
	case "eat", "drink", "use":
		return c.Neg && c.Perfect || c.Can && c.Neg && next == "another" || c.W(0) == "somebody" || c.W(0) == "someone" // "somebody's eaten my yoghurt"
	case "see":
		return c.Future && c.Vi+1 >= len(c.Words) // "we'll see at Christmas"
	case "have", "get":
		if next == "stuck" && !c.Past {
			return true // "I always get stuck behind a tractor"
		}
		noun := discourse.Last(strings.ToLower(discourse.ObjectOf(c, c.Vi+1)))
		return !c.Past && c.Kind == 's' && (soonHealed[noun] || soonHealed[c.W(c.Vi+2)] || soonHealed[c.W(c.Vi+3)])
	}
	w := c.FirstTime()
	return c.Past && (w == nil || !w.HasDay) && c.Kind == 't' && !c.Own && public[discourse.Last(c.Thing)] && !ofSpeaker(c) // "the tram broke down at the bridge"
}

// forMinutes reports whether a clause says for how many minutes or hours something has gone on:
// "I've been on hold for forty minutes".
func forMinutes(c *discourse.Clause) bool {
	for i := c.Vi; i < len(c.Words); i++ {
		switch c.W(i) {
		case "minutes", "mins", "hour", "hours", "ages":
			return c.Find(c.Vi, i, "for") > 0 && c.W(i+1) != "a"
		}
	}
	return false
}

// exaggerates are words before a comparison that nobody believes.
var exaggerates = syntax.Set("basically literally practically")

// calledSo are what people call each other when they are annoyed or fond.
var calledSo = syntax.Set("clown dinosaur monster nightmare saint angel star legend joke machine pain idiot genius menace hero diva baby princess muppet numpty fool moron witch dragon tyrant robot lifesaver gem treasure queen")

// public are things of everybody's, whose troubles are soon over.
var public = syntax.Set("tram train bus tube metro ferry queue traffic website system printer film movie show match game song programme")

// soonHealed are complaints that last a few days.
var soonHealed = syntax.Set("blister hangover hiccups stitch cramp splinter bruise")

// open reports whether a clause does not say what or when something is, because it was said or
// shown before.
func open(t *discourse.Talk, c *discourse.Clause) bool {
	n, next := len(c.Words), c.W(c.Vi+1)
	switch {
	case eitherOr(c), c.Modal && c.Find(0, c.Vi, "could") > 0 && c.Find(c.Vi, n, "or") > 0: // "we could do Greece, or wait"
		return true
	case Unnamed(c), Nowhere(t, c):
		return true
	case c.Verb == "pass" && c.Kind == 's' && (next == "" || next == "," || next == "but"):
		return true // "I passed last March"
	case shows[c.Verb] && c.Kind != 's' && c.Kind != 'w' && (c.Find(c.Vi, 4, "this") > 0 || c.Find(c.Vi, 4, "these") > 0):
		return true // "my brother sent me this jacket"
	case n > c.Vi+1 && c.W(n-1) == "one" && (syntax.Verbish(c.W(n-2)) || syntax.PastForm(c.W(n-2))):
		return true // "my gran swore she saw one"
	}
	// "What's the plan for tomorrow?", "Jonas takes Emil swimming".
	return c.Kind != 't' && c.Verb != "be" && !c.Past && !c.Perfect && len(c.Whens) == 0 && len(t.AskedDay()) > 0
}

// shows are verbs after which "this" is something that the speaker holds or points at.
var shows = syntax.Set("give send buy make find get knit bring show draw paint")

// fragmentary reports whether a sentence has no verb of its own and begins with a number or with
// "a": "four hundred, cash", "a student from Ravi's course". What it is about was said before.
func (v *view) fragmentary() bool {
	i := v.start()
	first := v.at(i)
	day := (syntax.WeekdayOf(first, false) >= 0 || first == "tomorrow") && len(v.words)-i < 8
	if (day || Counts(first) || first == "half" || first == "quarter") && v.has(settling) > 0 && v.has(wordsMine) == 0 {
		return true // "half seven's good, at the usual place", "Thursday at quarter past four works"
	}
	if next := v.at(i + 1); (first == "only" || first == "just" || first == "mostly" || first == "about" || first == "sometimes") && (syntax.Preposition(next) || Counts(next)) {
		return true // "only on Sundays, Jonas does the rest"
	}
	if v.day || first != "a" && first != "an" && first != "some" && (!Counts(first) || v.at(i+1) == "of") && !syntax.Numeric(first) {
		return false
	}
	if next := v.at(i + 1); next == "few" || next == "couple" || next == "lot" {
		return false // "a few years back …"
	}
	const most = 5 // words of a subject
	for k := i + 1; k < min(len(v.words), i+most); k++ {
		_, past, _ := syntax.Lemma(v.words[k])
		if _, number := syntax.Number(v.words[k]); !number && v.words[k] != "hundred" && (syntax.Auxiliary(v.words[k]) || past || syntax.PastForm(v.words[k])) {
			return false
		}
	}
	return true
}

// settling are words with which somebody accepts an hour or a number that was proposed.
var settling = syntax.Set("good fine works perfect great suits okay ok lovely")
