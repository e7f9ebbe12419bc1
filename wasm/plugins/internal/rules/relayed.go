package rules

import "strings"

// What somebody tells the speaker of the speaker's own is the speaker's: "Anna says my flight
// leaves at six", 妈妈说我的航班六点起飞. It is read without who says it, who then stands behind it.

// relays are verbs of telling, by whether whom it was told to must follow.
var relays = map[string]bool{"say": false, "said": false, "says": false, "confirmed": false, "confirms": false, "mentioned": false, "mentions": false, "told": true, "tells": true, "reminded": true, "reminds": true, "texted": true, "informed": true}

// relayed takes a sentence in which somebody else says when something of the speaker's is, or
// where. What else they say of the speaker is noted as said. It reports whether it is one.
func (t *talk) relayed(s sentence) bool {
	if s.ends == "?" || s.ends == "？" || conditioned(s) {
		return false
	}
	who, at := t.relayer(s)
	if s.chinese() {
		who, at = t.relayerZh(s)
	}
	switch at {
	case 0:
		return false
	case -1:
		t.refuse("story", "what somebody else says, perhaps of themselves", s.start, s.end)
		return true
	}
	from, refused := len(t.out.Candidates), len(t.out.Refusals)
	t.sentence(s.sub(at, len(s.toks)))
	t.said = s
	kept := t.out.Candidates[:from]
	for _, c := range t.out.Candidates[from:] {
		if c.Negates && c.Kind != "cancellation" || partOf(&c) != Plans && c.Kind != "event" && c.Kind != "place" && !((c.Kind == "health" || c.Kind == "allergy") && c.Lang == "zh" && byDoctorZh(who)) {
			continue
		}
		if c.Lang == "zh" {
			c.Text = strings.TrimSuffix(c.Text, "。") + "（" + who + "说）。"
		} else {
			c.Text = strings.TrimSuffix(c.Text, ".") + ", " + who + "."
		}
		c.Confidence -= 0.1
		for k := range c.Spans {
			if c.Spans[k].Turn == 0 {
				c.Spans[k].Start, c.Spans[k].End = s.start, s.end
			}
		}
		kept = append(kept, c)
	}
	if t.out.Candidates = kept; len(kept) == from {
		t.out.Refusals = t.out.Refusals[:refused]
		if t.part != Facts || !t.advised(s) && !t.note(s) {
			t.refuse("nothing", "says nothing that a rule knows", s.start, s.end)
		}
	}
	return true
}

// relayer is who says, and when, what follows from token at; at is 0 where nobody does, or where what follows
// is not the speaker's.
func (t *talk) relayer(s sentence) (who string, at int) {
	i := 0
	for i < len(s.toks) && (s.toks[i].kind == 'p' || lead(s.at(i))) {
		i++
	}
	first := i
	switch w := s.at(i); {
	case w == "my" || w == "our" || w == "the":
		for i++; i < first+4 && !kin(s.at(i)) && !profession(s.at(i)) && !trade(s.at(i)); i++ {
		}
		if i++; i > first+4 {
			return "", 0
		}
		if i < len(s.toks) && s.toks[i].cap && nameWord(s.at(i)) {
			i++ // my sister Anna
		}
	case kin(w):
		i++
	case i < len(s.toks) && s.toks[i].cap && nameWord(w) && !strings.HasSuffix(w, "'s"):
		for i < first+3 && i < len(s.toks) && s.toks[i].cap {
			i++
		}
	default:
		return "", 0
	}
	told, known := relays[s.at(i)]
	if !known {
		return "", 0
	}
	who = strings.TrimSpace(s.text[s.toks[first].start:s.toks[i-1].end])
	switch w := s.at(first); {
	case w == "my" || w == "our":
		who = possessive(t.self.name) + who[len(w):]
	case w == "the":
		who = "the" + who[len(w):]
	case kin(w):
		who = possessive(t.self.name) + " " + w
	}
	if i++; told || s.at(i) == "to" && (s.at(i+1) == "me" || s.at(i+1) == "us") {
		if s.at(i) == "to" {
			i++
		}
		if s.at(i) != "me" && s.at(i) != "us" {
			return "", 0
		}
		i++
	}
	says := " says"
	if w, ok := whenAt(s, i, t.now); ok && w.hasDay && !w.habit {
		w.past(t.now)
		says = " said " + s.text[s.toks[i].start:s.toks[w.next-1].end] + " (" + w.english() + ")"
		i = w.next
	}
	who += says
	if s.at(i) == "that" {
		i++
	}
	switch base, _ := contraction(s.at(i)); base {
	case "my", "our", "i", "we":
		return who, i
	case "the":
		for k := i + 1; k < i+4; k++ {
			w, _ := contraction(s.at(k))
			if _, event := eventNoun(w); event && !profession(w) {
				return who, i
			}
		}
	}
	return "", 0
}

