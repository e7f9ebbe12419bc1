package refuse

import (
	"slices"
	"strings"

	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
)

// A figure of speech has the form of a fact and states none: "I'm over the moon", "I sold my soul",
// "I have bigger fish to fry". Expressions with a meaning that is true, "she has a sweet tooth",
// are not among them.

// idioms are phrases in base forms, separated by "|". "~" is the owner, my or Tom's; "have" may be
// "have got". A phrase that is also said about real things has the words around it that make the
// difference.
const idioms = "over the moon|on cloud nine|in seventh heaven|on top of the world|walk on air|rain cats and dog|rain bucket|bone to pick|axe to grind|ax to grind|have butterfly|butterfly in ~ stomach|bite off more than|" +
	"sell ~ soul|pain in the neck|pain in the butt|pain in the ass|pain in the arse|pain in the backside|thorn in ~ side|~ hand full|frog in ~ throat|lump in ~ throat|live under a rock|let the cat out|cat be out of the bag|spill the bean|spill ~ gut|" +
	"lot on ~ plate|much on ~ plate|enough on ~ plate|black sheep of|black sheep in|a bit of a black sheep|pig in a poke|in the same boat|wrong side of the bed|bed on the wrong side|skeleton in ~ closet|skeleton in the closet|skeleton in ~ cupboard|skeleton in the cupboard|" +
	"on thin ice|green with envy|miss the boat on|that ship have sail|itchy foot|big fish to fry|other fish to fry|rock and a hard place|turn over a new leaf|turn a new leaf|eat ~ word|eat humble pie|up the wall|drive me mad|drive me crazy|drive me nut|drive me bonkers|bull by the horn|" +
	"be all ear|be a pain|be a nightmare|all thumb|two left foot|chip on ~ shoulder|world on ~ shoulder|cold foot about|cold foot before|get cold foot|in hot water with|be in hot water|lose ~ head|lose ~ mind|lose ~ marble|lose ~ temper|lose ~ cool|lose ~ nerve|lose the plot|lose heart|lose face|under the weather|on ~ last leg|apple of ~ eye|" +
	"to ~ eyeball in|to ~ eye in|to ~ ear in|to ~ neck in|to ~ elbow in|on eggshell|break the ice with|break the ice at|field day with|foot in ~ mouth|put ~ foot in it|on the fence|finger to the bone|nail on the head|hit the sack|hit the hay|hit the roof|hit the ceiling|hit the spot|hit the ground run|hit a wall|" +
	"eye in the back of|out of steam|head in the cloud|head be in the cloud|head over heel|heart of stone|ball be in ~ court|piece of cake|beat around the bush|beat about the bush|bite the bullet|bite ~ tongue|hold ~ tongue|midnight oil|burn ~ bridge|candle at both end|bark up the wrong tree|both world|blow off steam|let off steam|blow ~ top|blow ~ mind|blow a fuse|" +
	"call it a day|call it a night|arm and a leg|cross that bridge|spill milk|cut corner|cut to the chase|down in the dump|go down the drain|drop the ball|elephant in the room|face the music|fit as a fiddle|right as rain|fish out of water|off the handle|off the hook|off the deep end|off ~ rocker|off ~ trolley|off ~ chest|off ~ game|act together|get a grip|the hang of|out of hand|" +
	"duck in a row|go the extra mile|grasp at straw|clutch at straw|cake and eat it|in a nutshell|in a pickle|in a rut|in a bind|in the doghouse|on the bandwagon|jump the gun|keep ~ chin up|finger cross|know the rope|learn the rope|show ~ the rope|last straw|no stone unturned|mountain out of|on the ball|on the same page|high horse|out of the wood|out of ~ depth|out of ~ league|out of ~ mind|out on a limb|over ~ dead body|over ~ head in|in over ~ head|" +
	"pass the buck|devil's advocate|play it by ear|pull ~ leg|pull ~ weight|pull some string|pull string|pull ~ hair out|tear ~ hair out|push ~ luck|egg in one basket|read between the line|ring a bell|salt in the wound|salt into the wound|scratch the surface|second wind|see red|eye to eye|shoot ~ in the foot|shoot myself in the foot|shot in the dark|sick and tired|sleep on it|speak of the devil|stab ~ in the back|in the back by|" +
	"steal ~ thunder|step on ~ toe|keep ~ on ~ toe|stick ~ neck out|it with a grain of salt|it with a pinch of salt|that with a grain of salt|that with a pinch of salt|says with a pinch of salt|everything with a pinch of salt|whole nine yard|thick and thin|in the towel|throw ~ under the bus|tip of the iceberg|a blind eye|up in arm|up in the air|heart on ~ sleeve|ball game|goose chase|~ head around|~ head round|wit's end|wits' end|wit end|end of ~ rope|end of ~ tether|bee in ~ bonnet|ant in ~ pant|out of shape about|in a china shop|can of worm|red-handed|~ chicken before|" +
	"close call|close shave|cold shoulder|cry wolf|cook ~ goose|dark horse|dead on ~ foot|die of embarrassment|die of boredom|die of shame|die laugh|eat like a horse|eat a horse|eat out of ~ hand|feather in ~ cap|dead horse|fly on the wall|bottom of ~ heart|full of bean|knicker in a twist|get under ~ skin|on ~ nerve|on ~ last nerve|go banana|go nut|go to the dog|skip a beat|heart in ~ mouth|heart sink|hold ~ horse|" +
	"out of ~ skin|head above water|two bird with|kill time|back of ~ hand|land on ~ foot|chalk and cheese|lion's share|loose cannon|monkey business|money to burn|make of money|needle in a haystack|nip it in the bud|spring chicken|sharp tool|pin and needle about|on pin and needle|over the top|paint the town|through the nose|pick ~ brain|pie in the sky|plenty of fish|the kettle black|pour ~ heart out|cry ~ heart out|rack ~ brain|the rat race|" +
	"rock the boat|roll ~ eye|on fume|run on empty|like a headless chicken|save ~ bacon|scare stiff|screw loose|see the light|sink or swim|six foot under|skate on|slip ~ mind|smell a rat|snow under|sour grape|spread ~ too thin|spread myself too thin|square one|stir the pot|storm in a teacup|swallow ~ pride|sweat bullet|take the cake|take the biscuit|thick skin|go through the roof|throw ~ for a loop|tickle pink|tough cookie|tough nut|train of thought|ton of brick|under ~ thumb|under the gun|" +
	"up the creek|up a creek|apple cart|vicious circle|wash ~ hand of|under the bridge|wear the trouser|wear many hat|wet blanket|whole hog|head against a brick wall|head against the wall|blessing in disguise|skin of ~ tooth|castle in the air|clean slate|crocodile tear|down to earth|draw a blank|draw the line|finger on the pulse|flash in the pan|food for thought|glutton for punishment|last laugh|high and dry|hot potato|under the collar|jump through hoop|kick myself|knock on wood|touch wood|knock ~ sock off|" +
	"blood boil|make ~ day|make wave|on a roll|on fire today|out of the frying pan|play with fire|red flag|a run for ~ money|scrape the barrel|set in stone|silver lining|smoke and mirror|snake in the grass|stand ~ ground|stick to ~ gun|rain check|take ~ for grant|take it for grant|take that for grant|tall order|third wheel|tighten ~ belt|turn the table|uphill battle|weather the storm|world of ~ own|short end of the stick|wrong end of the stick|own that mistake|own this mistake|own ~ mistake|own up|" +
	"make ~ bed and|put two and two|head and shoulder|on the edge of ~ seat|spanner in the work|wrench in the work|back to the drawing board|bring home the bacon|have it up to here|ahead of the curve|under the radar|kick the can|move the goalpost|a dime a dozen|back against the wall|back be against the wall|between two stool|on the back burner|on the back foot|a taste of ~ own medicine|dodge a bullet|bite the dust|cut it close|go overboard|on board with|tie up in knot|" +
	"give up the ghost|hit rock bottom|jump ship|on the warpath|play ~ card|the cat's whiskers|bee's knees|dog's dinner|dog's life|keep ~ cool|keep ~ eye peel|under one roof with ~ demon|ghost of a chance|jump down ~ throat|stuck in the mud|burst ~ bubble|bent over backwards|bend over backwards|fall on deaf ear|hook line and sinker|cross ~ mind|take ~ breath away|~ money be on|fed up of|fed up with"

