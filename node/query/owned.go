package query

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/locket-dev/locket/internal/hans"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/recall"
)

// A question such as "when is my birthday" asks for a property, whose owner is the wearer, or
// somebody who is named. What is known of somebody else's property is shown, but does not count as
// a known answer.
const (
	propertyEn = `(?:birth ?day|birth ?date|date of birth|address|job|profession|occupation|employer|phone|number|e-?mail|age|surname|name)`
	propertyZh = `(?:生日|出生|地址|工作|职业|电话|手机|号码|邮箱|年龄)`
	kindEn     = `(?:(?:home|current|mobile|phone|cell|work|e-?mail|first|last) ){0,2}`
	titleEn    = `(?:(?:dr|mr|mrs|ms|prof)\b\.? )?`
	verbEn     = `(?:live|work|born|drive|old|do)\b`
	verbZh     = `(?:住|上班|工作|几岁|多大|叫什么)`
	tasteEn    = `(?:(?:still|really|also) )?(?:like|love|hate|prefer|enjoy|eat|drink|play|allergic|afraid)\b`
	tasteZh    = `(?:最|更|还|也|会|不)*(?:对\p{Han}{1,6}过敏|喜欢|讨厌|爱|怕|吃|喝)`
	// partners are words for people by their relation to the owner.
	partnerEn = `(?:wife|husband|partner|girlfriend|boyfriend|fiancée?|doctor|gp|dentist|vet|boss|landlord|landlady|lawyer|therapist|teacher|neighbou?r|manager|colleague|sister|brother|mother|father|mum|mom|dad|son|daughter|aunt|uncle|cousin|niece|nephew|grand(?:mother|father|ma|pa|son|daughter)|best friend|dog|cat|puppy|kitten)`
	nameZh    = `(?:的?名字|叫什么|叫啥|是谁|是哪位|姓什么)`
	partnerZh = `(?:老婆|妻子|太太|老公|丈夫|男朋友|女朋友|男友|女友|医生|牙医|老板|房东|律师|老师|邻居|同事|姐姐|妹妹|哥哥|弟弟|妈妈|母亲|爸爸|父亲|儿子|女儿|爷爷|奶奶|祖父|祖母|外公|外婆|叔叔|阿姨|舅舅|姑姑|最好的朋友|狗|猫)`
)

