package rules

import (
	"strings"

	"github.com/locket-dev/locket/wasm/abi"
)

// work reads "at X", "as a Y" after a verb of working.
func (t *talk) work(c *clause, i int) {
	if c.past && !c.usedTo && c.verb == "work" && !c.perfect {
		if at, ok := c.after(i, 4, "at", "for"); ok && !vague(at) && c.firstTime() == nil && employs(at, t.plain) {
			t.fact(c, "biography", "worked_at", at, true, 0.75)
		}
		return
	}
	if at, ok := c.after(i, 4, "at", "for"); ok && c.usedTo && c.verb == "work" && !vague(at) && employs(at, t.plain) {
		t.once(c, "worked_at", at)
	}
	at, ok := c.after(i, 6, "at", "for")
	if ok && c.verb == "volunteer" {
		if !vague(at) && !c.past && c.firstTime() == nil {
			t.fact(c, "habit", "volunteers_at", at, true, 0.85)
		}
		return
	}
	if c.verb == "freelance" && !c.past && i >= len(c.words)-1 { // "I'm freelancing now"
		t.fact(c, "work", "job", "freelancer", false, 0.85)
		return
	}
	firm := false
	if ok && c.verb == "work" && !vague(at) && c.besideJob() {
		t.fact(c, "work", "second_job", cutTail(at), true, 0.85)
		return
	}
	if ok := ok && !vague(at) && employs(at, t.plain); ok {
		firm = t.fact(c, "work", "employer", at, false, 0.92) != nil
	}
	if k := c.find(i, 8, "as"); k >= 0 {
		unsaid := firm && c.neg && !c.noLonger && !c.usedTo // "I don't work at Siemens as an engineer": as one elsewhere?
		if as := c.post(k+1, firm, t.plain); as != "" && !unsaid {
			job := t.fact(c, "work", "job", as, false, 0.88)
			if firm {
				jobAlone(c, job, "works as "+c.articleAt(k+1)+as)
			}
		}
	}
	c.neg = c.neg && !firm
	if in, ok := c.after(i, 1, "in"); ok && c.verb == "work" {
		t.fact(c, "work", "works_in", in, false, 0.8)
	}
	if from, ok := c.after(i, 1, "from"); ok && c.verb == "work" && from != "" {
		if counts(c.w(c.find(i, 1, "from")+1)) || numeric(c.w(c.find(i, 1, "from")+1)) {
			return // "from nine to five"
		}
		t.fact(c, "work", "works_from", from, false, 0.75)
	}
}

// employed takes what somebody does for a living, begins and leaves.
func (t *talk) employed(c *clause, i int) bool {
	switch c.verb {
	case "work", "volunteer", "freelance":
		t.work(c, i)
	case "start", "begin", "join":
		switch {
		case c.neg:
		case c.w(i) == "working" || c.newJob(i):
			t.work(c, i)
		case c.verb == "start" && t.started(c, i):
		case c.verb == "join" && (c.past || c.perfect):
			t.joined(c, i, 0.65)
		case c.verb == "start" && strings.HasSuffix(c.w(i), "ing") && !begunForNow[c.w(i)]:
			t.fact(c, "habit", "does", o2(c, i), true, 0.7)
		}
	case "leave", "quit":
		if !t.leaves(c, i) && c.verb == "leave" && c.past {
			t.whereabouts(c, i)
		}
	case "retire":
		if next := c.w(i); next == "to" || next == "hurt" || next == "into" {
			break // to bed
		}
		if c.past || c.perfect || c.ing {
			t.fact(c, "work", "job", "retired", false, 0.85)
		}
	case "teach":
		if o := o2(c, i); !c.past && !c.can && o != "" && o != "others" && o != "people" && !c.capital(i) && !personal(c.w(i)) {
			t.fact(c, "work", "job", "teaches "+o, false, 0.8)
		}
	case "run", "manage", "lead", "found":
		if c.articleAt(i) != "" || c.w(i) == "my" {
			if !c.past {
				t.fact(c, "work", "job", c.verb+"s "+o2(c, i), false, 0.75)
			}
		}
	default:
		return false
	}
	return true
}