// idiomsBy are the words of each phrase, by its first word that is not "~".
var idiomsBy = func() map[string][][]string {
	m := map[string][][]string{}
	for said := range strings.SplitSeq(idioms, "|") {
		words := strings.Fields(said)
		key := words[0]
		if key == "~" {
			key = words[1]
		}
		m[key] = append(m[key], words)
	}
	return m
}()

// Idiomatic reports whether a clause has a figure of speech, in which nothing is literally true.
func Idiomatic(s syntax.Sentence) bool {
	if s.Chinese() {
		return false
	}
	words := make([]string, 0, 32) // enough for most clauses
	for i := range s.Toks {
		base, rest := syntax.Contraction(s.At(i))
		words = append(words, base)
		if rest != "" {
			words = append(words, rest)
		}
	}
	if smallTalk(words) {
		return true
	}
	forms, all := make([][]string, len(words)), make([]string, 0, 3*len(words))
	for i, w := range words {
		from := len(all)
		all = plainForms(all, w)
		forms[i] = all[from:]
	}
	for i := range words {
		for _, form := range forms[i] {
			for _, said := range idiomsBy[form] {
				at := i
				if said[0] == "~" {
					at--
				}
				if at >= 0 && saidAt(words, forms, at, said) && !aside(words[:at]) {
					return true
				}
			}
		}
	}
	return false
}

