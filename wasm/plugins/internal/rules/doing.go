package rules

// activity proposes what somebody is busy with these days: "I'm training for a
// marathon", "I've been taking a poetry class".
func (t *talk) activity(c *clause) {
	if !c.ing || c.past || c.neg || c.future || c.modal || c.kind != 's' && c.kind != 'w' && c.kind != 'p' || c.conditional() || c.ends == "?" {
		return
	}
	o, _ := c.object(c.vi + 1)
	if o == "" || vague(o) || len(c.words)-c.vi < 3 && !c.perfect || c.unresolved(false) {
		return
	}
	next := c.w(c.vi + 1)
	switch c.verb {
	case "work":
		if next != "on" && next != "hard" && next != "towards" && next != "with" {
			return
		}
	case "look":
		if next != "into" && next != "for" && next != "after" {
			return
		}
	case "take":
		if _, event := eventNoun(last(o)); !event && last(o) != "course" && last(o) != "classes" && last(o) != "lessons" && last(o) != "pills" && last(o) != "antibiotics" && last(o) != "medication" && !holdsWord(o, "class") && !holdsWord(o, "course") {
			return
		}
	case "start", "open", "launch", "build", "write", "read", "learn", "study", "train", "renovate", "plan", "prepare", "organise", "organize", "save", "teach", "volunteer", "research", "apply", "rehearse",
		"recover", "design", "create", "restore", "knit", "sew", "practise", "practice", "develop", "expand", "host", "foster", "mentor", "coach", "paint", "grow", "compete", "edit", "record", "adopt", "explore", "run", "watch", "put":
		if c.verb == "put" && next != "together" || c.verb == "run" && next != "a" && next != "my" && next != "our" && next != "for" || c.verb == "start" && next == "to" {
			return
		}
	default:
		return
	}
	a := t.base(c, "semantic", "habit", 0.7)
	a.Tags = append(a.Tags, "activity")
	t.out.Candidates = append(t.out.Candidates, a)
}

func last(s string) string {
	for i := len(s) - 1; i >= 0; i-- {
		if s[i] == ' ' {
			return s[i+1:]
		}
	}
	return s
}

// dropped reads a clause whose speaker left "I" out: "Lost my job yesterday".
// It gives the word of the verb, or -1.
func (t *talk) dropped(c *clause) int {
	if len(c.words) == 0 {
		return -1
	}
	if (c.w(0) == "need" || c.w(0) == "have") && c.w(1) == "to" && c.words[0].tok == 0 && len(c.words) > 3 && c.ends != "?" { // "Need to call the plumber"
		c.subj, c.kind, c.bare = t.self, 's', true
		return 0
	}
	just := c.words[0].tok == 1 && c.at(0) == "just" // "Just bought a bike"
	own := func() int {
		c.subj, c.kind, c.bare = t.self, 's', true
		return 0
	}
	verb, past, ing := lemma(c.w(0))
	if past && verb == "get" && (just || c.words[0].tok == 0) && attained[c.w(1)] && len(c.words) < 5 && c.ends != "?" {
		return own() // "Got promoted"
	}
	if !past || ing || auxiliary(c.w(0)) || c.w(0) == "left" || c.w(0) == "heard" || c.words[0].tok > 2 || len(c.words) < 3 || c.ends == "?" {
		return -1
	}
	for i := 1; i < min(len(c.words), 4); i++ {
		switch c.w(i) {
		case "my", "our":
			return own()
		case "a", "an", "to", "the":
			if just || len(c.whens) > 0 && !c.whens[0].habit {
				return own()
			}
		case "with": // "Had dinner with Ola on Friday"
			if (just || len(c.whens) > 0 && !c.whens[0].habit) && c.capital(i+1) {
				return own()
			}
		case "from":
			if verb == "get" && c.w(i-1) == "back" && c.capital(i+1) {
				return own()
			}
		case "is", "are", "was", "were", "by":
			return -1
		}
	}
	return -1
}

// matter reports whether the object of a deed says of itself what it is: "a
// cross necklace", "another painting", "my own pots".
func (c *clause) matter() bool {
	i := c.vi + 1
	switch c.w(i) {
	case "a", "an", "my", "our", "another", "two", "three", "four", "five", "some", "his", "her":
	default:
		return false
	}
	o, _ := c.object(i)
	if o == "" || vague(o) {
		return false
	}
	switch c.w(i + 1) {
	case "lot", "bit", "few", "couple", "break", "look", "step", "chance", "point", "while", "minute", "difference", "mistake", "good", "great", "nice", "big", "way", "mess", "mind", "time", "best", "part":
		return false
	}
	return true
}
