package english

import (
	"strings"

	"github.com/locket-dev/locket/wasm/abi"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/noted"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
)

// work reads "at X", "as a Y" after a verb of working.
func work(t *discourse.Talk, c *discourse.Clause, i int) {
	if c.Past && !c.UsedTo && c.Verb == "work" && !c.Perfect {
		if at, ok := c.After(i, 4, "at", "for"); ok && !discourse.Vague(at) && c.FirstTime() == nil && employs(at, t.Plain) {
			t.Fact(c, "biography", "worked_at", at, true, 0.75)
		}
		return
	}
	if at, ok := c.After(i, 4, "at", "for"); ok && c.UsedTo && c.Verb == "work" && !discourse.Vague(at) && employs(at, t.Plain) {
		t.Once(c, "worked_at", at)
	}
	at, ok := c.After(i, 6, "at", "for")
	if k := c.Find(i, 6, "for"); k >= 0 && c.W(k+1) == "charity" { // "for a charity" is for whom
		return
	}
	if ok && c.Verb == "volunteer" {
		if !discourse.Vague(at) && !c.Past && c.FirstTime() == nil {
			t.Fact(c, "habit", "volunteers_at", at, true, 0.85)
		}
		return
	}
	if c.Verb == "freelance" && !c.Past && i >= len(c.Words)-1 { // "I'm freelancing now"
		t.Fact(c, "work", "job", "freelancer", false, 0.85)
		return
	}
	firm := false
	at, _, _ = strings.Cut(at, " with my ")
	if ok && c.Verb == "work" && !discourse.Vague(at) && besideJob(c) {
		t.Fact(c, "work", "second_job", cutTail(at), true, 0.85)
		return
	}
	if ok := ok && !discourse.Vague(at) && employs(at, t.Plain); ok {
		firm = t.Fact(c, "work", "employer", at, false, 0.92) != nil
	}
	if k := c.Find(i, 8, "as"); k >= 0 {
		unsaid := firm && c.Neg && !c.NoLonger && !c.UsedTo // "I don't work at Siemens as an engineer": as one elsewhere?
		if as := post(c, k+1, firm, t.Plain); as != "" && !unsaid {
			job := t.Fact(c, "work", "job", as, false, 0.88)
			if firm {
				jobAlone(c, job, "works as "+articleAt(c, k+1)+as)
			}
		}
	}
	c.Neg = c.Neg && !firm
	if in, ok := c.After(i, 1, "in"); ok && c.Verb == "work" {
		t.Fact(c, "work", "works_in", in, false, 0.8)
	}
	if from, ok := c.After(i, 1, "from"); ok && c.Verb == "work" && from != "" {
		if noted.Counts(c.W(c.Find(i, 1, "from")+1)) || syntax.Numeric(c.W(c.Find(i, 1, "from")+1)) {
			return // "from nine to five"
		}
		t.Fact(c, "work", "works_from", from, false, 0.75)
	}
}

// employed takes what somebody does for a living, begins and leaves.
func employed(t *discourse.Talk, c *discourse.Clause, i int) bool {
	switch c.Verb {
	case "work", "volunteer", "freelance":
		work(t, c, i)
	case "start", "begin", "join":
		switch {
		case c.Neg:
		case c.W(i) == "working" || newJob(c, i):
			work(t, c, i)
		case c.Verb == "start" && started(t, c, i):
		case c.Verb == "join" && (c.Past || c.Perfect):
			joined(t, c, i, 0.65)
		case c.Verb == "start" && strings.HasSuffix(c.W(i), "ing") && !begunForNow[c.W(i)]:
			t.Fact(c, "habit", "does", discourse.ObjectOf(c, i), true, 0.7)
		}
	case "leave", "quit":
		if !leaves(t, c, i) && c.Verb == "leave" && c.Past {
			whereabouts(t, c, i)
		}
	case "retire":
		if next := c.W(i); next == "to" || next == "hurt" || next == "into" {
			break // to bed
		}
		if c.Past || c.Perfect || c.Ing {
			t.Fact(c, "work", "job", "retired", false, 0.85)
		}
	case "teach":
		if o := discourse.ObjectOf(c, i); !c.Past && !c.Can && o != "" && o != "others" && o != "people" && !c.Capital(i) && !discourse.Personal(c.W(i)) {
			t.Fact(c, "work", "job", "teaches "+o, false, 0.8)
		}
	case "run", "manage", "lead", "found":
		if articleAt(c, i) != "" || c.W(i) == "my" {
			if !c.Past {
				t.Fact(c, "work", "job", c.Verb+"s "+discourse.ObjectOf(c, i), false, 0.75)
			}
		}
	default:
		return false
	}
	return true
}

