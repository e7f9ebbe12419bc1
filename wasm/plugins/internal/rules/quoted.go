package rules

import (
	"sort"
	"strings"
	"unicode/utf8"

	"github.com/locket-dev/locket/wasm/abi"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/timex"
)

// maxQuoted is the greatest length of a quotation that is noted with its speaker, in bytes.
const maxQuoted = 300

// otherText prepares for reading another text in place of a sentence: it hides the quotations of the
// text, and refusals are about the sentence. The function that it returns ends this.
func otherText(t *discourse.Talk, s syntax.Sentence) func() {
	quotations, sought, instead := t.Quotations, t.Sought, t.Instead
	t.Quotations, t.Sought = nil, false
	if instead == (abi.Span{}) { // otherwise s is itself of another text
		t.Instead = abi.Span{Start: s.Start, End: s.End}
	}
	return func() { t.Quotations, t.Sought, t.Instead = quotations, sought, instead }
}

// inOtherWords reads a text that says what the sentence s says, in place of it.
func inOtherWords(t *discourse.Talk, s syntax.Sentence, said string) {
	from := len(t.Out.Candidates)
	defer otherText(t, s)()
	for _, o := range syntax.Sentences(said) {
		o.Ends = s.Ends
		sentence(t, o)
	}
	discourse.StandsFor(t, from, s)
}

// rejoined is otherText for a text that was made from a question and its answer.
func rejoined(t *discourse.Talk, s syntax.Sentence) func() {
	end := otherText(t, s)
	t.Rejoined = true
	return func() {
		t.Rejoined = false
		end()
	}
}

// quotationsIn finds the quotations of a text in which somebody speaks about themselves, before or
// after a verb of saying: 妈妈说：“我住院了。”, "I'm moving," said Tom. It leaves out quotations of the
// speaker's own words.
func quotationsIn(text string) (all []discourse.Quotation) {
	for i := 0; i < len(text); {
		next := strings.IndexAny(text[i:], "\"“「:：")
		if next < 0 {
			break
		}
		i += next
		if q, ok := unmarked(text, i); ok {
			if ofOneself(q, text) {
				all = append(all, q)
			}
			i = q.End
			continue
		}
		open, shut := "", ""
		for _, marks := range [...][2]string{{`"`, `"`}, {"“", "”"}, {"「", "」"}} {
			if strings.HasPrefix(text[i:], marks[0]) {
				open, shut = marks[0], marks[1]
			}
		}
		if open == "" || open == `"` && syntax.LetterAt(text, i-1) { // 5" is a length
			i++
			continue
		}
		end := i + len(open)
		line, _, _ := strings.Cut(syntax.Cut(text[end:], syntax.MaxBefore), "\n")
		if k := strings.Index(line, shut); k >= 0 {
			end += k + len(shut)
		} else {
			end += len(line)
		}
		if q := (discourse.Quotation{Start: i, End: end}); ofOneself(q, text) && said(q, text) {
			all = append(all, q)
		}
		i = end
	}
	return all
}

// unmarked returns the text after the colon at byte i, up to the end of its line, if it says that
// somebody else said it and no marks show where it ends: "He told me: I moved to Paris."
func unmarked(text string, i int) (discourse.Quotation, bool) {
	n := 0
	for _, colon := range [...]string{":", "："} {
		if strings.HasPrefix(text[i:], colon) {
			n = len(colon)
		}
	}
	if n == 0 {
		return discourse.Quotation{}, false
	}
	from := 0
	if k := strings.LastIndexAny(text[:i], ".!?\n。！？；;\"”」"); k >= 0 {
		_, size := utf8.DecodeRuneInString(text[k:])
		from = k + size
	}
	head := strings.ToLower(strings.TrimSpace(text[from:i]))
	rest := text[i+n:]
	line, _, _ := strings.Cut(syntax.Cut(rest, syntax.MaxBefore), "\n")
	said := strings.TrimSpace(line)
	if said == "" || strings.HasPrefix(said, `"`) || strings.HasPrefix(said, "“") || strings.HasPrefix(said, "「") || !saysIt(head) || ownSaying(head) {
		return discourse.Quotation{}, false
	}
	return discourse.Quotation{Start: i, End: i + n + len(line)}, true
}

