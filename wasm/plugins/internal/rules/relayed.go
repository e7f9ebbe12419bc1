package rules

import (
	"strings"

	"github.com/locket-dev/locket/wasm/plugins/internal/rules/chinese"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/noted"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/timex"
)

// If somebody tells the speaker something about the speaker, it is the speaker's: "Anna says my
// flight leaves at six", 妈妈说我的航班六点起飞. It is read without the source, which is then added after it.

// relays are verbs of telling, and whether the person who was told must follow.
var relays = map[string]bool{"say": false, "said": false, "says": false, "confirmed": false, "confirms": false, "mentioned": false, "mentions": false, "told": true, "tells": true, "reminded": true, "reminds": true, "texted": true, "informed": true}

// relayed takes a sentence in which somebody else says when or where something of the speaker's is.
// Anything else that they say about the speaker is noted as said. It reports whether the sentence
// is one.
func relayed(t *discourse.Talk, s syntax.Sentence) bool {
	if s.Ends == "?" || s.Ends == "？" || discourse.Conditioned(s) {
		return false
	}
	who, at := relayer(t, s)
	if s.Chinese() {
		who, at = relayerZh(t, s)
	}
	switch at {
	case 0:
		return false
	case -1:
		t.Refuse("story", "what somebody else says, perhaps of themselves", s.Start, s.End)
		return true
	}
	from, refused := len(t.Out.Candidates), len(t.Out.Refusals)
	sentence(t, s.Sub(at, len(s.Toks)))
	t.Said = s
	kept := t.Out.Candidates[:from]
	for _, c := range t.Out.Candidates[from:] {
		if c.Negates && c.Kind != "cancellation" || discourse.PartOf(&c) != discourse.Plans && c.Kind != "event" && c.Kind != "place" && !((c.Kind == "health" || c.Kind == "allergy") && (c.Lang == "zh" && chinese.ByDoctor(who) || c.Lang == "en" && byDoctor(who))) {
			continue
		}
		if c.Lang == "zh" {
			c.Text = strings.TrimSuffix(c.Text, "。") + "（" + who + "说）。"
		} else {
			c.Text = strings.TrimSuffix(c.Text, ".") + ", " + who + "."
		}
		c.Confidence -= 0.1
		for k := range c.Spans {
			if c.Spans[k].Turn == 0 {
				c.Spans[k].Start, c.Spans[k].End = s.Start, s.End
			}
		}
		kept = append(kept, c)
	}
	if t.Out.Candidates = kept; len(kept) == from {
		t.Out.Refusals = t.Out.Refusals[:refused]
		if t.Part != discourse.Facts || !advised(t, s) && !noted.Note(t, s) {
			t.Refuse("nothing", "says nothing that a rule knows", s.Start, s.End)
		}
	}
	return true
}

