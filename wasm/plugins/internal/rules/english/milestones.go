package english

import (
	"strings"

	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
)

// A milestone is a deed that somebody wants to find again, even if no time, place or name is said
// with it: "I finished my thesis", "I caught a cold", "we split up".

// milestones has their verbs, with a particle that belongs to them, and the nouns that may be their
// objects. Without nouns, the object may be anything that the clause names as somebody's or as a
// certain one, and that is not dull.
var milestones = func() map[string]map[string]bool {
	m := map[string]map[string]bool{
		"apply for":        syntax.Set("grant job visa mortgage loan scholarship passport course citizenship permit licence license position role post internship pension benefits residency"),
		"bake":             syntax.Set("cake bread loaf"),
		"book":             syntax.Set("flight flights hotel holiday room cottage cabin trip ticket tickets venue hall photographer ferry table"),
		"build":            syntax.Set("shed house cabin treehouse fence greenhouse deck boat bookcase wall pond website app"),
		"burn":             syntax.Set("finger fingers thumb hand arm tongue lip"),
		"call":             professionals,
		"catch":            syntax.Set("cold flu virus bug fever covid infection"),
		"change":           syntax.Set("password number name surname address lock locks tyres tires school schools bank banks course"),
		"complain to":      professionals,
		"cut":              syntax.Set("finger thumb hand knee foot lip"),
		"donate":           syntax.Set("blood plasma kidney hair clothes"),
		"email":            professionals,
		"find":             syntax.Set("flat apartment house job school nanny wallet keys passport phone"),
		"forget":           syntax.Set("umbrella keys key phone wallet purse passport charger glasses bag backpack ticket tickets birthday anniversary appointment pin"),
		"get":              syntax.Set("tattoo piercing haircut divorce infection concussion boiler fridge phone laptop car bike sofa mattress dishwasher"),
		"have":             syntax.Set("surgery operation filling miscarriage stroke accident scan mri biopsy checkup transplant vaccination fight outage cut baby crash concussion seizure"),
		"hit":              syntax.Set("head deer tree wall car"),
		"learn to":         syntax.Set("swim drive ski knit sew surf sail ride dance skate"),
		"miss":             syntax.Set("train flight bus ferry coach connection deadline appointment exam wedding funeral interview"),
		"order":            syntax.Set("desk sofa bed mattress wardrobe curtains table chair chairs lamp bike laptop phone fridge boiler glasses lenses blinds carpet kitchen"),
		"pay":              syntax.Set("rent deposit bill bills fine invoice tax taxes tuition mortgage insurance"),
		"plant":            syntax.Set("tomatoes potatoes roses tulips beans garlic onions strawberries tree trees hedge carrots peas bulbs courgettes pumpkins herbs lavender"),
		"pull":             syntax.Set("muscle hamstring ligament tendon"),
		"report":           syntax.Set("leak theft crime fault damage burglary accident"),
		"return":           goods,
		"run":              syntax.Set("marathon half-marathon triathlon 10k ultramarathon"),
		"send":             syntax.Set("invoice application letter package parcel contract form cv resume manuscript invitations documents"),
		"slipped on":       syntax.Set("stairs ice steps"),
		"start":            syntax.Set("therapy physio physiotherapy chemo chemotherapy diet course lessons classes business company podcast blog school university"),
		"subscribe to":     syntax.Set("paper newspaper magazine newsletter channel journal"),
		"switch":           syntax.Set("bank banks job jobs doctor doctors team teams course courses school schools provider providers gym gyms phone phones departments"),
		"tear":             syntax.Set("muscle hamstring ligament tendon meniscus acl"),
		"unsubscribe from": syntax.Set("paper newspaper magazine newsletter channel journal"),
		"visit":            syntax.Set("grandmother grandfather grandma grandpa gran granny nan grandparents parents aunt uncle cousin niece nephew sister brother in-laws"),
		"write":            syntax.Set("poem book novel song will thesis letter essay memoir play"),
	}
	for verb := range strings.FieldsSeq("finish complete submit win lose sell repair fail cancel renew adopt publish install hire fire crash pass sign break inherit " +
		"twist sprain chipped dislocate fracture paint repaint replace renovate redecorate dye shave upgrade delete scratch dented evict bury christen insure patent repay rebuild refinance fix demolish") {
		m[verb] = nil
	}
	return m
}()

// professionals are people whom somebody calls, writes to or complains to about something that
// stays open for a while.
var professionals = syntax.Set("plumber electrician landlord landlady bank insurance school doctor dentist vet police council manager neighbours neighbors airline professor supervisor lawyer accountant embassy")

// goods are things that people take or send back to a shop.
var goods = syntax.Set("boots shoes trainers sandals jumper sweater dress skirt jacket coat shirt blouse trousers jeans hat gloves suit lamp kettle toaster headphones printer monitor keyboard laptop phone tablet camera sofa chair table desk rug mattress parcel order books book")

// partings are milestones without an object.
var partings = map[string]bool{"oversleep": true, "fainted": true, "break up": true, "split up": true, "move out": true, "run away": true, "close down": true, "give birth": true, "pass away": true}

// undergone are participles for what is done to somebody's thing: "my phone was stolen".
var undergone = syntax.Set("stolen rejected accepted approved denied towed hacked cancelled canceled robbed repossessed declined refused damaged destroyed renewed published vandalised vandalized flooded nicked burgled mugged")