var (
	// ofPartner finds questions about who somebody is to the wearer, and toOther questions about
	// who they are to somebody else.
	ofPartner = lazily(`(?i)\b(?:my|our) ` + partnerEn + `(?:['’]s ` + kindEn + `name| called| named)\W*$|\b(?:who(?:['’]s| is)|name of) (?:my|our) ` + partnerEn + `\W*$|^(?:请问)?我(?:们?家)?的?(?:` + partnerZh + `|[爸妈])` + nameZh + `|^(?:请问)?谁是我(?:们?家)?的?` + partnerZh)
	toOther   = lazily(`(?i)^(?:and )?(?:who|what)(?:['’]s| is| was)\b.*['’]s ` + partnerEn + `(?:['’]s ` + kindEn + `name| called| named)?\W*$|` + partnerZh + nameZh)
	// ofSelf finds questions for a property of the wearer.
	ofSelf = lazily(`(?i)\bmy ` + kindEn + propertyEn + `\W*$|^(?:and )?(?:where|when|what|which|how old)\b.* (?:do|did|was|am) i (?:now |currently )?` + verbEn + `(?: in| at| for a living| now)?\W*$|^how old am i\b|` +
		`^(?:请问)?我(?:的|现在|目前)*(?:` + propertyZh + `|(?:是?在?(?:哪里|哪儿|哪|什么地方)?)?` + verbZh + `|是?做什么工作)`)
	// ofOther finds questions about a property of somebody else, and who that is.
	ofOther = []pattern{
		lazily(`(?i)\b(\pL+)['’]s (?:` + partnerEn + `['’]s )?` + kindEn + `(?:` + propertyEn + `|` + partnerEn + `)(?: called| named)?\W*$`),
		lazily(`(?i)^(?:and )?(?:where|when|what|how old) (?:does|did|is|was) (?:my |our )?` + titleEn + `(\pL+) ` + verbEn + `.*$`),
		lazily(`(?i)^how old is (?:my |our )?` + titleEn + `(\pL+)\W*$`),
		lazily(`(?i)^(?:and )?(?:(?:what|which|who|how)\b.* )?(?:does|did|is|was) (?:my |our )?` + titleEn + `(\pL+) ` + tasteEn + `.*$`),
		lazily(`^(?:请问|那)?(?:我(?:们?家)?的?)?([^我你他她它在这那今明昨什哪怎现目谁大\P{Han}]\p{Han}{1,2}?)` + tasteZh),
		lazily(`^(?:请问|那)?(?:我的?)?([^我你他她它在这那今明昨什哪怎现目\P{Han}]\p{Han}{1,2}?|[A-Z][a-z]+) ?(?:的|现在|目前|是|在|哪里|哪儿|哪|什么地方|什么|做)*(?:` + partnerZh + `|` + propertyZh + `|` + verbZh + `)`),
	}
	notNames = lazily(`(?i)^(?:what|when|who|where|how|that|it|there|here|get|got|getting|just|he|she|i|you|we|they|this|the|an?|my|your|our|his|her|their|any(?:one|body)|some(?:one|body)|every(?:one|body)|nobody|们?家的?)$`)

	// givesName finds statements of who somebody's wife is: "my wife is called Karin", "Karin is
	// Tom's wife". givesJob finds sentences that look the same in Chinese, but say what they do.
	givesName = lazily(`(?i:\b` + partnerEn + `(?:['’]s name)?(?: is)?(?: called| named)?),? \p{Lu}|\p{Lu}\pL+(?: is|,) (?:(?i:my|the|our|his|her) |\pL+['’]s )(?i:` + partnerEn + `)\b|(?:` + partnerZh + `|[爸妈])(?:的?名字)?(?:叫|是|姓|名|，)`)
	givesJob  = lazily(partnerZh + `是(?:一?[个名位])?(?:护士|老师|医生|律师|警察|司机|会计|厨师|学生|工程师|程序员|公务员|退休)`)
	partnerOf = lazily(`(?i)(?:\b(my|our)\s+)?(?:\b(\pL+)['’]s\s+)?\b` + partnerEn + `\b|(我)?的?(\p{Han}{0,4}?)的?` + partnerZh)
	// tellsOwn finds whose property a text is about: "my mother's birthday", 小王的生日.
	tellsOwn = lazily(`(?i)(?:\b(my|our)\s+)?(?:\b(\pL+)['’]s\s+)?` + kindEn + `\b` + propertyEn + `\b|(我)?的?(\p{Han}{0,4}?)的?` + propertyZh)
	// asideOf finds words that contain the word for a property, but say nothing about it.
	asideOf = lazily(`(?i)\bbirthday (?:cards?|presents?|gifts?|cakes?|part(?:y|ies))\b|生日(?:礼物|蛋糕|贺?卡|派对|聚会)`)
	// begins finds sentences about somebody: "Anna is", "My brother Jonas works", 小王住在.
	begins = lazily(`^(?:(?:(?i:my|our|his|her) )` + partnerEn + `(?: \p{Lu}\pL+)?|(?:(?:Dr|Mr|Mrs|Ms|Prof)\b\.? )?\p{Lu}\pL+(?: \p{Lu}\pL+)?) (?:is|was|lives?|works?|moved|drives|has|turns?|does)\b|^(?:我的?)?[^我你他她它这那今明昨什哪怎现目\P{Han}]\p{Han}{1,2}?(?:现在)?(?:住|在|是|搬|叫)`)
	first  = lazily(`(?i)^(?:i|i['’]m|i['’]ve|my|we|our)\b|^我`)
)

// property is what a question asks about somebody.
type property struct {
	owner   string         // empty: the wearer
	partner bool           // the question is who somebody is to the owner
	kin     *regexp.Regexp // the kind of relative, animal or professional that is asked about; nil: any
	tells   *regexp.Regexp // finds whose property a text is about; nil: tellsOwn, or partnerOf
	cue     cue            // belongs to tells

	thing *regexp.Regexp // finds the thing of "do I have a dog"; nil: the question asks for none
	only  bool           // only whose thing a text mentions counts, and not whom it is about
	holds string         // what a Chinese text must have word for word: 虾 of 我对虾过敏吗; empty: nothing

	wedByOthers, wedByOwner *regexp.Regexp // see wedsOf; nil: the question is not about whom the owner married
}

