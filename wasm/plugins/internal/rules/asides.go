package rules

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/locket-dev/locket/wasm/abi"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
)

// An aside is what somebody puts into a sentence in brackets, between dashes or between commas: "I'm
// allergic to nuts (badly) and to shellfish". One that only comments is left out. One that puts
// something right is read like words between commas. If one takes back what is around it, nothing
// is kept. All others stay.

// maxAside bounds an aside, in bytes.
const maxAside = 60

// idle are the words of asides that only comment.
const idle = " ugh yay ouch phew wow oh god gosh yikes argh grr sigh hooray woohoo lol haha hm meh yuck finally at last badly severely seriously really very quite pretty so extremely terribly awfully " +
	"a bit slightly mildly annoyingly sadly luckily thankfully unfortunately obviously of course naturally typically thank thanks goodness bless him her them lucky poor me thing love as always usual ever " +
	"the horror nightmare what pain too long story honestly truly frankly actually great fun brilliant lovely angel bad better worse exciting scary horrible awful amazing crazy all again both yes please ha "

// idleOnes are whole asides that only comment, also between commas.
const idleOnes = "|you know|like|ugh|honestly|basically|literally|bless him|bless her|bless them|what's it called|let me think|oh god|thank god|thankfully|luckily|sadly|finally|annoyingly|obviously|of course|as always|as usual|" +
	"not badly|not seriously|not severely|you know what i mean|don't ask|don't laugh|believe it or not|i know|at all|" +
	"唉|哎|哎呀|哈哈|嗯|呃|终于|总算|万幸|真是的|烦人|烦死了|气死我了|气死了|苦笑|捂脸|那个|怎么说呢|你知道的|你懂的|对|谢天谢地|还好|幸好|幸亏|可惜|拜托|无语|严重|轻微|不严重|不太严重|不算严重|轻度|重度|好烦|"

// corrections are words with which an aside begins that says something else, and moves those after
// which it only says to what.
var (
	corrections = [...]string{"no, ", "no wait", "wait, no", "i mean ", "or rather ", "make that ", "不对", "不是", "哦不", "错了", "说错了"}
	moves       = [...]string{"sorry, ", "moved to ", "now on ", "now "}
)

// unsaid are asides that take back what is around them.
const unsaid = "|not any more|not anymore|no longer|not now|not really|not true|she says|he says|they say|so she says|so he says|so they say|or so she says|or so he says|or so they say|allegedly|used to|formerly|cancelled|canceled|postponed|" +
	"called off|yeah right|as if|i wish|if only|in my dreams|supposedly|well not any more|well not really|or not|no|" +
	"骗你的|骗人的|假的|才怪|以前|曾经|取消了|已取消|黄了|泡汤了|作废|没有|并没有|不是|"

// hedges are asides that only make a list less certain.
const hedges = "|i think|i believe|i guess|i suppose|"

// marks are those around an aside.
var marks = [...][2]string{{"(", ")"}, {"（", "）"}, {"（", ")"}, {"(", "）"}, {"——", "——"}, {" — ", " — "}, {" – ", " – "}, {" - ", " - "}, {"—", "—"}, {", ", ","}, {"，", "，"}}

// cut is a place of a text at which bytes were left out.
type cut struct{ at, n int }

