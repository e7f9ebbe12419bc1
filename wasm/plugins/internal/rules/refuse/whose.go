package refuse

import (
	"slices"
	"strings"

	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
)

// Whose words a sentence has, and about whom it is. What is dictated, read out, or true of anybody
// says nothing about those who are present.

// notOwn says why a sentence is about nobody in particular, or not in the speaker's own words; ""
// if it may be.
func notOwn(s syntax.Sentence) string {
	switch {
	case dictated(s):
		return "words that are given to be written, said or translated"
	case hearsay(s):
		return "hearsay, of which nobody says that it is so"
	case ofAnybody(s):
		return "says what holds for anybody"
	}
	return ""
}

// dictated reports whether there are words after a colon or comma that somebody or something is
// told to write, say or translate, or an example: "Translate this: my name is Hans", 例句：….
func dictated(s syntax.Sentence) bool {
	raw := strings.ToLower(s.Raw())
	from := strings.LastIndexAny(s.Text[:s.Start], ".!?\n。！？") + 1 // the colon may be before the sentence
	if before := strings.ToLower(strings.TrimSpace(s.Text[from:s.Start])); before != "" {
		raw = before + " " + raw
	}
	head := raw
	if i := strings.IndexAny(raw, ":"); i > 0 {
		head = raw[:i]
	} else if i := strings.Index(raw, "："); i > 0 {
		head = raw[:i]
	} else if i := strings.Index(raw, "，"); i > 0 && syntax.ContainsAny(raw[:i], "跟我念", "跟我读", "跟着念") {
		return true
	} else {
		return (strings.HasPrefix(raw, "repeat after me") || strings.HasPrefix(raw, "say after me")) && len(raw) > len("repeat after me")
	}
	if s.Chinese() {
		return syntax.ContainsAny(head, "翻译", "总结", "改写", "润色", "例句", "造句", "朗读", "跟我念", "跟我读", "复述", "校对", "标题", "题目", "例如", "比如", "举例", "原文", "台词", "广告", "谜语")
	}
	for w := range strings.FieldsFuncSeq(head, func(r rune) bool { return r < 'a' || r > 'z' }) {
		switch w {
		case "translate", "translation", "summarise", "summarize", "rewrite", "rephrase", "paraphrase", "proofread", "repeat", "recite", "example", "examples", "sentence", "quote", "caption", "headline", "riddle", "lyrics",
			"prompt", "slogan", "advert", "ad", "proverb", "script":
			return true
		}
	}
	return false
}

// hearsay reports whether nobody vouches for a sentence: "rumour has it", "or so he says", 据说.
func hearsay(s syntax.Sentence) bool {
	raw := strings.ToLower(s.Raw())
	if s.Chinese() {
		x := syntax.StripLeadZh(raw)
		if syntax.StartsWithAny(x, []string{"据说", "听说", "传说", "都说", "据传", "俗话说", "常言道", "有人说", "老话说", "网上传"}) {
			return true
		}
		from, _, says := strings.Cut(x, "说") // 星座书上说, 抖音上有人说
		from = syntax.TrimTails(from, "有人")
		what := syntax.TrimTails(from, "上", "里")
		return strings.Contains(raw, "据说") || says && (syntax.EndsWithAny(what, publicZh) || from != what && syntax.EndsWithAny(what, []string{"网", "报", "书"}) && !syntax.EndsWithAny(what, []string{"知书", "明书", "证书"}))
	}
	return slices.ContainsFunc([]string{"rumour has it", "rumor has it", "legend has it", "word has it", "the story goes", "as the saying goes", "the saying goes", "or so he says", "or so she says", "or so they say", "or so i hear", "so they say", "it is said that", "it's said that"}, func(cue string) bool { return discourse.HoldsWord(raw, cue) })
}

// publicZh are what speaks to everybody.
var publicZh = []string{"专家", "新闻", "报纸", "文章", "视频", "电视", "广播", "帖子", "广告", "攻略", "抖音", "快手", "红书", "微博", "星座", "运势", "算命的", "大师", "网友"}

// anybody are beginnings of what is true of anybody, or of nobody that is known.
var anybody = syntax.Set("whoever whichever anyone anybody everyone everybody nobody people most many some somebody someone")

