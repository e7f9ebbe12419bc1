package rules

// worthEn are the marks of an English sentence; the weights are TestWorth's.
var worthEn = []mark{
	{"always", -1.4, func(*view) float64 { return 1 }},
	{"I or we", 0.4, func(v *view) float64 { return v.has(wordsSelf) }},
	{"my or our", 0.3, func(v *view) float64 { return v.has(wordsOwn) }},
	{"a relative", 0.2, func(v *view) float64 {
		return v.any(func(i int) bool { return kin(v.words[i]) || kin(trimS(v.words[i])) || pet(v.words[i]) })
	}},
	{"a name", 1.4, func(v *view) float64 {
		return v.any(func(i int) bool { return v.caps[i] && nameWord(v.words[i]) && v.words[i] != "i" })
	}},
	{"begins with he, she, they", -0.6, func(v *view) float64 { return yes(thirds[v.at(v.start())]) }},
	{"begins with it, that, this, there", -1.0, func(v *view) float64 { return yes(deictics[v.at(v.start())]) }},
	{"begins with a relative or a name", 0.6, func(v *view) float64 {
		i := v.start()
		return yes((wordsOwn[v.at(i)] && (kin(v.at(i+1)) || kin(v.at(i+2)) && verbless(v.at(i+1))) || v.at(i) == "dad" || v.at(i) == "mum" || v.at(i) == "mom") || i < len(v.caps) && v.caps[i] && nameWord(v.words[i]) && v.words[i] != "i")
	}},
	{"you", -0.9, func(v *view) float64 { return v.has(wordsYou) }},
	{"a day", 1.2, func(v *view) float64 { return yes(v.day) }},
	{"a time of day", 0.6, func(v *view) float64 { return v.timed(func(w *when) bool { return w.clock && !w.byPart }) }},
	{"how often, since when", 0.8, func(v *view) float64 { return v.timed(func(w *when) bool { return w.habit || w.since }) }},
	{"a number", 0.7, func(v *view) float64 { return v.number() }},
	{"past", 0.5, func(v *view) float64 {
		return v.any(func(i int) bool {
			_, past, _ := lemma(v.words[i])
			return past && !auxiliary(v.words[i]) || pastForm(v.words[i])
		})
	}},
	{"to come", -0.1, func(v *view) float64 {
		return v.any(func(i int) bool {
			return v.words[i] == "will" || v.words[i] == "gonna" || v.words[i] == "going" && v.at(i+1) == "to"
		})
	}},
	{"must", 0.3, func(v *view) float64 {
		return v.any(func(i int) bool {
			return v.words[i] == "must" || v.words[i] == "gotta" || (v.words[i] == "have" || v.words[i] == "has" || v.words[i] == "need" || v.words[i] == "needs" || v.words[i] == "supposed") && v.at(i+1) == "to"
		})
	}},
	{"not", 0.8, func(v *view) float64 { return v.has(wordsNot) }},
	{"would, could, may", -0.7, func(v *view) float64 { return v.has(wordsMay) }},
	{"asks", -0.9, func(v *view) float64 {
		return yes(v.s.ends == "?" || askers[v.at(v.start())] || auxiliary(v.at(v.start())))
	}},
	{"begins with a command", -1.6, func(v *view) float64 {
		l, past, ing := lemma(v.at(v.start()))
		return yes(l != "" && !past && !ing || commands[v.at(v.start())])
	}},
	{"hedged", -0.3, func(v *view) float64 { return yes(doubt(v.s) > 0) }},
	{"a feeling", -0.8, func(v *view) float64 { return v.has(feelings) }},
	{"an opinion", -0.7, func(v *view) float64 { return v.has(opinions) }},
	{"something abstract", -0.8, func(v *view) float64 { return v.has(abstract) }},
	{"so, really, too", -0.7, func(v *view) float64 { return v.has(wordsVery) }},
	{"said", -0.8, func(v *view) float64 { return v.has(wordsSaid) }},
	{"if", -0.5, func(v *view) float64 { return v.has(wordsIf) }},
	{"a place", 0.4, func(v *view) float64 {
		return v.any(func(i int) bool {
			return wheres[v.words[i]] && i+1 < len(v.words) && (determiner(v.at(i+1)) || v.caps[i+1])
		})
	}},
	{"health", 1.2, func(v *view) float64 { return v.has(aboutHealth) }},
	{"work and school", 0.2, func(v *view) float64 { return v.has(aboutWork) }},
	{"home and things", 1.0, func(v *view) float64 { return v.has(aboutThings) }},
	{"money and papers", 0.5, func(v *view) float64 { return v.has(aboutMoney) }},
	{"an event", 0.2, func(v *view) float64 {
		return v.any(func(i int) bool { _, ok := eventNoun(trimS(v.words[i])); return ok })
	}},
	{"a deed", 0.3, func(v *view) float64 {
		return v.any(func(i int) bool { l, past, _ := lemma(v.words[i]); return past && deed(l) || deedsMore[v.words[i]] })
	}},
	{"read out to everybody", -2.0, func(v *view) float64 { return v.has(aboutAll) }},
	{"content words", 0.5, func(v *view) float64 { return float64(min(v.content, 8)) }},
	{"warm words", -1.4, func(v *view) float64 { return v.has(warm) }},
	{"how, what, why inside", -0.8, func(v *view) float64 {
		return v.any(func(i int) bool {
			return i > v.start() && askers[v.words[i]] && v.words[i] != "when" && v.words[i] != "who" && v.words[i] != "where"
		})
	}},
	{"four words or fewer", -0.9, func(v *view) float64 { return yes(len(v.words) <= 4) }},
	{"ten words or more", -0.7, func(v *view) float64 { return yes(len(v.words) >= 10) }},
}