// leaves takes "I quit smoking", "I quit my job at Acme", and reports whether nothing else is to be
// read in it.
func (t *talk) leaves(c *clause, i int) bool {
	o, done := o2(c, i), c.past || c.perfect
	if c.verb == "quit" && done && !c.neg && strings.HasSuffix(c.w(i), "ing") {
		if o != "smoking" { // stopped says so
			c.neg = true
			t.fact(c, "habit", "does", o, true, 0.85)
		}
		return true
	}
	if t.leftPost(c, i) || t.changedFirm(c, i) || t.leftFirm(c, i) {
		return true
	}
	if o == "" || !done || c.firstTime() != nil {
		return false
	}
	firm, at := c.after(i, 4, "at", "with")
	switch {
	case at && endsInJob(c, i) && employs(firm, t.plain):
		c.neg = true
		t.fact(c, "work", "employer", firm, false, 0.85)
	case o == "job" || o == "day job":
		t.outOfWork(c)
		return true
	case strings.HasSuffix(o, "job") || c.w(i) == "smoking" || strings.HasSuffix(c.w(i), "ing"):
		c.neg = true
		t.fact(c, "work", "does", o, true, 0.8)
	}
	return false
}

// besideJob reports work beside another: "I also work at a café", "I work at the zoo on Sundays".
func (c *clause) besideJob() bool {
	for k := range c.words {
		if w := c.w(k); w == "also" && k < c.vi || w == "weekends" || w == "moonlight" || w == "side" && c.w(k-1) == "the" && c.w(k-2) == "on" {
			return true
		}
	}
	days := strings.Fields(c.howOften())
	return len(days) == 1 && weekdayOf(days[0], false) >= 0
}

// post is what somebody works as, from word i, without where and for whom.
func (c *clause) post(i int, firm, plain bool) string {
	as := o2(c, i)
	for _, of := range [...]string{" in ", " at "} {
		as, _, _ = strings.Cut(as, of)
	}
	if before, at, cut := strings.Cut(as, " for "); cut && firm && employs(at, plain) {
		as = before
	}
	return as
}

// articleAt is the article at word i, with a space behind it.
func (c *clause) articleAt(i int) string {
	if w := c.w(i); w == "a" || w == "an" || w == "the" {
		return w + " "
	}
	return ""
}

// jobAlone gives a job a text that does not name the firm: it may outlast the work there.
func jobAlone(c *clause, job *abi.Candidate, said string) {
	if job != nil && !job.Negates && c.kind != 'w' {
		job.Text = sentenceCase(c.subj.name + " " + said)
	}
}

// started takes "I started at Bosch on Monday", "she started as a cook at the Hilton": a firm that is
// named, and no place where one goes to, learns or is brought.
func (t *talk) started(c *clause, i int) bool {
	at := i
	if c.w(i) == "as" && role(c, i+1) {
		at = c.find(i, 5, "at")
	}
	if at < 0 || c.w(at) != "at" || c.kind != 's' && c.kind != 'p' || !c.past && !c.perfect || c.ing || c.usedTo || t.wentOn() {
		return false
	}
	first := at + 1
	if c.w(first) == "the" {
		first++
	}
	firm, next := c.object(at + 1)
	if !c.capital(first) || !nameWord(c.w(first)) || !employs(firm, false) || next < len(c.words) && c.w(next) != "as" || c.own && minor(last(c.thing)) {
		return false
	}
	if containsAny(strings.ToLower(firm), unfirm[:]...) {
		return false
	}
	if numbered[c.w(first)] || strings.ContainsAny(firm, "0123456789") {
		return false
	}
	if w := c.firstTime(); w != nil && (!w.hasDay || w.day < t.now.day-366) {
		return false // where they are since, the line does not say
	}
	if i != at {
		t.work(c, i)
		return true
	}
	t.fact(c, "work", "employer", firm, false, 0.8)
	if next < len(c.words) {
		if as := c.post(next+1, true, t.plain); as != "" {
			jobAlone(c, t.fact(c, "work", "job", as, false, 0.8), "works as "+c.articleAt(next+1)+as)
		}
	}
	return true
}

// newJob takes "a new job", "my job", "the new job" from word i.
func (c *clause) newJob(i int) bool {
	if c.w(i+1) == "new" {
		return (c.w(i) == "a" || c.w(i) == "my" || c.w(i) == "the" || c.w(i) == "her" || c.w(i) == "his") && c.w(i+2) == "job"
	}
	return (c.w(i) == "a" || c.w(i) == "my") && c.w(i+1) == "job"
}

