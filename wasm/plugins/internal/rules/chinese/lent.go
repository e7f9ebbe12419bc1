package chinese

import (
	"strings"
	"unicode/utf8"

	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
)

// lent takes 我把自行车借给小王了, 我向小王借了一把电钻, 小王把电钻还给我了.
func lent(t *discourse.Talk, b *discourse.BareZh) bool {
	x := strings.Replace(discourse.TrimZhEnd(b.Text), "已经", "", 1)
	who, rest, ok := strings.Cut(x, "还没把")
	if head, what, owed := strings.Cut(x, "还没还我"); owed {
		who, rest, ok = head, what+"还我", true
	}
	if ok { // 小陈还没把票钱还我, 小陈还没还我票钱
		what, tail, back := strings.Cut(rest, "还")
		p := party(t, who)
		if tail = strings.TrimPrefix(tail, "给"); !back || tail != "我" || p.Key == "" || p.Key == t.Self.Key {
			return false
		}
		what = strings.TrimPrefix(strings.TrimPrefix(what, "我的"), "那")
		if strings.HasSuffix(what, "钱") {
			t.FactZh(b, p, "debt", "owes "+t.Self.Key, what, false, false, 0.75)
		} else {
			t.FactZh(b, t.Self, "possession", discourse.LentSlot(what), p.Name, false, false, 0.8)
		}
		return true
	}
	if strings.ContainsAny(x, "没不吗想要会") || strings.Contains(x, "打算") {
		return false
	}
	for i := range b.Whens {
		if w := &b.Whens[i]; w.HasDay && w.Day > t.Now.Day && (!strings.Contains(x, "了") || !w.Weekday && w.Grain == 'd') {
			return false // 周末我把车借给小汤
		}
		if w := &b.Whens[i]; w.Clock && !w.HasDay && !strings.Contains(x, "了") && !w.OverToday(t.Now) {
			return false // 我晚上把钥匙还给房东
		}
	}
	l, ok := readLoan(t, x)
	if !ok || l.What == "" || utf8.RuneCountInString(l.What) > 8 || syntax.VagueZh(l.What) {
		return false
	}
	mine := l.From.Key == t.Self.Key
	if mine == (l.To.Key == t.Self.Key) {
		return false
	}
	for i := range b.Whens {
		if w := &b.Whens[i]; w.HasDay && !w.Habit {
			w.Past(t.Now) // 我周六把电钻借给子轩了
		}
	}
	other, attribute := l.Seen(mine)
	switch {
	case sum(l.What) || l.What == "钱":
		if l.Back || l.What == "钱" {
			return false // as a debt
		}
		t.FactZh(b, l.To, "debt", "owes "+l.From.Key, l.What, false, false, 0.75)
	case l.Back:
		ended(t, b, "possession", attribute, other.Name, false)
		if a := &t.Out.Candidates[len(t.Out.Candidates)-1]; mine && !strings.Contains(b.S.Raw(), "我") { // 小李把车还了
			a.Text = t.RewriteZh(b.S, b.Whens, false)
			if syntax.KinPrefixZh(other.Name) != "" {
				a.Text = t.Self.Name + "的" + a.Text
			}
		}
	default:
		t.FactZh(b, t.Self, "possession", attribute, other.Name, false, false, 0.8)
	}
	return true
}