// endsBefore joins a withdrawal to the sentence before it: "I live in Leeds. Not any more though." All
// bytes keep their places.
func endsBefore(text string) string {
	for _, said := range [...]string{" Not any more", " Not anymore", " But not any more", " But not anymore", " Well, not any more", " Well, not anymore"} {
		if i := strings.Index(text, said); i > 0 && text[i-1] == '.' {
			text = text[:i-1] + ", " + strings.ToLower(said[1:2]) + text[i+2:]
		}
	}
	for _, or := range [...]string{" Or ", " Well, "} {
		i := strings.Index(text, or)
		if i < 1 || text[i-1] != '.' {
			continue
		}
		said := strings.TrimPrefix(text[i+len(or):], "at least ")
		who, did, _ := strings.Cut(said, " ")
		did, _, _ = strings.Cut(did, ".")
		was, when, _ := strings.Cut(did, " ")
		if syntax.SubjectPronoun(strings.ToLower(who)) && ((was == "did" || was == "was") && (when == "" || syntax.StartsWithAny(when, []string{"until ", "till ", "before ", "once", "last ", "back "})) || was == "used" && when == "to") {
			text = text[:i-1] + ", " + strings.ToLower(or[1:2]) + text[i+2:]
		}
	}
	return text
}

// withoutAsides leaves out asides that only comment, and puts a comma before corrections. It returns
// the text with the places of what it left out.
func withoutAsides(text string) (string, []cut) {
	if len(text) > syntax.MaxBefore || !strings.ContainsAny(text, "(（—–-,，") {
		return text, nil
	}
	var cuts []cut
	said, from := "", 0
	leave := func(i, end int, with string) {
		said += text[from:i] + with
		cuts = append(cuts, cut{len(said), end - i - len(with)})
		from = end
	}
	for i := 0; i < len(text); i++ {
		if c := text[i]; c < utf8.RuneSelf && c != '(' && c != ' ' && c != ',' {
			continue
		}
		open, end := asideAt(text, i)
		if end == 0 {
			continue
		}
		shut := len(open)
		switch open {
		case "(", "（":
			_, shut = utf8.DecodeRuneInString(text[end:])
		case ", ":
			shut = 1
		case " — ", " – ", " - ":
			shut-- // the space after it stays
		}
		inner := text[i+len(open) : end]
		comma := open == ", " || open == "，"
		switch {
		case comments(said+text[from:i], inner, text[end+shut:], comma):
			leave(i, end+shut, "")
		case comma:
			continue
		case syntax.HasHan(inner) && syntax.StartsWithAny(inner, corrections[:]):
			leave(i, i+len(open), "，")
			leave(end, end+shut, "")
		default:
			said, moved := syntax.CutHead(strings.ToLower(inner), moves[:]...)
			with := ", "
			if moved && len(said) < len(inner) && strings.Count(said, " ") < 2 && !strings.HasPrefix(said, "and ") {
				with = ", no, sorry, "
			} else if moved || !syntax.StartsWithAny(said, corrections[:]) || len(said) != len(inner) {
				continue
			}
			leave(i-syntax.BoolInt(i > 0 && text[i-1] == ' '), end-len(said), with)
			leave(end, end+shut, "")
		}
		i = from - 1
	}
	return said + text[from:], cuts
}

// asSaid gives the spans of out the offsets that they have in the text before the cuts.
func asSaid(out *abi.Output, cuts []cut) {
	if len(cuts) == 0 {
		return
	}
	said := func(at, of int) int {
		for _, c := range cuts {
			if c.at <= of {
				at += c.n
			}
		}
		return at
	}
	restore := func(s *abi.Span) {
		end := max(s.Start, s.End-1) // what is left may be empty
		s.Start, s.End = said(s.Start, s.Start), said(s.End, end)
	}
	for i := range out.Candidates {
		c := &out.Candidates[i]
		c.Spans = slices.Clone(c.Spans) // some candidates share them
		for k := range c.Spans {
			if s := &c.Spans[k]; s.Turn == 0 {
				restore(s)
			}
		}
	}
	for i := range out.Refusals {
		restore(&out.Refusals[i].Span)
	}
}

// asideAt returns the mark with which an aside opens at a byte of a text, and the byte at which it
// is closed; 0 if none opens.
func asideAt(text string, i int) (string, int) {
	for _, m := range marks {
		if !strings.HasPrefix(text[i:], m[0]) {
			continue
		}
		from := i + len(m[0])
		n := strings.Index(text[from:min(len(text), from+maxAside)], m[1])
		if n > 0 && !strings.ContainsAny(text[from:from+n-1], ".!?;\n。！？；") {
			return m[0], from + n
		}
	}
	return "", 0
}

