package rules

import "strings"

// A milestone is a deed that somebody wants to find again, even where no time, place or name is
// said with it: "I finished my thesis", "I caught a cold", "we split up".

// milestones has its verbs, with a particle that belongs to them, and the nouns of what each is
// done to. No nouns: whatever the clause names as somebody's or as a certain one, and is not dull.
var milestones = func() map[string]map[string]bool {
	m := map[string]map[string]bool{
		"apply for":        set("grant job visa mortgage loan scholarship passport course citizenship permit licence license position role post internship pension benefits residency"),
		"bake":             set("cake bread loaf"),
		"book":             set("flight flights hotel holiday room cottage cabin trip ticket tickets venue hall photographer ferry table"),
		"build":            set("shed house cabin treehouse fence greenhouse deck boat bookcase wall pond website app"),
		"burn":             set("finger fingers thumb hand arm tongue lip"),
		"call":             professionals,
		"catch":            set("cold flu virus bug fever covid infection"),
		"change":           set("password number name surname address lock locks tyres tires school schools bank banks course"),
		"complain to":      professionals,
		"cut":              set("finger thumb hand knee foot lip"),
		"donate":           set("blood plasma kidney hair clothes"),
		"email":            professionals,
		"find":             set("flat apartment house job school nanny wallet keys passport phone"),
		"forget":           set("umbrella keys key phone wallet purse passport charger glasses bag backpack ticket tickets birthday anniversary appointment pin"),
		"get":              set("tattoo piercing haircut divorce infection concussion boiler fridge phone laptop car bike sofa mattress dishwasher"),
		"have":             set("surgery operation filling miscarriage stroke accident scan mri biopsy checkup transplant vaccination fight outage cut baby crash concussion seizure"),
		"hit":              set("head deer tree wall car"),
		"learn to":         set("swim drive ski knit sew surf sail ride dance skate"),
		"miss":             set("train flight bus ferry coach connection deadline appointment exam wedding funeral interview"),
		"order":            set("desk sofa bed mattress wardrobe curtains table chair chairs lamp bike laptop phone fridge boiler glasses lenses blinds carpet kitchen"),
		"pay":              set("rent deposit bill bills fine invoice tax taxes tuition mortgage insurance"),
		"plant":            set("tomatoes potatoes roses tulips beans garlic onions strawberries tree trees hedge carrots peas bulbs courgettes pumpkins herbs lavender"),
		"pull":             set("muscle hamstring ligament tendon"),
		"report":           set("leak theft crime fault damage burglary accident"),
		"run":              set("marathon half-marathon triathlon 10k ultramarathon"),
		"send":             set("invoice application letter package parcel contract form cv resume manuscript invitations documents"),
		"slipped on":       set("stairs ice steps"),
		"start":            set("therapy physio physiotherapy chemo chemotherapy diet course lessons classes business company podcast blog school university"),
		"subscribe to":     set("paper newspaper magazine newsletter channel journal"),
		"switch":           set("bank banks job jobs doctor doctors team teams course courses school schools provider providers gym gyms phone phones departments"),
		"tear":             set("muscle hamstring ligament tendon meniscus acl"),
		"unsubscribe from": set("paper newspaper magazine newsletter channel journal"),
		"visit":            set("grandmother grandfather grandma grandpa gran granny nan grandparents parents aunt uncle cousin niece nephew sister brother in-laws"),
		"write":            set("poem book novel song will thesis letter essay memoir play"),
	}
	for verb := range strings.FieldsSeq("finish complete submit win lose sell repair fail cancel renew adopt publish install hire fire crash pass sign break inherit " +
		"twist sprain chipped dislocate fracture paint repaint replace renovate redecorate dye shave upgrade delete scratch dented evict bury christen insure patent repay rebuild refinance fix demolish") {
		m[verb] = nil
	}
	return m
}()

// professionals are whom one calls, writes or complains to about something that stays open for a while.
var professionals = set("plumber electrician landlord landlady bank insurance school doctor dentist vet police council manager neighbours neighbors airline professor supervisor lawyer accountant embassy")

// partings are milestones that are done to nothing.
var partings = map[string]bool{"oversleep": true, "fainted": true, "break up": true, "split up": true, "move out": true, "run away": true, "close down": true, "give birth": true, "pass away": true}

// undergone is what is done to a thing of somebody's, as a participle: "my phone was stolen".
var undergone = set("stolen rejected accepted approved denied towed hacked cancelled canceled robbed repossessed declined refused damaged destroyed renewed published vandalised vandalized flooded nicked burgled mugged")

