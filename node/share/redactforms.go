package share

import (
	"regexp"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// foldLetter returns a letter in lower case. A letter that has a Latin spelling, or that
// looks like Latin letters, becomes those.
func foldLetter(c rune) []rune {
	c = unicode.ToLower(c)
	if s, ok := lookalikes[c]; ok {
		return []rune(s)
	}
	return []rune{c}
}

// lookalikes are letters that Unicode does not decompose: letters that people replace
// by others, and Cyrillic, Greek and Armenian letters and small capitals that look
// like Latin ones (Unicode Technical Standard 39, confusables).
var lookalikes = map[rune]string{
	'ß': "ss", 'æ': "ae", 'œ': "oe", 'ø': "o", 'ł': "l", 'đ': "d", 'ð': "d", 'þ': "th", 'ı': "i", 'ȷ': "j", 'ɑ': "a", 'ɡ': "g",
	'а': "a", 'в': "b", 'е': "e", 'һ': "h", 'н': "h", 'і': "i", 'ј': "j", 'к': "k", 'м': "m", 'о': "o", 'р': "p", 'с': "c", 'ѕ': "s", 'т': "t", 'у': "y", 'х': "x", 'ԁ': "d", 'ԛ': "q", 'ԝ': "w", 'ѵ': "v", 'ӏ': "l",
	'α': "a", 'β': "b", 'γ': "y", 'ε': "e", 'ζ': "z", 'η': "h", 'ι': "i", 'κ': "k", 'μ': "m", 'ν': "n", 'ο': "o", 'ρ': "p", 'σ': "o", 'τ': "t", 'υ': "y", 'χ': "x", 'ω': "w", 'ϲ': "c", 'ϳ': "j",
	'ո': "n", 'օ': "o", 'ս': "u", 'հ': "h", 'ց': "g", 'զ': "q", 'յ': "j",
	'ᴀ': "a", 'ʙ': "b", 'ᴄ': "c", 'ᴅ': "d", 'ᴇ': "e", 'ꜰ': "f", 'ɢ': "g", 'ʜ': "h", 'ɪ': "i", 'ᴊ': "j", 'ᴋ': "k", 'ʟ': "l", 'ᴍ': "m", 'ɴ': "n", 'ᴏ': "o", 'ᴘ': "p", 'ʀ': "r", 'ꜱ': "s", 'ᴛ': "t", 'ᴜ': "u", 'ᴠ': "v", 'ᴡ': "w", 'ʏ': "y", 'ᴢ': "z",
}

// Letters with marks that some people write as two letters, and others without the
// mark.
var (
	umlautsAsTwo = strings.NewReplacer("ä", "ae", "ö", "oe", "ü", "ue", "ø", "oe", "å", "aa")
	umlautsAsOne = strings.NewReplacer("ae", "a", "oe", "o", "ue", "u", "aa", "a")
)

// minVariantLength is the minimum length of the shorter spelling for which it is also
// looked for. A shorter one would be part of ordinary text: "su" from "Sue".
const minVariantLength = 4

// spellingVariants returns the other spellings of a term of a name: "mueller" for the
// "muller" of Müller, and "muller" for "mueller".
func spellingVariants(name, term string) (out []string) {
	if two := umlautsAsTwo.Replace(strings.ToLower(norm.NFC.String(name))); string(fold(two)) != string(fold(name)) {
		out = append(append(out, string(fold(two))), words(two)...)
	}
	if one := umlautsAsOne.Replace(term); one != term && len(one) >= minVariantLength {
		out = append(out, one)
	}
	return out
}

// Parts of timeForms.
const (
	hours    = `(?:\d{1,2}|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)`
	minutes  = `(?:fifteen|(?:twenty|thirty|forty|fifty)(?:[- ](?:one|two|three|four|five|six|seven|eight|nine))?)`
	ordinals = `(?:\d{1,2}(?:st|nd|rd|th|\.)?|(?:twenty-|thirty-)?(?:first|second|third|fourth|fifth|sixth|seventh|eighth|ninth)|tenth|eleventh|twelfth|(?:thir|four|fif|six|seven|eigh|nine)teenth|twentieth|thirtieth)`
	hanDigit = `[零〇一二三四五六七八九十两\d０-９]`
	dayPart  = `(?:上午|下午|早上|晚上|中午|凌晨|傍晚|半夜)`
)

// timeForms are dates and times of day as people write and say them, in English and
// Chinese.
var timeForms = []*regexp.Regexp{
	regexp.MustCompile(`\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2})?(?:\.\d+)?(?:Z|[+-]\d{2}:?\d{2})?)?`),
	regexp.MustCompile(`\b\d{1,2}[./]\d{1,2}[./](?:\d{4}|\d{2})\b`),
	regexp.MustCompile(`\b\d{1,2}[:.]\d{2}(?::\d{2})?(?:\s*[ap]\.?m\b\.?)?`),
	regexp.MustCompile(`(?i)\b\d{1,2}h\d{2}\b|\b\d{4}\s*(?:hours|hrs)\b`),
	regexp.MustCompile(dayPart + `?[\d０-９]{1,2}[:：][\d０-９]{2}`),
	regexp.MustCompile(`(?i)\b` + hours + `\s*(?:[ap]\.?m\b\.?|o['’]?clock\b|uhr\b|h\b)`),
	regexp.MustCompile(`(?i)\b(?:at|by|until|around|before|after)\s+(?:half past |(?:a )?quarter (?:past|to) )?(?:` + hours + `|noon|midnight|midday)\b`),
	regexp.MustCompile(`(?i)\b(?:at )?(?:half(?: past)?|(?:a )?quarter (?:past|to)|(?:five|ten|twenty|twenty-five|\d{1,2})(?: minutes)? (?:past|to))\s+(?:` + hours + `|noon|midnight|midday)\b`),
	regexp.MustCompile(`(?i)\b` + hours + `\s+` + minutes + `\b`),
	regexp.MustCompile(`(?i)\b(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b`),
	regexp.MustCompile(`(?i)\b(?:(?:the\s+)?` + ordinals + `\s+(?:of\s+)?)?(?:january|february|march|april|may|june|july|august|september|october|november|december|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)\b\.?(?:\s+\d{1,2}(?:st|nd|rd|th)?\b)?(?:,?\s+\d{4}\b)?`),
	regexp.MustCompile(`(?i)\bthe\s+\d{1,2}(?:st|nd|rd|th)\b`),
	regexp.MustCompile(`(?i)\b(?:christmas|easter|new year|hanukkah|diwali|eid|ramadan|passover|thanksgiving|halloween|valentine|whitsun|pentecost)(?:['’]?s)?(?:\s+(?:eve|day|monday|sunday))?\b`),
	regexp.MustCompile(`(?i)\b(?:today|tonight|tomorrow|yesterday|morning|afternoon|evening|noon|midnight|weekends?)\b`),
	regexp.MustCompile(`(?i)\b(?:next|last|this|in|for|since|every)\s+(?:\d+\s+|a\s+|an\s+|one\s+|two\s+|three\s+|few\s+)?(?:hour|day|week|month|year|spring|summer|autumn|fall|winter)s?\b(?:\s+ago\b)?`),
	regexp.MustCompile(`\b(?:19|20)\d{2}\b`),
	regexp.MustCompile(hanDigit + `{1,4}年|` + hanDigit + `{1,3}月|` + hanDigit + `{1,3}[日号]|` + dayPart + `?` + hanDigit + `{1,3}点(?:半|钟|[一三]刻|` + hanDigit + `{1,3}分)?`),
	regexp.MustCompile(`(?:上个?|下个?|这个?|本)?(?:星期|周|礼拜)[一二三四五六日天末]|(?:上|下|这|本)个?(?:星期|周|礼拜|月|季度)|[去今明前后]年|大?[前后]天|今天|明天|昨天|昨[晚夜]|今[晚早]|明[晚早]|春节|除夕|元旦|清明节?|端午节?|中秋节?|国庆节?|圣诞节?`),
}
