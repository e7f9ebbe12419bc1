package syntax

import "strings"

// BesideAt returns the second comma of "Emma, my niece, turned five", whose first one is token i of
// a clause that begins at token first; 0 if there is none.
func (s Sentence) BesideAt(first, i int) int {
	if s.At(i) != "," || s.At(i+1) != "my" && s.At(i+1) != "our" || i == first || !s.Toks[i-1].Cap || !NameWord(s.At(i-1)) {
		return 0
	}
	for k := first; k < i; k++ {
		if !s.Toks[k].Cap && s.Toks[k].Kind != 'p' && !Lead(s.At(k)) && !beforeNames[s.At(k)] {
			return 0
		}
	}
	for k := i + 2; k < min(len(s.Toks)-1, i+6); k++ {
		if s.At(k) == "," {
			noun, next := s.At(k-1), s.At(k+1)
			if (Kin(noun) || Pet(noun) || Offspring[noun]) && (Verbish(next) || Adverb(next) || PastForm(next) || next == "no" && s.At(k+2) == "longer") {
				return k
			}
			return 0
		}
	}
	return 0
}

// afterKind returns the token after "the driving" in "the driving licence and the sofa": a word that
// says of what kind a thing is, and no verb. It returns first if there is none.
func (s Sentence) afterKind(first int) int {
	for Lead(s.At(first)) {
		first++
	}
	if _, _, ing := Lemma(s.At(first + 1)); ing && Determiner(s.At(first)) && s.At(first+2) != "and" && !Verbish(s.At(first+2)) {
		return first + 2
	}
	return first
}

// beforeNames may be before the name with which a sentence begins.
var beforeNames = Set("last this next on in yesterday today tonight")

// bidsAt reports whether "so" at token i is before what somebody should do because of what was said
// before: "so watch your toes".
func (s Sentence) bidsAt(first, i int) bool {
	before, rest := Contraction(s.At(i - 1))
	return bidden[s.At(i+1)] && i > first && rest != "is" && !Auxiliary(before) && s.verbIn(first, i)
}

// bidden are things that people tell others to do, and not words that "so" may describe.
var bidden = Set("don't please help watch mind remember let use ask call ring text check look take leave make bring be keep tell feel")

// asksAt reports whether a request is at token i of a line without marks: "I put the keys in the
// drawer can you check".
func (s Sentence) asksAt(first, i int) bool {
	if w := s.At(i); s.At(i+1) != "you" || w != "could" && w != "can" && w != "would" || s.Ends != "" || i < first+3 {
		return false
	}
	before := s.At(i - 1)
	return s.Toks[i-1].Kind != 'p' && !Lead(before) && !Askers[before] && !Auxiliary(before) && !Determiner(before) && before != "that" && before != "if" && before != "as" && s.verbIn(first, i)
}

// Speech recognition writes Chinese without commas: 我把存折放在抽屉里了你别乱翻. Where one clause ends and
// another one begins, the sentence is read as two.

// leastUnmarkedZh is the least number of words or characters of a sentence that is searched for a
// second clause.
const leastUnmarkedZh = 10

// unmarkedZh reports whether a sentence is long and has no comma.
func (s *Sentence) unmarkedZh() bool {
	if len(s.Toks) < leastUnmarkedZh {
		return false
	}
	for i := range s.Toks {
		if s.Toks[i].Kind == 'p' {
			return false
		}
	}
	return true
}

// linksZh are words that begin another clause, whatever comes before them.
var linksZh = []string{"其实", "但是", "不过", "可是", "所以", "然后", "而且", "因为", "后来", "反正", "每次", "医生说", "医生让", "医生不让", "他说", "她说", "结果"}

// afterEndZh are words that begin another clause if the previous one ends in 了 or 啊.
var afterEndZh = []string{"别", "说是", "笑死", "气死", "幸好", "还好", "到时", "估计", "不然", "要不", "得", "花了", "现在", "今天", "明天", "明年"}

// announcesZh are words that begin another clause after a 了: 报修了师傅说明天来.
var announcesZh = []string{"物业说", "师傅说", "老师说", "大夫说", "房东说", "公司说", "学校说", "中介说", "客服说", "老板说", "领导说", "对方说", "人家说"}

