// Package refuse says why a sentence can't be a memory: it asks, commands, greets, tells a story,
// supposes, quotes somebody else, or is an idiom.
package refuse

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
)

// Boilerplate says why a whole text is not talk, or gives nothing.
func Boilerplate(text string) string {
	l := strings.ToLower(strings.TrimSpace(text))
	switch {
	case l == "":
		return "there is no text"
	case strings.HasPrefix(l, "you are a ") && strings.Contains(l, "assistant"), strings.HasPrefix(l, "system:"), strings.HasPrefix(l, "<|"), strings.HasPrefix(l, "### "), strings.HasPrefix(l, "assistant:"):
		return "instructions to a model, not something that was said"
	case strings.Contains(l, "ignore previous instructions") || strings.Contains(l, "ignore all previous") || strings.Contains(l, "忽略之前的指令"):
		return "instructions to a model, not something that was said"
	case strings.HasPrefix(l, "{") && strings.HasSuffix(l, "}"), strings.HasPrefix(l, "[") && strings.HasSuffix(l, "]"), strings.HasPrefix(l, "<") && strings.HasSuffix(l, ">"):
		return "markup or data, not talk"
	case strings.Contains(l, "all rights reserved"), strings.Contains(l, "terms and conditions"), strings.Contains(l, "unsubscribe"), strings.Contains(l, "this call may be recorded"), strings.Contains(l, "your call is important"), strings.Contains(l, "subscribe to my channel"), strings.Contains(l, "thanks for watching"), strings.Contains(l, "battery low"):
		return "a notice that is read out to everyone"
	}
	has := func(cue string) bool { return discourse.HoldsWord(l, cue) }
	if strings.Contains(l, "cookie") && slices.ContainsFunc(cookieNotices[:], has) {
		return "a notice that is read out to everyone"
	}
	l = strings.ReplaceAll(l, "break-", "break") // "after the break-in" is not one
	if slices.ContainsFunc(broadcasts[:], has) {
		return "a broadcast or an announcement"
	}
	return ""
}

// cookieNotices are phrases with which websites talk about their cookies, because people also bake
// some.
var cookieNotices = [...]string{"accept cookies", "accept all cookies", "accept our cookies", "uses cookies", "we use cookies", "cookie policy", "cookie settings", "cookie preferences"}

// broadcasts are phrases of people who speak to everybody.
var broadcasts = [...]string{"today's episode", "our guest tonight", "i'm your host", "captain speaking", "ladies and gentlemen", "dear passengers", "all passengers", "sponsored by",
	"now over to", "after the break", "breaking news", "coming up next", "back to the studio", "our top story", "in other news", "the next stop is", "mind the gap", "stay tuned",
	"thank you for holding", "our operators", "terms apply", "at the next junction", "take the second exit", "you have reached your destination",
	"欢迎收听", "欢迎收看", "各位旅客", "各位乘客", "本期节目", "本期嘉宾", "据报道", "本台记者", "前方路口", "广告之后", "请系好安全带"}

// Announced reports whether a sentence begins like an announcement, with words that others use too:
// "the next train", 天气预报.
func Announced(s syntax.Sentence) bool {
	first := 0
	for first < len(s.Toks)-1 && (syntax.Lead(s.At(first)) || s.Toks[first].Kind == 'p') {
		first++
	}
	if len(s.Toks) == 0 {
		return false
	}
	l := strings.ToLower(s.Text[s.Toks[first].Start:s.End])
	switch s.At(first) { // to everybody present
	case "dear", "attention":
		switch s.At(first + 1) {
		case "customers", "passengers", "guests", "visitors", "shoppers", "travellers", "travelers", "listeners", "viewers", "colleagues", "students", "parents", "residents", "please", "all", "everyone":
			return true
		}
		for k := first + 2; k < min(len(s.Toks), first+5); k++ { // "Dear Mrs Chen, we are pleased to confirm …" is read out
			if next, _ := syntax.Contraction(s.At(k + 1)); s.At(k) == "," && (next == "we" || next == "thank" || next == "your" || next == "further") {
				return true
			}
		}
	}
	if rest, ok := strings.CutPrefix(l, "各位"); ok || strings.HasPrefix(l, "尊敬的") || strings.HasPrefix(l, "亲爱的") {
		if syntax.StartsWithAny(strings.TrimPrefix(strings.TrimPrefix(rest, "尊敬的"), "亲爱的"), []string{"顾客", "旅客", "乘客", "来宾", "观众", "听众", "游客", "业主", "家长", "同学", "朋友", "客户", "用户"}) {
			return true
		}
	}
	if toAllZh(l) || syntax.StartsWithAny(l, []string{"本店", "本公司", "本次列车", "本次航班", "本院"}) {
		return true
	}
	for _, cue := range [...]string{"this episode is", "the next train to arrive", "the next train at platform", "the next train on platform", "the next train from platform", "the next train does not stop"} {
		if strings.HasPrefix(l, cue) && !syntax.LetterAt(l, len(cue)) {
			return true
		}
	}
	return syntax.StartsWithAny(l, []string{"下一站是", "下一站：", "下一站，", "下一站,", "下面是天气预报", "天气预报：", "天气预报:"}) && !strings.Contains(l, "我")
}

