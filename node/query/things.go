package query

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

// qualityEn matches a word for what a thing is like, which names no thing.
const qualityEn = `(?:new|old|own|other|big|large|small|little|first|last|next|best|favou?rite|good|spare|second|main|red|blue|green|black|white|yellow|grey|gray|brown|pink|orange|purple)`

// A question such as "do I have a dog" asks for a thing of the wearer's. A text that speaks only of
// somebody else's ("next door's dog", 隔壁的狗) is shown, but is no evidence.
var (
	ofThing = []pattern{
		lazily(`(?i)^(?:and |so )?(?:(?:do|did) (?:i|we) (?:still |also |really |now |currently )?(?:have|own|keep)|have (?:i|we) got) (?:an? |any |some |our own |my own )?((?:\pL+ )?\pL+)\W*$`),
		lazily(`^(?:请问)?[我咱](?:们|家|们家)?(?:现在|还|也|到底)*(?:有没有|是不是有|有|养没养|养)(?:一?[只条辆台个架顶])?([^什哪谁啥几多]\p{Han}{0,3}?)(?:吗|么|没有|没)?[？?]?$`),
	}
	// ofOurs finds questions about something of the wearer's that are read by no other pattern: "is my
	// sister pregnant", "where is my old car". ofOursZh does so in Chinese, for people, animals and a car.
	ofOurs   = lazily(`(?i)^(?:and |so )?(?:is|are|was|were|does|do|did|has|have|had|can|will|should|when|where|who|why|how|what|which)\b.*?\b(?:my|our) (?:` + qualityEn + ` )*(\pL+)\b`)
	ofOursZh = lazily(`^(?:请问|那)?[我咱](?:们|家|们家)?的?(` + partnerZh + `|老?[爸妈]|[哥姐弟妹]|车)[^的]{1,10}(?:吗|么|没有?)[？?]?$`)
	// wished finds that somebody only wants the thing that follows.
	wished = lazily(`(?i)\b(?:wants?|wanted|wish(?:es)?|plan(?:s|ning)?|hop(?:e|es|ing)|like|thinking|considering|going|will|needs?|ought|must|should|have to)\b[^.,;!?]{0,24}\b(?:(?:buy|buying|adopt|adopting|order)\s+(?:(?:an?|the|some)\s+)?|(?:get|getting|have)\s+(?:(?:an?|some)\s+)?)(?:(?:\pL{4,}|new|old|big|own|red)\s+)?$` +
		`|\b(?:sav(?:e|es|ing)(?: up)?|hop(?:e|es|ing)|wish(?:es)?)\b[^.,;!?]{0,12}\bfor\s+(?:(?:an?|the|some)\s+)?(?:\pL+\s+)?$|\bwish(?:es)?\s+(?:that\s+)?(?:i|we)\s+(?:had|owned)\s+(?:an?\s+)?(?:\pL+\s+)?$` +
		`|(?:打算|想要?|准备|要|考虑)(?:\p{Han}{0,4}?)(?:买|换|养|领养)\p{Han}{0,3}$`)
	// takenBefore finds, in the words before a thing of another's, that the speaker has taken it over: "I bought
	// Tom's", "Tom gave me his", 我继承了爷爷的. takenAfter finds it in the words after the thing.
	takenBefore = lazily(`(?i)(?:^|[^\pL])(?:i|we)(?: and \pL+)?(?:['’]ve)?(?: (?:have|had|just|finally|also|recently))* (?:bought|inherited|adopted|won|(?:took|taken) over|(?:was|were|got) (?:given|left))\b[^.,;!?]{0,32}$|\b(?:gave|given|left|sold|handed|passed)(?: down| on)?(?: to)? (?:me|us|i)\b[^.,;!?]{0,32}$` +
		`|[我咱](?:们|家)?[^，。；！？没不差]{0,5}(?:买|继承|领养|收养|接手|接管)[下来]?了[^，。；！？]{0,8}$|[送留卖转]给?了?[我咱][^，。；！？]{0,8}$`)
	takenAfter = lazily(`^(?:[送留卖]|转[送让卖])?(?:给了?|[送留卖]了)[我咱]`)
	// ownerBefore finds which other person has a thing in the words before it, ownerAfter in those after
	// it. speakerBefore finds that the speaker has it.
	ownerBefore   = lazily(`(?i:\b(?:his|her|their)|(\pL+)['’]s|s['’])\s+(?:\pL+\s+)?$|(?:(?:` + partnerZh + `|邻居|隔壁|对门|楼[上下]|朋友|别人|人家|公司|单位|学校|[他她]们?|[A-Z][a-z]+)(?:他们|家里?)?的?|[老小阿]\p{Han}(?:他们家?|家里?)?(?:的|家))(?:那[只条辆台个架顶])?$`)
	speakerBefore = lazily(`(?i:\b(?:my|our)\s+)$|[我咱](?:们|家|们家)?的?$`)
	ownerAfter    = lazily(`(?i)^\s+(?:next door|upstairs|downstairs|(?:down|up|across) the (?:road|street)|belong(?:s|ed) to (?:the|my|our|his|her|their|\pL+['’]s)\b|of (?:the|my|our|his|her|their|\pL+['’]s)\b)`)
)

