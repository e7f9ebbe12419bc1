package english

import (
	"strings"

	"github.com/locket-dev/locket/wasm/abi"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
)

// reached takes "my phone number is 0170 555 0123", "my email is mei@example.org" and "my address
// is 12 Elm Street, Oslo": the value is exactly what was said.
func reached(t *discourse.Talk, c *discourse.Clause) bool {
	if c.Vi >= len(c.Words) {
		return false
	}
	from := c.Toks[c.Words[c.Vi].Tok].End
	rest := strings.TrimRight(strings.TrimSpace(c.Text[from:c.End]), ".! ")
	attr, value := "", ""
	thing := c.Thing
	thing = syntax.TrimHeads(thing, "new ", "private ", "own ", "current ", "second ", "other ")
	switch thing {
	case "phone number", "number", "mobile number", "mobile", "phone", "telephone number", "cell", "cell number", "work number", "home number", "office number", "work phone", "landline":
		attr, value = "phone", syntax.PhoneIn(rest)
	case "email", "e-mail", "email address", "e-mail address", "mail address", "work email":
		attr, value = "email", discourse.MailIn(strings.TrimSpace(c.Text[from:])) // its stops end no sentence
	case "address", "home address", "postal address":
		attr = "address"
		if strings.ContainsAny(rest, "0123456789") && strings.ContainsRune(rest, ' ') {
			value = rest
		}
	}
	if value == "" {
		return false
	}
	only := c.Thing == "number" || c.Thing == "phone number" || c.Thing == "new number" || c.Thing == "new phone number"
	f := t.Fact(c, "contact", attr, value, attr != "address" && !only, 0.9)
	if f == nil {
		return false
	}
	f.Sensitivity = "private"
	return true
}

// ReachMe takes "you can reach me at +49 170 1234567" and "Tom's number: +49 …".
func ReachMe(t *discourse.Talk, s syntax.Sentence) bool {
	if s.Chinese() || s.Ends == "?" {
		return false
	}
	numbers := 0
	for i := range s.Toks {
		if numberOf(t, s, i, numbers > 0) {
			numbers++
			continue
		}
		if w := s.At(i); w != "reach" && w != "contact" || s.At(i+1) != "me" || s.At(i+2) != "at" && s.At(i+2) != "on" && s.At(i+2) != "under" || i+3 >= len(s.Toks) {
			continue
		}
		rest := s.Text[s.Toks[i+3].Start:]
		attr, value := "phone", syntax.PhoneIn(rest)
		if value == "" {
			attr, value = "email", discourse.MailIn(rest)
		}
		if value == "" {
			return false
		}
		contact(t, s, t.Self, attr, value, t.Self.Name+" can be reached at "+value+".")
		return true
	}
	return numbers > 0
}

// numberOf takes a telephone number at token i whose owner is named before it: "Tom's number: …",
// "the plumber's number is …", "my number's …". A further one in the same sentence need not repeat
// what it is: "… and Dad's is …".
func numberOf(t *discourse.Talk, s syntax.Sentence, i int, another bool) bool {
	if s.Toks[i].Kind != 'n' || i < 2 {
		return false
	}
	value := syntax.PhoneIn(s.Text[s.Toks[i].Start:])
	if value == "" {
		return false
	}
	k := i - 1
	if s.At(k) == ":" || s.At(k) == "is" {
		k--
	}
	noun, is := syntax.Contraction(s.At(k))
	if another && k < i-1 && (noun == "mine" || noun == "ours") {
		contact(t, s, t.Self, "phone", value, discourse.SentenceCase(discourse.Possessive(t.Self.Name)+" number is "+value))
		return true
	}
	if another && k < i-1 && is == "is" && noun != "number" {
		noun, k = "number", k+1
	} else if is != "is" && k == i-1 || noun != "number" && noun != "phone" && noun != "mobile" && noun != "landline" {
		return false
	}
	others := 0 // words that distinguish it from another number of theirs
	for k--; k > 0 && (s.At(k) == "phone" || s.At(k) == "mobile" || s.At(k) == "new" || s.At(k) == "work" || s.At(k) == "telephone"); k-- {
		if s.At(k) == "work" || s.At(k) == "mobile" {
			others++
		}
	}
	if k < 0 {
		return false
	}
	who := t.Self
	switch owner, is := syntax.Contraction(s.At(k)); {
	case s.At(k) == "my" || s.At(k) == "our":
	case is != "is":
		return false
	case syntax.Kin(owner) && (k == 0 || !syntax.Determiner(s.At(k-1))): // Mum's number
		who = discourse.Person{Name: discourse.Possessive(t.Self.Name) + " " + owner, Key: discourse.Possessive(t.Self.Key) + " " + owner}
	case s.Toks[k].Cap && k == 0 || s.Toks[k].Cap && !syntax.Determiner(s.At(k-1)):
		who = t.Named(strings.TrimSuffix(strings.TrimSuffix(s.Text[s.Toks[k].Start:s.Toks[k].End], "'s"), "’s"))
	case k > 0 && s.At(k-1) == "the":
		who = discourse.Person{Name: "the " + owner, Key: owner}
	case k > 0 && (s.At(k-1) == "my" || s.At(k-1) == "our"):
		who = discourse.Person{Name: discourse.Possessive(t.Self.Name) + " " + owner, Key: discourse.Possessive(t.Self.Key) + " " + owner}
	default:
		return false
	}
	contact(t, s, who, "phone", value, discourse.SentenceCase(discourse.Possessive(who.Name)+" number is "+value))
	if noun == "number" && others == 0 { // the only number of a person, which the next one replaces
		t.Out.Candidates[len(t.Out.Candidates)-1].Slot.Many = false
	}
	return true
}

// contact proposes how somebody can be reached.
func contact(t *discourse.Talk, s syntax.Sentence, who discourse.Person, attribute, value, text string) {
	t.Out.Candidates = append(t.Out.Candidates, abi.Candidate{Type: "semantic", Kind: "contact", Text: text, Lang: "en", Confidence: 0.88, Sensitivity: "private",
		Slot: &abi.Slot{Subject: who.Key, Attribute: attribute, Value: value, Many: true}, Subject: who.Name, Predicate: attribute, Object: value,
		Spans: []abi.Span{{Start: s.Start, End: s.End}}, Entities: []abi.Entity{{Name: who.Name, Kind: "person"}}, Tags: []string{"contact"}})
}
