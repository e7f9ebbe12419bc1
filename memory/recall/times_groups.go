package recall

import (
	"strconv"
)

// ofAnyDay are words that do not narrow a question which also names a time:
// "what happened last Tuesday", 昨天聊了什么.
var ofAnyDay = set(`happen say tell talk discuss mention speak chat do visit go place day
发生 发 生 聊 讲 谈 做 事 情 事情 聊天 去 过 些 方 地方 去过 天 时 候 时候 干 嘛 干嘛 啥 忙 呢`)

// partsOfDay are terms of parts of a day. A question that names a day does not ask for them, because
// what was said in the evening seldom has that word; a line that has it is the better match.
var partsOfDay = set(`morn noon afternoon even night 早上 早晨 上午 中午 下午 晚上 傍晚 凌晨 夜里`)

// partsIn returns the indexes of the words that name a part of a day, if the question names a time. Of
// a Chinese one, the pairs that share a character with it or with the time become part of the time:
// 天晚 and 上聊 of 昨天晚上聊了什么.
func (f *found) partsIn(words []word) map[int]bool {
	if len(f.spans) == 0 {
		return nil
	}
	parts := map[int]bool{}
	for i, w := range words {
		if partsOfDay[w.term] {
			parts[i] = true
			if w.han {
				parts[i-1], parts[i+1] = true, true
			}
		}
	}
	for i, w := range words {
		if w.han && len([]rune(w.text)) == 2 && !parts[i] && (f.consumed[i-1] || f.consumed[i+1] || parts[i-1] || parts[i+1]) {
			f.consumed[i] = true
		}
	}
	return parts
}

// goings are those words of ofAnyDay that ask where somebody was. When a node
// records a visit, it uses the word "arrived".
var goings = set(`visit go place 去 地方`)

// weightOfAnyDay is the factor for the weight of these words.
const weightOfAnyDay = .3

// worthTime is how much a time that the question names counts for confidence.
// It equals the worth of a word that one document in e to this power holds.
const worthTime = 4

// timeGroups adds the times that the question names, as precisely as it names them.
func (c *core) timeGroups(out *question, f found) {
	word := len(out.worth)
	out.time = -1
	if len(f.spans) > 0 {
		out.time = word
		out.worth = append(out.worth, worthTime)
	}
	add := func(weight float64, names ...string) {
		var terms []weighted
		for _, n := range names {
			terms = append(terms, c.found(timeMark+n, 1)...)
		}
		if len(terms) > 0 {
			g := group{signal: sigTime, idf: c.idf(c.dfOf(terms)), weight: weight, terms: terms}
			if word < len(out.worth) && weight == 1 {
				g.words, g.share = []int{word}, 1
			}
			out.groups = append(out.groups, g)
		}
	}
	for _, s := range f.spans {
		switch days := s.to - s.from + 1; {
		case s.said && f.month != 0 && f.year == 0: // "in May": of any year, but most of all the last one
		case days <= 10:
			var names []string
			for d := s.from; d <= s.to; d++ {
				names = append(names, "D"+strconv.Itoa(int(d)))
			}
			add(1, names...)
			m := dayTime((s.from + s.to) / 2)
			add(.5, monthTerm(m.Year(), int(m.Month()))[1:])
		case days <= 100:
			var names []string
			for t := dayTime(s.from); !t.After(dayTime(s.to)); t = t.AddDate(0, 1, 1-t.Day()) {
				names = append(names, monthTerm(t.Year(), int(t.Month()))[1:])
			}
			add(1, names...)
		default:
			add(1, yearTerm(dayTime(s.from).Year())[1:])
		}
	}
	if f.month != 0 && f.year == 0 {
		add(1, "m"+strconv.Itoa(f.month))
		if f.day != 0 {
			add(1, "d"+strconv.Itoa(f.month)+"-"+strconv.Itoa(f.day))
		}
	}
	if f.weekday != 0 && len(f.spans) == 0 {
		add(.5, "w"+strconv.Itoa(f.weekday))
	}
}

// arrivals adds a group for the word by which a node records where the wearer was.
func (c *core) arrivals(out *question) {
	if terms := c.found(lemma("arrived"), 1); len(terms) > 0 {
		out.groups = append(out.groups, group{signal: sigMatch, idf: c.idf(c.dfOf(terms)), weight: 1, terms: terms})
	}
}
