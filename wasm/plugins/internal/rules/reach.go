package rules

import (
	"strings"
	"unicode/utf8"

	"github.com/locket-dev/locket/wasm/abi"
)

// reached takes "my phone number is 0170 555 0123", "my email is mei@example.org"
// and "my address is 12 Elm Street, Oslo": the value is what was said, to the
// letter.
func (t *talk) reached(c *clause) bool {
	if c.vi >= len(c.words) {
		return false
	}
	from := c.toks[c.words[c.vi].tok].end
	rest := strings.TrimRight(strings.TrimSpace(c.text[from:c.end]), ".! ")
	attr, value := "", ""
	thing := c.thing
	thing = trimHeads(thing, "new ", "private ", "own ", "current ", "second ", "other ")
	switch thing {
	case "phone number", "number", "mobile number", "mobile", "phone", "telephone number", "cell", "cell number", "work number", "home number", "office number", "work phone", "landline":
		attr, value = "phone", phoneIn(rest)
	case "email", "e-mail", "email address", "e-mail address", "mail address", "work email":
		attr, value = "email", mailIn(strings.TrimSpace(c.text[from:])) // its stops end no sentence
	case "address", "home address", "postal address":
		attr = "address"
		if strings.ContainsAny(rest, "0123456789") && strings.ContainsRune(rest, ' ') {
			value = rest
		}
	}
	if value == "" {
		return false
	}
	only := c.thing == "number" || c.thing == "phone number" || c.thing == "new number" || c.thing == "new phone number"
	f := t.fact(c, "contact", attr, value, attr != "address" && !only, 0.9)
	if f == nil {
		return false
	}
	f.Sensitivity = "private"
	return true
}

// phoneIn is the telephone number that a text begins with: six digits or more.
func phoneIn(s string) string {
	end := len(s) - len(strings.TrimLeft(s, "+0123456789 ()./-"))
	if i := strings.IndexByte(s[min(1, end):end], '+'); i >= 0 { // another number begins
		end = i + 1
	}
	s = strings.TrimRight(s[:end], " ()./-+")
	digits := 0
	for _, r := range s {
		if r >= '0' && r <= '9' {
			digits++
		}
	}
	if digits < 6 || digits > 15 { // E.164 has 15 at most
		return ""
	}
	return s
}

// mailIn is the mail address that a text begins with.
func mailIn(s string) string {
	s, _, _ = strings.Cut(s, " ")
	s = strings.TrimRight(s, ".,;!")
	name, host, ok := strings.Cut(s, "@")
	if !ok || name == "" || strings.ContainsRune(host, '@') || !strings.Contains(strings.Trim(host, "."), ".") {
		return ""
	}
	return s
}

// reachMe takes "you can reach me at +49 170 1234567" and "Tom's number: +49 …".
func (t *talk) reachMe(s sentence) bool {
	if s.chinese() || s.ends == "?" {
		return false
	}
	numbers := 0
	for i := range s.toks {
		if t.numberOf(s, i, numbers > 0) {
			numbers++
			continue
		}
		if w := s.at(i); w != "reach" && w != "contact" || s.at(i+1) != "me" || s.at(i+2) != "at" && s.at(i+2) != "on" && s.at(i+2) != "under" || i+3 >= len(s.toks) {
			continue
		}
		rest := s.text[s.toks[i+3].start:]
		attr, value := "phone", phoneIn(rest)
		if value == "" {
			attr, value = "email", mailIn(rest)
		}
		if value == "" {
			return false
		}
		t.contact(s, t.self, attr, value, t.self.name+" can be reached at "+value+".")
		return true
	}
	return numbers > 0
}

