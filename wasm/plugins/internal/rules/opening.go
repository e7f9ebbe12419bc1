package rules

import (
	"strings"
	"unicode/utf8"
)

// When a place is open, and what comes every week: "the pharmacy is open from nine to six", "the bins go out on
// Tuesdays", 图书馆九点开门. Neither is the speaker's, and both are looked up again.

// everyWeek takes the hours of a place, and the days of a thing that comes round.
func (t *talk) everyWeek(c *clause, i int) bool {
	if t.part != Facts || pronoun(c.thing) || c.past || c.perfect || c.neg || c.usedTo || c.modal || c.future || c.ing || c.own && c.verb == "be" && !openness[c.w(i)] {
		return false
	}
	noun := last(strings.ToLower(c.thing))
	place, round := opensDaily[noun] || opensDaily[trimS(noun)], roundThings[noun] || roundThings[trimS(noun)]
	if !place && !round {
		return false
	}
	hour := false
	for j := range c.whens {
		if w := &c.whens[j]; w.hasDay && !w.habit {
			return false // tomorrow
		}
		hour = hour || c.whens[j].clock
	}
	for k := i; k < len(c.words)-1; k++ { // "from nine to six"
		n, ok := number(c.w(k + 1))
		hour = hour || ok && n > 0 && n <= 24 && (c.w(k) == "from" || c.w(k) == "until" || c.w(k) == "till" || c.w(k) == "at")
	}
	for k := range c.words {
		if doubtful[c.w(k)] || c.w(k) == "it" { // isn't it
			return false
		}
	}
	open := place && ((c.verb == "open" || c.verb == "close") && (i == len(c.words) || len(c.whens) > 0) || c.verb == "be" && openness[c.w(i)] && (c.w(i) == "open" || c.hasHabit()))
	kind := "hours"
	if c.hasHabit() && round && comesRound[c.verb] && (c.verb != "be" || i >= len(c.words)) {
		kind = "habit"
	} else if !open || !hour && !c.hasHabit() {
		return false
	}
	always := *c
	always.whens = nil // no date stands beside "at nine"
	t.out.Candidates = append(t.out.Candidates, t.base(&always, "semantic", kind, hoursSure))
	return true
}

// hoursSure is how sure it is that something is so every day or week: it may be so today alone.
const hoursSure = 0.65

var (
	openness   = set("open closed shut")
	comesRound = set("go come run leave meet start begin arrive be")
	// opensDaily are places with hours, roundThings what comes on a day of each week.
	opensDaily = set("pharmacy chemist library pool gym shop store supermarket market bank office museum gallery zoo park clinic surgery hospital restaurant cafe café bar pub bakery butcher school nursery kindergarten kitchen canteen gate station " +
		"garage salon hairdresser barber cinema theatre church reception desk playground sauna beach centre center mall takeaway deli florist laundrette launderette tip dump depot workshop studio")
	roundThings = set("bin rubbish trash recycling garbage choir orchestra band club class team group cleaner gardener market bus train ferry post milkman yoga practice rehearsal lesson training swimming football")
	doubtful    = set("rarely seldom hardly never guess think suppose isn't isnt right probably maybe because when if while today now currently")
)

// thereIs takes where a thing is: "there's a spare key under the mat".
func (t *talk) thereIs(c *clause, i int) bool {
	if c.thing != "there" || c.verb != "be" || c.past || c.usedTo || c.neg || c.modal || !determiner(c.w(i)) && c.w(i) != "another" || c.w(i) == "no" || len(c.whens) > 0 {
		return false
	}
	for k := i + 2; k < len(c.words); k++ {
		if !placing(c.w(k)) {
			continue
		}
		end := c.words[len(c.words)-1].tok + 1
		what := c.join(i+1, k)
		head, _, _ := strings.Cut(what, " of ")
		if noun := last(strings.ToLower(head)); !findable(what) || !thingWord(noun) && !possession[noun] && !keptThings[trimS(noun)] || !whereWords(c.sentence, c.words[k].tok, end) {
			return false
		}
		of := *c
		of.thing, of.own = what, false
		return t.locatedAt(&of, c.join(k, len(c.words)))
	}
	return false
}

// keptThings are kept somewhere for whoever needs them.
var keptThings = set("torch flashlight candle match battery adapter fuse bulb plaster bandage blanket towel pillow ladder screwdriver hammer drill toolbox corkscrew scissor stamp envelope cable spare lighter stopcock fusebox thermostat document folder")

// openZh reports a clause that says when a place opens or closes: 电影院十点开门 is not about a film.
func openZh(x string) bool {
	return containsAny(x, "开门", "关门", "打烊", "营业", "开到") && !strings.ContainsAny(x, "我你他她把车会")
}

// opensZh takes the hours of a place: 图书馆九点开门, 药店开到半夜.
func (t *talk) opensZh(s sentence) bool {
	x := trimZhEnd(s.raw())
	own, _ := cutOwnZh(x)
	if !s.chinese() || utf8.RuneCountInString(x) > 24 || !openZh(own) || containsAny(x, "吗", "如果", "要是", "了", "没", "快", "差点", "要", "得", "怎么", "？", "还是", "是不是", "对不对", "不知道", "以为", "说", "以前", "下周", "这周", "几点", "什么时候") {
		return false
	}
	b := t.bare(s)
	hour := false
	for i := range b.whens {
		w := &b.whens[i]
		closed := strings.Contains(x, "不") && (w.weekday || w.grain == 'w') // 银行周末不开门
		if w.hasDay && !w.habit && !closed {
			return false
		}
		hour = hour || w.clock || w.habit || closed
	}
	hour = hour || strings.Contains(x, "半夜") || strings.Contains(x, "24小时") || strings.Contains(x, "二十四小时")
	place, _ := cutOwnZh(b.text)
	if place = trimHeads(place, "家", "附近的", "楼下的", "楼下", "门口的", "门口"); !hour || !startsWithAny(place, placesOpenZh[:]) && !endsWithAny(strings.TrimRight(place, "从到晚早中下上午开关门打烊营业 "), placesOpenZh[:]) {
		return false
	}
	a := t.baseZh(&b, "semantic", "hours", t.self, hoursSure)
	a.Text, a.Entities = t.rewriteZh(s, nil, false), nil
	t.out.Candidates = append(t.out.Candidates, a)
	return true
}