// saysIt reports whether words end in a verb of saying, possibly with whom it was said to: "Tom
// said", "she told me", 他跟我说.
func saysIt(head string) bool {
	words := strings.Fields(head)
	for k := len(words) - 1; k > 0 && k >= len(words)-3; k-- {
		if sayVerbs[words[k]] {
			return true
		}
		if w := words[k]; w != "me" && w != "us" && w != "to" && w != "him" && w != "her" && w != "them" && w != "my" && !syntax.Kin(w) && w != "back" && w != "everyone" {
			break
		}
	}
	return syntax.EndsWithAny(head, []string{"说", "告诉我", "告诉我们", "写道", "问我", "回我", "回复", "回答", "跟我讲", "发微信", "留言", "喊"})
}

var sayVerbs = syntax.Set("say says said tell tells told ask asks asked write writes wrote text texts texted message messaged reply replies replied answer answers answered shout shouts shouted yell yelled whisper whispers whispered announce announces announced claim claims claimed")

// ofOneself reports whether the quoted person speaks about themselves.
func ofOneself(q discourse.Quotation, text string) bool {
	for _, tok := range syntax.LexWithin(text, q.Start, q.End) {
		switch base, _ := syntax.Contraction(tok.S); base {
		case "i", "me", "my", "mine", "we", "us", "our", "我", "咱":
			return true
		}
	}
	return false
}

var sayings = syntax.Set("say says said saying tell tells told telling ask asks asked write writes wrote written writing text texts texted message messages messaged reply replies replied answer answers answered " +
	"shout shouts shouted yell yelled whisper whispers whispered mention mentions mentioned announce announces announced claim claims claimed add adds added goes like email emailed note letter voicemail postcard mail post posted reads")

var sayingsZh = [...]string{"说", "道", "写", "问", "回", "讲", "告诉", "发", "微信", "短信", "留言", "消息", "喊", "信里"}

// said reports whether the text says that somebody other than the speaker said it: before the
// quotation, after a mark or a verb of saying, or after the quotation.
func said(q discourse.Quotation, text string) bool {
	from := 0
	if i := strings.LastIndexAny(text[:q.Start], ".!?\n。！？；;\"”」"); i >= 0 {
		_, n := utf8.DecodeRuneInString(text[i:])
		from = i + n
	}
	head := strings.TrimSpace(strings.ToLower(text[from:q.Start]))
	if bare := strings.TrimRight(head, " ,:，："); bare != "" {
		if syntax.ContainsAny(bare, sayingsZh[:]...) || holdsAny(bare, sayings) || strings.HasSuffix(head, ":") || strings.HasSuffix(head, "：") {
			return !ownSaying(bare)
		}
	}
	tail, _, _ := strings.Cut(syntax.Cut(text[q.End:], 60), "\n")
	tail = strings.TrimLeft(tail, " ,，。")
	if i := strings.IndexAny(tail, ".!?。！？,，"); i >= 0 {
		tail = tail[:i]
	}
	tail = strings.ToLower(tail)
	return (syntax.ContainsAny(tail, sayingsZh[:]...) || holdsAny(tail, sayings)) && !ownSaying(tail)
}

// ownSaying reports whether the speaker says that they said it themselves: "I said", "we told
// them", 我跟妈妈说.
func ownSaying(head string) bool {
	words := strings.Fields(strings.Trim(head, " ,"))
	for i, w := range words {
		if sayings[w] {
			return i > 0 && (words[i-1] == "i" || words[i-1] == "we" || words[i-1] == "i've" || words[i-1] == "i'd")
		}
	}
	rest, ok := strings.CutPrefix(syntax.StripLeadZh(head), "我")
	rest = strings.TrimPrefix(strings.TrimPrefix(rest, "们"), "的")
	return ok && syntax.KinPrefixZh(rest) == "" && !syntax.ContainsAny(rest, "听", "收到", "看到", "给我", "对我", "跟我")
}

func holdsAny(text string, words map[string]bool) bool {
	for w := range strings.FieldsFuncSeq(text, func(r rune) bool { return (r < 'a' || r > 'z') && r != '\'' }) {
		if words[w] {
			return true
		}
	}
	return false
}

