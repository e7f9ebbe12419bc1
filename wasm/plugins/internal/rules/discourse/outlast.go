package discourse

import (
	"slices"
	"strings"

	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/timex"
)

// What somebody gave up, sold or stopped is worth knowing also where nobody ever said that it
// was so: "I sold my car", "I used to smoke". An ending alone would end nothing then and be
// lost, so a clause that only ends something also gives a fact that stands.

// endable are the attributes whose end is a fact of the same group: not_owns opposes owns, so
// that the end takes the claim's place where there is one, and a later claim takes its place.
var endable = syntax.Set("owns smokes plays does learning speaks wears likes medication")

// Outlast gives a clause whose candidates, from the one at index from, all end something one
// that stands. told reports that the clause tells what happened, and does not only deny.
func Outlast(t *Talk, from int, told bool) {
	made := t.Out.Candidates[min(from, len(t.Out.Candidates)):]
	for i := range made {
		if c := &made[i]; !c.Negates || c.Type != "semantic" || c.Slot == nil {
			return
		}
	}
	if len(made) == 0 {
		return
	}
	if a := made[0].Slot.Attribute; (endable[a] || a == "habit" || strings.HasPrefix(a, RoutineSlot(""))) && goesOn(t, a == "owns" && told) {
		t.Out.Candidates = t.Out.Candidates[:from]
		return
	}
	stood := map[string]bool{} // values, so that a list has a fact of each
	for i := range made {
		c := &made[i]
		if c.Slot.Many && endable[c.Slot.Attribute] && c.Slot.Value != "" && (len(stood) == 0 || made[0].Slot.Attribute == "not_"+c.Slot.Attribute) && !stood[c.Slot.Value] {
			stood[c.Slot.Value] = true
			c.Negates, c.Slot.Attribute = false, "not_"+c.Slot.Attribute
			c.Predicate, c.Object = c.Slot.Attribute, c.Slot.Value
		}
	}
	if len(stood) > 0 || !told {
		return
	}
	a := made[0]
	a.Negates, a.Slot, a.Predicate, a.Object = false, nil, "", ""
	a.Confidence = min(a.Confidence, 0.75)
	t.Out.Candidates = append(t.Out.Candidates, a)
}

// goesOn reports whether the sentence leaves open that what it ends goes on, in part, at times or
// by now again: "and I still do", "not in the house", "for the day". What somebody parted with, by
// a deed, is gone however the sentence goes on, unless it came back.
func goesOn(t *Talk, deed bool) bool {
	s := t.Said
	deed = deed && !HoldsWord(strings.ToLower(s.Raw()), "used") // "used to have" is none
	if s.Chinese() {
		return syntax.ContainsAny(s.Raw(), "现在还", "现在更", "现在也", "现在又", "还在", "仍", "依然", "照样", "更多", "更少", "等会", "待会", "一会", "过会", "晚点", "回头", "今天", "今晚", "今早", "这周", "明天", "暂时", "先不", "又买回", "买回来", "有时", "偶尔")
	}
	for i := range s.Toks {
		next := s.At(i + 1)
		switch w := s.At(i); {
		case deed:
			if w == "back" && s.At(i-1) != "way" && s.At(i-1) != "the" && s.At(i-1) != "my" || w == "again" {
				return true
			}
		case w == "more" && s.At(i-1) == "any" || w == "anymore":
			if next == "than" {
				return true
			}
		case w == "but":
			after := next
			if after == "i" || after == "we" || after == "he" || after == "she" || after == "then" {
				after = s.At(i + 2)
			}
			if after != "stopped" && after != "quit" && after != "gave" {
				return true
			}
		case w == "just":
			if next != "stopped" && next != "quit" && next != "gave" {
				return true
			}
		case w == "for":
			unit := next
			if syntax.Determiner(next) {
				unit = s.At(i + 2)
			}
			if next == "now" || whiles[syntax.Singular(unit)] {
				return true
			}
		case w == "more" || w == "less" || w == "better" || w == "only" || w == "still" || w == "again" || w == "now" || w == "today" || w == "tonight" || w == "except" || w == "unless" || w == "sometimes" || w == "occasionally":
			return true
		}
	}
	return !deed && slices.ContainsFunc(timex.FindWhens(s, t.Now), func(w timex.When) bool { return w.HasDay && !w.Habit && !w.Since && w.Grain == 'd' })
}

// whiles are times that an end may last for.
var whiles = syntax.Set("day week night evening month moment season winter summer while bit")
