package hans

import "unicode/utf8"

// Said gives words that were taken from folded texts the characters in which they were said: 陈怡君
// from 我老婆叫陳怡君 is 陳怡君 again. Where one simplified character stands for several (里 for 裡 and
// 里), those beside it decide. A character that no text has stays as it is. The zero value knows no
// text, and changes nothing.
type Said struct {
	texts [][2]string // original and folded
	made  bool
	one   map[rune]rune // the original of a folded character, where it was met first
	near  map[pair]rune // the original of a folded character that has several, by the one beside it
}

// pair is a character and the one before or after it.
type pair struct {
	r, other rune
	after    bool // other is after r
}

// Learn adds a text and its folded form. What was added first counts more. It must not be called
// after [Said.Restore].
func (s *Said) Learn(original, folded string) {
	if original != "" && len(original) == len(folded) {
		s.texts = append(s.texts, [2]string{original, folded})
	}
}

// Traditional reports whether a text that was added has traditional characters.
func (s *Said) Traditional() bool {
	for _, t := range s.texts {
		if t[0] != t[1] {
			return true
		}
	}
	return false
}

// Restore returns words in the characters in which they were said. All bytes keep their places.
func (s *Said) Restore(words string) string {
	if !s.made {
		s.read()
	}
	if len(s.one) == 0 {
		return words
	}
	all := []rune(words)
	out := make([]byte, 0, len(words))
	for i, r := range all {
		was, met := s.one[r]
		if i > 0 {
			if o, ok := s.near[pair{r, all[i-1], false}]; ok {
				was, met = o, true
			}
		}
		if i+1 < len(all) {
			if o, ok := s.near[pair{r, all[i+1], true}]; ok {
				was, met = o, true
			}
		}
		if !met {
			was = r
		}
		out = utf8.AppendRune(out, was)
	}
	return string(out)
}

// read fills the tables from the texts. Characters that have one original, and nothing else, need
// none beside them.
func (s *Said) read() {
	s.made = true
	if !s.Traditional() {
		return
	}
	s.one, s.near = map[rune]rune{}, map[pair]rune{}
	several := map[rune]bool{}
	for _, t := range s.texts {
		each(t, func(r, was rune) {
			if have, ok := s.one[r]; !ok {
				s.one[r] = was
			} else if have != was {
				several[r] = true
			}
		})
	}
	if len(several) == 0 {
		return
	}
	learn := func(p pair, was rune) {
		if _, ok := s.near[p]; !ok && several[p.r] {
			s.near[p] = was
		}
	}
	for _, t := range s.texts {
		before, beforeWas := rune(0), rune(0)
		each(t, func(r, was rune) {
			learn(pair{before, r, true}, beforeWas)
			learn(pair{r, before, false}, was)
			before, beforeWas = r, was
		})
	}
}

// each calls f with each character of a folded text and its original.
func each(t [2]string, f func(r, was rune)) {
	for i, r := range t[1] {
		was, _ := utf8.DecodeRuneInString(t[0][i:])
		f(r, was)
	}
}