// quoted takes a sentence in which somebody else is quoted about themselves: nothing of the
// quotation is about the speaker. The text besides the quotation is read; the quotation is noted
// with its speaker if it names a day. It reports whether the sentence has one.
func quoted(t *discourse.Talk, s syntax.Sentence) bool {
	if !t.Sought {
		t.Quotations, t.Sought = quotationsIn(s.Text), true
	}
	at := sort.Search(len(t.Quotations), func(i int) bool { return t.Quotations[i].End > s.Start })
	if at == len(t.Quotations) || t.Quotations[at].Start >= s.End {
		return false
	}
	q := t.Quotations[at]
	first, last := len(s.Toks), 0 // the quoted part of the sentence
	for i, tok := range s.Toks {
		if tok.Start >= q.Start && tok.End <= q.End {
			first, last = min(first, i), i+1
		}
	}
	if first >= last {
		return false
	}
	if first == 0 && last < len(s.Toks) && q.End <= s.Toks[last].Start && s.Toks[0].Kind == 'p' && s.Toks[last-1].Kind == 'p' {
		if next := at + 1; next < len(t.Quotations) && t.Quotations[next].Start < s.End {
			return quoted(t, s.Sub(last, len(s.Toks))) // only the closing mark of the previous one
		}
	}
	before := len(t.Out.Candidates)
	if head := first; head > 0 {
		for head > 0 && s.At(head-1) != "，" && !(s.At(head-1) == "," && head < first) {
			head-- // back to where the speaker of the quotation is named
		}
		if head > 1 {
			sentence(t, s.Sub(0, head-1))
		}
		noteQuoted(t, s.Sub(head, first), q)
	}
	if rest := last; rest < len(s.Toks) {
		for rest < len(s.Toks) && s.Toks[rest].Kind == 'p' {
			rest++
		}
		if rest < len(s.Toks) && !holdsAny(strings.ToLower(s.Text[s.Toks[rest].Start:s.End]), sayings) && !syntax.ContainsAny(s.Text[s.Toks[rest].Start:s.End], sayingsZh[:]...) {
			sentence(t, s.Sub(rest, len(s.Toks)))
		}
	}
	if len(t.Out.Candidates) == before && (len(s.Toks) > 1 || s.Toks[0].Kind != 'p') {
		t.Refuse("story", "what somebody else is quoted with", s.Start, s.End)
	}
	return true
}

// noteQuoted notes who said something about a day, in the quoted words, because nobody knows which
// day "Tuesday" is for the writer of a message.
func noteQuoted(t *discourse.Talk, head syntax.Sentence, q discourse.Quotation) {
	if t.Part != discourse.Facts || q.End-head.Start > maxQuoted || len(head.Toks) == 0 {
		return
	}
	dated := false
	for _, s := range syntax.Split(head.Text, syntax.LexWithin(head.Text, q.Start, q.End)) {
		for _, w := range timex.FindWhens(s, t.Now) {
			dated = dated || w.HasDay && !w.Habit
		}
	}
	if !dated {
		return
	}
	a := abi.Candidate{Type: "episodic", Kind: "noted", EventType: "noted", Lang: "en", Confidence: discourse.NotedSure, Sensitivity: "personal", Started: t.Ev.At,
		Spans: []abi.Span{{Start: head.Start, End: q.End}}, Tags: []string{"noted"}, Entities: []abi.Entity{{Name: t.Self.Name, Kind: "person"}}}
	words := strings.TrimLeft(head.Text[q.Start:q.End], " :：")
	if head.Chinese() {
		who := strings.TrimSpace(t.RewriteZh(head, nil, false))
		who = strings.TrimRight(who, "。，：:, ")
		switch {
		case strings.Contains(who, t.Self.Name):
		case syntax.KinPrefixZh(who) != "":
			who = t.Self.Name + "的" + who
		case discourse.NamePrefixZh(who) == "":
			return // about whom?
		}
		a.Lang, a.Text = "zh", who+"："+words
	} else {
		c := discourse.Clause{Sentence: head, Kind: 't'}
		who := strings.TrimRight(t.Rewrite(&c), ". ,:")
		if base, _ := syntax.Contraction(head.At(0)); !strings.HasPrefix(who, t.Self.Name) && (!head.Toks[0].Cap || !syntax.NameWord(base)) {
			return
		}
		a.Text = who + ", " + words
	}
	t.Out.Candidates = append(t.Out.Candidates, a)
}