// numberOf takes a telephone number at token i whose owner stands before it: "Tom's
// number: …", "the plumber's number is …", "my number's …"; another after the first one
// of a sentence need not say again what it is: "… and Dad's is …".
func (t *talk) numberOf(s sentence, i int, another bool) bool {
	if s.toks[i].kind != 'n' || i < 2 {
		return false
	}
	value := phoneIn(s.text[s.toks[i].start:])
	if value == "" {
		return false
	}
	k := i - 1
	if s.at(k) == ":" || s.at(k) == "is" {
		k--
	}
	noun, is := contraction(s.at(k))
	if another && k < i-1 && (noun == "mine" || noun == "ours") {
		t.contact(s, t.self, "phone", value, sentenceCase(possessive(t.self.name)+" number is "+value))
		return true
	}
	if another && k < i-1 && is == "is" && noun != "number" {
		noun, k = "number", k+1
	} else if is != "is" && k == i-1 || noun != "number" && noun != "phone" && noun != "mobile" && noun != "landline" {
		return false
	}
	others := 0 // words that tell it from another number of theirs
	for k--; k > 0 && (s.at(k) == "phone" || s.at(k) == "mobile" || s.at(k) == "new" || s.at(k) == "work" || s.at(k) == "telephone"); k-- {
		if s.at(k) == "work" || s.at(k) == "mobile" {
			others++
		}
	}
	if k < 0 {
		return false
	}
	who := t.self
	switch owner, is := contraction(s.at(k)); {
	case s.at(k) == "my" || s.at(k) == "our":
	case is != "is":
		return false
	case kin(owner) && (k == 0 || !determiner(s.at(k-1))): // Mum's number
		who = person{possessive(t.self.name) + " " + owner, possessive(t.self.key) + " " + owner}
	case s.toks[k].cap && k == 0 || s.toks[k].cap && !determiner(s.at(k-1)):
		who = t.named(strings.TrimSuffix(strings.TrimSuffix(s.text[s.toks[k].start:s.toks[k].end], "'s"), "’s"))
	case k > 0 && s.at(k-1) == "the":
		who = person{"the " + owner, owner}
	case k > 0 && (s.at(k-1) == "my" || s.at(k-1) == "our"):
		who = person{possessive(t.self.name) + " " + owner, possessive(t.self.key) + " " + owner}
	default:
		return false
	}
	t.contact(s, who, "phone", value, sentenceCase(possessive(who.name)+" number is "+value))
	if noun == "number" && others == 0 { // a person's one number, which the next one replaces
		t.out.Candidates[len(t.out.Candidates)-1].Slot.Many = false
	}
	return true
}

// contact proposes how somebody is reached.
func (t *talk) contact(s sentence, who person, attribute, value, text string) {
	t.out.Candidates = append(t.out.Candidates, abi.Candidate{Type: "semantic", Kind: "contact", Text: text, Lang: "en", Confidence: 0.88, Sensitivity: "private",
		Slot: &abi.Slot{Subject: who.key, Attribute: attribute, Value: value, Many: true}, Subject: who.name, Predicate: attribute, Object: value,
		Spans: []abi.Span{{Start: s.start, End: s.end}}, Entities: []abi.Entity{{Name: who.name, Kind: "person"}}, Tags: []string{"contact"}})
}

var contactsZh = [...]struct{ noun, attribute string }{{"手机号码", "phone"}, {"电话号码", "phone"}, {"手机号", "phone"}, {"电话", "phone"}, {"号码", "phone"}, {"手机", "phone"}, {"新号", "phone"},
	{"微信号", "wechat"}, {"微信", "wechat"}, {"QQ号", "qq"}, {"QQ", "qq"}, {"电子邮箱", "email"}, {"邮箱", "email"}, {"邮件地址", "email"}, {"家庭地址", "address"}, {"地址", "address"}, {"住址", "address"}}

