package rules

import (
	"sort"
	"strings"
	"unicode/utf8"

	"github.com/locket-dev/locket/wasm/abi"
)

// maxQuoted bounds a quotation that is noted with who said it, in bytes.
const maxQuoted = 300

// quotation is what stands within quotation marks and says "I" or 我 of whoever is quoted.
type quotation struct {
	start, end int // bytes of the text, both marks included; the closing one may be missing
}

// otherText forgets the quotations of the text for as long as another one is read; the function that it returns knows them again.
func (t *talk) otherText() func() {
	quotations, sought := t.quotations, t.sought
	t.quotations, t.sought = nil, false
	return func() { t.quotations, t.sought = quotations, sought }
}

// quotationsIn finds the quotations of a text in which somebody speaks of themselves after, or
// before, a verb of saying: 妈妈说：“我住院了。”, "I'm moving," said Tom. What the speaker quotes of
// their own words is none.
func quotationsIn(text string) (all []quotation) {
	for i := 0; i < len(text); {
		next := strings.IndexAny(text[i:], "\"“「:：")
		if next < 0 {
			break
		}
		i += next
		if q, ok := unmarked(text, i); ok {
			if q.ofOneself(text) {
				all = append(all, q)
			}
			i = q.end
			continue
		}
		open, shut := "", ""
		for _, marks := range [...][2]string{{`"`, `"`}, {"“", "”"}, {"「", "」"}} {
			if strings.HasPrefix(text[i:], marks[0]) {
				open, shut = marks[0], marks[1]
			}
		}
		if open == "" || open == `"` && letterAt(text, i-1) { // 5" is a length
			i++
			continue
		}
		end := i + len(open)
		line, _, _ := strings.Cut(cut(text[end:], maxBefore), "\n")
		if k := strings.Index(line, shut); k >= 0 {
			end += k + len(shut)
		} else {
			end += len(line)
		}
		if q := (quotation{i, end}); q.ofOneself(text) && q.said(text) {
			all = append(all, q)
		}
		i = end
	}
	return all
}

// unmarked is what stands behind the colon at byte i, up to the end of its line, where somebody else
// is said to have said it and no marks tell where it ends: "He told me: I moved to Paris."
func unmarked(text string, i int) (quotation, bool) {
	n := 0
	for _, colon := range [...]string{":", "："} {
		if strings.HasPrefix(text[i:], colon) {
			n = len(colon)
		}
	}
	if n == 0 {
		return quotation{}, false
	}
	from := 0
	if k := strings.LastIndexAny(text[:i], ".!?\n。！？；;\"”」"); k >= 0 {
		_, size := utf8.DecodeRuneInString(text[k:])
		from = k + size
	}
	head := strings.ToLower(strings.TrimSpace(text[from:i]))
	rest := text[i+n:]
	line, _, _ := strings.Cut(cut(rest, maxBefore), "\n")
	said := strings.TrimSpace(line)
	if said == "" || strings.HasPrefix(said, `"`) || strings.HasPrefix(said, "“") || strings.HasPrefix(said, "「") || !saysIt(head) || ownSaying(head) {
		return quotation{}, false
	}
	return quotation{i, i + n + len(line)}, true
}

// saysIt reports whether words end in a verb of saying, or in one and whom it was said to: "Tom said",
// "she told me", 他跟我说.
func saysIt(head string) bool {
	words := strings.Fields(head)
	for k := len(words) - 1; k > 0 && k >= len(words)-3; k-- {
		if sayVerbs[words[k]] {
			return true
		}
		if w := words[k]; w != "me" && w != "us" && w != "to" && w != "him" && w != "her" && w != "them" && w != "my" && !kin(w) && w != "back" && w != "everyone" {
			break
		}
	}
	return endsWithAny(head, []string{"说", "告诉我", "告诉我们", "写道", "问我", "回我", "回复", "回答", "跟我讲", "发微信", "留言", "喊"})
}

var sayVerbs = set("say says said tell tells told ask asks asked write writes wrote text texts texted message messaged reply replies replied answer answers answered shout shouts shouted yell yelled whisper whispers whispered announce announces announced claim claims claimed")

// ofOneself reports whether whoever is quoted speaks of themselves.
func (q quotation) ofOneself(text string) bool {
	for _, tok := range lexWithin(text, q.start, q.end) {
		switch base, _ := contraction(tok.s); base {
		case "i", "me", "my", "mine", "we", "us", "our", "我", "咱":
			return true
		}
	}
	return false
}

var (
	sayings = set("say says said saying tell tells told telling ask asks asked write writes wrote written writing text texts texted message messages messaged reply replies replied answer answers answered " +
		"shout shouts shouted yell yelled whisper whispers whispered mention mentions mentioned announce announces announced claim claims claimed add adds added goes like email emailed note letter voicemail postcard mail post posted reads")
	sayingsZh = [...]string{"说", "道", "写", "问", "回", "讲", "告诉", "发", "微信", "短信", "留言", "消息", "喊", "信里"}
)

// said reports whether somebody other than the speaker is said to have said it: before the
// quotation, behind a mark or a verb of saying, or after it.
func (q quotation) said(text string) bool {
	from := 0
	if i := strings.LastIndexAny(text[:q.start], ".!?\n。！？；;\"”」"); i >= 0 {
		_, n := utf8.DecodeRuneInString(text[i:])
		from = i + n
	}
	head := strings.TrimSpace(strings.ToLower(text[from:q.start]))
	if bare := strings.TrimRight(head, " ,:，："); bare != "" {
		if containsAny(bare, sayingsZh[:]...) || holdsAny(bare, sayings) || strings.HasSuffix(head, ":") || strings.HasSuffix(head, "：") {
			return !ownSaying(bare)
		}
	}
	tail, _, _ := strings.Cut(cut(text[q.end:], 60), "\n")
	tail = strings.TrimLeft(tail, " ,，。")
	if i := strings.IndexAny(tail, ".!?。！？,，"); i >= 0 {
		tail = tail[:i]
	}
	tail = strings.ToLower(tail)
	return (containsAny(tail, sayingsZh[:]...) || holdsAny(tail, sayings)) && !ownSaying(tail)
}

