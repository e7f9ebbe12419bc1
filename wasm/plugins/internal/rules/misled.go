package rules

import (
	"strings"
	"unicode/utf8"

	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/timex"
)

// misled returns what is true in a sentence that also says what its speaker said or thought before: "I
// said the plumber was coming on Wednesday, but it's actually Thursday" as "the plumber is coming on
// Thursday".
func misled(s syntax.Sentence, now timex.Moment) (string, bool) {
	const most = 28 // tokens
	head := 0
	for syntax.Lead(s.At(head)) || s.At(head) == "," || s.At(head) == "sorry" || s.At(head) == "no" {
		head++
	}
	if s.At(head) != "i" || len(s.Toks) > most || s.Ends == "?" {
		return "", false
	}
	told := ""
	switch head += 2; s.At(head - 1) {
	case "said", "thought":
	case "told":
		if head++; s.At(head-1) != "you" && !s.Toks[min(head-1, len(s.Toks)-1)].Cap {
			return "", false
		}
		told = " " + s.Text[s.Toks[head-1].Start:s.Toks[head-1].End] + " "
	default:
		return "", false
	}
	if s.At(head) == "that" {
		head++
	}
	was := head
	is := ""
	for was < len(s.Toks) && s.Toks[was].Kind != 'p' {
		if is = nowOf(s, was); is != "" {
			break
		}
		was++
	}
	var wrong timex.When
	ok := false
	for k := was + 1; k < len(s.Toks) && !ok; k++ {
		wrong, ok = timex.WhenAt(s, k, now)
	}
	if was == head && !strings.Contains(is, "'") || is == "" || !ok || wrong.Habit {
		return "", false
	}
	at := wrong.Next
	for s.At(at) == "," || s.At(at) == "but" || s.At(at) == "sorry" || s.At(at) == "and" || at < len(s.Toks) && s.At(at-1) == "," && s.Toks[at].Cap && s.At(at+1) == "," {
		at++
	}
	at = behindReason(s, wrong.Next, at)
	otherwise := s.At(at) == "it'll" // even if it is not known how
	switch base, rest := syntax.Contraction(s.At(at)); {
	case at == wrong.Next:
		return "", false
	case (base == "it" || base == "that" || base == "they") && (rest == "is" || rest == "are"):
		at++
	case (base == "it" || base == "that" || base == "they") && (s.At(at+1) == "is" || s.At(at+1) == "are"):
		at += 2
	case (base == "he" || base == "she" || base == "they") && rest != "" && s.At(at+1) == s.At(was+1):
		at += 2 // "was coming on Wednesday, but he's coming on Friday"
	case s.At(at) == "it'll" && s.At(at+1) == "be":
		at += 2 // "I said I'd be there at six, but it'll be more like seven"
	default:
		return "", false
	}
	if s.At(at) == "more" && s.At(at+1) == "like" {
		at += 2
	}
	for s.At(at) == "actually" || s.At(at) == "now" || s.At(at) == "really" || s.At(at) == "in" && s.At(at+1) == "fact" || s.At(at) == "fact" {
		at++
	}
	right, ok := timex.WhenAt(s, at, now)
	on := ""
	if _, n := timex.Day31(s.At(at + 1)); !ok && n > 0 && s.At(at) == "the" {
		on, ok, right = "on ", true, timex.When{HasDay: true, Grain: 'd', Next: at + 1 + n} // "it's the 22nd"
	}
	half := ""
	if n, hour := syntax.Number(s.At(at)); !ok && hour && wrong.Clock && n > 0 && n <= 12 {
		ok, right = true, timex.When{Clock: true, Next: at + 1} // "it'll be more like seven"
		if wrong.Minute >= 12*60 {
			half = " pm"
		}
	}
	if !ok || right.Habit || !right.HasDay && !right.Clock {
		return "", otherwise
	}
	for k := right.Next; k < len(s.Toks); k++ {
		if w := s.At(k); s.Toks[k].Kind != 'p' && w != "instead" && w != "now" && w != "actually" {
			return "", otherwise
		}
	}
	from := wrong.First
	if on == "" && syntax.Preposition(s.At(from)) && !syntax.Preposition(s.At(at)) {
		from++
	}
	said := s.Text[s.Toks[head].Start:s.Toks[was].Start] + is + s.Text[s.Toks[was].End:s.Toks[from].Start] + on + s.Text[s.Toks[at].Start:s.Toks[right.Next-1].End]
	if day := timex.HourIn(s, &wrong, now); day > from && syntax.Preposition(s.At(day)) && !syntax.Preposition(s.At(at)) && right.Clock && !right.HasDay {
		said = s.Text[s.Toks[head].Start:s.Toks[was].Start] + is + s.Text[s.Toks[was].End:s.Toks[day+1].Start] + s.Text[s.Toks[at].Start:s.Toks[right.Next-1].End]
	} else if day > from && right.Clock && !right.HasDay {
		said = s.Text[s.Toks[head].Start:s.Toks[was].Start] + is + s.Text[s.Toks[was].End:s.Toks[day].Start] + s.Text[s.Toks[at].Start:s.Toks[right.Next-1].End] // the day is still the same
	}
	if hour := timex.HourIn(s, &wrong, now); hour > 0 && right.HasDay && !right.Clock && right.Grain == 'd' {
		said += " " + s.Text[s.Toks[hour].Start:s.Toks[wrong.Next-1].End]
	}
	if told != "" && told != " you " { // "I told Ben I'd call him"
		said = strings.NewReplacer(" him ", told, " her on ", told+"on ", " her at ", told+"at ", " her by ", told+"by ").Replace(said)
	}
	return strings.ToUpper(said[:1]) + said[1:] + half + ".", true
}