// notOwners are words with 's that name no owner.
var notOwners = map[string]bool{"it": true, "that": true, "this": true, "there": true, "here": true, "what": true, "who": true, "where": true, "he": true, "she": true, "let": true,
	"one": true, "children": true, "kids": true, "today": true, "yesterday": true, "tomorrow": true, "year": true, "week": true, "day": true, "month": true}

// askedThing returns a pattern that finds the thing that a question asks for, or nil.
func askedThing(question string) *regexp.Regexp {
	for _, re := range ofThing {
		m := re().FindStringSubmatch(question)
		switch {
		case m == nil:
		case utf8.RuneCountInString(m[1]) < len(m[1]): // Chinese has no space between words
			return regexp.MustCompile(regexp.QuoteMeta(m[1]))
		default:
			return regexp.MustCompile(`(?i)\b` + regexp.QuoteMeta(m[1]) + `\b`)
		}
	}
	return nil
}

// ownsThing returns whose thing of the asked kind a text mentions: the speaker's, or that of others each
// time.
func (p property) ownsThing(text string) whose {
	if p.thing == nil {
		return nobodys
	}
	w := nobodys
	for _, at := range p.thing.FindAllStringIndex(text, -1) {
		before := text[:at[0]]
		m := ownerBefore().FindStringSubmatch(before)
		switch {
		case wished().MatchString(before):
		case speakerBefore().MatchString(before):
			return speakers
		case m != nil && (takenBefore().MatchString(before) || takenAfter().MatchString(text[at[1]:])):
			return speakers
		case (m == nil || notOwners[strings.ToLower(m[1])]) && !ownerAfter().MatchString(text[at[1]:]):
			return nobodys
		}
		w = anothers
	}
	return w
}

// sharesThing reports whether a line that somebody else may have said calls the thing of the question "our": the
// wearer, who asks for "our rent", may be one of them.
func (p property) sharesThing(question, line string) bool {
	return shares(question, line) && p.ownsThing(line) == speakers
}

// askedOfOurs returns a pattern that finds what a question asks about, if that is the wearer's, or nil.
func askedOfOurs(question string) *regexp.Regexp {
	if m := ofOurs().FindStringSubmatch(question); m != nil {
		return regexp.MustCompile(`(?i)\b` + regexp.QuoteMeta(m[1]) + `\b`)
	}
	if m := ofOursZh().FindStringSubmatch(question); m != nil {
		first, n := utf8.DecodeRuneInString(m[1])
		if m[1] == strings.Repeat(string(first), len(m[1])/n) {
			return regexp.MustCompile(regexp.QuoteMeta(string(first)) + `+`) // 妹 and 妹妹
		}
		return regexp.MustCompile(regexp.QuoteMeta(m[1]))
	}
	return nil
}
