package rules

import "strings"

// rewrite writes the clause as a statement that stands by itself: names for
// pronouns, the verb in the third person, dates beside relative times.
func (t *talk) rewrite(c *clause) string {
	var b strings.Builder
	from := c.start
	if len(c.words) > 0 {
		from = c.toks[c.words[0].tok].start
	}
	for i := range c.whens { // a time before the subject is kept
		if w := c.whens[i]; c.toks[w.first].start < from {
			from = c.toks[w.first].start
			break
		}
	}
	for _, w := range timesIn(c.sentence, t.now) {
		if w.vague && w.first < len(c.toks) && c.toks[w.first].start < from {
			from = c.toks[w.first].start
		}
	}
	subjectTok := -1
	if len(c.words) > 0 && !c.bare {
		subjectTok = c.words[0].tok
	}
	verbTok := -1
	if c.vi < len(c.words) && (c.vi > 0 || c.bare) && !c.back {
		verbTok = c.words[c.vi].tok
	}
	if c.onlyHeard(from) {
		b.WriteString(t.self.name + " heard that ")
	}
	last := from
	write := func(s string, tok token) {
		b.WriteString(c.text[last:tok.start])
		b.WriteString(s)
		last = tok.end
	}
	agreed := c.kind != 's' && c.kind != 'y'
	for i, tok := range c.toks {
		if tok.start < from {
			continue
		}
		if s, ok := t.replacement(c, i, tok, i == subjectTok, &agreed, verbTok); ok {
			write(s, tok)
		} else if strings.Contains(tok.s, "'") && !strings.ContainsAny(c.text[tok.start:tok.end], "'’") {
			write(tok.s, tok) // "theyll"
		} else if i > 0 && i-1 != subjectTok && i != verbTok && c.at(i-1) == "i" {
			before := c.at(i - 2)
			if before == "and" && c.at(i-3) == "," && i > 3 && !c.toks[i-4].cap {
				before = "," // no name: "it's the twelfth, and I need cakes"
			}
			if s := embedded(before, tok.s); s != "" {
				write(s, tok)
			}
		}
		for k := range c.whens {
			w := &c.whens[k]
			if w.next-1 == i && !w.habit && (w.hasDay || w.clock) && !(w.grain == 'y' && w.first+2 >= w.next) && !c.dates(w) && !(w.assumed > 0 && c.w(c.vi+1) == "born") {
				if !w.hasDay && t.undatedHour(c, w) {
					continue
				}
				if !w.hasDay {
					w.set(t.now.day, 'd')
				}
				if c.past && !c.modal || c.pastBefore(w) {
					c.pastTime(w, t.now)
				}
				b.WriteString(c.text[last:tok.end])
				last = tok.end
				b.WriteString(" (" + w.english() + ")")
			}
		}
	}
	b.WriteString(c.text[last:c.end])
	if c.bare {
		s := strings.TrimLeft(b.String(), " ,-:\n\t")
		if s != "" && s[0] >= 'A' && s[0] <= 'Z' {
			s = string(s[0]+32) + s[1:]
		}
		b.Reset()
		name := c.subj.name
		if c.kind == 'w' {
			name += " and others"
		}
		b.WriteString(name + " " + s)
	}
	return t.theFirm(sentenceCase(untail(strings.TrimSuffix(strings.Trim(b.String(), " ,-:\n\t"), ", "+t.called.name))))
}

// embedded is the verb after an "I" inside a clause, which has become a name: "the places I want
// to see". It is empty where the verb stays as it is.
func embedded(before, verb string) string {
	if before == "and" || auxiliary(before) {
		return ""
	}
	if is := inThird[verb]; is != "" {
		return is
	}
	switch verb {
	case "put", "cut", "set", "let", "hit", "quit", "read", "shut", "hurt", "cost", "split", "spread", "beat":
		return ""
	}
	l, past, ing := lemma(verb)
	unheard := l == "" && (before == "when" || before == "if" || before == "whenever" || before == "unless") && !pastForm(verb) && !strings.HasSuffix(verb, "ed") && !adverb(verb)
	if l == verb && !past && !ing || verb == "do" || unheard {
		return third(verb)
	}
	return ""
}

