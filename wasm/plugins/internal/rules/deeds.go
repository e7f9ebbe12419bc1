package rules

// attained is what somebody got, as a participle: "got accepted".
var attained = set("accepted hired fired sacked dumped burgled arrested promoted engaged diagnosed elected invited rejected evicted selected robbed mugged vaccinated nominated licensed divorced adopted admitted fined hit bitten stung")

// befell reports what was done to the speaker or to somebody of theirs: "I was adopted", "I was given a scholarship".
func (c *clause) befell() bool {
	if c.w(c.vi-1) == "to" || c.verb != "be" || c.kind != 's' && c.kind != 'w' && (c.kind != 'p' || !c.own) || !c.past && !c.perfect || c.neg {
		return false
	}
	switch done := c.w(c.vi + 1); done {
	case "given", "offered", "awarded":
		return granted[last(o2(c, c.vi+2))]
	case "asked":
		return c.w(c.vi+2) == "to" && entrusted[c.w(c.vi+3)]
	default:
		return attained[done]
	}
}

// entrusted is what one is asked to do once: "I was asked to lead the team".
var entrusted = set("lead speak join chair manage present teach write run resign testify step")

// offered are participles whose day may be that of what was offered: "I was invited to a wedding in June".
var offered = set("given offered awarded invited accepted selected admitted")

// granted is what somebody got at work: "I got a raise".
var granted = set("raise rise promotion bonus scholarship grant warning job place loan mortgage visa contract medal prize award refund discount")

// given is what there is one of: "I got the job".
var given = set("job sack promotion grant scholarship visa loan mortgage flat house")

// examined reports an exam that somebody passed or failed.
func (c *clause) examined() bool {
	if c.verb != "pass" && c.verb != "fail" {
		return false
	}
	switch last(o2(c, c.vi+1)) {
	case "exam", "exams", "test", "theory", "finals", "audition", "bar", "module", "course", "viva":
		return true
	}
	return false
}

// deed verbs say of themselves that something took place.
func deed(v string) bool {
	switch v {
	case "go", "visit", "meet", "buy", "attend", "fly", "travel", "move", "start", "join", "finish", "graduate", "win", "lose", "break", "adopt", "marry", "volunteer", "donate", "organise",
		"organize", "host", "hold", "celebrate", "watch", "cook", "bake", "paint", "build", "launch", "open", "sign", "pass", "fail", "hike", "camp", "climb", "swim", "raise", "sell", "give",
		"receive", "apply", "interview", "book", "order", "hurt", "fall", "crash", "fix", "repair", "drive", "ride", "participate", "perform", "compete", "present", "publish", "found", "quit",
		"retire", "plant", "see", "lend", "borrow", "steal", "return", "register", "create", "design", "take", "catch", "run", "speak", "hire", "spend", "teach", "make", "set", "sprain", "rehearse", "team", "enter", "complete", "discover", "explore", "try", "enrol", "enroll", "settle", "emigrate", "earn", "save", "collect", "play", "walk", "help":
		return true
	}
	return false
}

// passives are participles that say what is done to somebody or something, also with a noun behind them: "it's called the
// Bridge".
var passives = set("called named closed allowed based considered paid offered promised said deemed thought meant dubbed supposed spelled played")
