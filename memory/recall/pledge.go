package recall

import (
	"regexp"
	"slices"
	"strings"
)

// sharePledge is the weight of pledgeMark relative to a word of pledgeWords. A promise seldom has
// such a word: "I'll get the slides to you by Sunday". It is less than 1 because people also say
// "I'll" when they promise nothing.
const sharePledge = .6

// pledgeWords are the terms with which a question asks what was promised.
var pledgeWords = func() map[string]bool {
	m := set("答应 保证 承诺")
	for _, w := range []string{"promise", "pledge", "owe"} {
		m[lemma(w)] = true
	}
	return m
}()

// doing are verbs for things that people do for others.
const doing = `(?:send|bring|get|give|lend|call|ring|phone|text|email|mail|write|forward|share|drop|pick|pay|return|order|buy|book|fix|repair|check|find|finish|prepare|make|bake|cook|water|feed|help|drive|take|show|let|tell|ask|have|do|be there|look (?:after|into)|hand|print|clean|sort|come)`

// pledges matches what a speaker says ("I'll send"), and what a memory says about somebody ("Ana
// will send"). pledgesHan does the same in Chinese.
var (
	pledges = regexp.MustCompile(`\b(?:i promise|you have my word|you'll have|you will have)\b|` +
		`\b(?:i'll|i will|i shall)(?: \w+ly| just| also)? ` + doing + `\b|` +
		`\b(?:promised|will) (?:to )?` + doing + `\b`)
	pledgesHan = regexp.MustCompile(`(?:我|咱)(?:答应|保证|承诺|会[给帮替把]|来[帮替]|[一-龥]{0,8}?[给帮替]你)`)
)

// pledgeHints: a text that pledges matches contains at least one of these. Looking for these first
// takes a tenth of the time.
var pledgeHints = []string{"'ll ", "will ", "shall ", "promise", "my word"}

// pledge reports whether a text says that somebody will do something for somebody.
func pledge(text string) bool {
	if strings.ContainsAny(text, "我咱") && pledgesHan.MatchString(text) {
		return !isQuestion(text)
	}
	text = strings.ReplaceAll(strings.ToLower(text), "’", "'")
	has := func(s string) bool { return strings.Contains(text, s) }
	return slices.ContainsFunc(pledgeHints, has) && pledges.MatchString(text) && !isQuestion(text)
}
