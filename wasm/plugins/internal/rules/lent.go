package rules

import (
	"strings"
	"unicode/utf8"
)

// Who has what of whose: a thing that the speaker lent or borrowed has a slot of its own, whose
// value is the other person, until the thing is given back. Money that is lent is a debt.

// The slots of a thing that is elsewhere than with its owner.
func lentSlot(what string) string     { return "lent: " + strings.ToLower(what) }
func borrowedSlot(what string) string { return "borrowed: " + strings.ToLower(what) }

// loan is what changes hands, and between whom. Neither person is named where the words leave it open.
type loan struct {
	what     string
	from, to person
	back     bool
}

// partyAt is the person whom the words from i name, other than by a pronoun of the third person,
// and the word after them.
func (t *talk) partyAt(c *clause, i int) (person, int) {
	switch w := c.w(i); {
	case w == "me" || w == "us":
		return t.self, i + 1
	case w == "him" || w == "her" && (i+1 == len(c.words) || determiner(c.w(i+1))):
		if p, ok := t.heOrShe(c, map[string]string{"him": "he", "her": "she"}[w]); ok {
			return p, i + 1
		}
	case (w == "my" || w == "our") && kin(c.w(i+1)):
		if c.capital(i+2) && nameWord(c.w(i+2)) {
			return t.named(c.cased(i + 2)), i + 3
		}
		return person{possessive(t.self.name) + " " + c.w(i+1), possessive(t.self.key) + " " + c.w(i+1)}, i + 2
	case c.capital(i) && nameWord(w) && !numbered[w]:
		k := i + 1
		for k < i+2 && c.capital(k) && nameWord(c.w(k)) {
			k++
		}
		if c.w(k) != "'s" {
			return t.named(c.join(i, k)), k
		}
	}
	return person{}, i
}

// goodsAt is the thing that the words from i name, without whose it is, and the word after it. Whose
// is said by "my" or a name with 's; his and her mean the person they stand beside.
func (t *talk) goodsAt(c *clause, i int) (what string, owner person, next int) {
	switch w := c.w(i); {
	case w == "my" || w == "our":
		owner = t.self
		i++
	case determiner(w) && w != "no" && w != "any":
		i++
	case c.capital(i) && nameWord(w) && c.w(i+1) == "'s":
		owner = t.named(c.cased(i))
		i += 2
	default:
		if _, counted := number(w); !counted && c.toks[c.words[min(i, len(c.words)-1)].tok].kind != 'n' {
			return "", owner, i
		}
	}
	k := i
	for k < len(c.words) && c.w(k) != "," && c.w(k) != "back" && c.w(k) != "out" && c.w(k) != "over" && !preposition(c.w(k)) && c.w(k) != "and" && c.w(k) != "because" && c.w(k) != "so" && c.w(k) != "when" && !adverbOfTime(c.w(k)) {
		k++
	}
	what = c.join(i, k)
	if what == "" || k-i > 4 || vague(what) || intangible[c.w(k-1)] || unplaceable[c.w(k-1)] || unlent[c.w(k-1)] || kin(c.w(k-1)) {
		return "", owner, k
	}
	return what, owner, k
}

// unlent is what "lend", "give back" and "return" take and nobody has for a while.
var unlent = set("hand ear ears support weight credence word shoulder call favour favor smile compliment greeting message look kiss gaze visit text texts strength courage credibility grade grades result results mark marks score scores exam answer energy appetite voice job life sense")

func adverbOfTime(w string) bool {
	return w == "yesterday" || w == "today" || w == "again" || w == "already" || w == "now" || w == "recently" || w == "finally"
}

// seen is who the other is, and the slot of the thing, where it is the speaker's (mine) or theirs.
func (l *loan) seen(mine bool) (other person, attribute string) {
	if mine {
		return l.to, lentSlot(l.what)
	}
	return l.from, borrowedSlot(l.what)
}

// lending takes "I lent Anna my bike", "Tom borrowed my drill", "I gave Tom his drill back": what
// the speaker lent or borrowed, and that it came back.
func (t *talk) lending(c *clause) bool {
	if c.kind != 's' && c.kind != 'p' && c.kind != 'w' || !c.past && !c.perfect || c.neg || c.modal || c.intend || c.must || c.can || c.usedTo || c.ends == "?" || c.conditional() || c.hasHabit() {
		return false
	}
	l, ok := t.loanOf(c, c.vi+1)
	if !ok || l.what == "" {
		return false
	}
	mine := l.from.key == t.self.key
	if mine == (l.to.key == t.self.key) {
		return false // of two others
	}
	if l.back { // from whom it was borrowed has it again
		mine = !mine
		l.from, l.to = l.to, l.from
	}
	other, attribute := l.seen(mine)
	if moneyed(strings.Fields(strings.ToLower(l.what))) {
		return !l.back && other.key != "" && t.lentMoney(c, l)
	}
	who := c.subj
	c.subj = t.self
	defer func() { c.subj = who }()
	if l.back {
		t.ended(c, t.self, "possession", attribute, other.name, false)
		return true
	}
	if other.key == "" {
		return false
	}
	t.heldBy(c, attribute, other)
	return true
}

