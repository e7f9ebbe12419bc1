package rules

import "strings"

const aJoke = "a dream or a joke"

// joked reads a sentence that takes a joke back: what it denies where it says that something
// "was" one, and what follows "just kidding,". It reports whether anything came of it.
func (t *talk) joked(s sentence) bool {
	before := len(t.out.Candidates)
	for k := range s.toks {
		if w := s.at(k); w != "kidding" && w != "joking" {
			continue
		}
		head := k
		for head > 0 && s.at(head) != "," {
			head--
		}
		if base, rest := contraction(s.at(k - 1)); (base == "was" && rest == "" || s.at(k-1) == "only" && s.at(k-2) == "was") && head > 0 {
			t.sentence(s.sub(0, head))
			kept := t.out.Candidates[:before]
			for _, c := range t.out.Candidates[before:] {
				if c.Negates || c.Slot != nil && strings.HasPrefix(c.Slot.Attribute, "not_") {
					kept = append(kept, c)
				}
			}
			t.out.Candidates = kept
		}
		if head > 0 && s.at(k+1) == "," && k+3 < len(s.toks) {
			t.sentence(s.sub(k+2, len(s.toks)))
		}
		break
	}
	return len(t.out.Candidates) > before
}

// told says why a sentence is of a world that isn't the speaker's: a film, a
// song, a dream, a joke, a case that is only supposed.
func told(s sentence) string {
	if reason := notOwn(s); reason != "" {
		return reason
	}
	raw := strings.ToLower(s.raw())
	if strings.Contains(raw, "and i quote") {
		return "words that somebody else said"
	}
	if reason := ofNobody(s, raw); reason != "" {
		return reason
	}
	if s.chinese() {
		for _, cue := range [...]string{"电影里", "歌词", "歌里", "小说里", "书里的", "剧里", "游戏里", "故事里", "动画片里", "主角", "梦见", "梦到", "做梦", "台词"} {
			if strings.Contains(raw, cue) {
				return "tells of a film, a book, a song or a dream"
			}
		}
		for _, cue := range [...]string{"开玩笑", "假装", "假设", "假如", "如果", "要是", "万一", "想象一下", "比方说"} {
			if strings.HasPrefix(raw, cue) || strings.Contains(raw, "，"+cue) || cue == "开玩笑" && strings.Contains(raw, cue) {
				return "a joke, or a case that is only supposed"
			}
		}
		return ""
	}
	for i := range s.toks {
		switch s.at(i) {
		case "film", "movie", "book", "novel", "song", "show", "series", "episode", "game", "story", "lyrics", "musical", "cartoon", "sitcom", "comic", "joke", "poem", "dream":
			if d := s.at(i - 1); (d == "the" || d == "that" || d == "this" || d == "a" || d == "my") && s.at(i-2) == "in" && !holdsWord(raw, "left") && !holdsWord(raw, "put") {
				return "tells of a film, a book, a song or a dream"
			}
		case "hero", "heroine", "detective", "protagonist", "villain", "narrator", "character":
			if d := s.at(i - 1); i < 3 && (d == "the" || d == "main") {
				return "tells of a film, a book, a song or a dream"
			}
		case "dreamt", "dreamed":
			return "a dream or a joke"
		case "kidding", "joking":
			return aJoke
		}
	}
	first := 0
	for lead(s.at(first)) || s.at(first) == "," || s.at(first) == "just" {
		first++
	}
	switch s.at(first) {
	case "imagine", "pretend", "suppose", "supposing", "if", "unless":
		return "a case that is only supposed"
	case "let's":
		if s.at(first+1) == "say" || s.at(first+1) == "pretend" || s.at(first+1) == "imagine" {
			return "a case that is only supposed"
		}
	}
	return ""
}

