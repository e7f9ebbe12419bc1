package syntax

import "strings"

// forms maps irregular forms of verbs to their base forms; p marks a past form.
var forms = map[string]string{
	"went": "go", "gone": "go", "goes": "go", "bought": "buy", "met": "meet", "saw": "see", "seen": "see", "had": "have", "has": "have", "ate": "eat", "eaten": "eat",
	"got": "get", "gotten": "get", "left": "leave", "quit": "quit", "grew": "grow", "grown": "grow", "came": "come", "drove": "drive", "driven": "drive",
	"flew": "fly", "flown": "fly", "flies": "fly", "ran": "run", "took": "take", "taken": "take", "gave": "give", "given": "give", "sold": "sell", "lost": "lose", "put": "put",
	"kept": "keep", "taught": "teach", "teaches": "teach", "spoke": "speak", "spoken": "speak", "sent": "send", "made": "make", "found": "find", "spent": "spend",
	"told": "tell", "won": "win", "wrote": "write", "written": "write", "swam": "swim", "rode": "ride", "broke": "break", "broken": "break", "fell": "fall", "built": "build",
	"read": "read", "paid": "pay", "began": "begin", "begun": "begin", "chose": "choose", "felt": "feel", "held": "hold", "heard": "hear", "knew": "know",
	"said": "say", "thought": "think", "slept": "sleep", "sang": "sing", "stood": "stand", "studies": "study", "studied": "study", "tries": "try", "does": "do", "did": "do",
	"done": "do", "is": "be", "are": "be", "am": "be", "was": "be", "were": "be", "been": "be", "caught": "catch", "brought": "bring", "born": "born", "hurt": "hurt", "forgot": "forget", "forgotten": "forget", "swum": "swim", "ridden": "ride", "sewn": "sew", "babysat": "babysit", "withdrew": "withdraw", "overheard": "overhear", "sung": "sing", "worn": "wear", "rung": "ring", "sunk": "sink", "overslept": "oversleep", "misheard": "mishear", "rebuilt": "rebuild", "retook": "retake", "cried": "cry",
	"became": "become", "lent": "lend", "cut": "cut", "set": "set", "learnt": "learn", "wore": "wear", "carries": "carry", "drank": "drink", "shut": "shut", "taking": "take", "moving": "move",
	"split": "split", "wound": "wind", "hid": "hide", "hidden": "hide", "stuck": "stick", "laid": "lay", "hung": "hang", "threw": "throw", "thrown": "throw", "drew": "draw", "drawn": "draw", "rang": "ring",
	"stole": "steal", "stolen": "steal", "tore": "tear", "torn": "tear", "woke": "wake", "woken": "wake", "bit": "bite", "bitten": "bite", "fed": "feed", "fought": "fight",
	"froze": "freeze", "frozen": "freeze", "led": "lead", "lit": "light", "rose": "rise", "shook": "shake", "chosen": "choose", "understood": "understand", "dug": "dig",
	"swept": "sweep", "blew": "blow", "bent": "bend", "slid": "slide", "sought": "seek", "swung": "swing", "spun": "spin", "sank": "sink", "stank": "stink", "swore": "swear", "crept": "creep", "wept": "weep", "knelt": "kneel", "fled": "flee", "shrank": "shrink", "sprang": "spring",
	"hit": "hit", "beat": "beat", "beaten": "beat", "fired": "fire", "sacked": "sack", "spilt": "spill", "burnt": "burn", "dealt": "deal", "meant": "mean", "won't": "will", "flooded": "flood", "sat": "sit", "showed": "show", "shown": "show", "wed": "wed",
}

var lemmas = " live stay reside move relocate work start join leave quit retire study graduate learn teach like love enjoy adore prefer hate dislike loathe " +
	"eat drink avoid stop give own have buy get drive sell lose marry need want plan promise hope decide intend meet see visit go come fly travel run walk " +
	"watch attend finish call phone email text send bring pick drop book cancel postpone reschedule push shift change park put keep hide store use " +
	"play swap speak turn celebrate adopt name order cook bake make take talk catch spend climb hike swim ride sign pay collect return wear carry support follow read write build " +
	"grow be say tell think know feel mean guess find cost open close begin end last depart arrive happen break hurt hear try ask help repair fix paint clean rent lend borrow " +
	"train practise practice volunteer freelance skip manage run lead found head sing sleep wake smoke jog cycle commute allergic suffer win fall forget remember become land donate plant drinks apply pass fail present submit deliver water feed interview host invite join switch upgrade " +
	"participate receive weigh chat realise realize organise organize raise respond mention mentor tutor coach camp draw perform compete publish launch crash install replace " +
	"pack unpack pour peel fry boil roast knit sew photograph arrange confirm accept decline reject hire promote divorce propose steal hang throw owe inherit earn invest vote " +
	"sprain twist scratch spill bite sting mow harvest foster babysit argue apologise apologize hug create design explore discover notice include continue reach serve stick lay wake dig " +
	"rehearse team enter complete renovate develop expand research edit record restore teach swim relax recover bring collapse overcome admire prepare sponsor encourage compete enrol enroll register subscribe borrow misplace stash tuck expire hid die settle expect retrain qualify emigrate immigrate treat reserve hand " +
	" recommend attach thank provide allow add wait discuss consider kill agree explain handle suggest save require wonder appreciate purchase stand contact approve choose refuse trust" +
	" assume listen describe pull advise remove exist compare announce imagine revise establish appear prove destroy operate inform protect reduce achieve involve contain delete admit" +
	" afford maintain represent extend bother jump suspect threaten prevent assist update adjust ignore relate warn introduce notify demonstrate gain strengthen proceed negotiate" +
	" conclude repeat produce identify define elect complain count grab improve survive select accuse generate reply trade belong assure deny withdraw verify obtain hesitate distribute" +
	" dine smell employ conduct convince deserve eliminate greet predict vomit remind solve resolve examine engage defend laugh calculate anticipate declare evacuate evaluate reveal" +
	" succeed seize weaken attract emerge satisfy recruit urge flip recognise recognize combine condemn react wash communicate exceed award breathe ban ruin yell tow pray observe gather" +
	" pursue renew dismiss welcome impress disappear knock wrap diagnose highlight investigate mount connect disappoint abandon divide insist inspire blend translate explode" +
	" dance modify approach trigger press accomplish preserve lock scream invent toss concentrate cry rely criticise criticize confuse occupy convert challenge contribute adapt" +
	" surrender instruct match reassure coordinate alter consult fold merge differ score heat download undertake interpret smile groom clarify shrink grill persuade assess stretch resist" +
	" damage vanish crack reward invade starve delay retrieve injure terminate bleed heal wander load lick chew rub calm rinse compose dress block sniff educate embarrass confess stir" +
	" convict ski collaborate disagree bump oversee overlook summarise summarize leak analyse analyze interrupt spell upload alert assemble consume neglect rebuild hurry straighten dump" +
	" rescue spoil unload scrub correct prescribe dip decorate kiss praise crave pause unlock overhear irritate endure confront construct scan memorise memorize exhaust lower burn miss" +
	" charge resign clear vacuum iron tidy mop weld prune vaccinate neuter unplug plug tailor varnish sand tile refund exchange overcook" +
	" dye shave unsubscribe reckon report repaint redecorate oversleep dislocate fracture demolish refinance evict bury christen insure patent repay"