func verbless(s string) bool { return !verbish(s) && s != "and" }

func trimS(s string) string {
	if n := len(s); n > 3 && s[n-1] == 's' {
		return s[:n-1]
	}
	return s
}

var (
	wordsSelf = set("i we")
	wordsOwn  = set("my our us me mine")
	wordsYou  = set("you your yourself")
	wordsNot  = set("not never no")
	wordsMay  = set("would could might may should can")
	wordsVery = set("so really too very such totally literally always")
	wordsSaid = set("said says goes say like told")
	wordsIf   = set("if unless imagine wish")

	thirds   = set("he she they")
	deictics = set("it that this there these those here")
	askers   = set("what where who why how which whose when")
	commands = set("please let let's don't come here alexa siri google hey locket ok okay careful imagine use")
	opinions = set("think guess feel mean know believe reckon admire appreciate suppose wonder bet agree hope wish")
	wheres   = set("in on at under behind beside from to inside near above outside opposite by")

	aboutHealth = set("doctor dentist hospital surgeon surgery operation gp vet physio nurse clinic tablet pill medication antibiotic dose blood pressure knee hip back shoulder ankle wrist tooth teeth eye eyes heart skin " +
		"rash allergy allergic asthma migraine headache flu fever pregnant baby birth diagnosis diagnosed scan xray test result results pain injury broke sprained twisted therapy therapist died passed funeral diet dairy " +
		"gluten vegan vegetarian insulin cholesterol glasses prescription arthritis sick cyst")
	aboutWork = set("boss manager colleague client customer supplier team department office contract interview promotion promoted hired fired resigned notice salary job shift deadline report draft slides demo launch budget " +
		"project teacher class school university exam thesis degree course lesson lessons homework nursery tutor company firm accounts inspector inspectors agency career living retire retiring retired retirement system review meeting training")
	aboutThings = set("key keys car van bike flat house kitchen bathroom garage garden shed loft attic boiler radiator heating fridge washing dishwasher oven sofa mattress bed desk drawer cupboard wardrobe shelf box bag suitcase " +
		"wallet phone laptop charger router printer camera passport umbrella coat jacket tent ladder drill tool tools plant plants bin bins meter fuse lock door roof landlord tenant plumber electrician builder neighbour neighbor " +
		"dog cat puppy kitten ticket tickets parcel glasses screen lawnmower tiles curtains mortgage")
	aboutMoney = set("rent deposit fee fees bill invoice refund insurance tax mortgage loan bank pounds quid euros dollars pence owe owes owed paid pay cost costs price charge charges charged salary bought sold ordered " +
		"transferred booked booking reservation warranty licence license visa mot ticket fine expensive estimate council savings account lease approved")
	aboutAll = set("passengers operators station platform guest episode sponsored forecast junction metres president minister parliament election police earthquake million presenter viewers listeners headlines degrees weather " +
		"sunny customers delivered train striker film show book character novel series movie dear welcome captain landing news code percent holding gap")
	warm = set("amazing wonderful breathtaking incredible perfect lovely great best smile smiles laugh laughed happy joy proud prouder relax relaxing calm calming peace peaceful stress stressful support supportive " +
		"positive grateful lucky mood free alive memories memory love loved loves feel feels felt feeling means mean inspired inspiring inspire beautiful cute sweet fun excited exciting hope hard tough learned learnt")
	deedsMore = set("cancelled postponed delivered coming arriving named stolen nicked cracked fixed repainted signed proposed inherited renewed switched moved born split swapped traded offered turned closed delivering bringing " +
		"renovating booked agreed settled promised gave picked dropped handed bumped ran lent borrowed stayed")
)