// leaves takes "I quit smoking", "I quit my job at Acme", and reports whether nothing else has to
// be read in it.
func leaves(t *discourse.Talk, c *discourse.Clause, i int) bool {
	o, done := discourse.ObjectOf(c, i), c.Past || c.Perfect
	if c.Verb == "quit" && done && !c.Neg && strings.HasSuffix(c.W(i), "ing") {
		if o != "smoking" { // stopped handles that
			c.Neg = true
			t.Fact(c, "habit", "does", o, true, 0.85)
		}
		return true
	}
	if leftPost(t, c, i) || changedFirm(t, c, i) || leftFirm(t, c, i) {
		return true
	}
	if o == "" || !done || c.FirstTime() != nil {
		return false
	}
	firm, at := c.After(i, 4, "at", "with")
	switch {
	case at && endsInJob(c, i) && employs(firm, t.Plain):
		c.Neg = true
		t.Fact(c, "work", "employer", firm, false, 0.85)
	case o == "job" || o == "day job":
		outOfWork(t, c)
		return true
	case strings.HasSuffix(o, "job") || c.W(i) == "smoking" || strings.HasSuffix(c.W(i), "ing"):
		c.Neg = true
		t.Fact(c, "work", "does", o, true, 0.8)
	}
	return false
}

// besideJob reports whether it is work on the side: "I also work at a café", "I work at the zoo on
// Sundays".
func besideJob(c *discourse.Clause) bool {
	for k := range c.Words {
		if w := c.W(k); w == "also" && k < c.Vi || w == "weekends" || w == "moonlight" || w == "side" && c.W(k-1) == "the" && c.W(k-2) == "on" {
			return true
		}
	}
	days := strings.Fields(howOften(c))
	return len(days) == 1 && syntax.WeekdayOf(days[0], false) >= 0
}

// post returns what somebody works as, from word i on, without where and for whom.
func post(c *discourse.Clause, i int, firm, plain bool) string {
	as := discourse.ObjectOf(c, i)
	for _, of := range [...]string{" in ", " at "} {
		as, _, _ = strings.Cut(as, of)
	}
	if before, at, cut := strings.Cut(as, " for "); cut && firm && employs(at, plain) {
		as = before
	}
	return as
}

// articleAt returns the article at word i, followed by a space.
func articleAt(c *discourse.Clause, i int) string {
	if w := c.W(i); w == "a" || w == "an" || w == "the" {
		return w + " "
	}
	return ""
}

// jobAlone gives a job a text that does not name the firm, because the job may continue after the
// work there.
func jobAlone(c *discourse.Clause, job *abi.Candidate, said string) {
	if job != nil && !job.Negates && c.Kind != 'w' {
		job.Text = discourse.SentenceCase(c.Subj.Name + " " + said)
	}
}

// started takes "I started at Bosch on Monday", "she started as a cook at the Hilton": a named
// firm, and not a place to which somebody goes, where they learn or to which they are brought.
func started(t *discourse.Talk, c *discourse.Clause, i int) bool {
	at := i
	if c.W(i) == "as" && role(c, i+1) {
		at = c.Find(i, 5, "at")
	}
	if at < 0 || c.W(at) != "at" || c.Kind != 's' && c.Kind != 'p' || !c.Past && !c.Perfect || c.Ing || c.UsedTo || wentOn(t) {
		return false
	}
	first := at + 1
	if c.W(first) == "the" {
		first++
	}
	firm, next := c.Object(at + 1)
	if !c.Capital(first) || !syntax.NameWord(c.W(first)) || !employs(firm, false) || next < len(c.Words) && c.W(next) != "as" || c.Own && minor(discourse.Last(c.Thing)) {
		return false
	}
	if syntax.ContainsAny(strings.ToLower(firm), unfirm[:]...) {
		return false
	}
	if numbered[c.W(first)] || strings.ContainsAny(firm, "0123456789") {
		return false
	}
	if w := c.FirstTime(); w != nil && (!w.HasDay || w.Day < t.Now.Day-366) {
		return false // the line does not say where they are since then
	}
	if i != at {
		work(t, c, i)
		return true
	}
	t.Fact(c, "work", "employer", firm, false, 0.8)
	if next < len(c.Words) {
		if as := post(c, next+1, true, t.Plain); as != "" {
			jobAlone(c, t.Fact(c, "work", "job", as, false, 0.8), "works as "+articleAt(c, next+1)+as)
		}
	}
	return true
}

// newJob reports whether "a new job", "my job" or "the new job" is at word i.
func newJob(c *discourse.Clause, i int) bool {
	if c.W(i+1) == "new" {
		return (c.W(i) == "a" || c.W(i) == "my" || c.W(i) == "the" || c.W(i) == "her" || c.W(i) == "his") && c.W(i+2) == "job"
	}
	return (c.W(i) == "a" || c.W(i) == "my") && c.W(i+1) == "job"
}