// heldBy proposes who has a thing, or whose it is.
func (t *talk) heldBy(c *clause, attribute string, other person) {
	if f := t.fact(c, "possession", attribute, other.name, false, 0.8); f != nil {
		f.Predicate, _, _ = strings.Cut(attribute, ":")
	}
}

// lentMoney makes a debt of money that was lent.
func (t *talk) lentMoney(c *clause, l loan) bool {
	who := c.subj
	c.subj = l.to
	defer func() { c.subj = who }()
	return t.fact(c, "debt", "owes "+l.from.key, strings.ToLower(l.what), false, 0.75) != nil
}

// loanOf reads what follows the verb.
func (t *talk) loanOf(c *clause, i int) (l loan, ok bool) {
	switch c.verb {
	case "lend", "loan", "loaned":
		l.from = c.subj
		if p, next := t.partyAt(c, i); p.key != "" {
			l.to = p
			l.what, _, _ = t.goodsAt(c, next)
			return l, true
		}
		what, _, next := t.goodsAt(c, i)
		if c.w(next) == "out" {
			next++
		}
		if c.w(next) == "to" {
			l.to, _ = t.partyAt(c, next+1)
		}
		l.what = what
		return l, l.to.key != ""
	case "borrow":
		l.to = c.subj
		what, owner, next := t.goodsAt(c, i)
		l.what, l.from = what, owner
		for k := next; k < min(len(c.words), next+3); k++ {
			if c.w(k) == "from" || c.w(k) == "off" {
				l.from, _ = t.partyAt(c, k+1)
			}
		}
		return l, l.from.key != ""
	case "give", "bring", "return", "hand", "take", "get":
		return t.returned(c, i)
	}
	return l, false
}

// returned reads "gave Tom his drill back", "returned the drill to Tom", "got my bike back from Anna".
func (t *talk) returned(c *clause, i int) (l loan, ok bool) {
	back := c.find(i, len(c.words)-i, "back")
	if c.verb != "return" && back < 0 {
		return l, false
	}
	l.back, l.from = true, c.subj
	if back == i {
		i++
	}
	if c.verb == "get" {
		what, owner, next := t.goodsAt(c, i)
		if owner.key != t.self.key || back == i-1 && c.w(next) != "from" {
			return l, false
		}
		l.what, l.to, l.from = what, t.self, person{}
		for k := next; k < len(c.words); k++ {
			if c.w(k) == "from" {
				l.from, _ = t.partyAt(c, k+1)
			}
		}
		return l, true
	}
	if p, next := t.partyAt(c, i); p.key != "" && next < len(c.words) {
		if l.to, i = p, next; back == i {
			i++
		}
	}
	what, owner, next := t.goodsAt(c, i)
	l.what = what
	for k := next; k < len(c.words) && l.to.key == ""; k++ {
		if c.w(k) == "to" {
			l.to, _ = t.partyAt(c, k+1)
		}
	}
	if l.to.key == "" {
		l.to = owner
	}
	if c.verb == "take" && l.to.key == t.self.key {
		return l, false // "Anna took my bike back": where to?
	}
	return l, l.to.key != ""
}

// lentZh takes 我把自行车借给小王了, 我向小王借了一把电钻, 小王把电钻还给我了.
func (t *talk) lentZh(b *bareZh) bool {
	x := strings.Replace(trimZhEnd(b.text), "已经", "", 1)
	who, rest, ok := strings.Cut(x, "还没把")
	if head, what, owed := strings.Cut(x, "还没还我"); owed {
		who, rest, ok = head, what+"还我", true
	}
	if ok { // 小陈还没把票钱还我, 小陈还没还我票钱
		what, tail, back := strings.Cut(rest, "还")
		p := t.partyZh(who)
		if tail = strings.TrimPrefix(tail, "给"); !back || tail != "我" || p.key == "" || p.key == t.self.key {
			return false
		}
		what = strings.TrimPrefix(strings.TrimPrefix(what, "我的"), "那")
		if strings.HasSuffix(what, "钱") {
			t.factZh(b, p, "debt", "owes "+t.self.key, what, false, false, 0.75)
		} else {
			t.factZh(b, t.self, "possession", lentSlot(what), p.name, false, false, 0.8)
		}
		return true
	}
	if strings.ContainsAny(x, "没不吗想要会") || strings.Contains(x, "打算") {
		return false
	}
	for i := range b.whens {
		if w := &b.whens[i]; w.hasDay && w.day > t.now.day && !strings.Contains(x, "了") {
			return false // 周末我把车借给小汤
		}
	}
	l, ok := t.loanZh(x)
	if !ok || l.what == "" || utf8.RuneCountInString(l.what) > 8 || vagueZh(l.what) {
		return false
	}
	mine := l.from.key == t.self.key
	if mine == (l.to.key == t.self.key) {
		return false
	}
	other, attribute := l.seen(mine)
	switch {
	case sumZh(l.what) || l.what == "钱":
		if l.back || l.what == "钱" {
			return false // as a debt
		}
		t.factZh(b, l.to, "debt", "owes "+l.from.key, l.what, false, false, 0.75)
	case l.back:
		t.endedZh(b, "possession", attribute, other.name, false)
		if a := &t.out.Candidates[len(t.out.Candidates)-1]; mine && !strings.Contains(b.s.raw(), "我") { // 小李把车还了
			a.Text = t.rewriteZh(b.s, b.whens, false)
			if kinPrefixZh(other.name) != "" {
				a.Text = t.self.name + "的" + a.Text
			}
		}
	default:
		t.factZh(b, t.self, "possession", attribute, other.name, false, false, 0.8)
	}
	return true
}

