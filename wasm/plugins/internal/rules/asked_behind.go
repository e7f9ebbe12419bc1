package rules

import "strings"

// What the speaker says of themselves stands, whatever they ask behind it: "I'm allergic to
// penicillin, do you have that?", 我对青霉素过敏，你们有记录吧？ So does what they remind somebody of:
// "Leo's allergic to nuts, you know that, right?"

// beforeQuestion is a question without what it asks, where it says something before; else the same sentence.
func (t *talk) beforeQuestion(s sentence) sentence {
	if raw := strings.TrimRight(s.raw(), "。 "); s.ends != "?" && s.ends != "？" && !(s.chinese() && endsWithAny(raw, []string{"吗", "，你呢", "，你说呢"})) {
		return s
	}
	head, tail := s.atComma(len(s.toks))
	reminds := tail.reminder()
	if rest, more := head.atComma(len(head.toks)); len(more.toks) > 0 && (reminds || tags[tail.at(0)] && len(tail.toks) == 1) && (more.reminder() || pointers[more.at(0)]) {
		reminds = reminds || more.reminder()
		head = rest // "you know that, right?", "that's in my file, right?"
	}
	head.ends = "."
	if len(tail.toks) == 0 || len(head.toks) < 3 || reopens(tail) || conditioned(head) || doubt(head) > 0 || head.asks() || !reminds && !head.ofSpeaker() {
		return s
	}
	return head
}

// atComma cuts a sentence at its last comma before token n.
func (s sentence) atComma(n int) (head, tail sentence) {
	for k := n - 2; k > 0; k-- {
		if s.at(k) == "," || s.at(k) == "，" {
			return s.sub(0, k), s.sub(k+1, n)
		}
	}
	return s, sentence{}
}

var (
	tags     = set("right remember yeah yes ok okay correct no")
	pointers = set("this that that's it it's you 这 那 你 您")
)

// reminder reports words that remind somebody of what stands before them.
func (s sentence) reminder() bool {
	if s.at(0) == "remember" && len(s.toks) == 1 {
		return true
	}
	if s.at(0) == "you" || s.at(0) == "don't" && s.at(1) == "you" {
		return s.at(1) == "know" || s.at(1) == "remember" || s.at(2) == "know" || s.at(2) == "remember"
	}
	raw := strings.TrimRight(s.raw(), "的了吧吗嘛呀")
	return len(s.toks) < 9 && startsWithAny(raw, []string{"你", "您"}) && endsWithAny(raw, []string{"知道", "记得", "晓得", "清楚"})
}

// reopens reports whether a question takes back what was said before it, or asks for leave: "can I move
// that?", "is that okay?"
func reopens(s sentence) bool {
	if auxiliary(s.at(0)) && (s.at(1) == "that" || s.at(1) == "this" || s.at(1) == "it") {
		return true
	}
	for i := range s.toks {
		switch s.at(i) {
		case "move", "change", "cancel", "reschedule", "postpone", "switch", "swap", "ok", "okay", "work", "works", "suit", "suits", "fine", "alright", "wrong", "true", "or", "isn't", "aren't", "wasn't", "wouldn't", "shouldn't", "didn't", "doesn't":
			return len(s.toks) > 1
		}
	}
	return containsAny(s.raw(), "改", "取消", "推迟", "提前", "换", "可以", "行不", "行吗", "好吗", "好不", "是不", "对不", "没有", "还是", "真的")
}

// asks reports whether a clause before a question asks, too, or says what could be.
func (s sentence) asks() bool {
	if question(s, 0) || containsAny(s.raw(), "吗", "呢", "什么", "怎么", "哪", "多少", "谁", "是不是", "要不", "能不", "想", "觉得", "以为", "可能", "也许") {
		return true
	}
	for i := range s.toks {
		switch base, _ := contraction(s.at(i)); base {
		case "can", "could", "should", "would", "might", "may", "think", "thought", "guess", "wonder", "wondering", "believe", "want", "wanted", "asked", "ask", "say", "said":
			return true
		}
	}
	return false
}

// ofSpeaker reports a clause about who speaks.
func (s sentence) ofSpeaker() bool {
	i := 0
	for lead(s.at(i)) || s.at(i) == "," {
		i++
	}
	switch base, _ := contraction(s.at(i)); base {
	case "i", "my", "we", "our", "我":
		return true
	}
	return false
}

// bidsAt reports "so" at token i before what somebody is to do because of what stands before: "so watch your toes".
func (s sentence) bidsAt(first, i int) bool {
	before, rest := contraction(s.at(i - 1))
	return bidden[s.at(i+1)] && i > first && rest != "is" && !auxiliary(before) && s.verbIn(first, i)
}

// bidden are what one tells others to do, and no words that "so" may describe.
var bidden = set("don't please help watch mind remember let use ask call ring text check look take leave make bring be keep tell feel")

// asksAt reports a request at token i of a line without marks: "I put the keys in the drawer can you check".
func (s sentence) asksAt(first, i int) bool {
	if w := s.at(i); s.at(i+1) != "you" || w != "could" && w != "can" && w != "would" || s.ends != "" || i < first+3 {
		return false
	}
	before := s.at(i - 1)
	return s.toks[i-1].kind != 'p' && !lead(before) && !askers[before] && !auxiliary(before) && !determiner(before) && before != "that" && before != "if" && before != "as" && s.verbIn(first, i)
}