// unfirm are parts of names of schools and sports venues, where people start without working there.
var unfirm = [...]string{"school", "schule", "academy", "college", "university", "uni", "institute", "montessori", "waldorf", "kindergarten", "nursery", "kita", "gymnasium", "grammar", "oxford", "cambridge",
	"harvard", "yale", "stanford", "princeton", "gym", "fit", "yoga", "pilates", "dojo", "club", "sport", "centre", "center", "street", "road", "square", "station", "park", "bridge", "gate", "page", "chapter", "level", "question"}

// minor reports whether noun is a relative who may still go to school.
func minor(noun string) bool {
	switch noun {
	case "son", "daughter", "kid", "child", "niece", "nephew", "grandson", "granddaughter", "godson", "goddaughter", "stepson", "stepdaughter", "baby", "twin", "family", "kids", "children":
		return true
	}
	return syntax.Offspring[noun]
}

// wentOn reports whether a sentence tells what came afterwards: "I started at Bosch and moved to
// Siemens".
func wentOn(t *discourse.Talk) bool {
	for i := range t.Said.Toks {
		switch t.Said.At(i) {
		case "moved", "joined", "switched", "left", "quit", "went", "then", "later", "before", "until", "till", "walked":
			return true
		}
	}
	return false
}

// leftPost takes "I quit my job as a cook at the Hilton", "I lost my post as manager".
func leftPost(t *discourse.Talk, c *discourse.Clause, i int) bool {
	if c.Neg || !c.Past && !c.Perfect || c.W(i) != "my" && c.W(i) != "our" && c.W(i) != "the" && c.W(i) != "his" && c.W(i) != "her" {
		return false
	}
	switch c.W(i + 1) {
	case "job", "post", "position", "role":
	default:
		return false
	}
	if c.W(i+2) != "as" {
		return false
	}
	t.Ended(c, c.Subj, "work", "job", post(c, i+3, true, t.Plain), false)
	if firm, ok := c.After(i+3, 6, "at", "for"); ok && !discourse.Vague(firm) && employs(firm, t.Plain) {
		t.Ended(c, c.Subj, "work", "employer", firm, false)
	}
	return true
}

// joined reads a new employer.
func joined(t *discourse.Talk, c *discourse.Clause, i int, confidence float64) {
	if o, _ := c.Object(i); o != "" && c.Capital(i) && !strings.Contains(o, " for ") && !networks[c.W(i)] {
		t.Fact(c, "work", "employer", o, false, confidence)
	}
}

// networks are services that people join as users; few work there.
var networks = syntax.Set("facebook twitter instagram tiktok whatsapp telegram linkedin reddit snapchat mastodon bluesky zoom teams slack discord")

// begunForNow are things that somebody starts to do for a moment, or feels.
var begunForNow = syntax.Set("crying laughing feeling seeing losing thinking going getting shaking sweating panicking worrying noticing talking singing screaming shouting bleeding sneezing coughing falling coming looking wondering moving packing cleaning cooking eating making")

// endsInJob reports whether "my job at Acme" or "the post with Acme" is at word i, and not another
// thing that is at some place: "my umbrella at the cafe".
func endsInJob(c *discourse.Clause, i int) bool {
	for k := i + 1; k < i+5; k++ {
		if w := c.W(k); w == "at" || w == "with" {
			switch c.W(k - 1) {
			case "job", "post", "position", "role", "internship", "apprenticeship":
				return true
			}
			return false
		}
	}
	return false
}

// changedFirm takes "I quit Acme and joined Halden", "I left Acme": a name that somebody leaves,
// which is an employer if the talk says so or another one is joined.
func changedFirm(t *discourse.Talk, c *discourse.Clause, i int) bool {
	o, next := c.Object(i)
	if o == "" || !c.Capital(i) || networks[c.W(i)] || !c.Past && !c.Perfect || c.Neg || c.Kind == 'y' {
		return false
	}
	for c.W(next) == "," || c.W(next) == "and" || c.W(next) == "then" || syntax.Adverb(c.W(next)) {
		next++
	}
	to := 0
	switch l, _, _ := syntax.Lemma(c.W(next)); l {
	case "join":
		to = next + 1
	case "start", "go", "move":
		if c.W(next+1) == "at" || c.W(next+1) == "with" || c.W(next+1) == "to" {
			to = next + 2
		}
	}
	if to == 0 || !c.Capital(to) {
		if c.FirstTime() != nil || len(c.Words) > i+4 {
			return false
		}
		if c.Verb == "leave" && !c.Perfect { // "I left Leeds", perhaps a place
			return false
		}
	}
	c.Neg = true
	t.Fact(c, "work", "employer", o, false, 0.75)
	c.Neg = false
	if to > 0 {
		joined(t, c, to, 0.88)
	}
	return true
}
