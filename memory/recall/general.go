package recall

import (
	"strings"
	"sync"
)

// A question words what happened by a general verb or noun: "what event did Ana attend". Whoever told
// of it used others, so such a word counts less of its worth for confidence than one that names a
// thing. It counts even less if no document has it. Both shares were chosen among few values on all of
// LoCoMo's development conversations (docs/recall.md).
const (
	shareGeneral        = .7
	shareGeneralUnknown = .5
)

// generalWords returns the terms of the general words.
var generalWords = sync.OnceValue(func() map[string]bool {
	terms := map[string]bool{}
	for _, w := range strings.Fields(`
accept accompany accomplish according achieve add admire admit advise affect afford agree aim allow announce appear apply appreciate approach approve
argue arrange arrive ask assist associate attempt attend attract avoid base become begin behave believe belong bring call capture care carry cause
change check choose claim come compare complain complete concern confirm connect consider consist contact contain continue contribute convince cope
create deal decide declare decline define deliver depend describe deserve design determine develop differ discover discuss display do emphasize enable
encounter encourage end engage enhance enjoy ensure enter establish exist expand expect experience expire explain explore express face fail fall fear
feature feel find finish fit focus follow force form gain gather get give go grow handle happen hear help highlight hold hope host identify imagine
impact imply improve include increase indicate influence inform initiate inspire intend introduce invite involve join keep know lead learn leave let
like live look lose maintain make manage mark matter mean meet mention mind miss motivate move need notice obtain occur offer open organize own
participate pass perceive perform place plan point possess prefer prepare present prevent proceed produce promise propose protect prove provide pursue
put raise reach react realize receive recommend refer reflect refuse regard relate rely remain remember remind remove reply report represent require
resolve respond result return reveal say see seek seem select send serve set share show sign solve speak specify spend stand start state stay stop
struggle suggest support suppose surprise take talk tell think try turn undergo understand undertake update use utilize value view visit wait want
wish wonder worry
activity aspect certain currently event kind particular purpose reason recent recently role sort specific specifically type way`) {
		terms[lemma(w)] = true
	}
	return terms
})