// relayerZh is the same of a Chinese sentence; -1 where 我 may be who says it: 小李说，我周五去北京.
func (t *talk) relayerZh(s sentence) (who string, at int) {
	raw := s.raw()
	x := stripLeadZh(raw)
	own := strings.TrimPrefix(strings.TrimPrefix(x, "我的"), "我")
	who = kinPrefixZh(own)
	rest := strings.TrimPrefix(own, who)
	if who == "" {
		for _, n := range [...]int{9, 6} { // a name of three characters, or two
			if len(x) > n && personZh(x[:n]) && startsWithAny(x[n:], []string{"说", "告诉我", "提醒我", "通知我", "跟我说", "和我说"}) {
				who, rest = x[:n], x[n:]
				break
			}
		}
	} else {
		who = t.self.name + "的" + who
	}
	if office, inner := announcedZh(x); inner != "" {
		for at < len(s.toks) && s.toks[at].start < s.start+len(raw)-len(inner) {
			at++
		}
		if own, ok := strings.CutPrefix(strings.TrimPrefix(office, "我们"), "我"); ok {
			office = t.self.name + "的" + own
		}
		return strings.TrimPrefix(office, "我们"), at % max(1, len(s.toks))
	}
	if who == "" {
		return "", 0
	}
	for _, says := range [...]string{"跟我说", "和我说", "对我说", "告诉我说", "告诉我", "提醒我", "通知我", "说了", "说"} {
		inner, ok := strings.CutPrefix(rest, says)
		if !ok {
			continue
		}
		if strings.HasPrefix(inner, "，我") || strings.HasPrefix(inner, ",我") {
			return who, -1
		}
		if _, word := eventInZh(inner); !strings.HasPrefix(inner, "我") && !strings.HasPrefix(inner, "咱") && (word == "" || !strings.HasPrefix(inner, word)) {
			return "", 0
		}
		for at < len(s.toks) && s.toks[at].start < s.start+len(raw)-len(inner) {
			at++
		}
		if at == len(s.toks) {
			at = 0
		}
		return who, at
	}
	return "", 0
}

// latinNameZh is the name in Latin letters that a Chinese text begins with, or "".
func latinNameZh(x string) string {
	name := x[:len(x)-len(strings.TrimLeft(x, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"))]
	if len(name) < 3 || name[0] > 'Z' {
		return ""
	}
	return name
}

// intendsZh begin what somebody says that they do or mean to: 老周说他不想续合同了.
var intendsZh = []string{"不想", "不打算", "不干", "准备", "打算", "决定", "换工作", "换了", "辞", "搬"}

// saysOfZh notes what one of the speaker's people says of another: 我妈说大姨要卖房子.
func (t *talk) saysOfZh(s sentence) bool {
	x := stripLeadZh(strings.Trim(s.raw(), " ，,。！!"))
	rest, own := cutOwnZh(x)
	who := kinPrefixZh(rest)
	if !own && len([]rune(who)) < 2 || who == "" {
		who = namePrefixZh(x)
		if rest = x; who == "" {
			who = latinNameZh(x)
		}
	}
	said := strings.TrimPrefix(strings.TrimPrefix(rest[len(who):], "跟我"), "和我")
	inner, ok := strings.CutPrefix(said, "说")
	if n := len([]rune(inner)); who == "" || !ok || n < 5 || n > 24 || containsAny(inner, "我", "咱", "你", "您", "吗", "可能", "好像", "也许", "如果", "不定", "，他说", "，她说") || undecidedZh(inner) {
		return false
	}
	of := strings.TrimLeft(inner, "他她")
	if k := kinPrefixZh(of); (k == "" || len([]rune(k)) < 2 && of == inner) && !(of != inner && startsWithAny(of, intendsZh)) {
		if namePrefixZh(of) == "" || of != inner {
			return false
		}
	}
	if !containsAny(inner, "要", "会", "准备", "打算", "了", "生", "搬", "结婚", "离婚", "在", "是") {
		return false
	}
	b := t.bare(s)
	a := t.baseZh(&b, "semantic", "noted", t.self, notedSure)
	a.Text = t.rewriteZh(s, b.whens, false)
	for i := range b.whens {
		if w := &b.whens[i]; w.hasDay && !w.habit && w.day >= t.now.day {
			a.Type, a.EventType, a.Started = "episodic", "noted", moment{w.day, 0, t.now.offset}.unix()
			break
		}
	}
	t.out.Candidates = append(t.out.Candidates, a)
	return true
}