// doneTo is what one has done to a part of oneself, or to a thing of one's own.
var doneTo = set("removed replaced pulled extracted fitted repaired installed serviced stolen amputated")

// removedParts are what a doctor takes out.
var removedParts = set("appendix tonsils adenoids tooth teeth gallbladder stitches spleen kidney uterus cataract cataracts wisdom molar")

// ruined is what a thing of somebody's does at its end: "my passport expired".
var ruined = set("die expire crash burst explode break fail")

// dull are objects that say nothing of a day: "I lost my temper", "she broke the ice".
var dull = set("temper mind way patience focus interest appetite balance sense count track touch hope faith breath voice time job work day drink coffee food meal breakfast lunch dinner plate argument bet point ice silence news habit cycle record rules law mould mood sentence thought sleep rest beer wine milk water tea cigarette soup bottle glass race game match sandwich one lot bit deal thing things something stuff money weight promise sweat favour favor party red bearings will approach signal warrant hair nerve cover fast bread momentum spell word words code ranks seed head words face typo")

// emptied are things that die and are charged again.
var emptied = set("phone battery torch headphones earbuds watch")

// momentous reports a milestone.
func (c *clause) momentous() bool {
	if c.neg || c.modal || c.kind == 'y' {
		return false
	}
	next := c.w(c.vi + 1)
	if c.kind == 't' {
		if next == "been" {
			next = c.w(c.vi + 2)
		}
		if !c.past && !c.perfect {
			return false
		}
		stolen := (c.thing == "someone" || c.thing == "somebody") && (c.verb == "steal" || c.verb == "nicked") && (next == "my" || next == "our")
		return stolen || c.own && ((c.verb == "be" || c.verb == "get") && undergone[next] || ruined[c.verb] && !emptied[last(c.thing)])
	}
	if c.verb == "have" && (next == "my" || next == "our" || next == "a") {
		for k := c.vi + 3; k < len(c.words) && k < c.vi+7; k++ {
			if (doneTo[c.w(k)] || c.w(k) == "out" && removedParts[c.w(k-1)]) && c.saysAll(k+1) {
				return true // "I had my appendix out"
			}
		}
	}
	if c.verb == "get" && next == "back" && c.w(c.vi+2) == "from" && c.capital(c.vi+3) {
		return true
	}
	if partings[c.verb] && c.saysAll(c.vi+1) || partings[c.verb+" "+next] && c.saysAll(c.vi+2) {
		return true // but "we broke up laughing"
	}
	i := c.vi + 1
	nouns, ok := milestones[c.verb]
	if next == "how" {
		i, next = i+1, c.w(i+1) // "learned how to swim"
	}
	if c.verb == "learn" && next == "to" {
		return milestones["learn to"][c.w(i+1)]
	}
	if with, joined := milestones[c.verb+" "+next]; joined {
		nouns, ok, i = with, true, i+1
	}
	if !ok {
		return false
	}
	if nouns != nil {
		return nouns[c.headAt(i)] && c.w(i) != "no" && c.w(i) != "any" && c.w(i) != "your"
	}
	switch first := c.w(i); first {
	case "this", "that", "these", "no", "any", "some", "your":
		return false
	default:
		if !determiner(first) {
			return false
		}
	}
	o := strings.ToLower(o2(c, i))
	l := last(o)
	return o != "" && !vague(o) && !dull[l] && !personal(l) && !(c.verb == "pass" && !c.examined())
}

// saysAll reports whether nothing stands at word i that changes what the verb before it means.
func (c *clause) saysAll(i int) bool {
	switch w := c.w(i); w {
	case "", ",", "because", "with", "from", "in", "at", "to", "after", "before", "on", "when", "as":
		return true
	default:
		return len(c.whens) > 0 && c.whens[0].first <= c.words[i].tok
	}
}

// headAt is the noun of the phrase that begins at word i: the last word before a preposition, "and" or the end.
func (c *clause) headAt(i int) string {
	k := i
	for k < len(c.words) && !preposition(c.w(k)) && c.w(k) != "and" && c.w(k) != "," && c.w(k) != "so" && c.w(k) != "but" && c.w(k) != "when" && c.w(k) != "or" && c.w(k) != "because" && c.w(k) != "that" {
		k++
	}
	for k > i && adverb(c.w(k-1)) {
		k--
	}
	if k == i {
		return ""
	}
	return c.w(k - 1)
}
