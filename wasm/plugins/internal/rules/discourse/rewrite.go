package discourse

import (
	"strings"

	"github.com/locket-dev/locket/wasm/abi"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/timex"
)

// "I have a meeting on Monday" and "I have a meeting on Tuesday" are two meetings, and neither ends
// the other: a slot has one appointment. Only an event that is treated as known ("my flight", "the
// review") and is still in the future can have got another time.

// Another gives a new plan the slot of the appointment that it is, if that is known, or a slot of
// its own.
func (t *Talk) Another(p *Plan, definite bool) {
	base := p.Attribute
	var taken, open *Plan
	for i := len(t.Plans) - 1; i >= 0; i-- {
		o := &t.Plans[i]
		if o.Subject != p.Subject || o.Attribute != base && !strings.HasPrefix(o.Attribute, base+" 2") {
			continue
		}
		if o.Day == p.Day && (o.Minute == p.Minute || !o.Clock || !p.Clock) {
			p.Attribute = o.Attribute // said again, perhaps with its hour
			return
		}
		taken = o
		if open == nil && o.Day >= t.Now.Day {
			open = o
		}
	}
	switch {
	case taken == nil || p.Day == 0:
	case definite && open != nil:
		p.Attribute = open.Attribute
	default:
		p.Attribute = base + " " + p.Value()
	}
}

// Definite reports whether the planned event is treated as known: "the review", "my flight", "Ben's
// party".
func (c *Clause) Definite() bool {
	if c.dueOnce() {
		return true
	}
	for i := range c.Words {
		if _, event := syntax.EventNoun(syntax.OneEvent(c.W(i))); !event {
			continue
		}
		for k := i - 1; k >= max(0, i-4); k-- {
			switch w := c.W(k); {
			case w == "the" || w == "my" || w == "our" || w == "your" || w == "his" || w == "her" || w == "their" || w == "this" || w == "that" || w == "'s":
				return true
			case syntax.Verbish(w) || syntax.Preposition(w) || syntax.Determiner(w):
				k = -1
			}
		}
	}
	switch c.Verb {
	case "visit", "call", "phone", "text", "email", "cook", "help", "ask", "feed", "water", "buy":
		return false
	}
	for i := c.Vi + 1; syntax.Errand[c.Verb] && i < len(c.Words); i++ {
		switch c.W(i) {
		case "the", "my", "our", "your", "his", "her", "their":
			return true // sending the report is done once
		}
	}
	return false
}

// oneName maps words for the same relative to the one that is used in a slot: "my mum lives in
// Graz" and "my mother moved to Linz" are about one person. Grandparents are two pairs, which
// families often distinguish with such words.
var oneName = map[string]string{
	"mum": "mother", "mom": "mother", "mummy": "mother", "mommy": "mother", "mama": "mother",
	"dad": "father", "daddy": "father", "papa": "father",
	"妈": "妈妈", "母亲": "妈妈", "老妈": "妈妈", "爸": "爸爸", "父亲": "爸爸", "老爸": "爸爸",
	"妻子": "老婆", "太太": "老婆", "媳妇": "老婆", "丈夫": "老公", "先生": "老公", "闺女": "女儿", "娃": "孩子",
}

// withOneName replaces these words in the slot of a candidate.
func withOneName(s *abi.Slot) {
	if to := oneName[s.Attribute]; to != "" {
		s.Attribute = to
	}
	for _, of := range [...]string{"'s ", "的"} {
		if !strings.Contains(s.Subject, of) {
			continue
		}
		parts := strings.Split(s.Subject, of)
		for i := range parts {
			if to := oneName[parts[i]]; i > 0 && to != "" {
				parts[i] = to
			}
		}
		s.Subject = strings.Join(parts, of)
	}
}

