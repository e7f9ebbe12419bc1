package recall

import "strings"

// stopWords carry no meaning by themselves in a question. Time words, negation and "like" are kept.
var stopWords = set(`a about above after again against all also am an and any are aren as at be because been before
being below between both but by can could couldn did didn do does doesn doing don down during each else even ever few for from
further get gets getting got had hadn has hasn have haven having he her here hers herself him himself his how i if in
into is isn it its itself just kind let ll me might more most much must my myself of off oh ok okay on once only or other our
ours ourselves out over own please quite re really s same shall she should shouldn so some something still such t than that now
the their theirs them themselves then there these they thing things this those through to too under until up us
ve very was wasn way we well were weren what whatever when where which while who whom whose why will with won would
wouldn yeah yep yes you your yours yourself yourselves hey hi hello wow m d lot sure tell now currently nowadays`)

// stopHan are the Chinese grammar characters.
var stopHan = setRunes(`的了吗呢吧啊是在我你他她它们这那个就都也还和与很着过把被给对从到说得地么什谁哪几怎样为之而且或`)

// particles are grammar characters that make no word with the character before them, and with the
// one after them.
var particles = [2]map[rune]bool{setRunes(`了的着得到过给在吗呢吧啊`), setRunes(`的了很从在被就都还给是不几也把`)}

// notMatters are words with a grammar character that say nothing of the matter.
var notMatters = set(`或者 以为 为啥 也许 过来 过去 地方 样子 对了 说不 与其 从而`)

// hanWord reports whether a pair with a grammar character is a word, such as 过敏 and 首都, and not one
// with a particle, such as 买了. It has to be among the built-in pairs of words.
func hanWord(pair string) bool {
	r := []rune(pair)
	for _, c := range r {
		if strings.ContainsRune("我你他她它们这那什么谁哪怎而且", c) {
			return false
		}
	}
	return !particles[0][r[1]] && !particles[1][r[0]] && !notMatters[pair] && len(theLexicon().pairs.inEnglish(pair)) > 0
}

// haveOrNot leaves one half of 有没有 in a question: 没有 would count as a word of what is asked for.
var haveOrNot = strings.NewReplacer("有没有", "有", "有沒有", "有")

// onlyAsks reports whether the word at index i of a question is 多少, the 时候 of 什么时候 or the
// 名字 of 什么名字, or a character of these. They ask, as "how many" and "when" do, and say nothing of the matter. A pair
// stands between its characters: see pairs.
func onlyAsks(words []word, i int) bool {
	han := func(i int) string {
		if i >= 0 && i < len(words) && words[i].han {
			return words[i].text
		}
		return ""
	}
	asks := func(i int) bool {
		return han(i) == "多少" || (han(i) == "时候" || han(i) == "名字") && (han(i-3) == "么" || han(i-3) == "啥")
	}
	return asks(i) || asks(i-1) || asks(i+1)
}

// irregular lists forms that stemming does not unify: the lemma, then its forms.
var irregular = forms(`
live:lives|go:went gone goes going|say:said|be:been|see:saw seen|take:took taken|give:gave given|come:came|make:made|know:knew known
think:thought|tell:told|find:found|leave:left leaves|feel:felt|bring:brought|buy:bought|keep:kept|begin:began begun
write:wrote written|stand:stood|hear:heard|mean:meant|meet:met|pay:paid|sit:sat|speak:spoke spoken|lead:led
grow:grew grown|lose:lost|fall:fell fallen|send:sent|build:built|understand:understood|draw:drew drawn
break:broke broken|spend:spent|rise:rose risen|drive:drove driven|wear:wore worn|choose:chose chosen|win:won
teach:taught|catch:caught|fight:fought|sell:sold|sing:sang sung|swim:swam swum|run:ran|eat:ate eaten|drink:drank drunk
fly:flew flown|forget:forgot forgotten|forgive:forgave forgiven|hide:hid hidden|hold:held|ride:rode ridden|ring:rang rung
shake:shook shaken|shine:shone|shoot:shot|sleep:slept|steal:stole stolen|strike:struck|swear:swore sworn|sweep:swept
throw:threw thrown|wake:woke woken|bite:bit bitten|blow:blew blown|deal:dealt|dig:dug|feed:fed|freeze:froze frozen
hang:hung|lay:laid|lend:lent|light:lit|seek:sought|stick:stuck|sting:stung|tear:tore torn|weave:wove woven|bend:bent
bind:bound|breed:bred|cling:clung|creep:crept|flee:fled|grind:ground|kneel:knelt|slide:slid|spin:spun|dream:dreamt
learn:learnt|burn:burnt|become:became|overcome:overcame|man:men|woman:women|person:people persons
foot:feet|tooth:teeth|goose:geese|mouse:mice|wife:wives|knife:knives|half:halves|shelf:shelves
wolf:wolves|loaf:loaves|good:better best|bad:worse worst|far:further farther|mom:mum mother mama mommy mummy
dad:father daddy papa|kid:kids child children|grandma:grandmother granny|grandpa:grandfather|photo:photos photograph pic pics picture
bike:bicycle|tv:television|phone:telephone cellphone smartphone|fridge:refrigerator|movie:film|vacation:holiday
2:two second twice|3:three third thrice|1:one first|4:four fourth|5:five fifth|6:six sixth|7:seven seventh|8:eight eighth
9:nine ninth|10:ten tenth|11:eleven|12:twelve|marry:marriage married wed|die:death dead died|travel:trip travelled
`)

func set(s string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(s) {
		m[w] = true
	}
	return m
}

func setRunes(s string) map[rune]bool {
	m := map[rune]bool{}
	for _, r := range s {
		m[r] = true
	}
	return m
}

func forms(s string) map[string]string {
	m := map[string]string{}
	for _, e := range strings.FieldsFunc(s, func(r rune) bool { return r == '|' || r == '\n' }) {
		lemma, list, _ := strings.Cut(e, ":")
		for _, f := range strings.Fields(list) {
			m[f] = lemma
		}
	}
	return m
}

// lemma returns the term for an English word in lower case.
func lemma(w string) string {
	if l, ok := irregular[w]; ok {
		w = l
	}
	s := stem(w)
	if l, ok := irregular[s]; ok {
		return stem(l)
	}
	return s
}