// doneTo are participles for what somebody has had done to a part of the body, or to a thing of
// their own.
var doneTo = syntax.Set("removed replaced pulled extracted fitted repaired installed serviced stolen amputated")

// removedParts are parts that a doctor removes.
var removedParts = syntax.Set("appendix tonsils adenoids tooth teeth gallbladder stitches spleen kidney uterus cataract cataracts wisdom molar")

// ruined are verbs for what somebody's thing does at its end: "my passport expired".
var ruined = syntax.Set("die expire crash burst explode break fail")

// dull are objects that say nothing about a day: "I lost my temper", "she broke the ice".
var dull = syntax.Set("temper mind way patience focus interest appetite balance sense count track touch hope faith breath voice time job work day drink coffee food meal breakfast lunch dinner plate argument bet point ice silence news habit cycle record rules law mould mood sentence thought sleep rest beer wine milk water tea cigarette soup bottle glass race game match sandwich one lot bit deal thing things something stuff money weight promise sweat favour favor party red bearings will approach signal warrant hair nerve cover fast bread momentum spell word words code ranks seed head words face typo")

// emptied are things that "die" and are charged again.
var emptied = syntax.Set("phone battery torch headphones earbuds watch")

// momentous reports whether a clause is a milestone.
func momentous(c *discourse.Clause) bool {
	if c.Neg || c.Modal || c.Kind == 'y' {
		return false
	}
	next := c.W(c.Vi + 1)
	if c.Kind == 't' {
		if next == "been" {
			next = c.W(c.Vi + 2)
		}
		if !c.Past && !c.Perfect {
			return false
		}
		stolen := (c.Thing == "someone" || c.Thing == "somebody") && (c.Verb == "steal" || c.Verb == "nicked") && (next == "my" || next == "our")
		return stolen || c.Own && ((c.Verb == "be" || c.Verb == "get") && undergone[next] || ruined[c.Verb] && !emptied[discourse.Last(c.Thing)])
	}
	if c.Verb == "have" && (next == "my" || next == "our" || next == "a") {
		for k := c.Vi + 3; k < len(c.Words) && k < c.Vi+7; k++ {
			if (doneTo[c.W(k)] || c.W(k) == "out" && removedParts[c.W(k-1)]) && saysAll(c, k+1) {
				return true // "I had my appendix out"
			}
		}
	}
	if (c.Verb == "take" || c.Verb == "send") && syntax.Determiner(next) {
		if k := c.Find(c.Vi+2, c.Vi+5, "back"); k > 0 && goods[c.W(k-1)] {
			return true // "I took the boots back"
		}
	}
	if c.Verb == "get" && next == "back" && c.W(c.Vi+2) == "from" && c.Capital(c.Vi+3) {
		return true
	}
	if partings[c.Verb] && saysAll(c, c.Vi+1) || partings[c.Verb+" "+next] && saysAll(c, c.Vi+2) {
		return true // but "we broke up laughing"
	}
	i := c.Vi + 1
	nouns, ok := milestones[c.Verb]
	if next == "how" {
		i, next = i+1, c.W(i+1) // "learned how to swim"
	}
	if c.Verb == "learn" && next == "to" {
		return milestones["learn to"][c.W(i+1)]
	}
	if with, joined := milestones[c.Verb+" "+next]; joined {
		nouns, ok, i = with, true, i+1
	}
	if !ok {
		return false
	}
	if c.Verb == "order" && next == "a" && c.W(i+1) == "new" && (c.Past || c.Perfect) {
		return true // a new kettle
	}
	if nouns != nil {
		return nouns[headAt(c, i)] && c.W(i) != "no" && c.W(i) != "any" && c.W(i) != "your"
	}
	switch first := c.W(i); first {
	case "this", "that", "these", "no", "any", "some", "your":
		return false
	default:
		if !syntax.Determiner(first) {
			return false
		}
	}
	o := strings.ToLower(discourse.ObjectOf(c, i))
	l := discourse.Last(o)
	return o != "" && !discourse.Vague(o) && !dull[l] && !discourse.Personal(l) && !(c.Verb == "pass" && !examined(c))
}

// saysAll reports whether nothing at word i changes what the verb before it means.
func saysAll(c *discourse.Clause, i int) bool {
	switch w := c.W(i); w {
	case "", ",", "because", "with", "from", "in", "at", "to", "after", "before", "on", "when", "as":
		return true
	default:
		return len(c.Whens) > 0 && c.Whens[0].First <= c.Words[i].Tok
	}
}

// headAt returns the noun of the phrase that begins at word i: the last word before a preposition,
// "and" or the end.
func headAt(c *discourse.Clause, i int) string {
	k := i
	for k < len(c.Words) && !syntax.Preposition(c.W(k)) && c.W(k) != "and" && c.W(k) != "," && c.W(k) != "so" && c.W(k) != "but" && c.W(k) != "when" && c.W(k) != "or" && c.W(k) != "because" && c.W(k) != "that" {
		k++
	}
	for k > i && syntax.Adverb(c.W(k-1)) {
		k--
	}
	if k == i {
		return ""
	}
	return c.W(k - 1)
}