// unfirm are parts of names of schools and of places for sport, where one starts and does not work.
var unfirm = [...]string{"school", "schule", "academy", "college", "university", "uni", "institute", "montessori", "waldorf", "kindergarten", "nursery", "kita", "gymnasium", "grammar", "oxford", "cambridge",
	"harvard", "yale", "stanford", "princeton", "gym", "fit", "yoga", "pilates", "dojo", "club", "sport", "centre", "center", "street", "road", "square", "station", "park", "bridge", "gate", "page", "chapter", "level", "question"}

// minor reports a relative who may still go to school.
func minor(noun string) bool {
	switch noun {
	case "son", "daughter", "kid", "child", "niece", "nephew", "grandson", "granddaughter", "godson", "goddaughter", "stepson", "stepdaughter", "baby", "twin", "family", "kids", "children":
		return true
	}
	return offspring[noun]
}

// wentOn reports a sentence that tells what came after: "I started at Bosch and moved to Siemens".
func (t *talk) wentOn() bool {
	for i := range t.said.toks {
		switch t.said.at(i) {
		case "moved", "joined", "switched", "left", "quit", "went", "then", "later", "before", "until", "till", "walked":
			return true
		}
	}
	return false
}

// leftPost takes "I quit my job as a cook at the Hilton", "I lost my post as manager".
func (t *talk) leftPost(c *clause, i int) bool {
	if c.neg || !c.past && !c.perfect || c.w(i) != "my" && c.w(i) != "our" && c.w(i) != "the" && c.w(i) != "his" && c.w(i) != "her" {
		return false
	}
	switch c.w(i + 1) {
	case "job", "post", "position", "role":
	default:
		return false
	}
	if c.w(i+2) != "as" {
		return false
	}
	t.ended(c, c.subj, "work", "job", c.post(i+3, true, t.plain), false)
	if firm, ok := c.after(i+3, 6, "at", "for"); ok && !vague(firm) && employs(firm, t.plain) {
		t.ended(c, c.subj, "work", "employer", firm, false)
	}
	return true
}

// joined reads a new employer.
func (t *talk) joined(c *clause, i int, confidence float64) {
	if o, _ := c.object(i); o != "" && c.capital(i) && !strings.Contains(o, " for ") && !networks[c.w(i)] {
		t.fact(c, "work", "employer", o, false, confidence)
	}
}

// networks are services that people join as users; few work there.
var networks = set("facebook twitter instagram tiktok whatsapp telegram linkedin reddit snapchat mastodon bluesky zoom teams slack discord")

// begunForNow is what somebody starts to do for a moment, or feels.
var begunForNow = set("crying laughing feeling seeing losing thinking going getting shaking sweating panicking worrying noticing talking singing screaming shouting bleeding sneezing coughing falling coming looking wondering moving packing cleaning cooking eating making")

// endsInJob takes "my job at Acme" and "the post with Acme" from word i, and no other thing
// that is at some place: "my umbrella at the cafe".
func endsInJob(c *clause, i int) bool {
	for k := i + 1; k < i+5; k++ {
		if w := c.w(k); w == "at" || w == "with" {
			switch c.w(k - 1) {
			case "job", "post", "position", "role", "internship", "apprenticeship":
				return true
			}
			return false
		}
	}
	return false
}

// changedFirm takes "I quit Acme and joined Halden", "I left Acme": leaving a
// name, which is an employer where the talk says so or another is joined.
func (t *talk) changedFirm(c *clause, i int) bool {
	o, next := c.object(i)
	if o == "" || !c.capital(i) || networks[c.w(i)] || !c.past && !c.perfect || c.neg || c.kind == 'y' {
		return false
	}
	for c.w(next) == "," || c.w(next) == "and" || c.w(next) == "then" || adverb(c.w(next)) {
		next++
	}
	to := 0
	switch l, _, _ := lemma(c.w(next)); l {
	case "join":
		to = next + 1
	case "start", "go", "move":
		if c.w(next+1) == "at" || c.w(next+1) == "with" || c.w(next+1) == "to" {
			to = next + 2
		}
	}
	if to == 0 || !c.capital(to) {
		if c.firstTime() != nil || len(c.words) > i+4 {
			return false
		}
		if c.verb == "leave" && !c.perfect { // "I left Leeds", perhaps a place
			return false
		}
	}
	c.neg = true
	t.fact(c, "work", "employer", o, false, 0.75)
	c.neg = false
	if to > 0 {
		t.joined(c, to, 0.88)
	}
	return true
}
