package query

import (
	"cmp"
	"regexp"
)

// ofState finds questions about a fact of the wearer's life, such as "do we live in Lisbon". ofMine
// finds questions about something of the wearer's, whatever it is: "what is my blood type". Texts
// about others answer neither.
var (
	ofState = lazily(`(?i)^(?:and |so )?(?:(?:what|which|where|how)\b.* )?(?:(?:am|are|was|were) (?:i|we)\b|(?:do|did) (?:i|we) (?:still |also |really |now |currently )?(?:live|work|own|have|like|love|hate|prefer|eat|drink|smoke|speak|play|drive|earn|weigh|wear)\b|when did (?:i|we) (?:get married|marry|graduate|retire)\b)` +
		`|^(?:请问)?我(?:们|家|们家)?(?:现在|目前|还|也|平时|一般|到底|是不是|有没有|会不会|喜不喜欢)*(?:对.{1,8}过敏|住|有|喜欢|爱|讨厌|开什么|开的|养|抽烟|喝|吃|会|发|什么时候(?:结婚|毕业|退休))`)
	// notState finds questions about what is to be done, or was going on. What others say can
	// answer them, too.
	notState = lazily(`(?i)\b(?:have|need) (?:to|any|anything|something|a (?:meeting|call|date|class))\b|\b(?:going|supposed|meant|about) to\b|\b(?:am|are|was|were) (?:i|we) (?:\pL+ )?\pL+ing\b|^我(?:们)?(?:有什么|有啥|有没有什么)(?:事|安排|计划|要)`)
	ofMine   = []pattern{
		lazily(`(?i)^(?:and |so )?(?:what|which|how)\b.* (?:my|our) ((?:\pL+ )?\pL+?)(?: called| named)?\W*$`),
		lazily(`^(?:请问)?我(?:们|家|们家)?的?([^我你他她它的在要会想做去住不有是叫今明昨现们家\P{Han}]{1,4}?)(?:是|叫|有|值|发了?|花了?|用了?|多)?(?:什么|多少|几|哪|谁|[大高重长])`),
	}
	// ofOneZh finds the object of a Chinese yes-or-no question about the wearer. It is needed
	// because words of one character are in no index.
	ofOneZh = lazily(`^(?:请问)?我(?:们|家)?(?:现在|也|还|会|是不是|是否)*(?:对([^什哪谁啥\P{Han}]{1,6})(?:会)?过敏|(?:有|喜欢|爱|吃|喝|养)([^什哪谁啥\P{Han}]))(?:吗|么|不|没有)?[？?]?$`)
	// theySay finds sentences in which somebody is reported to speak about themselves: 小张说他, "Tom
	// says he".
	theySay = lazily(`^\p{Lu}\pL+ (?:says?|said|told \pL+)(?: that)? (?:s?he|they)\b|^[^我]{1,4}说[他她]`)
	theyDo  = lazily(`^(?:(?:(?i:my|our) ` + partnerEn + `|\p{Lu}\pL+)(?: \p{Lu}\pL+)? (?:likes?|loves?|hates?|prefers?|eats?|drinks?|plays?|speaks?|owns?|got|married)\b|我(?:的|们家?的?|家的?)?(?:` + partnerZh + `|老?[妈爸]|[哥姐弟妹])\p{Han}{0,3}?(?:对|喜欢|讨厌|有|会|开|养|吃|喝|爱)|[^我你他她它这那今明昨什哪怎现目\P{Han}]\p{Han}?[^里末天上下年月时候\P{Han}](?:对|喜欢|讨厌|有|会|开|养|嫁|娶|发了))`)
)

// ofSpouse finds questions about whom somebody married, and who that somebody is.
var ofSpouse = []pattern{
	lazily(`(?i)^(?:and |so )?whom? (?:did|does|is|was|has) (?:my |our )?(\pL{1,40}) (?:marry|(?:getting |get |got )?married(?: to)?)\W*$`),
	lazily(`^(?:请问)?(?:我的?)?([^我你他她它这那\P{Han}]\p{Han}{1,2}?)(?:是|后来|要)?(?:(?:嫁给?|娶)了?谁|[和跟同]谁(?:结婚|结的婚))了?\W*$`),
}

// wedsOf returns two patterns that find the statement that the owner married: one for what others
// say, and one for what the owner says. A text about their sister's marriage, or about a wedding
// where they were a guest, matches neither.
func wedsOf(owner string) (byOthers, byOwner *regexp.Regexp) {
	const wed = `marr(?:y|ies|ied|ying)\b`
	find := func(who string) *regexp.Regexp {
		return regexp.MustCompile(`(?i)(?:^|\P{L})` + who + `(?: (?:is|are|was|were|has|have|had|will|just|finally|secretly|got|get|getting|and \pL+))* ` + wed + `|\b` + wed + `(?: to)? (?:\pL+ ){0,2}?` + who + `\b|\b` + who + `['’]s (?:husband|wife|spouse)\b|` +
			who + `[^，。；的没不未]{0,8}(?:嫁|娶|结婚)|(?:嫁给?|娶)了?` + who + `|` + who + `的?(?:老公|丈夫|先生|老婆|妻子|太太)`)
	}
	who := regexp.QuoteMeta(owner)
	return find(who), find(`(?:` + who + `|i|we|我们?)`)
}

