package rules

// withoutCalled returns a sentence without the apology at its beginning, and without the name of whoever gets the
// apology or is called at the end: "I'm so sorry, Dr. Weber, I missed the bus", "I'm allergic to nuts, Dr. Weber", "I like tea, Tom".
func withoutCalled(s sentence) sentence {
	i := 0
	for s.at(i) == "oh" || s.at(i) == "," && i > 0 {
		i++
	}
	if s.at(i) == "i'm" || s.at(i) == "i" && s.at(i+1) == "am" || s.at(i) == "we're" {
		for i++; s.at(i) == "am" || sorrier[s.at(i)]; i++ {
		}
		switch next := s.at(i + 1); {
		case s.at(i) != "sorry" || i+2 >= len(s.toks):
		case next == "i" || next == "we": // "I'm sorry I missed your party"
			s = s.sub(i+1, len(s.toks))
		case s.toks[i+1].kind == 'p':
			i += 2
			if n := titleAt(s, i); n > 0 && i+n < len(s.toks) && s.toks[i+n].kind == 'p' {
				i += n + 1
			}
			if i < len(s.toks) {
				s = s.sub(i, len(s.toks))
			}
		}
	}
	for n := 3; n > 0; n-- { // "Dr", ".", "Weber"
		k := len(s.toks) - n
		if k < 3 || s.at(k-1) != "," || s.lists(k-1) {
			continue
		}
		titled, noun := titleAt(s, k) == n, s.at(k-2)
		if determined(s, k-2) && (!titled || kin(noun) || trade(noun) || titledToo[noun]) {
			continue
		}
		if titled || n == 1 && s.toks[k].cap && !s.toks[k-2].cap && namedSex()[s.at(k)] != 0 {
			return s.sub(0, k-1)
		}
	}
	return s
}

// sorrier are the words before "sorry".
var sorrier = set("so very really terribly awfully truly just")

// titleAt is how many tokens a name with a title takes.
func titleAt(s sentence, i int) int {
	k := i + 1
	if s.at(k) == "." {
		k++
	}
	if (titles[s.at(i)] || s.at(i) == "professor") && k < len(s.toks) && s.toks[k].cap {
		return k + 1 - i
	}
	return 0
}

// titledToo are what a name with a title may be of, beside those who have a trade: "my favourite film, Mrs. Doubtfire".
var titledToo = set("man woman lady gentleman guy widow patient guest tenant client customer owner headmaster headteacher film movie book novel play show series band firm company brand")

// determined reports whether a noun at place i has a word such as "my" or "the" before it. Then the name that
// follows may say who that is: "my dentist, Dr. Weber". Who has a trade may have more words before: "a really
// nice piano teacher".
func determined(s sentence, i int) bool {
	far := 2
	if noun := s.at(i); kin(noun) || trade(noun) {
		far = 6
	}
	for k := i - 1; k >= max(0, i-far) && s.at(k) != ","; k-- {
		switch w := s.at(k); w {
		case "my", "our", "the", "a", "an", "his", "her", "their", "your", "is", "was":
			return true
		}
	}
	return false
}

// lists reports whether a sentence has several things before token i: "tea, milk", "tea and milk".
func (s sentence) lists(i int) bool {
	for k := range i {
		if w := s.at(k); w == "," || w == "and" || w == "or" {
			return true
		}
	}
	return false
}
