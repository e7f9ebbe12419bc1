package language

import "strings"

// smallWords holds for each small word the languages that have it: bit i for
// latinLanguages[i].
var smallWords = func() map[string]uint32 {
	m := make(map[string]uint32, 900)
	for i, l := range latinLanguages {
		for w := range strings.FieldsSeq(l.small) {
			m[w] |= 1 << i
		}
	}
	return m
}()

// latin is a language of the Latin script: its small words, and its letters that at most
// lettersShared - 1 others here have.
type latin struct {
	tag           string
	small         string // separated by spaces
	letters       string
	lettersShared int
}

var latinLanguages = [...]latin{
	{"en", " the and to of in is it i i'm you that was for on are with my have be at this we they he she but not do don't it's what so his her can will about had has were been when there if would just like me your from get got no yes going know think really want did does how where who why our us them some any out up very too here as all by or said went one now live lives work works moved sister brother mother father friend home good morning please thanks thank hello again left right last next week today tomorrow yesterday ", "", 1},
	{"de", " der die das und ich ist nicht du wir sie es ein eine einen einem einer zu den dem mit auf für von im hab habe hat bin bist war sind auch aber noch nur schon wie was wenn dann mein meine dein kann wird haben sein morgen heute gestern sehr oder nach bei aus mir mich dich uns ihr kein keine doch mal ja nein um über ", "ß", 1},
	{"fr", " le la les des un une et est je tu il elle nous vous ils ne pas que qui dans pour sur avec mon ma mes ton ta ce cette ça au aux du de en suis es ai as c'est j'ai d'un d'une qu'il l'eau plus très mais ou où on se sont été être avoir fait demain hier aujourd'hui chez oui non bien y n'est n'ai j'aime ", "çêœ", 2},
	{"es", " el la los las un una y es yo tú él ella nosotros no que de en por para con mi mis tu su se lo le me te muy pero más como cuando porque está estoy están son soy eres fue tengo tiene hay del al ayer hoy mañana sí también ya qué gusta vivo hemos he ha vamos a ", "ñ¿¡", 1},
	{"it", " il lo la i gli le un una e è io tu lui lei noi non che di in per con mio mia mi ti si ci ma più come quando perché sono sei ho hai ha abbiamo era del della al alla nel nella ieri oggi domani anche molto questo questa piace vivo c'è dal sì ", "ìò", 1},
	{"pt", " o a os as um uma e é eu tu ele ela nós não que de em por para com meu minha me te se mas mais como quando porque está estou são sou foi tenho tem há do da no na dos das ao ontem hoje amanhã sim também já muito você gosto moro vou isso ", "ãõ", 1},
	{"nl", " de het een en ik is niet je jij wij we hij zij ze van in op te met voor aan dat die er maar ook nog wel mijn jouw zijn haar heb heeft ben bent was waren naar bij om als dan wat hoe waar waarom geen gisteren vandaag morgen heel erg veel kan wil gaan woon vind ", "", 1},
	{"sv", " och jag är inte det att en ett i på som för med du vi han hon de den min mitt din har hade var till av om men så också kan vill ska från när hur vad där här igår idag imorgon mycket bor tycker ", "å", 1},
	{"pl", " i w z na nie to jest się ja ty on ona my że do jak ale czy mam masz ma jestem był była mój moja dla po od za tak co kiedy gdzie wczoraj dzisiaj jutro bardzo też lubię mieszkam przez ", "łąęśźżńć", 1},
	{"tr", " bir ve bu ben sen o biz için de da ne mi mı var yok değil çok ama ile gibi daha benim senin dün bugün yarın nasıl kadar sonra evet hayır seviyorum ", "ğşı", 1},
	{"id", " saya aku kamu dia kami kita yang dan di ke dari ini itu tidak bukan ada dengan untuk akan sudah belum bisa juga suka tinggal kemarin besok hari apa mau pergi ", "", 1},
	{"vi", " tôi là và của không có được cho với này một những trong thích sống ở đã sẽ hôm qua nay mai rất ", "đơưăạảấầẩậắằặẹẻẽếềểệỉịọỏốồổộớờởợụủứừửữựỳỵỷỹ", 1},
}
