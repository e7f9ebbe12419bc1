package refuse

import (
	"strings"

	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
)

// AJoke is the reason of [Told] that may be taken back: "just kidding".
const AJoke = "a dream or a joke"

// Told says why a sentence is about a world that isn't the speaker's: a film, a song, a dream, a
// joke, a hypothetical case.
func Told(s syntax.Sentence) string {
	if reason := notOwn(s); reason != "" {
		return reason
	}
	raw := strings.ToLower(s.Raw())
	if strings.Contains(raw, "and i quote") {
		return "words that somebody else said"
	}
	if reason := ofNobody(s, raw); reason != "" {
		return reason
	}
	if s.Chinese() {
		if syntax.StartsWithAny(syntax.StripLeadZh(raw), []string{"从前有", "很久以前有", "很久很久以前", "古时候"}) {
			return "tells of a film, a book, a song or a dream"
		}
		for _, cue := range [...]string{"电影里", "歌词", "歌里", "小说里", "书里的", "剧里", "游戏里", "故事里", "动画片里", "主角", "梦见", "梦到", "做梦", "台词"} {
			if strings.Contains(raw, cue) {
				return "tells of a film, a book, a song or a dream"
			}
		}
		for _, cue := range [...]string{"男主", "女主"} {
			if _, after, ok := strings.Cut(raw, cue); ok && !syntax.StartsWithAny(after, postsZh) {
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
	for i := range s.Toks {
		switch s.At(i) {
		case "film", "movie", "book", "novel", "song", "show", "series", "episode", "game", "story", "lyrics", "musical", "cartoon", "sitcom", "comic", "joke", "poem", "dream":
			if d := s.At(i - 1); (d == "the" || d == "that" || d == "this" || d == "a" || d == "my") && s.At(i-2) == "in" && !discourse.HoldsWord(raw, "left") && !discourse.HoldsWord(raw, "put") {
				return "tells of a film, a book, a song or a dream"
			}
		case "hero", "heroine", "detective", "protagonist", "villain", "narrator", "character":
			if d := s.At(i - 1); i < 3 && (d == "the" || d == "main") {
				return "tells of a film, a book, a song or a dream"
			}
		case "dreamt", "dreamed":
			return "a dream or a joke"
		case "kidding", "joking":
			return AJoke
		}
	}
	first := 0
	for syntax.Lead(s.At(first)) || s.At(first) == "," || s.At(first) == "just" {
		first++
	}
	switch s.At(first) {
	case "imagine", "pretend", "suppose", "supposing", "if", "unless":
		return "a case that is only supposed"
	case "let's":
		if s.At(first+1) == "say" || s.At(first+1) == "pretend" || s.At(first+1) == "imagine" {
			return "a case that is only supposed"
		}
	}
	return ""
}

// postsZh follow 男主 or 女主 if these are no heroes: 女主播.
var postsZh = []string{"人", "管", "播", "任", "持", "席", "编", "妇"}

// Quotes reports whether a clause of s is a quotation of somebody else: in quotation marks, or
// after "he was like,", "she goes,".
func Quotes(s, c syntax.Sentence) bool {
	from := strings.LastIndexAny(s.Text[:c.Start], ".!?\n") + 1
	before := s.Text[min(from, s.Start):c.Start]
	if raw := s.Text[c.Start:c.End]; strings.HasPrefix(raw, "\"") || strings.HasPrefix(raw, "“") {
		return true
	}
	if strings.Count(before, `"`)%2 == 1 || strings.Count(before, "“") > strings.Count(before, "”") {
		return true
	}
	before = strings.TrimRight(strings.ToLower(before), " ")
	if reported(before, ofTeller(c)) {
		return true
	}
	if saysOnlyI(c) {
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

// saysOnlyI reports whether a clause quotes somebody without marks: "he goes i've got two kids",
// "she was like i'm off".
func saysOnlyI(c syntax.Sentence) bool {
	for i := 1; i+1 < min(len(c.Toks), 6); i++ {
		base, rest := syntax.Contraction(c.At(i + 1))
		who, is := syntax.Contraction(c.At(i - 1))
		like := c.At(i) == "like" && (is == "is" || who == "was" || who == "were" || who == "is")
		if base == "i" && (like || c.At(i) == "goes") && (rest != "" || syntax.Verbish(c.At(i+2))) {
			return true
		}
	}
	return false
}

// tellThem returns "tell her Ella is vegetarian now" as the statement that it contains.
func tellThem(s syntax.Sentence) syntax.Sentence {
	if s.At(0) != "tell" || len(s.Toks) < 5 || s.At(1) != "her" && s.At(1) != "him" && s.At(1) != "them" && !(s.Toks[1].Cap && syntax.NameWord(s.At(1))) {
		return s
	}
	n := 2
	if s.At(n) == "that" {
		n++
	}
	if w := s.At(n); !s.NewClause(n) && !(s.Toks[n].Cap && strings.HasSuffix(w, "'s")) || w == "his" || w == "her" || w == "their" {
		return s
	}
	return s.Sub(n, len(s.Toks))
}

// openings and tails are words that open a sentence or round it off, and have no content: "would
// you believe". A comma separates them.
var openings = WordLists("do you know|do you know what|you know what|guess what|tell you what|i'll tell you what|would you believe|would you believe it|to be honest|truth be told|funnily enough")

var tails = WordLists("would you believe|would you believe it|can you believe it|believe it or not|fingers crossed|wish me luck|god help us|god help me|don't laugh|don't ask|don't ask me|don't ask me how|touch wood|bless him|bless her|bless them|poor thing|poor love|me")

// WordLists splits lists of words at | and at spaces.
func WordLists(s string) (all [][]string) {
	for l := range strings.SplitSeq(s, "|") {
		all = append(all, strings.Fields(l))
	}
	return all
}

// untagged returns an English sentence without such an opening and such a tail.
func untagged(s syntax.Sentence) syntax.Sentence {
	for _, words := range openings {
		if n := len(words); len(s.Toks) > n+3 && s.At(n) == "," && Has(s, 0, words) {
			s = s.Sub(n+1, len(s.Toks))
			break
		}
	}
	for _, words := range tails {
		if n := len(s.Toks) - len(words); n > 4 && (s.At(n-1) == "," || s.At(n-1) == "so") && Has(s, n, words) {
			return s.Sub(0, n-1)
		}
	}
	return s
}

// Has reports whether the words are in the sentence from token i on.
func Has(s syntax.Sentence, i int, words []string) bool {
	for k, w := range words {
		if s.At(i+k) != w {
			return false
		}
	}
	return true
}

// ToldYou returns "did I tell you that Hannah got the job?" as the statement that it contains.
func ToldYou(s syntax.Sentence) syntax.Sentence {
	s = untagged(s)
	if s.Ends != "?" {
		return tellThem(s)
	}
	for _, asked := range [...]string{"did i tell you", "have i told you", "did i mention", "did you hear", "did you know"} {
		words := strings.Fields(asked)
		if len(s.Toks) < len(words)+3 {
			continue
		}
		n := 0
		for n < len(words) && s.At(n) == words[n] {
			n++
		}
		if n < len(words) {
			continue
		}
		if s.At(n) == "that" {
			n++
		}
		if base, _ := syntax.Contraction(s.At(n)); asked == "did you know" && base != "i" && base != "my" && base != "we" && base != "our" {
			return s // that Oslo is the capital
		}
		if w := s.At(n); syntax.Askers[w] || syntax.Preposition(w) || w == "him" || w == "them" || w == "it" || w == "this" || w == "the" {
			return s
		}
		s = s.Sub(n, len(s.Toks))
		s.Ends = "."
		return s
	}
	return s
}