// loanZh reads a clause; a loan that is given back has the persons of the loan.
func (t *talk) loanZh(x string) (l loan, ok bool) {
	verb := "借"
	if strings.Contains(x, "还") {
		verb, l.back = "还", true
	}
	head, tail, found := strings.Cut(x, verb)
	if !found {
		return l, false
	}
	if tail = strings.TrimSuffix(tail, "了"); l.back && tail == "我" {
		tail = "给我"
	}
	giver, what, held := strings.Cut(head, "把")
	if !held {
		giver, what = head, ""
	}
	if held && l.back && trimZhEnd(tail) == "" { // 小李把车还了: to the speaker, for all that is known
		l.to = t.partyZh(giver)
		if l.to.key != t.self.key {
			l.from = t.self
		}
		l.what = thingZh(what, &l, t)
		return l, l.to.key != ""
	}
	if to, given := strings.CutPrefix(tail, "给"); given { // the giver lends or gives back
		if held {
			to = strings.TrimPrefix(to, "了")
		} else { // 我的自行车借给小王了, 小王借给我一把电钻
			if owned, mine := strings.CutPrefix(giver, "我的"); mine {
				giver, what = "我", owned
			} else if p := t.partyZh(strings.TrimPrefix(to, "了")); p.key != "" && p.key != t.self.key && giver != "" && !strings.HasPrefix(giver, "我") && !personZh(giver) && kinPrefixZh(giver) == "" && giver[0] >= 0x80 {
				giver, what = "我", giver // 车借给我弟了
			} else if to, what = t.partThing(strings.TrimPrefix(to, "了")); what == "" {
				return l, false
			}
		}
		l.from, l.to = t.partyZh(giver), t.partyZh(to)
		l.what = thingZh(what, &l, t)
		if l.back {
			l.from, l.to = l.to, l.from
		}
		return l, l.from.key != "" && l.to.key != ""
	}
	tail = strings.TrimPrefix(strings.TrimPrefix(tail, "走"), "了")
	if held { // 小王把我的自行车借走了, 小王把电钻还了
		tail = what
	} else if !l.back {
		for _, with := range [...]string{"向", "跟", "问", "找", "从", "和"} {
			if who, of, ok := strings.Cut(giver, with); ok {
				if of = strings.TrimSuffix(of, "那里"); of != "" && who != "" {
					l.to, l.from = t.partyZh(who), t.partyZh(strings.TrimSuffix(of, "那儿"))
					l.what = thingZh(tail, &l, t)
					return l, l.from.key != "" && l.to.key != ""
				}
			}
		}
	}
	owner, what, of := strings.Cut(tail, "的")
	if !of {
		return l, false
	}
	l.from, l.to = t.partyZh(owner), t.partyZh(giver)
	l.what = thingZh(what, &l, t)
	return l, l.from.key != "" && l.to.key != ""
}

// partyZh is the person whom s names.
func (t *talk) partyZh(s string) person {
	s = strings.TrimSpace(s)
	switch {
	case s == "我":
		return t.self
	case strings.HasPrefix(s, "我") && kinPrefixZh(s[len("我"):]) == s[len("我"):]:
		if p, ok := t.subjectZh(s); ok {
			return p
		}
	case utf8.RuneCountInString(s) > 1 && kinPrefixZh(s) == s:
		return person{t.self.name + "的" + s, t.self.key + "的" + s}
	case personZh(s) || nameZh(s):
		return t.named(s)
	}
	return person{}
}

// partThing parts 我一把电钻 into the person and the thing.
func (t *talk) partThing(s string) (who, what string) {
	for i := range s {
		if i > 0 && (strings.ContainsRune("一两三四五六七八九十几0123456789", []rune(s[i:])[0])) {
			return s[:i], s[i:]
		}
	}
	return "", ""
}

// thingZh is a thing without its count and its owner.
func thingZh(s string, l *loan, t *talk) string {
	s = trimHeads(s, "我的", "借的", "借我的", l.from.name+"的", l.to.name+"的", "那", "这")
	if sumZh(s) {
		return s
	}
	counted := strings.TrimLeft(s, "一两三四五六七八九十几")
	if counted != s {
		counted = strings.TrimLeft(counted, "把辆本个台部只件套架条双张支块副")
	}
	return strings.TrimSuffix(strings.TrimSuffix(counted, "走"), "了")
}