// Rewrite returns the clause as a statement that can be understood by itself: names for pronouns,
// the verb in the third person, dates next to relative times.
func (t *Talk) Rewrite(c *Clause) string {
	var b strings.Builder
	from := c.Start
	if len(c.Words) > 0 {
		from = c.Toks[c.Words[0].Tok].Start
	}
	if c.occasionAt > 0 && !c.Bare {
		from = c.Toks[c.occasionAt-1].Start
	}
	for i := range c.Whens { // a time before the subject is kept
		if w := c.Whens[i]; c.Toks[w.First].Start < from {
			from = c.Toks[w.First].Start
			break
		}
	}
	for _, w := range timex.TimesIn(c.Sentence, t.Now) {
		if w.Vague && w.First < len(c.Toks) && c.Toks[w.First].Start < from {
			from = c.Toks[w.First].Start
		}
	}
	subjectTok := -1
	if len(c.Words) > 0 && !c.Bare {
		subjectTok = c.Words[0].Tok
	}
	verbTok := -1
	if c.Vi < len(c.Words) && (c.Vi > 0 || c.Bare) && !c.Back {
		verbTok = c.Words[c.Vi].Tok
	}
	if c.onlyHeard(from) {
		b.WriteString(t.Self.Name + " heard that ")
	}
	last := from
	write := func(s string, tok syntax.Token) {
		b.WriteString(c.Text[last:tok.Start])
		b.WriteString(s)
		last = tok.End
	}
	agreed := c.Kind != 's' && c.Kind != 'y'
	for i, tok := range c.Toks {
		if tok.Start < from {
			continue
		}
		if s, ok := t.replacement(c, i, tok, i == subjectTok, &agreed, verbTok); ok {
			write(s, tok)
		} else if strings.Contains(tok.S, "'") && !strings.ContainsAny(c.Text[tok.Start:tok.End], "'’") {
			write(tok.S, tok) // "theyll"
		} else if i > 0 && i-1 != subjectTok && i != verbTok && c.At(i-1) == "i" {
			before := c.At(i - 2)
			if before == "and" && c.At(i-3) == "," && i > 3 && !c.Toks[i-4].Cap {
				before = "," // not a name: "it's the twelfth, and I need cakes"
			}
			if s := embedded(before, tok.S); s != "" {
				write(s, tok)
			}
		}
		for k := range c.Whens {
			w := &c.Whens[k]
			if w.Next-1 == i && !w.Habit && (w.HasDay || w.Clock) && !(w.Grain == 'y' && w.First+2 >= w.Next) && !c.dates(w) && !(w.Assumed > 0 && c.W(c.Vi+1) == "born") {
				if !w.HasDay && t.UndatedHour(c, w) {
					continue
				}
				if !w.HasDay {
					w.Set(t.Now.Day, 'd')
				}
				if c.Past && !c.Modal || c.pastBefore(w) {
					c.PastTime(w, t.Now)
				}
				b.WriteString(c.Text[last:tok.End])
				last = tok.End
				b.WriteString(" (" + w.English() + ")")
			}
		}
	}
	b.WriteString(c.Text[last:c.End])
	if c.Bare {
		s := strings.TrimLeft(b.String(), " ,-:\n\t")
		if s != "" && s[0] >= 'A' && s[0] <= 'Z' {
			s = string(s[0]+32) + s[1:]
		}
		b.Reset()
		name := c.Subj.Name
		if c.Kind == 'w' {
			name += " and others"
		}
		b.WriteString(name + " " + s)
	}
	return t.theFirm(SentenceCase(untail(strings.TrimSuffix(strings.Trim(b.String(), " ,-:\n\t"), ", "+t.Called.Name))))
}

// embedded returns the verb after an "I" inside a clause, which has become a name: "the places I
// want to see". It returns "" if the verb does not change.
func embedded(before, verb string) string {
	if before == "and" || syntax.Auxiliary(before) {
		return ""
	}
	if is := inThird[verb]; is != "" {
		return is
	}
	switch verb {
	case "put", "cut", "set", "let", "hit", "quit", "read", "shut", "hurt", "cost", "split", "spread", "beat":
		return ""
	}
	l, past, ing := syntax.Lemma(verb)
	unheard := l == "" && (before == "when" || before == "if" || before == "whenever" || before == "unless") && !syntax.PastForm(verb) && !strings.HasSuffix(verb, "ed") && !syntax.Adverb(verb)
	if l == verb && !past && !ing || verb == "do" || unheard {
		return syntax.Third(verb)
	}
	return ""
}

// untail removes words that only round a sentence off.
func untail(s string) string {
	for again := true; again; {
		again = false
		for _, tail := range [...]string{"please", "by the way", "I promise", "you know", "of course", "right", "yes", "yeah", "no", "sure", "thank you", "remember", "actually", "okay", "thanks", "honestly", "I think", "well"} {
			if r, ok := strings.CutSuffix(s, ", "+tail); ok {
				s, again = r, true
			}
		}
		if i := strings.LastIndex(s, ", if "); i > 0 {
			switch last := s[strings.LastIndexByte(s, ' ')+1:]; last {
			case "like", "likes", "want", "wants", "wish", "mind":
				s, again = s[:i], true
			}
		}
	}
	return s
}

