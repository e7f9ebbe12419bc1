package refuse

import (
	"strings"

	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
)

// Statements that have the form of a fact but are not meant as one: the words of a thing that
// speaks to anybody, a score, irony, what nobody agreed to, a figure of speech.

// speakers are things that say "you" and "I" to anybody who reads them.
var speakers = syntax.Set("horoscope quiz advert ad sign label poster leaflet app website fortune cookie newspaper article email spam form test")

// ofNobody says why a sentence is about nobody whom the speaker knows; raw is the sentence in lower
// case.
func ofNobody(s syntax.Sentence, raw string) string {
	if s.Chinese() {
		if scoredZh(raw) {
			return "the score of a game"
		}
		return ""
	}
	for i := 1; i < min(len(s.Toks)-1, 6); i++ {
		switch s.At(i) {
		case "says", "say", "said", "claims", "told", "tells":
			if speakers[s.At(i-1)] {
				return "what a thing says to whoever reads it"
			}
		}
	}
	if syntax.ContainsAny(raw, ", well not really", ", well, not really", " well not really") || syntax.EndsWithAny(strings.TrimRight(raw, " .!"), []string{", not really", ", not literally", ", obviously not"}) {
		return "is not meant"
	}
	if strings.HasPrefix(raw, "yeah right") || syntax.EndsWithAny(strings.TrimRight(raw, " .!"), []string{"in my dreams", "in your dreams", "yeah right", "yeah, right", "just kidding", "just messing", "only joking", ", i wish"}) {
		return "is not meant"
	}
	for i := 1; i+1 < len(s.Toks); i++ {
		if s.At(i) != "to" || s.At(i-1) != "allergic" {
			continue
		}
		k := i + 1
		if syntax.Determiner(s.At(k)) || !chores[s.At(k)] && chores[s.At(k+1)] {
			k++ // "to early mornings"
		}
		if w := s.At(k); syntax.WeekdayOf(syntax.Singular(w), false) >= 0 || chores[w] && (k+1 == len(s.Toks) || s.Toks[k+1].Kind == 'p' || efforts[w] || s.At(k+1) == "who" || s.At(k+1) == "that" || s.At(k+1) == "before") {
			return "is not meant" // "I'm allergic to Mondays"
		}
	}
	for i := 1; i+1 < len(s.Toks); i++ {
		if w := s.At(i + 1); (s.At(i) == "rather" || s.At(i) == "sooner") && (harm[w] || w == "eat" && s.At(i+2) == "my") {
			return "is not meant" // "I'd rather stick pins in my eyes than move"
		}
	}
	is := 1
	for is < 3 && s.At(is) != "is" {
		is++
	}
	if s.At(is+1) == "my" && (is == 1 && inJest[s.At(0)] || is == 2 && s.At(0) == "my" && syntax.Pet(s.At(1))) && syntax.Kin(s.At(len(s.Toks)-1)) {
		return "is not meant" // "Netflix is my boyfriend"
	}
	if rest, ok := strings.CutPrefix(raw, "oh "); ok {
		for _, praise := range [...]string{"great, ", "brilliant, ", "wonderful, ", "fantastic, ", "perfect, ", "lovely, ", "sure, ", "yeah, "} {
			if after, ok := strings.CutPrefix(rest, praise); ok && (strings.HasPrefix(after, "i just love ") || strings.HasPrefix(after, "i love ") || strings.HasPrefix(after, "i really love ") || strings.HasPrefix(after, "just what i ")) {
				return "says the opposite of what it means"
			}
		}
	}
	if len(s.Toks) > 3 && s.At(1) == "have" && s.Toks[0].Cap && s.Toks[2].Cap && !syntax.SubjectPronoun(s.At(0)) && !strings.HasSuffix(s.At(0), "s") && syntax.WeekdayOf(s.At(2), false) < 0 {
		for i := 3; i < len(s.Toks); i++ { // a singular name with a plural verb is a team's
			if syntax.WeekdayOf(s.At(i), false) >= 0 || s.At(i) == "tonight" || s.At(i) == "tomorrow" || s.At(i) == "next" {
				return "tells of a game"
			}
		}
	}
	return ""
}

