package noted

import (
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/refuse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/timex"
)

// WorthEn are the marks of an English sentence; the weights are TestWorth's.
var WorthEn = []Mark{
	{"always", -1.4, func(*view) float64 { return 1 }},
	{"I or we", 0.4, func(v *view) float64 { return v.has(wordsSelf) }},
	{"my or our", 0.3, func(v *view) float64 { return v.has(discourse.WordsOwn) }},
	{"a relative", 0.2, func(v *view) float64 {
		return v.anyTimes(func(i int) bool {
			return syntax.Kin(v.words[i]) || syntax.Kin(syntax.Singular(v.words[i])) || syntax.Pet(v.words[i])
		})
	}},
	{"a name", 1.4, func(v *view) float64 {
		return v.anyTimes(func(i int) bool { return v.caps[i] && syntax.NameWord(v.words[i]) && v.words[i] != "i" })
	}},
	{"begins with he, she, they", -0.6, func(v *view) float64 { return Yes(discourse.Thirds[v.at(v.start())]) }},
	{"begins with it, that, this, there", -1.0, func(v *view) float64 { return Yes(deictics[v.at(v.start())]) }},
	{"begins with a relative or a name", 0.6, func(v *view) float64 {
		i := v.start()
		return Yes((discourse.WordsOwn[v.at(i)] && (syntax.Kin(v.at(i+1)) || syntax.Kin(v.at(i+2)) && verbless(v.at(i+1))) || v.at(i) == "dad" || v.at(i) == "mum" || v.at(i) == "mom") || i < len(v.caps) && v.caps[i] && syntax.NameWord(v.words[i]) && v.words[i] != "i")
	}},
	{"you", -0.9, func(v *view) float64 { return v.has(wordsYou) }},
	{"a day", 1.2, func(v *view) float64 { return Yes(v.day) }},
	{"a time of day", 0.6, func(v *view) float64 { return v.timed(func(w *timex.When) bool { return w.Clock && !w.ByPart }) }},
	{"how often, since when", 0.8, func(v *view) float64 { return v.timed(func(w *timex.When) bool { return w.Habit || w.Since }) }},
	{"a number", 0.7, func(v *view) float64 { return v.number() }},
	{"past", 0.5, func(v *view) float64 {
		return v.anyTimes(func(i int) bool {
			_, past, _ := syntax.Lemma(v.words[i])
			return past && !syntax.Auxiliary(v.words[i]) || syntax.PastForm(v.words[i])
		})
	}},
	{"to come", -0.1, func(v *view) float64 {
		return v.anyTimes(func(i int) bool {
			return v.words[i] == "will" || v.words[i] == "gonna" || v.words[i] == "going" && v.at(i+1) == "to"
		})
	}},
	{"must", 0.3, func(v *view) float64 {
		return v.anyTimes(func(i int) bool {
			return v.words[i] == "must" || v.words[i] == "gotta" || (v.words[i] == "have" || v.words[i] == "has" || v.words[i] == "need" || v.words[i] == "needs" || v.words[i] == "supposed") && v.at(i+1) == "to"
		})
	}},
	{"not", 0.8, func(v *view) float64 { return v.has(wordsNot) }},
	{"would, could, may", -0.7, func(v *view) float64 { return v.has(wordsMay) }},
	{"asks", -0.9, func(v *view) float64 {
		return Yes(v.s.Ends == "?" || syntax.Askers[v.at(v.start())] || syntax.Auxiliary(v.at(v.start())))
	}},
	{"begins with a command", -1.6, func(v *view) float64 {
		l, past, ing := syntax.Lemma(v.at(v.start()))
		return Yes(l != "" && !past && !ing || timex.Commands[v.at(v.start())])
	}},
	{"hedged", -0.3, func(v *view) float64 { return Yes(discourse.Doubt(v.s) > 0) }},
	{"a feeling", -0.8, func(v *view) float64 { return v.has(discourse.Feelings) }},
	{"an opinion", -0.7, func(v *view) float64 { return v.has(Opinions) }},
	{"something abstract", -0.8, func(v *view) float64 { return v.has(abstract) }},
	{"so, really, too", -0.7, func(v *view) float64 { return v.has(wordsVery) }},
	{"said", -0.8, func(v *view) float64 { return v.has(wordsSaid) }},
	{"if", -0.5, func(v *view) float64 { return v.has(wordsIf) }},
	{"a place", 0.4, func(v *view) float64 {
		return v.anyTimes(func(i int) bool {
			return wheres[v.words[i]] && i+1 < len(v.words) && (syntax.Determiner(v.at(i+1)) || v.caps[i+1])
		})
	}},
	{"health", 1.2, func(v *view) float64 { return v.has(aboutHealth) }},
	{"work and school", 0.2, func(v *view) float64 { return v.has(aboutWork) }},
	{"home and things", 1.0, func(v *view) float64 { return v.has(AboutThings) }},
	{"money and papers", 0.5, func(v *view) float64 { return v.has(aboutMoney) }},
	{"an event", 0.2, func(v *view) float64 {
		return v.anyTimes(func(i int) bool { _, ok := syntax.EventNoun(syntax.Singular(v.words[i])); return ok })
	}},
	{"a deed", 0.3, func(v *view) float64 {
		return v.anyTimes(func(i int) bool {
			l, past, _ := syntax.Lemma(v.words[i])
			return past && refuse.Deed(l) || deedsMore[v.words[i]]
		})
	}},
	{"read out to everybody", -2.0, func(v *view) float64 { return v.has(aboutAll) }},
	{"content words", 0.5, func(v *view) float64 { return float64(min(v.content, 8)) }},
	{"warm words", -1.4, func(v *view) float64 { return v.has(warm) }},
	{"how, what, why inside", -0.8, func(v *view) float64 {
		return v.anyTimes(func(i int) bool {
			return i > v.start() && syntax.Askers[v.words[i]] && v.words[i] != "when" && v.words[i] != "who" && v.words[i] != "where"
		})
	}},
	{"four words or fewer", -0.9, func(v *view) float64 { return Yes(len(v.words) <= 4) }},
	{"ten words or more", -0.7, func(v *view) float64 { return Yes(len(v.words) >= 10) }},
}