// SentenceCase makes a text begin with a capital, and end with a full stop.
func SentenceCase(s string) string {
	if strings.Contains(s, "  ") {
		s = strings.Join(strings.Fields(s), " ")
	}
	if s != "" && s[0] >= 'a' && s[0] <= 'z' {
		s = string(s[0]-32) + s[1:]
	}
	if s != "" && !strings.HasSuffix(s, ".") {
		s += "."
	}
	return s
}

// replacement returns what replaces a token in the third person.
func (t *Talk) replacement(c *Clause, i int, tok syntax.Token, subject bool, agreed *bool, verbTok int) (string, bool) {
	base, rest := syntax.Contraction(tok.S)
	self := t.Self.Name
	if rest == "would" && hadAt(c.Sentence, i+1) {
		rest = "had"
	}
	switch base {
	case "i":
		if rest != "" {
			if subject {
				*agreed = true
			}
			return self + " " + map[string]string{"am": "is", "have": "has", "will": "will", "would": "would", "had": "had"}[rest], true
		}
		return self, true
	case "we":
		s := self + " and others"
		if rest != "" {
			s += " " + rest
		}
		return s, true
	case "he", "she":
		if subject && c.Kind == 'p' {
			if rest == "is" && (c.Perfect || c.Verb == "have" && !c.Ing) {
				rest = "has"
			}
			return strings.TrimSpace(c.Subj.Name + " " + rest), true
		}
	case "you", "你":
		if subject || c.Kind != 'y' {
			if p, ok := t.Addressee(); ok {
				if rest != "" {
					*agreed = *agreed || subject
					if rest == "are" {
						rest = "is"
					} else if rest == "have" {
						rest = "has"
					}
					return p.Name + " " + rest, true
				}
				return p.Name, true
			}
		}
	case "your":
		if p, ok := t.Addressee(); ok {
			return Possessive(p.Name), true
		}
	}
	if subject && c.Own && syntax.Kin(base) {
		if base != tok.S {
			return Possessive(self) + " " + Possessive(base), true
		}
		return Possessive(self) + " " + base, true
	}
	switch tok.S {
	case "let's":
		return self + " and others will", true
	case "my", "our", "mine", "ours":
		if tok.S == "mine" && i > 0 && syntax.Determiner(c.At(i-1)) {
			return "", false // worked in the mine
		}
		if tok.S == "our" && c.Kind == 'w' && c.At(i-1) != "and" && verbTok >= 0 && i > verbTok {
			return "their", true // "we had our first date"
		}
		return Possessive(self), true
	case "me":
		return self, true
	case "myself":
		return "themselves", true
	case "us":
		return self + " and others", true
	case "his", "her":
		if subject && c.Own {
			return Possessive(c.Owner), true
		}
	}
	if *agreed || i == 0 && !c.Bare {
		return "", false
	}
	return c.agree(i, tok, agreed, verbTok)
}

// agree returns the verb at token i in the third person, if it is the clause's, and sets agreed.
func (c *Clause) agree(i int, tok syntax.Token, agreed *bool, verbTok int) (string, bool) {
	base, rest := syntax.Contraction(tok.S)
	is := inThird[tok.S]
	switch tok.S {
	case "gotta":
		is = "has to"
	case "want", "hope", "plan", "need", "intend":
		if i < verbTok && (c.Intend || c.Must) {
			is = syntax.Third(tok.S)
		}
	case "do", "have":
		if i <= verbTok || verbTok < 0 {
			is = syntax.Third(tok.S)
		}
	}
	if c.Kind == 'y' {
		switch tok.S {
		case "are":
			is = "is"
		case "were":
			is = "was"
		case "aren't":
			is = "isn't"
		case "weren't":
			is = "wasn't"
		}
	}
	switch {
	case is != "":
		*agreed = true
		return is, true
	case rest == "not" || syntax.Auxiliary(base):
		*agreed = *agreed || !syntax.Adverb(tok.S) && base != "not" && base != "never"
		return "", false
	case i != verbTok:
		return "", false
	}
	*agreed = true
	k := i - 1
	for syntax.Adverb(c.At(k)) || c.At(k) == "never" || c.At(k) == "not" {
		k--
	}
	if _, rest := syntax.Contraction(c.At(k)); c.At(k) == "to" || rest == "would" || rest == "will" { // promised Hanna to send, I'd bring
		return "", false
	}
	if l, past, ing := syntax.Lemma(tok.S); !past && !ing && (l == tok.S || l == "" && !syntax.PastForm(tok.S)) && tok.S != "put" && tok.S != "quit" {
		return syntax.Third(tok.S), true
	}
	return "", false
}

// inThird maps verbs after "I" to those after a name.
var inThird = map[string]string{"am": "is", "don't": "doesn't", "haven't": "hasn't"}