// harm are deeds that nobody would do.
var harm = syntax.Set("die starve stick poke pull chew gnaw swallow lick drown hang shoot stab kill gouge")

// inJest are what people call their friend, boss or partner in jest.
var inJest = syntax.Set("netflix google amazon alexa siri chatgpt youtube spotify tiktok instagram wine coffee tea gin beer chocolate pizza cheese bread sleep caffeine karma music work food money gravity ibuprofen paracetamol")

// chores are what nobody is allergic to, efforts those that may be of something.
var (
	chores  = syntax.Set("work housework homework people exercise mornings commitment maths math school meetings effort money responsibility nonsense bullshit drama fun kids children men women sport running chores ironing overtime stupidity idiots paying getting doing working being spending losing")
	efforts = syntax.Set("paying getting doing working being spending losing")
)

// smallTalk reports whether words are about the future weather or about things of everybody's: "I
// reckon it'll snow tomorrow", "the traffic was shocking". Contractions must be split.
func smallTalk(words []string) bool {
	of, at := false, -1 // something of everybody's, and its "was"
	for i, w := range words {
		ahead := i > 0 && words[i-1] == "it" && (w == "will" || w == "might" || w == "is") && i < 5
		for k := i + 1; ahead && k < min(len(words), i+6); k++ {
			if rains[words[k]] && (k < 2 || words[k-1] != "the") {
				return true
			}
		}
		if at < 0 {
			of = of || everybodys[w]
			if w == "was" || w == "were" || w == "is" || w == "are" {
				at = i
			}
		}
	}
	for i := at + 1; of && at > 0 && i < min(len(words), at+4); i++ {
		if judged[words[i]] {
			return true
		}
	}
	return false
}

var rains = syntax.Set("rain raining snow snowing pour pouring drizzle hail hailing freeze chuck chucking tip tipping bucket bucketing")

var everybodys = syntax.Set("traffic queue queues weather roads rain wind motorway parking crowds")

var judged = syntax.Set("shocking unreal awful terrible horrible dreadful mental crazy ridiculous insane mad murder hell horrendous diabolical dire bad rubbish lovely gorgeous brilliant amazing fantastic beautiful great nice good glorious heavy light solid mayhem chaos")

// scoredZh finds a score next to who won or lost: 二比零赢了.
func scoredZh(raw string) bool {
	if !syntax.ContainsAny(raw, "赢", "输", "平", "踢", "胜", "负") {
		return false
	}
	head, rest, ok := strings.Cut(raw, "比")
	return ok && syntax.EndsWithAny(head, scoreDigits[:]) && syntax.StartsWithAny(rest, scoreDigits[:])
}

var scoreDigits = [...]string{"零", "一", "二", "两", "三", "四", "五", "六", "七", "八", "九", "十", "0", "1", "2", "3", "4", "5", "6", "7", "8", "9"}

// UnmeantZh reports whether a sentence is about what nobody agreed to or intends (没答应, 没打算,
// 宁愿死也不去), or about a degree that is expressed by what does not happen (热得我要化了, 都快忙成狗了).
func UnmeantZh(raw string) bool {
	if syntax.ContainsAny(raw, "没答应", "没有答应", "没打算", "没有打算", "没同意", "没说要", "没说过要", "还不如杀了我") || syntax.ContainsAny(raw, "宁愿", "宁可") && strings.Contains(raw, "死") {
		return true
	}
	if fancied(raw) {
		return true
	}
	if end := strings.TrimRight(raw, "。，,！!？?"); strings.HasSuffix(end, "了没") || strings.HasSuffix(end, "了没有") {
		return true // it is a question: 我哥离婚了没
	}
	if _, rest, ok := strings.Cut(raw, "得我"); ok && syntax.StartsWithAny(rest, []string{"要", "都", "快", "直", "想", "恨不得", "头", "心都", "腿"}) && !syntax.StartsWithAny(rest, []string{"要去", "想去"}) {
		return true
	}
	_, rest, ok := strings.Cut(raw, "都快")
	return ok && strings.Contains(rest, "成") && strings.HasSuffix(strings.TrimRight(raw, "。！! "), "了")
}

