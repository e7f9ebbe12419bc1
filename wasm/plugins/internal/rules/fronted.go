package rules

import (
	"strings"
	"unicode/utf8"

	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
)

// handed are verbs, in the past tense, for what somebody does with a thing, which may come before them: "the
// blue one we gave to Anna".
var handed = syntax.Set("gave given sold lent put left bought took taken returned sent posted moved donated passed borrowed swapped brought dropped")

// timely are nouns after which "I left for work" says which one is meant.
var timely = syntax.Set("day days week month year time night morning evening afternoon weekend summer winter moment minute hour way reason place people person man woman money")

// fronted reads a sentence whose object comes first, "the drill I lent to Tom", 旧沙发我送给我弟了, in the usual
// order. After another's question it names the thing that is meant, and says nothing of it.
func fronted(t *discourse.Talk, s syntax.Sentence) bool {
	if s.Ends == "?" || s.Ends == "？" {
		return false
	}
	said := ""
	if s.Chinese() {
		said = backZh(discourse.TrimZhEnd(syntax.StripLeadZh(s.Raw())))
	} else {
		said = back(s)
	}
	if said == "" {
		return false
	}
	if b := t.JustSaid(); b != nil && strings.ContainsAny(b.Text, "?？") && !s.Chinese() {
		t.Refuse("nothing", "names a thing, and says nothing of it", s.Start, s.End)
		return true // "What's missing?" "The letters I put in the drawer."
	}
	inOtherWords(t, s, said)
	return true
}

// back returns an English sentence with its object after the verb; "" if no object comes first.
func back(s syntax.Sentence) string {
	const most = 5 // tokens of the object
	if first := s.At(0); first != "the" && first != "that" && first != "those" && first != "my" && first != "our" {
		return ""
	}
	i := 1
	for ; ; i++ {
		base, _ := syntax.Contraction(s.At(i))
		if base == "i" || base == "we" || i > 1 && (s.At(i) == "my" || s.At(i) == "our") && syntax.Kin(s.At(i+1)) {
			break
		}
		if i > most || i >= len(s.Toks) || s.Toks[i].Kind != 'w' && s.Toks[i].Kind != 'n' || syntax.Preposition(s.At(i)) || syntax.Auxiliary(base) {
			return ""
		}
	}
	who := i
	base, rest := syntax.Contraction(s.At(i))
	i++
	if base != "i" && base != "we" {
		i++ // my sister
	} else if rest != "" && rest != "have" {
		return ""
	}
	for s.At(i) == "have" || s.At(i) == "already" || s.At(i) == "just" || s.At(i) == "finally" {
		i++
	}
	if who < 2 || timely[s.At(who-1)] || !handed[s.At(i)] || !syntax.Preposition(s.At(i+1)) && s.At(i+1) != "back" {
		return ""
	}
	for k := i + 1; k < len(s.Toks); k++ {
		base, rest := syntax.Contraction(s.At(k))
		_, past, _ := syntax.Lemma(s.At(k))
		if rest == "is" && k+1 < len(s.Toks) && (syntax.Adverb(s.At(k+1)) || s.At(k+1) == "not") || rest != "" && rest != "is" || syntax.Auxiliary(base) || past || syntax.PastForm(s.At(k)) || s.At(k) == "that" || s.At(k) == "who" {
			return "" // "the book I gave to Anna is great"
		}
		if k > i+2 && s.At(k) != "last" && syntax.Verbish(s.At(k)) && !syntax.Determiner(s.At(k-1)) && !syntax.Preposition(s.At(k-1)) && s.At(k-1) != "my" && s.At(k-1) != "our" && !s.Toks[k].Cap {
			return "" // "the letters I put in the drawer belong to Ben"
		}
	}
	subject := strings.ToUpper(s.At(who)[:1]) + s.Text[s.Toks[who].Start+1:s.Toks[i].End]
	return subject + " " + strings.ToLower(s.At(0)) + s.Text[s.Toks[0].End:s.Toks[who-1].End] + " " + s.Text[s.Toks[i+1].Start:s.End]
}

// backZh does the same for a Chinese sentence: 我把旧沙发送给我弟了 for 旧沙发我送给我弟了, 我在阳台上种了番茄 for
// 阳台上我种了番茄.
func backZh(x string) string {
	at := strings.Index(x, "我")
	if at <= 0 || strings.ContainsAny(x, "，,没不吗想") {
		return ""
	}
	what, rest := x[:at], x[at:]
	deed, _ := syntax.CutHead(rest, "我们", "我")
	who := rest[:len(rest)-len(deed)]
	if k := syntax.KinPrefixZh(deed); k != "" {
		who, deed = who+k, deed[len(k):]
	}
	deed = syntax.TrimHeads(deed, "已经", "早就", "都", "刚")
	if n := utf8.RuneCountInString(what); n < 2 || n > 8 || strings.ContainsAny(what, "你他她它谁说是在和跟给把被让帮替叫让的了这有") && !strings.HasSuffix(what, "色的") || syntax.KinPrefixZh(what) != "" || syntax.PersonZh(what) || syntax.VagueZh(what) {
		return ""
	}
	if syntax.EndsWithAny(what, []string{"上", "里", "边", "外面", "后面", "前面", "门口"}) && syntax.StartsWithAny(deed, []string{"种了", "挂了", "装了", "搭了", "摆了"}) {
		return who + "在" + what + deed
	}
	if !handedZh(deed) {
		return ""
	}
	return who + "把" + what + deed
}

// handedZh reports whether words say that something was sold or given away: 卖了八百块, 送给我弟了, 给了安娜.
func handedZh(deed string) bool {
	switch deed {
	case "卖了", "捐了", "送人了", "退了", "卖掉了", "给人了":
		return true
	}
	if sum, sold := strings.CutPrefix(deed, "卖了"); sold {
		return strings.Trim(sum, syntax.DigitsZh+"多元块钱") == ""
	}
	to, ok := syntax.CutHead(deed, "卖给了", "卖给", "送给了", "送给", "捐给了", "捐给", "寄给了", "寄给", "给了", "送", "给")
	if !ok || !strings.Contains(deed, "了") {
		return false
	}
	to = strings.TrimSuffix(to, "了")
	kin := strings.TrimPrefix(strings.TrimPrefix(to, "我们"), "我")
	return syntax.PersonZh(to) || discourse.ForeignZh(to) || to != "" && discourse.NeighbourZh(to) == to || kin != "" && (syntax.KinPrefixZh(kin) == kin || kin == "弟" || kin == "姐" || kin == "哥" || kin == "妹")
}