// reachedZh takes 我的电话是+86 138 0013 8000, 李娜的邮箱是li@example.com, 我的地址是….
func (t *talk) reachedZh(b *bareZh) bool {
	if who, rest, ok := strings.Cut(b.text, "的是"); ok && t.asZh != "" && phoneIn(rest) != "" && !strings.Contains(b.text, t.asZh) { // …，我爸的是139…
		again := *b
		again.text = who + "的" + t.asZh + "是" + rest
		return t.reachedZh(&again)
	}
	if digits := spokenDigitsZh(b.text); mobileZh(digits) && t.announcedZh() { // 我换号了，新号你记一下 / 你说 / 幺三九…
		again := *b
		again.text = "新号是" + digits
		return t.reachedZh(&again)
	}
	for _, of := range contactsZh {
		who, rest, ok := strings.Cut(b.text, of.noun)
		if !ok || utf8.RuneCountInString(who) > 10 {
			continue
		}
		for _, word := range [...]string{"换成了", "改成了", "换成", "改成", "变成了", "就是", "是", "为", "：", ":"} {
			if r, cut := strings.CutPrefix(rest, word); cut {
				rest = strings.TrimSpace(r)
				break
			}
		}
		value := ""
		switch of.attribute {
		case "phone":
			value = phoneIn(spokenDigitsZh(rest))
		case "wechat", "qq":
			if id := strings.TrimRight(rest, " 。，,"); len(id) >= 5 && len(id) <= 20 && strings.Trim(strings.ToLower(id), "abcdefghijklmnopqrstuvwxyz0123456789_-") == "" && !strings.ContainsAny(rest, " ") {
				value = id
			}
		case "email": // its stops end no sentence
			if _, whole, ok := strings.Cut(b.s.text[b.s.start:], of.noun); ok {
				value = mailIn(strings.TrimLeft(whole, "是为：: 就换改变成了"))
			}
		default:
			if r := strings.Trim(rest, " 。，,"); strings.ContainsAny(r, "号室楼栋") && strings.ContainsAny(r, "0123456789一二三四五六七八九十") && utf8.RuneCountInString(r) <= 40 {
				value = r
			}
		}
		if value == "" {
			continue
		}
		who = trimTails(who, "新", "私人", "工作", "公司", "家里", "家", "的")
		p, ok := t.subjectZh(strings.TrimSuffix(who, "的"))
		if !ok {
			return false
		}
		n := len(t.out.Candidates)
		a := t.baseZh(b, "semantic", "contact", p, 0.9)
		a.Sensitivity = "private"
		if of.attribute == "email" {
			a.Text = p.name + "的" + of.noun + "是" + value + "。"
		}
		a.Slot = &abi.Slot{Subject: p.key, Attribute: of.attribute, Value: value, Many: of.attribute != "address" && !(mobileZh(value) && !containsAny(b.text, "工作", "公司", "另", "第二"))}
		a.Subject, a.Predicate, a.Object = p.name, of.attribute, value
		if t.asZh = ""; of.attribute == "phone" {
			t.asZh = of.noun
			if !strings.Contains(b.s.raw(), of.noun) {
				a.Text = p.name + "的" + of.noun + "是" + value + "。"
			}
		}
		t.out.Candidates = append(t.out.Candidates[:n], a)
		return true
	}
	return false
}

// announcedZh reports that the speaker's own last turn was about a new number of theirs.
func (t *talk) announcedZh() bool {
	n := len(t.ev.Before)
	return n > 1 && t.ev.Before[n-2].Speaker == t.ev.Speaker && containsAny(t.ev.Before[n-2].Text, "换号", "新号", "我的号", "我电话", "我手机")
}

// spokenDigitsZh writes a number that was said digit by digit: 幺三九零零. Other words stay as they are.
func spokenDigitsZh(s string) string {
	const least = 7 // digits
	digits := strings.NewReplacer("幺", "1", "零", "0", "〇", "0", "一", "1", "二", "2", "三", "3", "四", "4", "五", "5", "六", "6", "七", "7", "八", "8", "九", "9", " ", "").Replace(trimZh(s))
	if len(digits) < least || strings.Trim(digits, "0123456789") != "" {
		return s
	}
	return digits
}

// mobileZh reports a Chinese mobile number, of which somebody mostly has one: eleven digits
// that begin with 1.
func mobileZh(s string) bool {
	s = strings.NewReplacer("+86", "", " ", "", "-", "").Replace(s)
	return len(s) == 11 && s[0] == '1'
}