// toAllZh reports whether something is said to all listeners: 宝宝们赶紧下单, and to a class, 小朋友们，今天学一首诗.
func toAllZh(l string) bool {
	who, rest, ok := strings.Cut(l, "们")
	if !ok || strings.Contains(who, "我") || !syntax.EndsWithAny(who, []string{"宝宝", "家人", "老铁", "小朋友", "观众朋友", "听众朋友", "粉丝", "宝子"}) {
		return false
	}
	return syntax.ContainsAny(rest, "下单", "链接", "直播", "点赞", "点个关注", "库存", "包邮", "福利") || syntax.StartsWithAny(rest, []string{"，", ","}) && (who == "小朋友" || syntax.EndsWithAny(who, []string{"观众朋友", "听众朋友"}))
}

// Junk says what kind of sentence is not a memory, and why.
func Junk(t *discourse.Talk, s syntax.Sentence) (kind, reason string) {
	if s.Chinese() {
		if secretZh(t, s) {
			return "secret", "says what a password is"
		}
		return junkZh(s)
	}
	if Fillers(s) {
		return "filler", "only sounds and fillers"
	}
	if greeting(s) {
		return "greeting", "a greeting or courtesy"
	}
	first := 0
	for syntax.Lead(s.At(first)) && !discourse.Denies(s, first) || first < len(s.Toks) && s.Toks[first].Kind == 'p' {
		first++
	}
	if discourse.TakesBack(s, first) {
		return "filler", "says that something is wrong, and not what is so"
	}
	if s.Ends == "?" || Question(s, first) || Unmarked(t, s, first) {
		if !tagQuestion(s) {
			return "question", "asks, and says nothing by itself"
		}
	}
	if k := calledTo(s, first); k > 0 {
		return "question", "asks somebody by name, and says nothing by itself"
	}
	if command(s, first) {
		return "command", "asks for something to be done"
	}
	return "", ""
}

// calledTo returns the token at which somebody who is named at token i is asked or told to do
// something: "tom did you lock the door", "Anna don't forget the milk"; 0 otherwise.
func calledTo(s syntax.Sentence, i int) int {
	if i+3 >= len(s.Toks) || !discourse.CalledSo[s.At(i)] && !(s.Toks[i].Cap && syntax.NameWord(s.At(i)) && !syntax.Auxiliary(s.At(i))) {
		return 0
	}
	k := i + 1
	if s.At(k) == "," {
		k++
	}
	base, rest := syntax.Contraction(s.At(k))
	who, _ := syntax.Contraction(s.At(k + 1))
	asks := (discourse.Asking[base] || base == "may") && (rest == "" || rest == "not") && (who == "you" || who == "we" || who == "i" || (base == "is" || base == "was") && impersonal[who]) // "Tom have you", "Tom is that"
	if asks || base == "do" && rest == "not" && s.At(k+1) == "forget" || s.At(k) == "please" || s.At(k) == "remember" && s.At(k+1) == "to" {
		return k
	}
	return 0
}

// Fillers reports whether a sentence has only words without content, such as "oh okay cool".
func Fillers(s syntax.Sentence) bool {
	words := 0
	for _, t := range s.Toks {
		if t.Kind == 'p' {
			continue
		}
		words++
		switch t.S {
		case "um", "uh", "hmm", "mm", "mhm", "yeah", "yes", "no", "ok", "okay", "right", "sure", "well", "so", "oh", "ah", "wow", "haha", "lol", "like", "you", "know", "i", "mean", "see", "cool",
			"nice", "great", "really", "exactly", "indeed", "true", "anyway", "and", "then", "but", "erm", "huh", "yep", "nope", "fine", "good", "totally", "absolutely", "perfect", "of", "course", "got", "it", "makes", "sense", "that's", "alright", "guess", "fair", "enough", "lovely", "brilliant", "awesome", "amazing", "interesting", "all", "hm", "er", "let", "me", "think", "wait", "second", "a", "hang", "on", "one", "sec", "never", "mind", "whatever", "what", "the":
		default:
			return false
		}
	}
	return words <= 8
}