// comments reports whether the text between before and after only comments.
func comments(before, inner, after string, comma bool) bool {
	said := strings.ToLower(strings.Trim(inner, " .!…！。~"))
	words := strings.Fields(said)
	before = strings.TrimRight(before, " ")
	at := strings.LastIndexByte(before, ' ') + 1
	last := strings.ToLower(before[at:])
	whole := said == "" && !comma || len(words) > 0 && strings.Contains(idleOnes, "|"+said+"|")
	if syntax.HasHan(inner) {
		return commentsZh(before, said, after, whole, comma)
	}
	one := len(words) > 1 && len(words) < 5 && words[0] == "the" && words[len(words)-1] == "one"
	next, _, _ := strings.Cut(strings.TrimLeft(after, " "), " ")
	next = strings.TrimRight(next, ",.!")
	base, is := syntax.Contraction(last)
	open := syntax.Preposition(last) || syntax.Determiner(last) || is == "am" || is == "are" || is == "is" && syntax.SubjectPronoun(base)
	switch base, _ := syntax.Contraction(strings.ToLower(next)); {
	case !comma:
	case next == "" || last == "" || last == "which":
		return false
	case open:
		return whole || said == "well" || said == "actually"
	case (whole || strings.Contains(hedges, "|"+said+"|")) && listedNext(after):
		return before[at] >= 'a' // not after a name
	case syntax.SubjectPronoun(base) || syntax.Determiner(base) || discourse.Pronoun(base) || syntax.Joins[base] || next[0] >= 'A' && next[0] <= 'Z':
		return false
	default:
		return (whole || one && syntax.Kin(last)) && said != "like"
	}
	if whole || one || syntax.Kin(last) && len(words) > 1 && len(words) < 4 && (words[0] == "a" || words[0] == "an" || words[0] == "from") {
		return true
	}
	if n, ok := syntax.Number(said); ok && n > 0 && n < 120 && syntax.Kin(last) {
		return true
	}
	idles := len(words) > 0
	for _, w := range words {
		idles = idles && strings.Contains(idle, " "+strings.Trim(w, ",!")+" ")
	}
	if idles || strings.Contains(hedges, "|"+said+"|") && listedNext(after) {
		return true
	}
	if len(words) == 2 && words[0] == "not" && !strings.Contains(unsaid, "|"+said+"|") {
		words = words[1:] // "nuts (not peanuts) and cats"
	}
	return listedNext(after) && !slices.ContainsFunc(words, func(w string) bool {
		base, is := syntax.Contraction(w)
		return is != "" || syntax.SubjectPronoun(base) && base != "it" || syntax.Joins[w] && (w != "and" || w == words[0]) || syntax.Determiner(w) || strings.Contains(" not never or except only maybe probably perhaps hopefully if was used sorry wait until till ", " "+base+" ")
	})
}

// listedNext reports whether a text continues a list: "and to cats".
func listedNext(after string) bool {
	words := strings.Fields(strings.ToLower(syntax.Cut(after, maxAside)))
	if len(words) < 2 || words[0] != "and" && words[0] != "or" {
		return false
	}
	then, _ := syntax.Contraction(words[1])
	return !syntax.SubjectPronoun(then) && (!syntax.Determiner(then) || then == "a" || then == "an" || then == "some")
}