func verbless(s string) bool { return !syntax.Verbish(s) && s != "and" }

var wordsSelf = syntax.Set("i we")

var wordsYou = syntax.Set("you your yourself")

var wordsNot = syntax.Set("not never no")

var wordsMay = syntax.Set("would could might may should can")

var wordsVery = syntax.Set("so really too very such totally literally always")

var wordsSaid = syntax.Set("said says goes say like told")

var wordsIf = syntax.Set("if unless imagine wish")

var deictics = syntax.Set("it that this there these those here")

// Opinions are verbs of opinion.
var Opinions = syntax.Set("think guess feel mean know believe reckon admire appreciate suppose wonder bet agree hope wish")

var wheres = syntax.Set("in on at under behind beside from to inside near above outside opposite by")

var aboutHealth = syntax.Set("doctor dentist hospital surgeon surgery operation gp vet physio nurse clinic tablet pill medication antibiotic dose blood pressure knee hip back shoulder ankle wrist tooth teeth eye eyes heart skin " +
	"rash allergy allergic asthma migraine headache flu fever pregnant baby birth diagnosis diagnosed scan xray test result results pain injury broke sprained twisted therapy therapist died passed funeral diet dairy " +
	"gluten vegan vegetarian insulin cholesterol glasses prescription arthritis sick cyst")

var aboutWork = syntax.Set("boss manager colleague client customer supplier team department office contract interview promotion promoted hired fired resigned notice salary job shift deadline report draft slides demo launch budget " +
	"project teacher class school university exam thesis degree course lesson lessons homework nursery tutor company firm accounts inspector inspectors agency career living retire retiring retired retirement system review meeting training")

// AboutThings are words for what people keep, lose and look for.
var AboutThings = syntax.Set("key keys car van bike flat house kitchen bathroom garage garden shed loft attic boiler radiator heating fridge washing dishwasher oven sofa mattress bed desk drawer cupboard wardrobe shelf box bag suitcase " +
	"wallet phone laptop charger router printer camera passport umbrella coat jacket tent ladder drill tool tools plant plants bin bins meter fuse lock door roof landlord tenant plumber electrician builder neighbour neighbor " +
	"dog cat puppy kitten ticket tickets parcel glasses screen lawnmower tiles curtains mortgage")

var aboutMoney = syntax.Set("rent deposit fee fees bill invoice refund insurance tax mortgage loan bank pounds quid euros dollars pence owe owes owed paid pay cost costs price charge charges charged salary bought sold ordered " +
	"transferred booked booking reservation warranty licence license visa mot ticket fine expensive estimate council savings account lease approved")

var aboutAll = syntax.Set("passengers operators station platform guest episode sponsored forecast junction metres president minister parliament election police earthquake million presenter viewers listeners headlines degrees weather " +
	"sunny customers delivered train striker film show book character novel series movie dear welcome captain landing news code percent holding gap")

var warm = syntax.Set("amazing wonderful breathtaking incredible perfect lovely great best smile smiles laugh laughed happy joy proud prouder relax relaxing calm calming peace peaceful stress stressful support supportive " +
	"positive grateful lucky mood free alive memories memory love loved loves feel feels felt feeling means mean inspired inspiring inspire beautiful cute sweet fun excited exciting hope hard tough learned learnt")

var deedsMore = syntax.Set("cancelled postponed delivered coming arriving named stolen nicked cracked fixed repainted signed proposed inherited renewed switched moved born split swapped traded offered turned closed delivering bringing " +
	"renovating booked agreed settled promised gave picked dropped handed bumped ran lent borrowed stayed")