// relayer returns the source of what follows from token at on; at is 0 if there is none, or if what
// follows is not about the speaker.
func relayer(t *discourse.Talk, s syntax.Sentence) (who string, at int) {
	i := 0
	for i < len(s.Toks) && (s.Toks[i].Kind == 'p' || syntax.Lead(s.At(i))) {
		i++
	}
	first := i
	switch w := s.At(i); {
	case w == "my" || w == "our" || w == "the":
		for i++; i < first+4 && !syntax.Kin(s.At(i)) && !syntax.Profession(s.At(i)) && !discourse.Trade(s.At(i)); i++ {
		}
		if i++; i > first+4 {
			return "", 0
		}
		if i < len(s.Toks) && s.Toks[i].Cap && syntax.NameWord(s.At(i)) {
			i++ // my sister Anna
		}
	case syntax.Kin(w):
		i++
	case i < len(s.Toks) && s.Toks[i].Cap && syntax.NameWord(w) && !strings.HasSuffix(w, "'s"):
		for i < first+3 && i < len(s.Toks) && s.Toks[i].Cap {
			i++
		}
	default:
		return "", 0
	}
	told, known := relays[s.At(i)]
	medical := i > first && (medics[s.At(i-1)] || s.At(first) == "dr" || s.At(first) == "doctor")
	if !known && !(medical && (s.At(i) == "reckons" || s.At(i) == "thinks")) {
		return "", 0
	}
	who = strings.TrimSpace(s.Text[s.Toks[first].Start:s.Toks[i-1].End])
	switch w := s.At(first); {
	case w == "my" || w == "our":
		who = discourse.Possessive(t.Self.Name) + who[len(w):]
	case w == "the":
		who = "the" + who[len(w):]
	case syntax.Kin(w):
		who = discourse.Possessive(t.Self.Name) + " " + w
	}
	if i++; told || s.At(i) == "to" && (s.At(i+1) == "me" || s.At(i+1) == "us") {
		if s.At(i) == "to" {
			i++
		}
		if s.At(i) != "me" && s.At(i) != "us" {
			return "", 0
		}
		i++
	}
	says := " says"
	if !known {
		says = " thinks"
	}
	if w, ok := timex.WhenAt(s, i, t.Now); ok && w.HasDay && !w.Habit {
		w.Past(t.Now)
		says = " said " + s.Text[s.Toks[i].Start:s.Toks[w.Next-1].End] + " (" + w.English() + ")"
		i = w.Next
	}
	who += says
	if s.At(i) == "that" {
		i++
	}
	switch base, _ := syntax.Contraction(s.At(i)); base {
	case "my", "our", "i", "we":
		return who, i
	case "the":
		for k := i + 1; k < i+4; k++ {
			w, _ := syntax.Contraction(s.At(k))
			if _, event := syntax.EventNoun(w); event && !syntax.Profession(w) {
				return who, i
			}
		}
	default:
		if i < len(s.Toks) && medical && s.Toks[i].Cap && syntax.NameWord(base) {
			return who, i // "the vet says Biscuit has arthritis"
		}
	}
	return "", 0
}

// medics are people whose word about somebody's health counts.
var medics = syntax.Set("doctor gp vet dentist physio physiotherapist consultant surgeon cardiologist dermatologist allergist paediatrician pediatrician nurse optician oncologist midwife specialist neurologist psychiatrist")

// byDoctor reports whether a source is one of them: "the vet says".
func byDoctor(who string) bool {
	who, _, _ = strings.Cut(strings.ToLower(who), " sa")
	who = strings.TrimSuffix(who, " thinks")
	return medics[discourse.Last(who)] || strings.HasPrefix(who, "dr ") || strings.HasPrefix(who, "doctor ")
}

// relayerZh does the same in Chinese; it returns -1 if 我 may be the source's own: 小李说，我周五去北京.
func relayerZh(t *discourse.Talk, s syntax.Sentence) (who string, at int) {
	raw := s.Raw()
	x := syntax.StripLeadZh(raw)
	if toldOther(x) {
		return "", -1
	}
	own := strings.TrimPrefix(strings.TrimPrefix(x, "我的"), "我")
	who = syntax.KinPrefixZh(own)
	rest := strings.TrimPrefix(own, who)
	if who == "" {
		for _, n := range [...]int{9, 6} { // a name of three characters, or of two
			if len(x) > n && syntax.PersonZh(x[:n]) && syntax.StartsWithAny(x[n:], []string{"说", "告诉我", "提醒我", "通知我", "跟我说", "和我说"}) {
				who, rest = x[:n], x[n:]
				break
			}
		}
	} else {
		who = t.Self.Name + "的" + who
	}
	if office, inner := chinese.Announced(x); inner != "" {
		for at < len(s.Toks) && s.Toks[at].Start < s.Start+len(raw)-len(inner) {
			at++
		}
		if own, ok := strings.CutPrefix(strings.TrimPrefix(office, "我们"), "我"); ok {
			office = t.Self.Name + "的" + own
		}
		return strings.TrimPrefix(office, "我们"), at % max(1, len(s.Toks))
	}
	if who == "" {
		return "", 0
	}
	for _, says := range [...]string{"跟我说", "和我说", "对我说", "告诉我说", "告诉我", "提醒我", "通知我", "说了", "说"} {
		inner, ok := strings.CutPrefix(rest, says)
		if !ok {
			continue
		}
		if chinese.ByDoctor(who) {
			inner = strings.TrimPrefix(inner, "，") // 医生说，我血压偏高
		}
		if strings.HasPrefix(inner, "，我") || strings.HasPrefix(inner, ",我") {
			return who, -1
		}
		if _, word := chinese.EventIn(inner); !strings.HasPrefix(inner, "我") && !strings.HasPrefix(inner, "咱") && (word == "" || !strings.HasPrefix(inner, word)) {
			return "", 0
		}
		for at < len(s.Toks) && s.Toks[at].Start < s.Start+len(raw)-len(inner) {
			at++
		}
		if at == len(s.Toks) {
			at = 0
		}
		return who, at
	}
	return "", 0
}