// weds reports whether a text says that the owner married somebody. byOwner: the owner may have said it.
func (p property) weds(text string, byOwner bool) bool {
	if byOwner {
		return p.wedByOwner.MatchString(text) || ofSpouseEn().MatchString(text)
	}
	return p.wedByOthers.MatchString(text)
}

var ofSpouseEn = lazily(`(?i)\bmy (?:husband|wife|spouse)\b`)

// kins are words for relatives, animals and professionals, in both languages. Words in one pattern count as the
// same, such as sister and brother.
var kins = []pattern{
	lazily(`(?i)\b(?:wife|husband|partner|girlfriend|boyfriend|fiancée?)\b|老婆|妻子|太太|老公|丈夫|[男女]朋?友`),
	lazily(`(?i)\bdentist\b|牙医`), lazily(`(?i)\b(?:doctor|gp)\b|医生`), lazily(`(?i)\b(?:boss|manager)\b|老板`), lazily(`(?i)\bland(?:lord|lady)\b|房东`),
	lazily(`(?i)\b(?:mother|mum|mom)\b|妈妈?|母亲`), lazily(`(?i)\b(?:father|dad)\b|爸爸?|父亲`), lazily(`(?i)\b(?:son|daughter)\b|儿子|女儿`),
	lazily(`(?i)\b(?:sister|brother)\b|姐姐|妹妹|哥哥|弟弟`), lazily(`(?i)\b(?:dog|puppy)\b|狗`), lazily(`(?i)\b(?:cat|kitten)\b|猫`),
}

// kinIn returns the pattern of kins that a question names, and a pattern that finds whose relative
// (or animal, or professional) a text is about. Both are nil if the question names none.
func kinIn(question string) (kin, tells *regexp.Regexp) {
	for _, re := range kins {
		if kin = re(); kin.MatchString(question) {
			of := `(?:` + kin.String() + `)`
			return kin, regexp.MustCompile(`(?:\b((?i)my|our)\s+)?(?:\b(\pL+)['’]s\s+)?\b` + of + `|(我)?(?:们|家|们家)?的?(\p{Han}{0,4}?)的?` + of)
		}
	}
	return nil, nil
}

// mineOf reads a question about the wearer, or about something of theirs. If it is about something,
// p.tells finds whose thing a text is about.
func mineOf(question string) (p property, ok bool) {
	for _, re := range ofMine {
		if m := re().FindStringSubmatch(question); m != nil && (!doing().MatchString(question) || weDoing().MatchString(question)) {
			thing := regexp.QuoteMeta(m[1])
			p.cue = regexp.MustCompile(`(?i)` + thing).MatchString
			p.tells = regexp.MustCompile(`(?i)(?:\b(my|our)\s+)?(?:\b(\pL+)['’]s\s+)?` + kindEn + `\b` + thing + `\b|(我)?(?:们|家)?(?:的|(\p{Han}{1,4}的|` + partnerZh + `))?` + thing)
			return p, true
		}
	}
	if !notState().MatchString(question) {
		p.thing = askedThing(question)
	}
	if m := ofOneZh().FindStringSubmatch(question); m != nil {
		p.holds = cmp.Or(m[1], m[2])
	}
	if p.thing != nil || p.holds != "" || ofState().MatchString(question) && !notState().MatchString(question) {
		return p, true
	}
	p.thing = askedOfOurs(question)
	p.only = p.thing != nil
	return p, p.only
}

var (
	together = lazily(`(?i)\b(?:we|our|us)\b|[我咱]们`)
	weDo     = lazily(`^(?:I|We)\b`)
	// "How does Tom like our garden" is not a question about the wearer's garden, but "how much do
	// I pay for my rent" is one about the rent.
	doing   = lazily(`(?i)\b(?:do|does|did|has|have|will|can|should)\b`)
	weDoing = lazily(`(?i)\b(?:do|did|have|will|can|should) (?:i|we)\b`)
)

// shares reports whether a question and a line both say "we": the speaker of the line may include
// the wearer.
func shares(question, line string) bool {
	return together().MatchString(question) && together().MatchString(line)
}

// ofAnother reports whether a text begins with what somebody else does or says about themselves.
func ofAnother(text string) bool {
	return (begins().MatchString(text) || theyDo().MatchString(text) || theySay().MatchString(text)) && !weDo().MatchString(text)
}