// behindReason returns the token after "he rang and" in "but he rang and it's Friday now", whose "but" is
// between token end and token at; at if there are no such words.
func behindReason(s syntax.Sentence, end, at int) int {
	const most = 6 // tokens of the reason
	if at == end || !syntax.SubjectPronoun(s.At(at)) {
		return at
	}
	for k := at + 2; k < min(at+most, len(s.Toks)) && s.Toks[k].Kind != 'p'; k++ {
		if s.At(k) == "and" {
			return k + 1
		}
	}
	return at
}

// nowOf returns the present of the word at token i, if that is "was", "were" or "would".
func nowOf(s syntax.Sentence, i int) string {
	switch s.At(i) {
	case "was":
		return "is"
	case "were":
		return "are"
	case "would":
		return "will"
	}
	if base, rest := syntax.Contraction(s.At(i)); rest == "would" {
		return s.Text[s.Toks[i].Start:s.Toks[i].Start+len(base)] + "'ll" // "we'd meet"
	}
	return ""
}

// deniedWordZh returns a sentence that repeats and denies one of its own words, with the right word in its
// place: 牙医是周三四点 for 牙医是周三三点，不是三点，是四点. It returns "" if there is none.
func deniedWordZh(s syntax.Sentence) string {
	const most = 8 // characters of a word
	raw := strings.TrimRight(s.Raw(), "。！! ")
	before, after, ok := strings.Cut(strings.ReplaceAll(raw, ",", "，"), "，不是")
	wrong, right, is := strings.Cut(after, "是")
	wrong = strings.TrimRight(wrong, "， 而")
	right, rest := discourse.CutCommaZh(right)
	if right = syntax.TrimTails(right, "才对", "吧", "了"); rest != "" {
		rest = "，" + rest
	}
	i := strings.LastIndex(before, wrong)
	if n := utf8.RuneCountInString(wrong); !ok || !is || i < 0 || n < 2 && !strings.Contains(before, "对"+wrong) || wrong == "" || strings.Contains(right, wrong) || n > most || right == "" || utf8.RuneCountInString(right) > most || syntax.ContainsAny(before, "不", "没", "吗") || syntax.ContainsAny(right, "我", "你", "他", "她", "因为", "为了") || strings.HasSuffix(raw, "吗") {
		return ""
	}
	return before[:i] + right + before[i+len(wrong):] + rest
}

// saidBeforeZh are beginnings of what somebody said or thought before they learnt better.
var saidBeforeZh = []string{"跟你说过", "跟你说的是", "跟你说", "和你说", "告诉你", "跟你讲", "说的是", "说", "以为", "记得"}

// misledZh does the same as [misled] for a Chinese sentence: 我妹妹住在南昌 for 上次跟你说我妹妹住在南京，其实是南昌.
func misledZh(s syntax.Sentence, now timex.Moment) string {
	before, after, ok := strings.Cut(strings.ReplaceAll(strings.TrimRight(s.Raw(), "。！! "), ",", "，"), "，")
	said := syntax.TrimHeads(before, "不好意思", "我", "上次", "之前", "刚才", "前两天", "昨天", "那天", "我")
	said, told := syntax.CutHead(said, saidBeforeZh...)
	after = syntax.TrimHeads(after, "我", "说错了", "记错了", "搞错了", "弄错了", "错了", "，", "但", "结果")
	right, really := syntax.CutHead(after, "其实应该是", "其实是", "其实", "应该是", "实际上是", "实际是")
	if moved, ok := syntax.CutHead(syntax.TrimHeads(after, "现在", "他", "她", "对方", "临时", "又"), "改到", "改成", "改在", "改为"); ok {
		right, really = syntax.TrimTails(moved, "了"), true // 我跟你说过师傅周三来，他改到周五了
	}
	if first, _ := discourse.CutCommaZh(right); !told && really && strings.Contains(after, "其实") && !syntax.ContainsAny(before, "看", "像", "本来", "原来", "名义", "听", "说", "想", "觉得", "身份证", "户口", "以前") {
		said, told, right = before, true, first // 我家住六楼，其实是七楼，我说错了
	}
	if !ok || !told || !really || utf8.RuneCountInString(said) < 3 || syntax.ContainsAny(said+right, "不", "没", "吗", "你", "他", "她") || strings.Contains(right, "，") {
		return ""
	}
	all := syntax.Sentences(said + "，不对，是" + right)
	if len(all) != 1 {
		return ""
	}
	if text, ok := retakenZh(all[0], now); ok && text != "" {
		return text
	}
	first, n := utf8.DecodeRuneInString(right) // 属猴, 属鸡
	if i := strings.LastIndex(said, string(first)); i > 0 && len(right) > n && utf8.RuneCountInString(said[i:]) == utf8.RuneCountInString(right) {
		return said[:i] + right
	}
	return ""
}

// putRightByZh returns what a question supposes, corrected by what follows 不是 in its answer: 我妹妹在南昌 for
// 你妹妹在南京吧 and 不是，在南昌. It returns "" if the two do not fit.
func putRightByZh(asked, right string, now timex.Moment) string {
	right = syntax.TrimHeads(strings.TrimRight(right, "。！! "), "应该", "是", "住在", "住", "在")
	all := syntax.Sentences(syntax.TrimTails(asked, "对吧", "是吧", "吧", "对吗", "是吗", "吗", "啊", "，") + "，不对，" + right)
	if strings.ContainsAny(right, "，,我你他她不没") || len(all) != 1 || strings.Contains(asked, "是不是") {
		return ""
	}
	said, _ := retakenZh(all[0], now)
	return said
}