// fancied reports whether somebody only imagines something or marvels at it: 我能想象他多难过, 你敢相信他辞职了.
func fancied(raw string) bool {
	for _, verb := range [...]string{"想象", "相信"} {
		if before, _, ok := strings.Cut(raw, verb); ok && syntax.EndsWithAny(before, []string{"能", "敢", "可以", "难以", "无法", "很难", "不"}) && !syntax.EndsWithAny(before, []string{"功能", "智能"}) {
			return true
		}
	}
	return syntax.ContainsAny(raw, "真服了", "算服了", "是服了", "也服了", "都服了")
}

// JokeZh reports whether a sentence is a joke, or tells of a dream or of a play.
func JokeZh(raw string) bool {
	if laughs := syntax.EndsWithAny(strings.TrimRight(raw, "。！! "), []string{"哈哈", "嘿嘿"}); laughs && syntax.ContainsAny(raw, "嫁给", "娶", "首富", "彩票", "火星", "超人", "皇帝", "仙女", "富婆", "上天") {
		return true // 我明天就嫁给吴彦祖哈哈
	}
	if head, rest, ok := strings.Cut(raw, "比"); ok && strings.HasPrefix(head, "我") {
		rest, _, _ = strings.Cut(rest, "，")
		if what, how, ok := strings.Cut(rest, "还"); ok && len(what) < 22 && len(how) <= 9 && !syntax.ContainsAny(how, "大", "小", "高", "矮", "重", "轻", "多", "少", "贵", "早", "晚") {
			return true // 我的钱包比我的脸还干净
		}
	}
	if _, what, ok := strings.Cut(raw, "对"); ok && strings.Contains(what, "过敏") && syntax.StartsWithAny(what, []string{"上班", "上学", "周一", "开会", "家务", "早起", "数学", "前任", "作业", "加班", "工作", "学习", "运动", "人类", "男人", "女人", "领导", "婚姻", "考试", "穷"}) ||
		syntax.StartsWithAny(raw, []string{"我的人生", "我这人生", "我的颜值", "我这颜值", "我的智商", "我这智商", "我的情商", "我的运气", "我这运气", "我的命", "我这命", "我的脸皮", "我这脑子"}) || strings.Contains(raw, "狗都") {
		return true // 我对上班过敏
	}
	if who, order, ok := strings.Cut(raw, "，"); ok && syntax.StartsWithAny(who, []string{"老板", "师傅", "服务员", "美女", "帅哥", "阿姨", "小哥", "大姐"}) && len(who) <= 9 && syntax.StartsWithAny(order, []string{"来", "给我", "我要", "要", "称", "再来", "结账", "买单", "打包", "去"}) {
		return true // 老板，来两个肉包
	}
	if what, kin, ok := strings.Cut(raw, "是我"); ok && syntax.KinPrefixZh(syntax.TrimHeads(kin, "的", "最好的", "好")) != "" && syntax.EndsWithAny(what, []string{"床", "沙发", "手机", "电脑", "游戏", "咖啡", "奶茶", "火锅", "酒", "空调", "被窝", "工作", "钱", "猫", "狗"}) {
		return true // 我家猫是我老板
	}
	if _, so, ok := strings.Cut(raw, "是个"); ok && syntax.ContainsAny(so, "奇葩", "木头", "恶魔", "魔王", "活宝", "戏精", "神人", "憨憨", "闷葫芦", "逗比", "笨蛋", "傻子", "周扒皮", "吸血鬼", "魔鬼", "极品") {
		return true
	}
	return syntax.ContainsAny(raw, "骗你的", "骗你们的", "逗你玩", "瞎编的", "才怪", "了个屁", "逗你的", "在梦里", "上辈子", "下辈子", "剧本杀里", "剧本杀中", "其实也不是，", "其实也不算，")
}