func greeting(s syntax.Sentence) bool {
	words := 0
	for _, t := range s.Toks {
		if t.Kind != 'p' {
			words++
		}
	}
	if words > 7 {
		return false
	}
	l := strings.ToLower(s.Raw())
	if head, rest, ok := strings.Cut(l, " "); ok {
		switch strings.TrimRight(head, ",") {
		case "ok", "okay", "alright", "right", "oh", "yes", "yeah", "no", "well", "great", "cool", "perfect":
			l = rest // "okay, thanks"
		}
	}
	for _, g := range [...]string{"hello", "hi", "hey", "good morning", "good afternoon", "good evening", "good night", "goodbye", "bye", "see you", "thank you", "thanks", "you're welcome", "nice to meet you", "take care", "have a good", "have a nice", "cheers", "how are you", "how's it going", "happy birthday", "congratulations", "welcome", "sleep well", "no problem", "no worries", "good to see you", "morning", "excuse me", "long time no see", "talk to you", "catch you later", "bless you", "i'm fine", "i am fine", "i'm good", "i'm sorry", "sorry"} {
		if rest, ok := strings.CutPrefix(l, g); ok && (rest == "" || !(rest[0] >= 'a' && rest[0] <= 'z')) {
			if hailed[g] && strings.HasPrefix(rest, ",") && goesOn(s) {
				return false
			}
			if strings.HasSuffix(g, "sorry") && words > 3 || strings.Contains(l, "make it") || g == "i'm good" && strings.HasPrefix(rest, " at ") {
				return false
			}
			for i := range s.Toks {
				if base, r := syntax.Contraction(s.At(i)); (base == "i" || base == "my" || base == "we") && r != "" && i > 0 && words > 4 || s.At(i) == "my" && words > 4 {
					return false
				}
			}
			return true
		}
	}
	return false
}

// hailed are beginnings before what somebody has to say: "Hey, I live in Oslo now".
var hailed = map[string]bool{"hello": true, "hi": true, "hey": true, "good morning": true, "good afternoon": true, "good evening": true, "morning": true}

// goesOn reports whether a sentence of three words or more about the speaker, or about somebody by name, follows its
// first or second comma.
func goesOn(s syntax.Sentence) bool {
	for i := 1; i < min(5, len(s.Toks)-3); i++ {
		if s.At(i) != "," {
			continue
		}
		switch base, _ := syntax.Contraction(s.At(i + 1)); base {
		case "i", "we", "my", "our":
			return s.At(i+2) != "have" || s.At(i+3) != "a" || s.At(i+4) != "question"
		}
		if s.Toks[i+1].Cap && syntax.Verbish(s.At(i+2)) {
			return true
		}
	}
	return false
}

func Question(s syntax.Sentence, i int) bool {
	base, _ := syntax.Contraction(s.At(i))
	switch base {
	case "what", "where", "who", "why", "how", "which", "whose":
		if s.At(i) == "which" && s.At(i+1) == "reminds" {
			return false // "Which reminds me, the rent is due on Monday"
		}
		if s.Ends != "?" && (s.At(i) == "what" && s.At(i+1) == "a" || s.At(i) == "how" && s.At(i+1) != "do" && s.At(i+1) != "is") {
			return true // an exclamation says nothing more
		}
		return s.Ends == "?" || s.Ends == ""
	case "do", "does", "did", "is", "are", "was", "were", "can", "could", "will", "would", "should", "shall", "have", "has", "am", "may":
		next, _ := syntax.Contraction(s.At(i + 1))
		return s.Ends == "?" || syntax.SubjectPronoun(next) && s.At(i) != "have"
	}
	return s.Ends == "?"
}

// tagQuestion reports whether a sentence is a statement with a tag: "I live in Leeds, right?", "you
// know I'm vegetarian, don't you?"
func tagQuestion(s syntax.Sentence) bool {
	n := len(s.Toks)
	if n < 5 || !syntax.SubjectPronoun(syntax.FirstOf(syntax.Contraction(s.At(0)))) && s.At(0) != "my" {
		return false
	}
	switch s.At(n - 1) {
	case "right", "remember", "know":
		return s.At(n-2) == ","
	}
	return false
}