// readLoan parses a clause; the return of a loan has the persons of the loan.
func readLoan(t *discourse.Talk, x string) (l discourse.Loan, ok bool) {
	verb := "借"
	if strings.Contains(x, "还") {
		verb, l.Back = "还", true
	}
	head, tail, found := strings.Cut(x, verb)
	if !found {
		return l, false
	}
	if tail = strings.TrimSuffix(tail, "了"); l.Back && tail == "我" {
		tail = "给我"
	}
	giver, what, held := strings.Cut(head, "把")
	if !held {
		giver, what = head, ""
		if of, first := strings.CutSuffix(giver, "我"); first && of != "" && strings.HasPrefix(tail, "给") {
			giver, what, held = "我", of, true // 那本书我还给小李了
		}
	} else if giver == "" {
		if p, ok := t.SubjectlessZh(); ok && p.Key == t.Self.Key {
			giver = "我" // 把缝纫机借给王姐了
		}
	}
	if held && l.Back && discourse.TrimZhEnd(tail) == "" { // 小李把车还了: to the speaker, as far as known
		l.To = party(t, giver)
		if l.To.Key != t.Self.Key {
			l.From = t.Self
		}
		l.What = thing(what, &l, t)
		return l, l.To.Key != ""
	}
	if to, given := strings.CutPrefix(tail, "给"); given { // the giver lends or gives back
		if held {
			to = strings.TrimPrefix(to, "了")
		} else { // 我的自行车借给小王了, 小王借给我一把电钻
			if _, mine := syntax.CutHead(giver, "我的", "我那", "我这"); mine {
				giver, what = "我", strings.TrimPrefix(giver[len("我"):], "的")
			} else if p := party(t, strings.TrimPrefix(to, "了")); p.Key != "" && p.Key != t.Self.Key && giver != "" && !strings.HasPrefix(giver, "我") && !syntax.PersonZh(giver) && syntax.KinPrefixZh(giver) == "" && giver[0] >= 0x80 {
				giver, what = "我", giver // 车借给我弟了
			} else if to, what = partThing(t, strings.TrimPrefix(to, "了")); what == "" {
				return l, false
			}
		}
		l.From, l.To = party(t, giver), party(t, to)
		l.What = thing(what, &l, t)
		if l.Back {
			l.From, l.To = l.To, l.From
		}
		return l, l.From.Key != "" && l.To.Key != ""
	}
	tail = strings.TrimPrefix(strings.TrimPrefix(tail, "走"), "了")
	if held { // 小王把我的自行车借走了, 小王把电钻还了
		tail = what
	} else if !l.Back {
		for _, with := range [...]string{"向", "跟", "问", "找", "从", "和"} {
			if who, of, ok := strings.Cut(giver, with); ok {
				if of = strings.TrimSuffix(of, "那里"); of != "" && who != "" {
					l.To, l.From = party(t, who), party(t, strings.TrimSuffix(of, "那儿"))
					l.What = thing(tail, &l, t)
					return l, l.From.Key != "" && l.To.Key != ""
				}
			}
		}
	}
	owner, what, of := strings.Cut(tail, "的")
	if !of {
		return l, false
	}
	l.From, l.To = party(t, owner), party(t, giver)
	l.What = thing(what, &l, t)
	return l, l.From.Key != "" && l.To.Key != ""
}

// party returns the person whom s names.
func party(t *discourse.Talk, s string) discourse.Person {
	s = strings.TrimSpace(s)
	switch {
	case s == "我":
		return t.Self
	case strings.HasPrefix(s, "我") && syntax.KinPrefixZh(s[len("我"):]) == s[len("我"):]:
		if p, ok := t.SubjectZh(s); ok {
			return p
		}
	case utf8.RuneCountInString(s) > 1 && syntax.KinPrefixZh(s) == s:
		return discourse.Person{Name: t.Self.Name + "的" + s, Key: t.Self.Key + "的" + s}
	case syntax.PersonZh(s) || discourse.NameZh(s):
		return t.Named(s)
	}
	return discourse.Person{}
}

// partThing splits 我一把电钻 into the person and the thing.
func partThing(t *discourse.Talk, s string) (who, what string) {
	for i := range s {
		if i > 0 && (strings.ContainsRune("一两三四五六七八九十几0123456789", []rune(s[i:])[0])) {
			return s[:i], s[i:]
		}
	}
	return "", ""
}

// thing returns a thing without its count and its owner.
func thing(s string, l *discourse.Loan, t *discourse.Talk) string {
	s = syntax.TrimHeads(s, "我的", "借的", "借我的", l.From.Name+"的", l.To.Name+"的")
	if of := syntax.TrimHeads(strings.TrimPrefix(s, "我"), "那", "这"); of != strings.TrimPrefix(s, "我") { // 我那台缝纫机
		if r, n := utf8.DecodeRuneInString(of); strings.ContainsRune("把辆本个台部件套架双张支块副", r) && len(of) > n {
			of = of[n:]
		}
		s = of
	}
	if sum(s) {
		return s
	}
	counted := strings.TrimLeft(s, "一两三四五六七八九十几")
	if counted != s {
		counted = strings.TrimLeft(counted, "把辆本个台部只件套架条双张支块副")
	}
	return strings.TrimSuffix(strings.TrimSuffix(counted, "走"), "了")
}