// toldOther reports whether somebody else is quoted with what they say of themselves, without marks:
// 她跟他说，我有三个孩子.
func toldOther(x string) bool {
	head, inner := discourse.CutCommaZh(x)
	head, says := syntax.CutEnd(head, "说", "说过", "说道", "讲")
	if !says || !strings.HasPrefix(inner, "我") || len([]rune(head)) > 10 {
		return false
	}
	rest, _ := discourse.CutOwnZh(head)
	k := syntax.KinPrefixZh(rest)
	who := rest[len(k):]
	if chinese.ByDoctor(k) {
		return false
	}
	if k == "" {
		if who = strings.TrimLeft(head, "他她们"); who == head {
			who = strings.TrimPrefix(head, discourse.NamePrefixZh(head))
		}
		if who == head {
			return false // 老实说，我不喜欢
		}
	}
	return who == "" || syntax.StartsWithAny(who, []string{"跟", "对", "和", "向", "就", "总", "老", "还"})
}

// latinNameZh returns the name in Latin letters at the beginning of a Chinese text, or "".
func latinNameZh(x string) string {
	name := x[:len(x)-len(strings.TrimLeft(x, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"))]
	if len(name) < 3 || name[0] > 'Z' {
		return ""
	}
	return name
}

// intendsZh are beginnings of what somebody says that they do or intend: 老周说他不想续合同了.
var intendsZh = []string{"不想", "不打算", "不干", "准备", "打算", "决定", "换工作", "换了", "辞", "搬"}

// saysOfZh notes what a person close to the speaker says about another: 我妈说大姨要卖房子.
func saysOfZh(t *discourse.Talk, s syntax.Sentence) bool {
	x := syntax.StripLeadZh(strings.Trim(s.Raw(), " ，,。！!"))
	rest, own := discourse.CutOwnZh(x)
	who := syntax.KinPrefixZh(rest)
	if !own && len([]rune(who)) < 2 || who == "" {
		who = discourse.NamePrefixZh(x)
		if rest = x; who == "" {
			who = latinNameZh(x)
		}
	}
	said := strings.TrimPrefix(strings.TrimPrefix(rest[len(who):], "跟我"), "和我")
	inner, ok := strings.CutPrefix(said, "说")
	if n := len([]rune(inner)); who == "" || !ok || n < 5 || n > 24 || syntax.ContainsAny(inner, "我", "咱", "你", "您", "吗", "可能", "好像", "也许", "如果", "不定", "，他说", "，她说") || noted.UndecidedZh(inner) {
		return false
	}
	of := strings.TrimLeft(inner, "他她")
	if k := syntax.KinPrefixZh(of); (k == "" || len([]rune(k)) < 2 && of == inner) && !(of != inner && syntax.StartsWithAny(of, intendsZh)) {
		if discourse.NamePrefixZh(of) == "" || of != inner {
			return false
		}
	}
	if !syntax.ContainsAny(inner, "要", "会", "准备", "打算", "了", "生", "搬", "结婚", "离婚", "在", "是") {
		return false
	}
	t.Out.Candidates = append(t.Out.Candidates, t.NoteZh(s))
	return true
}