// ofAnybody reports whether a sentence is about anybody, and does not mention the people who speak.
func ofAnybody(s syntax.Sentence) bool {
	if s.Chinese() {
		x := syntax.StripLeadZh(strings.Trim(s.Raw(), " ，,。！!"))
		if syntax.ContainsAny(x, "我", "咱") {
			return false
		}
		if syntax.StartsWithAny(x, []string{"一般人", "普通人", "有的人", "有些人", "有人", "人人", "谁", "别人", "每个人", "任何人", "人们", "年轻人", "老年人", "男人", "女人", "大多数人", "很多人", "一般的", "一个普通", "人都", "人总", "人要", "人活"}) {
			return true
		}
		return syntax.ContainsAny(x, "的人都", "的人肯定", "的人一定", "的人总", "的人往往", "的人会", "的人最")
	}
	i := 0
	for syntax.Lead(s.At(i)) || s.At(i) == "," {
		i++
	}
	one := s.At(i) == "the" && (s.At(i+1) == "average" || s.At(i+1) == "typical" || s.At(i+1) == "ordinary") || s.At(i) == "those" && s.At(i+1) == "who"
	if !one && !anybody[s.At(i)] {
		return false
	}
	for k := range s.Toks {
		if s.At(k) == "i" && s.At(k+1) == "know" {
			continue // "everyone I know is moving to Portugal"
		}
		switch base, _ := syntax.Contraction(s.At(k)); base {
		case "i", "me", "my", "mine", "we", "us", "our", "ours":
			return false
		}
	}
	return true
}

// reported reports whether the words before a quotation without marks end in a verb of saying, with
// or without whom it is said to: "a man walks in and says, I'm a doctor", "she told him, look,
// I've got three kids". The speaker's own "I said", an indirect "says that" and "as the doctor told
// me" don't count.
//
// If the verb names whom it is said to, own says whether the words are about whoever says them: "he
// told us, the wedding is in June" is no quotation.
func reported(before string, own bool) bool {
	if !strings.HasSuffix(before, ",") && !strings.HasSuffix(before, ":") {
		return false
	}
	words := strings.FieldsFunc(before, func(r rune) bool { return r == ' ' || r == ',' || r == ':' })
	n := len(words)
	for n > 0 && callsOut[words[n-1]] {
		n--
	}
	verb := n - 1
	for verb > 0 && n-verb < 5 && !utters[words[verb]] && !addresses[words[verb]] {
		verb--
	}
	if verb < 1 || !utters[words[verb]] && !addresses[words[verb]] || words[verb-1] == "i" || words[verb-1] == "we" || words[verb-1] == "to" || words[0] == "as" {
		return false
	}
	switch to := words[verb+1 : n]; {
	case len(to) == 0:
		return utters[words[verb]]
	case utters[words[verb]]:
		return to[0] == "to" && len(to) > 1
	default:
		return own && to[0] != "that" && to[0] != "about" && to[0] != "how"
	}
}

// ofTeller reports whether a clause speaks of whoever says it.
func ofTeller(c syntax.Sentence) bool {
	return slices.ContainsFunc(c.Toks, func(t syntax.Token) bool {
		base, _ := syntax.Contraction(t.S)
		return base == "i" || base == "me" || base == "my" || base == "we" || base == "us" || base == "our"
	})
}

// StillQuoted reports whether a clause goes on with a quotation without marks, of which the clause
// before it is a part: "she said, I've got three kids and I'm allergic to nuts".
func StillQuoted(s, c syntax.Sentence) bool {
	base, _ := syntax.Contraction(c.At(0))
	before := s.Text[s.Start:c.Start]
	if base != "i" && base != "my" && base != "we" && base != "our" || strings.ContainsAny(before, "\"“") {
		return false
	}
	before = strings.TrimRight(before, " ")
	return syntax.EndsWithAny(before, []string{",", " and", " but"})
}

// utters are verbs of saying before a quotation, addresses those that name whom it is said to,
// callsOut words at the beginning of what is said.
var (
	utters    = syntax.Set("says said asks asked yells yelled shouts shouted replies replied answers answered sings whispers whispered writes reads claims")
	addresses = syntax.Set("told tells texted messaged")
	callsOut  = syntax.Set("look listen well yeah yes no oh right honestly sorry")
)
