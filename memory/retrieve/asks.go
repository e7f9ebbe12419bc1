package retrieve

import (
	"regexp"
	"slices"
	"strings"

	"github.com/locket-dev/locket/internal/hans"
)

var (
	// asksEn match the beginnings of English questions without a question mark.
	asksEn = []*regexp.Regexp{
		regexp.MustCompile(`^(?:who|whose|whom|which|why|how|what)\b`),
		// "When I was in Rome, I met Anna" is a statement.
		regexp.MustCompile(`^(?:when|where)(?:'s|'re|'d|'ll)?(?:$| (?:is|are|am|was|were|do|does|did|can|could|will|would|should|shall|has|have|had|exactly|else)\b)`),
		regexp.MustCompile(`^(?:when|where)(?:'s|'re|'d)\b`),
		// "Have a look" and "Do the dishes" are not questions.
		regexp.MustCompile(`^(?:is|are|am|was|were|does|did|can|could|will|would|should|has|isn't|aren't|wasn't|weren't|doesn't|didn't|can't) (?:there|the|a|an|any|my|our|your|his|her|their|i|you|we|they|he|she|it|this|that|these|those|anybody|anyone|somebody|someone|[a-z]+'s)\b`),
		regexp.MustCompile(`^(?:is|are|was|were|does|did|has) [a-z]+ [a-z]+\b`),
		regexp.MustCompile(`^(?:do|have) (?:i|you|we|they)\b`),
		regexp.MustCompile(`^(?:please )?(?:tell me|show me|(?:list|find) (?:me|my|all|the|every)|remind me (?:who|what|when|where|which|why|how))\b`),
	}
	// asksZh matches the question words of a Chinese line.
	asksZh = regexp.MustCompile(`什么|谁|哪|几点|几号|几岁|几时|多少|多久|多大|怎么|怎样|如何|为何|何时|干嘛|是不是|有没有|能不能|会不会|要不要|是否|[吗呢]$`)
	// wantsZh matches the beginnings of requests.
	wantsZh = regexp.MustCompile(`^(?:请)?(?:告诉我|帮我(?:找|查|看)|列出|查一下|找一下)`)
	// countsZh matches words that ask how many, but mean "some" in a sentence about the past or
	// about things together: 我买了几个苹果.
	countsZh = regexp.MustCompile(`^[^了过和]*(?:几个|几次)[^了过和]*$`)
	// tellsZh matches phrases in which such words do not ask.
	tellsZh = regexp.MustCompile(`不知道|什么都|谁都|哪里都|哪儿都|怎么都|没什么|无论|不管|不论|什么的|^因为`)
	// goesOnZh matches a line in which 呢 does not ask, but says that something is going on: 我在写代码呢.
	goesOnZh = regexp.MustCompile(`(?:(?:^|[^现])在|还[^有]).+呢$`)
	// endsZh matches a question word at the end of a line that begins with a condition without a
	// comma: 如果明天下雨我们去哪.
	endsZh = regexp.MustCompile(`(?:什么|谁|哪|哪里|哪儿|怎么办|怎么做|怎么样|如何|多少|几点|干嘛)(?:好|呢|啊|了)?$|吗$`)
	// plainZh replaces words that contain a question word, or a phrase of tellsZh, but
	// mean something else.
	plainZh = strings.NewReplacer("知不知道", "是否", "哪怕", "即使")
	joined  = regexp.MustCompile(`^(?:(?:and|so|but|then|ok|okay|well|hey|also)[ ,]+)+`)
)

// IsQuestion reports whether a line of a conversation asks something rather than states it. A line
// without punctuation, as speech recognition returns it, is judged by its words.
func IsQuestion(text string) bool {
	t := strings.TrimRight(strings.TrimSpace(hans.Fold(text)), " \t\"')”’")
	if strings.HasSuffix(t, "?") || strings.HasSuffix(t, "？") {
		return true
	}
	if strings.HasSuffix(t, "!") || strings.HasSuffix(t, "！") {
		return false
	}
	t = strings.TrimRight(t, ".。…")
	if han := plainZh.Replace(t); asksZh.MatchString(han) || wantsZh.MatchString(han) || countsZh.MatchString(han) {
		return asksHan(han)
	}
	lower := joined.ReplaceAllString(strings.ToLower(strings.ReplaceAll(t, "’", "'")), "")
	return slices.ContainsFunc(asksEn, func(re *regexp.Regexp) bool { return re.MatchString(lower) })
}

// asksHan reports whether a Chinese line with a question word asks.
func asksHan(t string) bool {
	if strings.HasPrefix(t, "如果") { // the condition itself does not ask
		i := strings.IndexAny(t, "，,")
		if i < 0 {
			return endsZh.MatchString(t) && !tellsZh.MatchString(t)
		}
		t = strings.TrimLeft(t[i:], "，, ")
	} else if wantsZh.MatchString(t) {
		return true
	}
	if goesOnZh.MatchString(t) {
		t = strings.TrimSuffix(t, "呢")
	}
	return (countsZh.MatchString(t) || asksZh.MatchString(t)) && !tellsZh.MatchString(t)
}