// ownSaying reports the speaker's own saying: "I said", "we told them", 我跟妈妈说.
func ownSaying(head string) bool {
	words := strings.Fields(strings.Trim(head, " ,"))
	for i, w := range words {
		if sayings[w] {
			return i > 0 && (words[i-1] == "i" || words[i-1] == "we" || words[i-1] == "i've" || words[i-1] == "i'd")
		}
	}
	rest, ok := strings.CutPrefix(stripLeadZh(head), "我")
	rest = strings.TrimPrefix(strings.TrimPrefix(rest, "们"), "的")
	return ok && kinPrefixZh(rest) == "" && !containsAny(rest, "听", "收到", "看到", "给我", "对我", "跟我")
}

func holdsAny(text string, words map[string]bool) bool {
	for w := range strings.FieldsFuncSeq(text, func(r rune) bool { return (r < 'a' || r > 'z') && r != '\'' }) {
		if words[w] {
			return true
		}
	}
	return false
}

// quoted takes a sentence in which somebody else is quoted with what they say of themselves:
// nothing of it is the speaker's. What stands beside the quotation is read; the quotation with
// who said it is noted where it names a day. It reports whether the sentence has one.
func (t *talk) quoted(s sentence) bool {
	if !t.sought {
		t.quotations, t.sought = quotationsIn(s.text), true
	}
	at := sort.Search(len(t.quotations), func(i int) bool { return t.quotations[i].end > s.start })
	if at == len(t.quotations) || t.quotations[at].start >= s.end {
		return false
	}
	q := t.quotations[at]
	first, last := len(s.toks), 0 // what of the sentence is quoted
	for i, tok := range s.toks {
		if tok.start >= q.start && tok.end <= q.end {
			first, last = min(first, i), i+1
		}
	}
	if first >= last {
		return false
	}
	if first == 0 && last < len(s.toks) && q.end <= s.toks[last].start && s.toks[0].kind == 'p' && s.toks[last-1].kind == 'p' {
		if next := at + 1; next < len(t.quotations) && t.quotations[next].start < s.end {
			return t.quoted(s.sub(last, len(s.toks))) // only the mark that ends the one before
		}
	}
	before := len(t.out.Candidates)
	if head := first; head > 0 {
		for head > 0 && s.at(head-1) != "，" && !(s.at(head-1) == "," && head < first) {
			head-- // back to where who says it is named
		}
		if head > 1 {
			t.sentence(s.sub(0, head-1))
		}
		t.noteQuoted(s.sub(head, first), q)
	}
	if rest := last; rest < len(s.toks) {
		for rest < len(s.toks) && s.toks[rest].kind == 'p' {
			rest++
		}
		if rest < len(s.toks) && !holdsAny(strings.ToLower(s.text[s.toks[rest].start:s.end]), sayings) && !containsAny(s.text[s.toks[rest].start:s.end], sayingsZh[:]...) {
			t.sentence(s.sub(rest, len(s.toks)))
		}
	}
	if len(t.out.Candidates) == before && (len(s.toks) > 1 || s.toks[0].kind != 'p') {
		t.refuse("story", "what somebody else is quoted with", s.start, s.end)
	}
	return true
}

// noteQuoted notes who said something of a day, in the words as they were said: what "Tuesday"
// is to whoever wrote a message nobody knows.
func (t *talk) noteQuoted(head sentence, q quotation) {
	if t.part != Facts || q.end-head.start > maxQuoted || len(head.toks) == 0 {
		return
	}
	dated := false
	for _, s := range split(head.text, lexWithin(head.text, q.start, q.end)) {
		for _, w := range findWhens(s, t.now) {
			dated = dated || w.hasDay && !w.habit
		}
	}
	if !dated {
		return
	}
	a := abi.Candidate{Type: "episodic", Kind: "noted", EventType: "noted", Lang: "en", Confidence: notedSure, Sensitivity: "personal", Started: t.ev.At,
		Spans: []abi.Span{{Start: head.start, End: q.end}}, Tags: []string{"noted"}, Entities: []abi.Entity{{Name: t.self.name, Kind: "person"}}}
	words := strings.TrimLeft(head.text[q.start:q.end], " :：")
	if head.chinese() {
		who := strings.TrimSpace(t.rewriteZh(head, nil, false))
		who = strings.TrimRight(who, "。，：:, ")
		switch {
		case strings.Contains(who, t.self.name):
		case kinPrefixZh(who) != "":
			who = t.self.name + "的" + who
		case namePrefixZh(who) == "":
			return // of whom?
		}
		a.Lang, a.Text = "zh", who+"："+words
	} else {
		c := clause{sentence: head, kind: 't'}
		who := strings.TrimRight(t.rewrite(&c), ". ,:")
		if base, _ := contraction(head.at(0)); !strings.HasPrefix(who, t.self.name) && (!head.toks[0].cap || !nameWord(base)) {
			return
		}
		a.Text = who + ", " + words
	}
	t.out.Candidates = append(t.out.Candidates, a)
}
