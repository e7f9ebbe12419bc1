package chinese

import (
	"strings"
	"unicode/utf8"

	"github.com/locket-dev/locket/wasm/abi"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
)

var contacts = [...]struct{ noun, attribute string }{{"手机号码", "phone"}, {"电话号码", "phone"}, {"手机号", "phone"}, {"电话", "phone"}, {"号码", "phone"}, {"手机", "phone"}, {"新号", "phone"},
	{"微信号", "wechat"}, {"微信", "wechat"}, {"QQ号", "qq"}, {"QQ", "qq"}, {"电子邮箱", "email"}, {"邮箱", "email"}, {"邮件地址", "email"}, {"家庭地址", "address"}, {"地址", "address"}, {"住址", "address"}}

// reached takes 我的电话是+86 138 0013 8000, 李娜的邮箱是li@example.com, 我的地址是….
func reached(t *discourse.Talk, b *discourse.BareZh) bool {
	if who, rest, ok := strings.Cut(b.Text, "的是"); ok && t.AsZh != "" && syntax.PhoneIn(rest) != "" && !strings.Contains(b.Text, t.AsZh) { // …，我爸的是139…
		again := *b
		again.Text = who + "的" + t.AsZh + "是" + rest
		return reached(t, &again)
	}
	if digits := spokenDigits(b.Text); mobile(digits) && newNumberSaid(t) { // 我换号了，新号你记一下 / 你说 / 幺三九…
		again := *b
		again.Text = "新号是" + digits
		return reached(t, &again)
	}
	for _, of := range contacts {
		who, rest, ok := strings.Cut(b.Text, of.noun)
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
			value = syntax.PhoneIn(spokenDigits(rest))
		case "wechat", "qq":
			if id := strings.TrimRight(rest, " 。，,"); len(id) >= 5 && len(id) <= 20 && strings.Trim(strings.ToLower(id), "abcdefghijklmnopqrstuvwxyz0123456789_-") == "" && !strings.ContainsAny(rest, " ") {
				value = id
			}
		case "email": // its stops end no sentence
			if _, whole, ok := strings.Cut(b.S.Text[b.S.Start:], of.noun); ok {
				value = discourse.MailIn(strings.TrimLeft(whole, "是为：: 就换改变成了"))
			}
		default:
			if r := strings.Trim(rest, " 。，,"); strings.ContainsAny(r, "号室楼栋") && strings.ContainsAny(r, "0123456789一二三四五六七八九十") && utf8.RuneCountInString(r) <= 40 {
				value = r
			}
		}
		if value == "" {
			continue
		}
		if head := strings.TrimSuffix(who, "的"); of.attribute == "address" && syntax.EndsWithAny(head, []string{"公司", "单位", "工作", "办公"}) {
			of.attribute = "work_address"
		}
		who = syntax.TrimTails(syntax.TrimTails(who, "的", "新家"), "新", "私人", "工作", "公司", "单位", "办公", "家里", "家", "的")
		p, ok := t.SubjectZh(strings.TrimSuffix(who, "的"))
		if !ok {
			return false
		}
		n := len(t.Out.Candidates)
		a := t.BaseZh(b, "semantic", "contact", p, 0.9)
		a.Sensitivity = "private"
		if of.attribute == "email" {
			a.Text = p.Name + "的" + of.noun + "是" + value + "。"
		}
		a.Slot = &abi.Slot{Subject: p.Key, Attribute: of.attribute, Value: value, Many: of.attribute != "address" && of.attribute != "work_address" && !(mobile(value) && !syntax.ContainsAny(b.Text, "工作", "公司", "另", "第二"))}
		a.Subject, a.Predicate, a.Object = p.Name, of.attribute, value
		if t.AsZh = ""; of.attribute == "phone" {
			t.AsZh = of.noun
			if !strings.Contains(b.S.Raw(), of.noun) {
				a.Text = p.Name + "的" + of.noun + "是" + value + "。"
			}
		}
		t.Out.Candidates = append(t.Out.Candidates[:n], a)
		return true
	}
	return false
}

// newNumberSaid reports whether the speaker's own last turn was about a new number of theirs.
func newNumberSaid(t *discourse.Talk) bool {
	n := len(t.Ev.Before)
	return n > 1 && t.Ev.Before[n-2].Speaker == t.Ev.Speaker && syntax.ContainsAny(t.Ev.Before[n-2].Text, "换号", "新号", "我的号", "我电话", "我手机")
}

// spokenDigits converts a number that was said digit by digit: 幺三九零零. Other words stay as they are.
func spokenDigits(s string) string {
	const least = 7 // digits
	digits := digitWords.Replace(syntax.TrimZh(s))
	if len(digits) < least || strings.Trim(digits, "0123456789") != "" {
		return s
	}
	return digits
}

// digitWords replaces each spoken digit, and removes spaces.
var digitWords = strings.NewReplacer("幺", "1", "零", "0", "〇", "0", "一", "1", "二", "2", "三", "3", "四", "4", "五", "5", "六", "6", "七", "7", "八", "8", "九", "9", " ", "")

// mobile reports whether s is a Chinese mobile number, of which people mostly have one: eleven
// digits that begin with 1.
func mobile(s string) bool {
	s = dialled.Replace(s)
	return len(s) == 11 && s[0] == '1'
}

// dialled removes China's prefix and the characters that only separate digits.
var dialled = strings.NewReplacer("+86", "", " ", "", "-", "")