// command recognises requests to an assistant and to others.
func command(s syntax.Sentence, i int) bool {
	for s.At(i) == "please" || s.At(i) == "," || s.At(i) == "locket" || s.At(i) == "computer" || s.At(i) == "assistant" || s.At(i) == "siri" || s.At(i) == "alexa" || s.At(i) == "then" {
		i++
	}
	switch s.At(i) {
	case "remind", "set", "play", "stop", "turn", "show", "tell", "open", "close", "search", "find", "call", "send", "text", "look", "give", "start", "pause", "resume", "add", "delete", "forget",
		"don't", "let", "come", "go", "wait", "put", "take", "get", "make", "bring", "pass", "check", "read", "repeat", "translate", "help", "cancel", "switch", "increase", "decrease", "mute", "remember",
		"hold", "listen", "try", "keep", "use", "ask", "say", "write", "note", "leave", "buy", "ignore", "hurry", "imagine", "navigate", "record", "snooze", "volume", "answer":
		if s.At(i) == "don't" && s.At(i+1) == "forget" && (s.At(i+2) == "," || s.At(i+2) == "that" || syntax.SubjectPronoun(syntax.FirstOf(syntax.Contraction(s.At(i+2)))) && s.At(i+2) != "you") || s.At(i) == "note" && s.At(i+1) == "to" && s.At(i+2) == "self" {
			return false
		}
		if s.At(i) == "remember" && (s.At(i+1) == "that" || s.At(i+1) == "," || syntax.SubjectPronoun(syntax.FirstOf(syntax.Contraction(s.At(i+1)))) || s.At(i+1) == "my") {
			return false
		}
		if (s.At(i) == "make" || s.At(i) == "change") && s.At(i+1) == "it" {
			return false
		}
		if _, event := syntax.EventNoun(s.At(i)); event && s.At(i+1) == "with" {
			return false
		}
		return !tellsSoon(s, i+1) && !(s.At(i) == "start" && (s.At(i+1) == "on" || syntax.WeekdayOf(s.At(i+1), false) >= 0))
	case "let's":
		for k := i; k < len(s.Toks); k++ {
			if syntax.WeekdayOf(s.At(k), false) >= 0 || s.At(k) == "tomorrow" || s.At(k) == "at" || s.At(k) == "tonight" {
				return false
			}
		}
		return true
	}
	return false
}

// tellsSoon distinguishes "play rehearsal is on Friday" from "play some music".
func tellsSoon(s syntax.Sentence, i int) bool {
	for k := i; k < min(len(s.Toks), i+3); k++ {
		switch s.At(k) {
		case "is", "are", "was", "will", "has":
			return true
		}
	}
	return false
}

func junkZh(s syntax.Sentence) (kind, reason string) {
	raw := strings.Trim(s.Raw(), "，, ")
	switch strings.TrimPrefix(strings.TrimPrefix(raw, "不，"), "不,") {
	case "嗯", "嗯嗯", "哦", "啊", "好", "好的", "好吧", "行", "对", "对对", "对对对", "是的", "是啊", "没错", "可以", "当然", "哈哈", "哈哈哈", "呃", "那个", "就是", "然后呢", "真的", "好啊", "没事", "没问题", "不错", "知道了", "明白了", "原来如此", "等一下",
		"不对", "不对不对", "错了", "说错了", "我说错了", "那不对", "这不对", "不是这样", "不是这样的", "那是错的", "这是错的", "不是的":
		return "filler", "only sounds and fillers"
	}
	for _, g := range [...]string{"你好", "您好", "早上好", "早安", "晚上好", "晚安", "下午好", "再见", "拜拜", "谢谢", "多谢", "不客气", "辛苦了", "好久不见", "恭喜", "生日快乐", "早啊", "大家好", "对不起", "不好意思"} {
		if rest, ok := strings.CutPrefix(raw, g); ok && len([]rune(rest)) <= 5 && !strings.Contains(rest, "我") {
			return "greeting", "a greeting or courtesy"
		}
	}
	if s.Ends == "？" || s.Ends == "?" || strings.HasSuffix(raw, "吗") || strings.HasSuffix(raw, "呢") && !toldWithNe(raw) || strings.Contains(raw, "什么时候") || strings.HasPrefix(raw, "为什么") || strings.HasPrefix(raw, "怎么") || strings.HasPrefix(raw, "谁") || asksAmountZh(raw) {
		return "question", "asks, and says nothing by itself"
	}
	if rest, ok := strings.CutPrefix(raw, "别忘了，"); ok && strings.HasPrefix(rest, "我") {
		return "", ""
	}
	if syntax.EndsWithAny(raw, []string{"给我吧", "给我呗", "给我一下", "给我看看"}) {
		return "command", "asks for something to be done" // 那份报告周三给我吧
	}
	alone := CompoundsZh.Replace(raw)
	for _, c := range [...]string{"请", "帮我", "提醒我", "给我", "打开", "关掉", "关上", "播放", "别", "快", "告诉我", "让我", "等等", "麻烦", "查一下", "看一下"} {
		if strings.HasPrefix(alone, c) && !strings.HasPrefix(raw, "快递") {
			return "command", "asks for something to be done"
		}
	}
	return "", ""
}

