package refuse

import (
	"strings"

	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
)

// What the speaker says about themselves is valid, whatever they ask after it: "I'm allergic to
// penicillin, do you have that?", 我对青霉素过敏，你们有记录吧？ So is what they remind somebody of: "Leo's
// allergic to nuts, you know that, right?"

// BeforeQuestion returns a question without what it asks, if it states something before; otherwise
// the same sentence.
func BeforeQuestion(t *discourse.Talk, s syntax.Sentence) syntax.Sentence {
	if raw := strings.TrimRight(s.Raw(), "。 "); s.Ends != "?" && s.Ends != "？" && !(s.Chinese() && syntax.EndsWithAny(raw, []string{"吗", "，你呢", "，你说呢"})) {
		return s
	}
	head, tail := atComma(s, len(s.Toks))
	reminds := reminder(tail)
	if rest, more := atComma(head, len(head.Toks)); len(more.Toks) > 0 && (reminds || tags[tail.At(0)] && len(tail.Toks) == 1) && (reminder(more) || pointers[more.At(0)]) {
		reminds = reminds || reminder(more)
		head = rest // "you know that, right?", "that's in my file, right?"
	}
	head.Ends = "."
	if len(tail.Toks) == 0 || len(head.Toks) < 3 || reopens(tail) || discourse.Conditioned(head) || discourse.Doubt(head) > 0 || asks(head) || !reminds && !ofSpeaker(head) {
		return s
	}
	return head
}

// AfterCommand returns what somebody says of themselves after a command, and why it is given: "take a
// seat, I'm the new doctor". It returns the same sentence if there is nothing of the kind.
func AfterCommand(s syntax.Sentence) syntax.Sentence {
	first := 0
	for syntax.Lead(s.At(first)) || s.At(first) == "," || s.At(first) == "please" {
		first++
	}
	if s.Chinese() || speaks[s.At(first)] && s.At(first+2) != "down" || !command(s, first) {
		return s
	}
	for k := first + 1; k < len(s.Toks)-3; k++ {
		if rest := s.Sub(k+1, len(s.Toks)); s.At(k) == "," && ofSpeaker(rest) {
			if discourse.Conditioned(rest) || asks(rest) {
				break
			}
			return rest
		}
	}
	return s
}

// speaks are commands before words that are not the speaker's own.
var speaks = syntax.Set("tell say ask text send repeat translate imagine read record write pretend let forget remember")

// atComma splits a sentence at its last comma before token n.
func atComma(s syntax.Sentence, n int) (head, tail syntax.Sentence) {
	for k := n - 2; k > 0; k-- {
		if s.At(k) == "," || s.At(k) == "，" {
			return s.Sub(0, k), s.Sub(k+1, n)
		}
	}
	return s, syntax.Sentence{}
}

var tags = syntax.Set("right remember yeah yes ok okay correct no")

var pointers = syntax.Set("this that that's it it's you 这 那 你 您")

// reminder reports whether words remind somebody of what comes before them.
func reminder(s syntax.Sentence) bool {
	if s.At(0) == "remember" && len(s.Toks) == 1 {
		return true
	}
	if s.At(0) == "you" || s.At(0) == "don't" && s.At(1) == "you" {
		return s.At(1) == "know" || s.At(1) == "remember" || s.At(2) == "know" || s.At(2) == "remember"
	}
	raw := strings.TrimRight(s.Raw(), "的了吧吗嘛呀")
	return len(s.Toks) < 9 && syntax.StartsWithAny(raw, []string{"你", "您"}) && syntax.EndsWithAny(raw, []string{"知道", "记得", "晓得", "清楚"})
}

// reopens reports whether a question takes back what was said before it, or asks for permission:
// "can I move that?", "is that okay?"
func reopens(s syntax.Sentence) bool {
	if syntax.Auxiliary(s.At(0)) && (s.At(1) == "that" || s.At(1) == "this" || s.At(1) == "it") {
		return true
	}
	for i := range s.Toks {
		switch s.At(i) {
		case "move", "change", "cancel", "reschedule", "postpone", "switch", "swap", "ok", "okay", "work", "works", "suit", "suits", "fine", "alright", "wrong", "true", "or", "isn't", "aren't", "wasn't", "wouldn't", "shouldn't", "didn't", "doesn't":
			return len(s.Toks) > 1
		}
	}
	return syntax.ContainsAny(s.Raw(), "改", "取消", "推迟", "提前", "换", "可以", "行不", "行吗", "好吗", "好不", "是不", "对不", "没有", "还是", "真的")
}

// asks reports whether a clause before a question also asks, or says what could be.
func asks(s syntax.Sentence) bool {
	if Question(s, 0) || syntax.ContainsAny(s.Raw(), "吗", "呢", "什么", "怎么", "哪", "多少", "谁", "是不是", "要不", "能不", "想", "觉得", "以为", "可能", "也许") {
		return true
	}
	for i := range s.Toks {
		switch base, _ := syntax.Contraction(s.At(i)); base {
		case "can", "could", "should", "would", "might", "may", "think", "thought", "guess", "wonder", "wondering", "believe", "want", "wanted", "asked", "ask", "say", "said":
			return true
		}
	}
	return false
}

// ofSpeaker reports whether a clause is about the speaker.
func ofSpeaker(s syntax.Sentence) bool {
	i := 0
	for syntax.Lead(s.At(i)) || s.At(i) == "," {
		i++
	}
	switch base, _ := syntax.Contraction(s.At(i)); base {
	case "i", "my", "we", "our", "我":
		return true
	}
	return false
}