// quotes reports whether a clause of s is what somebody else is quoted with:
// within quotation marks, or after "he was like,", "she goes,".
func quotes(s, c sentence) bool {
	from := strings.LastIndexAny(s.text[:c.start], ".!?\n") + 1
	before := s.text[min(from, s.start):c.start]
	if raw := s.text[c.start:c.end]; strings.HasPrefix(raw, "\"") || strings.HasPrefix(raw, "“") {
		return true
	}
	if strings.Count(before, `"`)%2 == 1 || strings.Count(before, "“") > strings.Count(before, "”") {
		return true
	}
	before = strings.TrimRight(strings.ToLower(before), " ")
	if reported(before) {
		return true
	}
	before = strings.TrimRight(before, " ,:")
	for _, cue := range [...]string{"was like", "is like", "were like", " goes", "he says", "she says", "they say", "he said", "she said", "they said", "it says", "always says"} {
		if strings.HasSuffix(before, cue) && !strings.HasSuffix(before, "i "+cue) {
			return true
		}
	}
	return false
}

// tellThem is "tell her Ella is vegetarian now" as the statement that it is.
func tellThem(s sentence) sentence {
	if s.at(0) != "tell" || len(s.toks) < 5 || s.at(1) != "her" && s.at(1) != "him" && s.at(1) != "them" && !(s.toks[1].cap && nameWord(s.at(1))) {
		return s
	}
	n := 2
	if s.at(n) == "that" {
		n++
	}
	if w := s.at(n); !s.newClause(n) && !(s.toks[n].cap && strings.HasSuffix(w, "'s")) || w == "his" || w == "her" || w == "their" {
		return s
	}
	return s.sub(n, len(s.toks))
}

// asides round a sentence off, or open it, and tell nothing: "would you believe". A comma stands between.
var (
	openings = wordLists("do you know|do you know what|you know what|guess what|tell you what|i'll tell you what|would you believe|would you believe it|to be honest|truth be told|funnily enough")
	tails    = wordLists("would you believe|would you believe it|can you believe it|believe it or not|god help us|god help me|don't laugh|don't ask|don't ask me|don't ask me how|touch wood|bless him|bless her|bless them|poor thing|poor love|me")
)

func wordLists(s string) (all [][]string) {
	for l := range strings.SplitSeq(s, "|") {
		all = append(all, strings.Fields(l))
	}
	return all
}

// untagged is an English sentence without such an opening and such a tail.
func untagged(s sentence) sentence {
	for _, words := range openings {
		if n := len(words); len(s.toks) > n+3 && s.at(n) == "," && s.has(0, words) {
			s = s.sub(n+1, len(s.toks))
			break
		}
	}
	for _, words := range tails {
		if n := len(s.toks) - len(words); n > 4 && s.at(n-1) == "," && s.has(n, words) {
			return s.sub(0, n-1)
		}
	}
	return s
}

// has reports whether the words stand from token i on.
func (s sentence) has(i int, words []string) bool {
	for k, w := range words {
		if s.at(i+k) != w {
			return false
		}
	}
	return true
}

// toldYou is "did I tell you that Hannah got the job?" as the statement that it is.
func toldYou(s sentence) sentence {
	s = untagged(s)
	if s.ends != "?" {
		return tellThem(s)
	}
	for _, asked := range [...]string{"did i tell you", "have i told you", "did i mention", "did you hear", "did you know"} {
		words := strings.Fields(asked)
		if len(s.toks) < len(words)+3 {
			continue
		}
		n := 0
		for n < len(words) && s.at(n) == words[n] {
			n++
		}
		if n < len(words) {
			continue
		}
		if s.at(n) == "that" {
			n++
		}
		if base, _ := contraction(s.at(n)); asked == "did you know" && base != "i" && base != "my" && base != "we" && base != "our" {
			return s // that Oslo is the capital
		}
		if w := s.at(n); askers[w] || preposition(w) || w == "him" || w == "them" || w == "it" || w == "this" || w == "the" {
			return s
		}
		s = s.sub(n, len(s.toks))
		s.ends = "."
		return s
	}
	return s
}