// askedProperty finds the property that a question asks for; ok is false if it asks for something
// else.
func askedProperty(question string) (p property, ok bool) {
	switch {
	case ofPartner().MatchString(question):
		p.partner = true
		p.kin, p.tells = kinIn(question)
		if p.kin != nil {
			p.cue = p.kin.MatchString
		}
		return p, true
	case ofSelf().MatchString(question):
		return p, true
	}
	for _, re := range ofSpouse {
		if m := re().FindStringSubmatch(question); m != nil && !notNames().MatchString(m[1]) {
			p = property{owner: m[1], partner: true}
			p.wedByOthers, p.wedByOwner = wedsOf(p.owner)
			return p, true
		}
	}
	for _, re := range ofOther {
		if m := re().FindStringSubmatch(question); m != nil && !notNames().MatchString(m[1]) {
			return property{owner: m[1], partner: toOther().MatchString(question)}, true
		}
	}
	return mineOf(question)
}

// whose says whose property a text is about.
type whose uint8

const (
	nobodys whose = iota // about nobody's
	speakers
	anothers
)

// lacks reports whether a Chinese text lacks the word that it must have.
func (p property) lacks(text string) bool {
	return p.holds != "" && !strings.Contains(text, p.holds) && strings.ContainsFunc(text, isHan)
}

// owns returns whose property a text is about.
func (p property) owns(text string) whose {
	re, cue := p.tells, p.cue
	if p.lacks(text) {
		return anothers
	}
	if w := p.ownsThing(text); w != nobodys {
		return w
	}
	switch {
	case re != nil:
	case p.partner:
		re, cue = partnerOf(), namesPartner
	default:
		re, cue = tellsOwn(), namesProperty
	}
	if p.kin != nil && !p.kin.MatchString(text) && saysRelation(text) {
		return anothers
	}
	if m := submatch(re, cue, text); m != nil {
		switch {
		case m[2] != "" || m[4] != "" || p.partner && !saysRelation(text):
			return anothers
		case m[1] != "" || m[3] != "" || p.partner:
			return speakers
		}
	}
	switch {
	case ofAnother(text), asideOf().MatchString(text):
		return anothers
	case first().MatchString(text):
		return speakers
	}
	return nobodys
}

// saysRelation reports whether a text says who somebody is to somebody else.
func saysRelation(text string) bool {
	return namesPartner(text) && givesName().MatchString(text) && !givesJob().MatchString(text)
}

// misses reports whether a text mentions somebody's doctor, for example, but does not say who the
// owner's doctor is: "Anna went to the doctor", "Hanna's doctor is Dr. Weiss". byOwner: the owner
// may have said it.
func (p property) misses(text string, byOwner bool) bool {
	if p.wedByOwner != nil {
		return !p.weds(text, byOwner)
	}
	m := submatch(partnerOf(), namesPartner, text)
	if m == nil {
		return false
	}
	switch {
	case !saysRelation(text):
		return true
	case m[2] != "":
		return memory.Normal(m[2]) != memory.Normal(p.owner)
	case m[4] != "":
		return !strings.HasSuffix(m[4], p.owner)
	}
	return m[1]+m[3] != "" && !byOwner
}

