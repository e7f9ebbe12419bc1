package rules

import "strings"

// joinedWords are contractions as recognisers and thumbs write them, without their apostrophe.
var joinedWords = func() map[string]string {
	m := map[string]string{}
	for s := range strings.FieldsSeq("i'm i've we've they've you've he's she's that's what's where's how's who's there's they're you're don't doesn't didn't isn't wasn't haven't hasn't hadn't " +
		"won't can't couldn't wouldn't shouldn't aren't weren't mustn't they'll you'll it'll that'll") {
		m[strings.Replace(s, "'", "", 1)] = s
	}
	return m
}()

// rejoin reads contractions without their apostrophe in tokens that follow each other: "ive", "shes". Those that are
// words of their own too ("its", "ill", "were", "well", "hell", "shell") are taken for contractions by the word after them.
func rejoin(toks []token, text string) {
	for i := range toks {
		t := &toks[i]
		if t.kind != 'w' {
			continue
		}
		if full, ok := joinedWords[t.s]; ok && (len(t.s) > 2 || text[t.start:t.end] != "IM") {
			t.s = full
			continue
		}
		next := ""
		if i+1 < len(toks) {
			next = toks[i+1].s
		}
		prev := ""
		if i > 0 {
			prev = toks[i-1].s
		}
		_, _, ing := lemma(next)
		opens := i == 0 || joins[prev] || prev == "," || prev == "so" || prev == "then" || prev == "ok" || prev == "okay" || prev == "oh" || prev == "yes" || prev == "yeah"
		if one := trimS(t.s); one != t.s && (sexOf("", one) != 0 || (kin(one) || one == "neighbour" || one == "neighbor") && (prev == "my" || prev == "our" || prev == "door")) && (kin(next) && trimS(next) == next || pet(next)) {
			t.s = one + "'s" // "helens daughter", "our neighbours dog"
			continue
		} else if one != t.s && opens && sexOf("", one) != 0 && !alsoWords[one] && (next == "got" || next == "been" || next == "gone") {
			t.s = one + "'s" // "kates got covid"
			continue
		}
		switch t.s {
		case "its":
			if determiner(next) || next == "my" || next == "our" || next == "been" || next == "not" || next == "at" || next == "on" || next == "in" || next == "half" || next == "quarter" {
				t.s = "it's"
			}
		case "lets":
			if i == 0 || opens && prev != "" && !subjectPronoun(next) {
				t.s = "let's"
			}
		case "ill":
			if opens && (errand[next] || next == "be" || next == "do" || next == "have" || next == "get" || next == "need" || next == "come" || next == "go" || next == "take") {
				t.s = "i'll"
			}
		case "were":
			if ing && opens {
				t.s = "we're"
			}
		case "well", "hell", "shell":
			if next == "be" && (opens || t.s == "hell") {
				t.s = t.s[:len(t.s)-2] + "'ll"
			}
		}
	}
}
