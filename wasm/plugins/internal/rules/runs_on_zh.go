package rules

import (
	"strings"
	"unicode/utf8"
)

// Recognisers write Chinese without commas: 我把存折放在抽屉里了你别乱翻. Where a clause is over and another one begins,
// it is read as two.

// leastUnmarkedZh is how many words or characters a sentence has at least that is looked at for a second clause.
const leastUnmarkedZh = 10

// unmarkedZh reports a long sentence without a comma.
func (s *sentence) unmarkedZh() bool {
	if len(s.toks) < leastUnmarkedZh {
		return false
	}
	for i := range s.toks {
		if s.toks[i].kind == 'p' {
			return false
		}
	}
	return true
}

// linksZh begin another clause, whatever stands before them.
var linksZh = []string{"但是", "不过", "可是", "所以", "然后", "而且", "因为", "后来", "反正", "每次", "医生说", "医生让", "医生不让", "他说", "她说", "结果"}

// afterEndZh begin another clause where the one before ends in 了 or 啊.
var afterEndZh = []string{"别", "说是", "笑死", "气死", "幸好", "还好", "到时", "估计", "不然", "要不", "得", "花了", "现在", "今天", "明天"}

// runsOnZh reports whether a clause begins at token i, after another one that began at token first.
func (s *sentence) runsOnZh(first, i int) bool {
	const least = 4 // characters that the clause before has
	if i-first < least || len(s.toks)-i < 3 || s.toks[i].kind != 'c' {
		return false
	}
	switch prev := s.at(i - 1); s.at(i) {
	case "但", "不", "可", "所", "然", "而", "因", "后", "反", "每", "医", "他", "她", "结":
		word, n := prefixZh(*s, i, linksZh...)
		switch after := s.at(i + n); {
		case n == 0 || strings.Contains(s.text[s.toks[first].start:s.toks[i].start], "说"): // 医生说我不能喝酒，所以…
		case word == "不过" && (strings.Contains("只再最", prev) || strings.Contains("敏期关分年节", after)),
			word == "所以" && prev == "之", word == "因为" && (prev == "是" || prev == "就"), word == "后来" && prev == "以",
			word == "结果" && (strings.Contains("的查试出个是等看", prev) || after == "出" || after == "还"),
			(word == "他说" || word == "她说" || word == "医生说") && strings.Contains("是听跟和的让给对", prev):
		default:
			return true
		}
	}
	return s.endsZh(i-1) && s.beginsZh(i) || s.ofKinZh(i)
}

// ofKinZh reports a relative at token i of whom a new clause tells: 我老公喜欢 of 我喜欢喝普洱我老公喜欢喝咖啡.
func (s *sentence) ofKinZh(i int) bool {
	if s.at(i) != "我" || strings.Contains("给跟和与带陪帮让叫是对像替为找送接问教请把被比在去到从见看想爱打骂欢诉顾养助求望谢的说住等借还", s.at(i-1)) {
		return false
	}
	_, n := prefixZh(*s, i+1, kinZh[:]...)
	if n == 0 {
		return false
	}
	_, verb := prefixZh(*s, i+1+n, "今年", "喜欢", "不", "也", "在", "是", "有", "要", "会", "去", "住", "对", "刚", "已经", "都", "还", "最近", "昨天", "今天", "明天", "下周", "叫", "姓", "爱")
	return verb > 0
}

// endsZh reports a 了, 啊 or the like at token i that ends a clause, and stands in none: 了 of 忘了我已经吃过 does not.
func (s *sentence) endsZh(i int) bool {
	switch s.at(i) {
	case "啊", "呢", "吧", "嘛", "呀":
		return true
	case "了":
		return s.at(i-1) != "" && !strings.Contains("忘知听发看以除为见告给打骂问叫帮等陪送借找爱恨怪靠", s.at(i-1))
	}
	return false
}

// beginsZh reports words at token i that begin a clause: 我已经, 你别, 笑死.
func (s *sentence) beginsZh(i int) bool {
	switch s.at(i) {
	case "我", "你", "您", "他", "她", "咱":
		next := s.at(i + 1 + boolInt(s.at(i+1) == "们"))
		return next != "" && strings.Contains("已得要想喜爱最还就也都先再没不别怎是可会能去来请把在给跟有觉说打买昨今明后下上这那真才又老现刚准必自", next)
	}
	_, n := prefixZh(*s, i, afterEndZh...)
	return n > 0
}

// spacedZh puts a comma for each space of a Chinese text that has no other marks, where recognisers write a space between
// clauses: 奶茶三分糖 我一直都喝这个. Those that write one between words have shorter pieces. Offsets stay.
func spacedZh(text string) string {
	const least = 3 // characters that the pieces have on average
	parts := strings.Split(strings.TrimRight(text, "。！？!?. "), " ")
	if len(parts) < 2 || strings.ContainsAny(text, "，,、；：") {
		return text
	}
	n := 0
	for _, part := range parts {
		last, _ := utf8.DecodeLastRuneInString(part)
		if first, _ := utf8.DecodeRuneInString(part); !isHan(first) || !isHan(last) {
			return text
		}
		n += utf8.RuneCountInString(part)
	}
	if n < least*len(parts) {
		return text
	}
	at := len(strings.Join(parts, " "))
	return strings.ReplaceAll(text[:at], " ", ",") + text[at:]
}