// eitherZh reports whether 是不是 comes directly after the subject of a question: 你是不是对花生过敏.
func eitherZh(x string) bool {
	who, _, ok := strings.Cut(x, "是不是")
	own, mine := strings.CutPrefix(who, "我")
	return ok && !strings.ContainsAny(x, "，,") && utf8.RuneCountInString(who) <= 5 && !(mine && own != "" && syntax.KinPrefixZh(own) != own) && !syntax.ContainsAny(who, "管", "看", "查", "问", "知道", "说", "想", "不")
}

// asksAmountZh reports whether x is a question for an hour, a day or a price without a mark:
// 明天几点的飞机.
func asksAmountZh(x string) bool {
	if syntax.StartsWithAny(x, []string{"你对", "您对", "你是", "您是"}) && strings.HasSuffix(x, "吧") && !strings.ContainsAny(x, "，,") {
		return true // 你对花生过敏吧
	}
	if syntax.StartsWithAny(x, []string{"你", "您"}) && strings.Contains(x, "还是") && !strings.ContainsAny(x, "，,") {
		return true // 你喜欢猫还是狗
	}
	if eitherZh(x) || syntax.StartsWithAny(x, []string{"你", "您"}) && syntax.EndsWithAny(x, []string{"几年了", "几个月了", "几天了", "几次了", "几年级了", "几岁了", "多久了"}) {
		return true
	}
	if head, _, ok := strings.Cut(x, "吗"); strings.HasPrefix(x, "你猜") || ok && !strings.ContainsAny(x, "，, ") && !syntax.EndsWithAny(head, []string{"干", "宝"}) {
		return true // 昨晚那球看了吗绝杀啊
	}
	if syntax.EndsWithAny(x, []string{"叫什么", "叫啥", "是什么", "做什么", "干什么", "干啥", "是谁", "在哪", "在哪儿", "在哪里", "多少", "多大", "多高", "多久", "怎么样", "咋样", "几岁", "几楼", "几层", "几号楼", "几单元", "几栋"}) && !strings.ContainsAny(x, "，,不都也知忘记没") {
		return true
	}
	if before, asks := syntax.CutEnd(x, "不", "了没", "过没", "到没", "好没", "完没", "来没"); asks && utf8.RuneCountInString(before) >= 2 && !syntax.EndsWithAny(before, []string{"了", "要", "差", "好", "从", "从来", "都", "是", "对", "也", "还", "并", "，", ","}) {
		return true // 今天加班不
	}
	if syntax.ContainsAny(x, "去哪儿", "去哪了", "去哪里", "在哪儿", "在哪里", "到哪儿") && !strings.ContainsAny(x, "，,不都也知忘记没说") {
		return true // 国庆去哪儿了
	}
	for _, word := range [...]string{"几点", "几号", "星期几", "周几", "礼拜几", "多少钱", "哪天", "几月"} {
		before, after, ok := strings.Cut(x, word)
		r, _ := utf8.DecodeLastRuneInString(before)
		if ok && !strings.ContainsAny(x, "，,都也知忘记说告问看管论不没") && !strings.ContainsRune(syntax.DigitsZh+"好", r) && !strings.HasSuffix(after, "了") {
			return true
		}
	}
	return false
}

// toldWithNe reports whether a sentence that ends with 呢 is a statement, and not a question: 我还没吃呢 and
// 密码贴在路由器底下呢, and not 我的钥匙呢.
func toldWithNe(x string) bool {
	if _, where, ok := strings.Cut(x, "在"); ok && !strings.ContainsAny(x, "你您哪谁什么怎几吗") && syntax.EndsWithAny(strings.TrimSuffix(where, "呢"), []string{"里", "上", "下", "底下", "那儿", "旁边", "后面", "前面", "家"}) {
		return true
	}
	return (strings.HasPrefix(x, "我") || syntax.KinPrefixZh(x) != "" && strings.Contains(x, "正")) && utf8.RuneCountInString(x) > 4 && syntax.ContainsAny(x, "还", "正", "在", "着", "了", "要", "对", "喜欢", "讨厌") &&
		!syntax.ContainsAny(x, "什么", "怎么", "哪", "谁", "多少", "几", "吗", "还是", "干嘛", "咋", "该", "何", "要不要", "是不是", "有没有")
}