// ownerIn returns whose property a document is about: the wearer's or somebody else's.
func (p property) ownerIn(d document, question, wearer string) whose {
	if text, _ := said(d, wearer); p.only || p.ownsThing(text) == anothers {
		w := p.ownsThing(text)
		if d.u != nil && p.sharesThing(question, text) || d.m != nil && slices.ContainsFunc(d.m.Evidence, func(e memory.Evidence) bool { return p.sharesThing(question, e.Excerpt) }) {
			return nobodys
		}
		if d.u != nil && w == speakers && d.u.Speaker != "" && memory.Normal(d.u.Speaker) != memory.Normal(wearer) {
			return anothers
		}
		return w
	}
	if d.u != nil {
		text := memory.Cut(d.u.Text, mostOwned)
		w := p.owns(text)
		if w == speakers && shares(question, text) {
			return nobodys
		}
		if w == speakers && d.u.Speaker != "" && memory.Normal(d.u.Speaker) != memory.Normal(wearer) {
			return anothers
		}
		return w
	}
	m := d.m
	switch {
	case m == nil, slices.ContainsFunc(m.Evidence, func(e memory.Evidence) bool { return shares(question, e.Excerpt) }):
		return nobodys
	case p.lacks(m.Text):
		return anothers
	case m.Slot != nil && memory.Normal(m.Slot.Subject) == "user" && !p.partner:
		return speakers
	case m.Slot != nil && memory.Normal(m.Slot.Subject) != "user":
		if p.partner && p.owner == "" {
			return anothers // it is about the wearer's wife, but does not say who she is
		}
		// 老周 and 老婆 share a character.
		if recall.Shared(question, m.Slot.Subject) > 0 && (!strings.ContainsFunc(p.owner, isHan) || strings.Contains(m.Slot.Subject, p.owner)) {
			return nobodys
		}
		return anothers
	}
	return p.owns(asSpoken(m.Text, wearer))
}

// mostOwned is how many bytes of a text are read to find whose something is. Nobody says more in
// one breath. The patterns take a second for 60 kB.
const mostOwned = 2 << 10

// asSpoken returns a memory's text with "my" and 我 in place of the wearer's name, cut to the length
// that is read.
func asSpoken(text, wearer string) string {
	text = memory.Cut(text, mostOwned)
	if wearer == "" {
		return text
	}
	return strings.NewReplacer(wearer+"的", "我的", wearer+"'s", "my", wearer+"’s", "my", wearer, "I").Replace(text)
}

// owner returns, for the index, the owner of the property that the question asks for. A document
// about somebody else's property is no evidence: doubts finds such documents. tells finds documents
// that state the property of anybody.
func (qr *Query) owner(question string) (owner string, doubts, tells check) {
	p, ok := askedProperty(question)
	if !ok {
		return "", nil, nil
	}
	wearer := hans.Fold(qr.c.Wearer)
	switch {
	case p.owner == "":
		return "", func(d document) bool { return p.ownerIn(d, question, wearer) == anothers }, nil
	case p.partner:
		doubts = func(d document) bool {
			text, speaker := said(d, wearer)
			return p.misses(text, memory.Normal(speaker) == memory.Normal(p.owner))
		}
	default:
		doubts = func(d document) bool { return p.ofBystander(d, wearer) }
	}
	if p.wedByOwner != nil { // doubts already finds what does not say whom they married, and 嫁给 stands for 娶
		return "", doubts, nil
	}
	return p.owner, doubts, func(d document) bool { return p.ownerIn(d, question, wearer) != nobodys }
}

// ofBystander reports whether a document is what the owner says about somebody else ("my sister
// lives in Rome"), or about a relative of the owner.
func (p property) ofBystander(d document, wearer string) bool {
	owner := memory.Normal(p.owner)
	text, speakers := "", []string{}
	if u := d.u; u != nil {
		text, speakers = memory.Cut(u.Text, mostOwned), []string{u.Speaker}
	} else if m := d.m; m != nil {
		if m.Slot != nil && (strings.HasPrefix(memory.Normal(m.Slot.Subject), owner+"'s ") || strings.HasPrefix(memory.Normal(m.Slot.Subject), owner+"的")) {
			return true
		}
		text = asSpoken(m.Text, wearer)
		if of := submatch(partnerOf(), namesPartner, text); of != nil && (memory.Normal(of[2]) == owner || of[4] == p.owner) {
			return true
		}
		for i := range m.Evidence {
			speakers = append(speakers, m.Evidence[i].Speaker)
		}
	}
	return slices.ContainsFunc(speakers, func(s string) bool { return memory.Normal(s) == owner }) && p.owns(text) == anothers && recall.Shared(p.owner, text) == 0
}

// said returns the text of a document, and who says it. The text of a memory is given as its wearer
// would say it.
func said(d document, wearer string) (text, speaker string) {
	switch {
	case d.u != nil:
		return memory.Cut(d.u.Text, mostOwned), d.u.Speaker
	case d.m != nil:
		return asSpoken(d.m.Text, wearer), wearer
	}
	return "", ""
}

func isHan(r rune) bool { return unicode.Is(unicode.Han, r) }