// aside reports whether the text before a figure of speech is a deed, about whose object it only
// tells more: "I saw a film that blew my mind".
func aside(before []string) bool {
	n := len(before)
	if n < 4 || before[n-1] != "that" && before[n-1] != "which" && before[n-1] != "who" || syntax.Preposition(before[n-2]) {
		return false
	}
	for _, w := range before[:n-2] {
		if l, past, _ := syntax.Lemma(w); past && Deed(l) {
			return true
		}
	}
	return false
}

// plainForms appends to forms a word and the words of which it is a form.
func plainForms(forms []string, w string) []string {
	forms = append(forms, w)
	if l, _, _ := syntax.Lemma(w); l != "" && l != w {
		forms = append(forms, l)
	}
	if one, ok := irregular[w]; ok {
		return append(forms, one)
	}
	for _, end := range [...]string{"s", "es", "ed", "ing"} {
		if stem, ok := strings.CutSuffix(w, end); ok && len(stem) > 2 {
			forms = append(forms, stem, stem+"e")
		}
	}
	return forms
}

// irregular are words of idioms by a form that [syntax.Lemma] doesn't know.
var irregular = map[string]string{"feet": "foot", "butterflies": "butterfly", "bigger": "big", "sharpest": "sharp", "running": "run", "blew": "blow", "ate": "eat", "bitten": "bite", "sank": "sink"}

// saidAt reports whether the phrase is at word i; forms has the plain forms of each word.
func saidAt(words []string, forms [][]string, i int, said []string) bool {
	for _, want := range said {
		if i < len(words) && want != "have" && words[i] == "got" && i > 0 && (words[i-1] == "have" || words[i-1] == "has" || words[i-1] == "had") {
			i++ // have got
		}
		if i >= len(words) {
			return false
		}
		ok := false
		if want == "~" {
			w := words[i]
			ok = syntax.Determiner(w) && w != "a" && w != "an" && w != "the" && w != "no" && w != "any" && w != "some" || w == "me" || w == "him" || w == "them" || w == "us" || w == "one's"
			if i+1 < len(words) && words[i+1] == "is" { // Tom's: contractions are split like this
				ok = true
				i++
			}
		} else {
			ok = slices.Contains(forms[i], want)
		}
		if !ok {
			return false
		}
		i++
	}
	next, last := "", said[len(said)-1]
	if i < len(words) {
		next = words[i]
	}
	// "I lost my head torch" is not a figure of speech.
	return next == "" || syntax.Preposition(last) || endsOpen[last] || syntax.Preposition(next) || syntax.Determiner(next) || syntax.Adverb(next) || syntax.SubjectPronoun(next) || discourse.Personal(next) || syntax.Auxiliary(next) || syntax.Lead(next) || follows[next]
}

var endsOpen = syntax.Set("than and before about up out")

var follows = syntax.Set("and or again when because as over that who which than off out up down while where if like since until till here tonight today yesterday tomorrow lately myself yourself whenever anymore any more every all back")