// LemmaSet has the known verbs, in their base form.
var LemmaSet = func() map[string]bool {
	m := make(map[string]bool, 1024)
	for w := range strings.FieldsSeq(lemmas) {
		m[w] = true
	}
	return m
}()

// Lemma returns the base of a verb form, and whether the form is past.
func Lemma(s string) (base string, past, ing bool) {
	if b, ok := forms[s]; ok {
		switch s {
		case "goes", "flies", "teaches", "studies", "tries", "carries", "has", "does", "is", "are", "am":
			return b, false, false
		case "taking", "moving":
			return b, false, true
		}
		return b, true, false
	}
	known := func(b string) bool { return LemmaSet[b] }
	if known(s) {
		return s, false, false
	}
	for _, cut := range [...]struct {
		end  string
		past bool
		ing  bool
	}{{"ing", false, true}, {"ed", true, false}, {"es", false, false}, {"s", false, false}} {
		if b, ok := strings.CutSuffix(s, cut.end); ok && len(b) > 1 {
			if known(b) && !(cut.end == "ed" && strings.HasSuffix(b, "e")) {
				return b, cut.past, cut.ing
			}
			if cut.end != "s" && known(b+"e") {
				return b + "e", cut.past, cut.ing
			}
			if n := len(b); n > 2 && b[n-1] == b[n-2] && known(b[:n-1]) && cut.end != "s" && cut.end != "es" {
				return b[:n-1], cut.past, cut.ing
			}
			if p, ok := strings.CutSuffix(b, "i"); ok && known(p+"y") {
				return p + "y", cut.past, cut.ing
			}
		}
	}
	return "", false, false
}

// PastForm reports whether an unknown verb looks like a past form.
func PastForm(s string) bool { return len(s) > 4 && strings.HasSuffix(s, "ed") }

// Verbish reports whether a word may be a verb.
func Verbish(s string) bool {
	base, rest := Contraction(s)
	if rest != "" && rest != "is" {
		return true
	}
	if rest == "is" {
		s = base
	}
	if Auxiliary(s) {
		return true
	}
	l, _, _ := Lemma(s)
	return l != "" || rest == "is" && SubjectPronoun(base)
}

// Third returns the third person of a base form: live, lives.
func Third(s string) string {
	switch {
	case s == "have":
		return "has"
	case s == "am" || s == "are" || s == "be":
		return "is"
	case s == "do" || s == "go":
		return s + "es"
	case s == "wanna":
		return "wants to"
	case strings.HasSuffix(s, "y") && len(s) > 1 && !strings.ContainsAny(s[len(s)-2:len(s)-1], "aeiou"):
		return s[:len(s)-1] + "ies"
	case strings.HasSuffix(s, "s") || strings.HasSuffix(s, "ch") || strings.HasSuffix(s, "sh") || strings.HasSuffix(s, "x"):
		return s + "es"
	}
	return s + "s"
}

// EventNoun returns the attribute of the slot of an event, and whether s can be an appointment.
func EventNoun(s string) (string, bool) {
	if Profession(s) {
		return s + "_appointment", true
	}
	switch s {
	case "appointment", "meeting", "interview", "flight", "dinner", "lunch", "breakfast", "brunch", "call", "party", "exam", "class", "wedding", "recital", "concert", "haircut", "checkup",
		"check-up", "standup", "stand-up", "review", "deadline", "delivery", "viewing", "rehearsal", "match", "game", "presentation", "conference", "training",
		"workshop", "lesson", "demo", "funeral", "birthday-party", "reservation", "date", "picnic", "visit", "trip", "drinks", "session", "test", "surgery", "operation",
		"inspection", "launch", "webinar", "seminar", "lecture", "play", "show", "movie", "film", "barbecue", "bbq", "event", "pickup", "handover", "train", "kickoff", "retro", "sync", "catch-up", "holiday", "vacation":
		return s, true
	}
	return "", false
}
