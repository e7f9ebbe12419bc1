package syntax

import (
	"strings"
	"sync"
)

// The persons whom "he" and "she" can mean. A person about whom nothing is known is 0 and may be
// either.
const (
	Male   = 'm'
	Female = 'f'
)

// SexOf returns the sex that the relative before a name shows ("my brother Tom"), else that of the
// name.
func SexOf(before, name string) byte {
	switch before {
	case "brother", "father", "dad", "husband", "boyfriend", "son", "uncle", "nephew", "grandfather", "grandpa", "grandad", "granddad", "stepfather", "godfather", "father-in-law", "son-in-law", "brother-in-law",
		"ex-husband", "grandson", "godson", "stepson", "stepbrother", "half-brother", "great-uncle", "landlord", "mr", "fellow", "guy", "bloke", "lad", "chap", "boy", "man", "gentleman":
		return Male
	case "sister", "mother", "mum", "mom", "wife", "girlfriend", "daughter", "aunt", "auntie", "aunty", "niece", "grandmother", "grandma", "granny", "gran", "nan", "nana", "stepmother", "godmother", "mother-in-law", "daughter-in-law",
		"sister-in-law", "ex-wife", "granddaughter", "goddaughter", "stepdaughter", "stepsister", "half-sister", "great-aunt", "landlady", "mrs", "ms", "miss", "woman", "girl", "lady", "lass":
		return Female
	}
	return NamedSex()[strings.ToLower(name)]
}

// NamedSex has given names whose bearers nearly all have the same sex, among those most given in
// English, German, Spanish, Italian, French and Portuguese.
var NamedSex = sync.OnceValue(func() map[string]byte {
	m := map[string]byte{}
	for sex, names := range map[byte]string{
		Male: `adam adrian alan albert alberto alejandro alessandro alexander andreas andrew anthony antonio arthur ben benjamin bernd bill bob brian bruno carl carlos
charles christian christopher colin daniel david diego dieter dominik donald douglas edward eric ethan felix fernando filippo florian francesco frank franz fred
gabriel gary george gerald giovanni giuseppe graham gregory günter hans harold harry heinz henry howard hugo ian ivan jack jacob jakob james jason javier jeff
jeffrey jens jeremy jerry jim jochen joe john jonas jonathan jorge josé joseph joshua juan julian jürgen karl keith kenneth kevin klaus larry lars lorenzo louis
luca lucas luigi luis lukas manuel marc marco marcus mark markus martin mateo matteo matthew matthias max michael miguel mike moritz nathan neil nicholas nick niklas noah
oliver oscar otto pablo patrick paul pedro peter philip philipp pierre piet pietro rafael ralf ralph raymond richard robert roberto roger ronald ryan samuel scott sebastian
sergio simon stefan stephen steve steven stuart sven thomas tim timothy tobias tom tomás tony uwe victor vincent walter werner wilhelm william wolfgang`,
		Female: `abigail alice alicia amanda amelia amy ana angela anita anja anke ann anna anne annette antje barbara beatriz beatrice bettina betty birgit brigitte camila
carla carmen carol caroline catherine charlotte chiara christina christine claire clara claudia cristina daniela deborah debra denise diana donna doris dorothy edith eleanor
elena elisabeth elizabeth ella ellen emily emma esther eva evelyn federica fiona frances francesca gabriela giulia gloria grace greta hanna hannah heather heidi heike helen
helena ines ingrid irene isabel isabella jacqueline jane janet janice jasmine jennifer jessica joan johanna josephine joyce judith julia julie karen katharina katherine
kathleen katja kate kelly kerstin laura lea lena leonie linda lisa louise lucia lucy luisa madeleine manuela margaret maria marie marta martha martina mary megan melanie melissa
michelle monica monika nadine nancy natalie nicole nina nora olivia pamela patricia paula petra rachel rebecca renate rita rosa rose ruth sabine sandra sara sarah sharon
sheila silvia simone sofia sonja sophia sophie stefanie stella stephanie susan susanne sylvia tanja teresa theresa ursula valentina vanessa vera veronica victoria wendy zoe`,
	} {
		for name := range strings.FieldsSeq(names) {
			m[name] = sex
		}
	}
	return m
})