// commentsZh is [comments] in Chinese.
func commentsZh(before, said, after string, whole, comma bool) bool {
	said = strings.TrimPrefix(said, "特别")
	short := utf8.RuneCountInString(said) <= 6 && !syntax.ContainsAny(said, "不", "没", "别", "非", "假", "骗", "玩笑", "说", "听", "据", "前", "曾", "原来", "取消", "改", "可能", "好像", "大概", "也许", "估计", "应该")
	if comma {
		next, _ := utf8.DecodeRuneInString(after)
		return whole && said != "对" && said != "可惜" && !syntax.EndsWithAny(before, []string{"了", "啊", "吧", "呢", "吗", "的"}) && !strings.ContainsRune("我你他她它咱这那 ", next)
	}
	switch {
	case whole:
		return true
	case !short:
		return false
	case syntax.StartsWithAny(said, []string{"挺", "很", "严重", "非常", "超", "有点", "好", "真", "太", "巨", "比较", "相当"}):
		return true
	case strings.HasPrefix(said, "那") && strings.HasSuffix(said, "的"):
		return true
	case syntax.EndsWithAny(said, []string{"的", "那个", "岁"}) || strings.HasPrefix(said, "老"):
		return slices.ContainsFunc(syntax.KinZh[:], func(kin string) bool { return strings.HasSuffix(before, kin) })
	}
	return syntax.StartsWithAny(strings.TrimLeft(after, " "), []string{"和", "跟", "、", "还有"})
}

// takesBackAround reports whether an aside takes back what is said around it: "I live in Leeds (not
// any more)".
func takesBackAround(s syntax.Sentence) bool {
	for i := range s.Toks {
		if s.Toks[i].Kind != 'p' || !strings.Contains("(（—–-", s.At(i)) {
			continue
		}
		j := i + 1
		for s.At(j) == s.At(i) {
			j++
		}
		k := j
		for k < len(s.Toks) && !strings.Contains(")）—–-", s.At(k)) {
			k++
		}
		if k == j {
			continue
		}
		said := strings.ToLower(strings.ReplaceAll(s.Text[s.Toks[j].Start:s.Toks[k-1].End], ",", ""))
		zh := strings.HasSuffix(said, "了") && syntax.ContainsAny(said, "不", "没") && len(said) < 22 && !syntax.ContainsAny(said, "受不了", "不得了", "忍不住") || strings.HasSuffix(said, "说的")
		zh = zh || strings.HasSuffix(said, "好了") && syntax.ContainsAny(said, "早", "已经")
		if zh || syntax.StartsWithAny(said, []string{"actually no", "well ", "or was "}) || strings.Contains(unsaid, "|"+said+"|") {
			return true
		}
	}
	return endedZh(s.Text)
}

// untilThenZh are ends of a correction that says that something was so up to a time: 五月之前是.
var untilThenZh = []string{"之前", "以前", "之前是", "以前是", "之前在", "以前在", "为止"}

// endedZh reports whether the end of a text says that what it says is no longer so: 我住在成都，不过现在不住了;
// 我在华为上班，或者说以前在.
func endedZh(text string) bool {
	text = strings.TrimRight(text, "。！!~ ")
	i := strings.LastIndex(text, "，")
	if i < 0 {
		return false
	}
	if said, or := syntax.CutHead(text[i+len("，"):], "或者说", "应该说", "准确说", "确切地说", "不对"); or && (syntax.StartsWithAny(strings.TrimPrefix(said, "是"), []string{"以前", "之前", "曾经", "原来", "过去"}) || utf8.RuneCountInString(said) < 12 && syntax.EndsWithAny(said, untilThenZh)) {
		return true
	}
	if !strings.HasSuffix(text, "了") {
		return false
	}
	said, _ := syntax.CutHead(text[i+len("，"):], "不过", "但是", "可是", "只是", "但", "可")
	said, _ = syntax.CutHead(said, "我", "他", "她")
	said, now := syntax.CutHead(said, "现在", "如今", "早已", "早就", "已经")
	verb, no := strings.CutPrefix(strings.TrimSuffix(said, "了"), "不")
	return now && no && verb != "" && utf8.RuneCountInString(verb) < 3 && (verb == "干" || strings.Contains(text[:i], verb))
}