// untail takes off what only rounds a sentence off.
func untail(s string) string {
	for again := true; again; {
		again = false
		for _, tail := range [...]string{"please", "by the way", "I promise", "you know", "of course", "right", "yes", "yeah", "no", "sure", "thank you", "remember", "actually", "okay", "thanks", "honestly", "I think"} {
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

func sentenceCase(s string) string {
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

// replacement is what stands for a token in the third person.
func (t *talk) replacement(c *clause, i int, tok token, subject bool, agreed *bool, verbTok int) (string, bool) {
	base, rest := contraction(tok.s)
	self := t.self.name
	switch base {
	case "i":
		if rest != "" {
			if subject {
				*agreed = true
			}
			return self + " " + map[string]string{"am": "is", "have": "has", "will": "will", "would": "would"}[rest], true
		}
		return self, true
	case "we":
		s := self + " and others"
		if rest != "" {
			s += " " + rest
		}
		return s, true
	case "he", "she":
		if subject && c.kind == 'p' {
			if rest == "is" && (c.perfect || c.verb == "have" && !c.ing) {
				rest = "has"
			}
			return strings.TrimSpace(c.subj.name + " " + rest), true
		}
	case "you", "你":
		if subject || c.kind != 'y' {
			if p, ok := t.addressee(); ok {
				if rest != "" {
					*agreed = *agreed || subject
					if rest == "are" {
						rest = "is"
					} else if rest == "have" {
						rest = "has"
					}
					return p.name + " " + rest, true
				}
				return p.name, true
			}
		}
	case "your":
		if p, ok := t.addressee(); ok {
			return possessive(p.name), true
		}
	}
	if subject && c.own && kin(base) {
		if base != tok.s {
			return possessive(self) + " " + possessive(base), true
		}
		return possessive(self) + " " + base, true
	}
	switch tok.s {
	case "let's":
		return self + " and others will", true
	case "my", "our", "mine", "ours":
		if tok.s == "mine" && i > 0 && determiner(c.at(i-1)) {
			return "", false // worked in the mine
		}
		if tok.s == "our" && c.kind == 'w' && c.at(i-1) != "and" && verbTok >= 0 && i > verbTok {
			return "their", true // "we had our first date"
		}
		return possessive(self), true
	case "me":
		return self, true
	case "myself":
		return "themselves", true
	case "us":
		return self + " and others", true
	case "his", "her":
		if subject && c.own {
			return possessive(c.owner), true
		}
	}
	if *agreed || i == 0 && !c.bare {
		return "", false
	}
	return c.agree(i, tok, agreed, verbTok)
}

// agree is the verb at token i in the third person, where it is the clause's, and sets agreed.
func (c *clause) agree(i int, tok token, agreed *bool, verbTok int) (string, bool) {
	base, rest := contraction(tok.s)
	is := inThird[tok.s]
	switch tok.s {
	case "gotta":
		is = "has to"
	case "want", "hope", "plan", "need", "intend":
		if i < verbTok && (c.intend || c.must) {
			is = third(tok.s)
		}
	case "do", "have":
		if i <= verbTok || verbTok < 0 {
			is = third(tok.s)
		}
	}
	if c.kind == 'y' {
		switch tok.s {
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
	case rest == "not" || auxiliary(base):
		*agreed = *agreed || !adverb(tok.s) && base != "not" && base != "never"
		return "", false
	case i != verbTok:
		return "", false
	}
	*agreed = true
	k := i - 1
	for adverb(c.at(k)) {
		k--
	}
	if _, rest := contraction(c.at(k)); c.at(k) == "to" || rest == "would" || rest == "will" { // promised Hanna to send, I'd bring
		return "", false
	}
	if l, past, ing := lemma(tok.s); !past && !ing && (l == tok.s || l == "" && !pastForm(tok.s)) && tok.s != "put" && tok.s != "quit" {
		return third(tok.s), true
	}
	return "", false
}

// inThird are verbs after "I", and after a name.
var inThird = map[string]string{"am": "is", "don't": "doesn't", "haven't": "hasn't"}