// runsOnZh reports whether a clause begins at token i, after another one that began at token first.
func (s *Sentence) runsOnZh(first, i int) bool {
	least := 4 // least number of characters of the previous clause
	_, links := PrefixZh(*s, i, "不过", "但是", "可是", "所以")
	if _, told := PrefixZh(*s, i, announcesZh...); links > 0 || told > 0 {
		least = 2 // 六点不过一般七点才走
	}
	if i-first < least || len(s.Toks)-i < 3 || s.Toks[i].Kind != 'c' {
		return false
	}
	switch prev := s.At(i - 1); s.At(i) {
	case "其", "但", "不", "可", "所", "然", "而", "因", "后", "反", "每", "医", "他", "她", "结":
		word, n := PrefixZh(*s, i, linksZh...)
		switch after := s.At(i + n); {
		case n == 0 || strings.Contains(s.Text[s.Toks[first].Start:s.Toks[i].Start], "说"): // 医生说我不能喝酒，所以…
		case word == "不过" && (strings.Contains("只再最", prev) || strings.Contains("敏期关分年节", after)),
			word == "其实" && strings.Contains("并不也都很没是就挺", after), word == "所以" && prev == "之", word == "因为" && (prev == "是" || prev == "就"), word == "后来" && prev == "以",
			word == "结果" && (strings.Contains("的查试出个是等看", prev) || after == "出" || after == "还"),
			(word == "他说" || word == "她说" || word == "医生说") && strings.Contains("是听跟和的让给对", prev):
		default:
			return true
		}
	}
	if s.At(i-1) == "岁" && !strings.Contains(s.At(i), "了") && s.At(i) != "半" && strings.Contains(s.Text[s.Toks[i].Start:s.End], "岁") {
		return true // 我儿子六岁三月就七岁了
	}
	return s.endsZh(i-1) && s.beginsZh(i) || s.ofKinZh(i)
}

// ofKinZh reports whether a relative is at token i about whom a new clause is: 我老公喜欢 in
// 我喜欢喝普洱我老公喜欢喝咖啡.
func (s *Sentence) ofKinZh(i int) bool {
	liked := s.At(i-1) == "的" && strings.Contains(s.Text[s.Start:s.Toks[i].Start], "喜欢")
	if s.At(i) != "我" || !liked && strings.Contains("给跟和与带陪帮让叫是对像替为找送接问教请把被比在去到从见看想爱打骂欢诉顾养助求望谢的说住等借还", s.At(i-1)) {
		return false
	}
	_, n := PrefixZh(*s, i+1, KinZh[:]...)
	if n == 0 {
		return false
	}
	_, verb := PrefixZh(*s, i+1+n, "今年", "喜欢", "不", "也", "在", "是", "有", "要", "会", "去", "住", "对", "刚", "已经", "都", "还", "最近", "昨天", "今天", "明天", "下周", "叫", "姓", "爱")
	return verb > 0
}

// endsZh reports whether 了, 啊 or the like at token i ends a clause, and is not inside one: 了 of
// 忘了我已经吃过 does not.
func (s *Sentence) endsZh(i int) bool {
	switch s.At(i) {
	case "啊", "呢", "吧", "嘛", "呀":
		return true
	case "了":
		return s.At(i-1) != "" && !strings.Contains("忘知听发看以除为见告给打骂问叫帮等陪送借找爱恨怪靠", s.At(i-1))
	}
	return false
}

// beginsZh reports whether words at token i begin a clause: 我已经, 你别, 笑死.
func (s *Sentence) beginsZh(i int) bool {
	switch s.At(i) {
	case "我", "你", "您", "他", "她", "咱":
		next := s.At(i + 1 + BoolInt(s.At(i+1) == "们"))
		return next != "" && strings.Contains("已得要想喜爱最还就也都先再没不别怎是可会能去来请把在给跟有觉说打买昨今明后下上这那真才又老现刚准必自", next)
	}
	_, n := PrefixZh(*s, i, afterEndZh...)
	if n == 0 {
		_, n = PrefixZh(*s, i, announcesZh...)
	}
	return n > 0
}
