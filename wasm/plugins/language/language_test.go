package language

import (
	"strings"
	"testing"

	"github.com/locket-dev/locket/wasm/abi"
)

var lines = map[string][]string{
	"en": {"I'm running late, sorry.", "We went to the lake yesterday.", "Where are my keys?", "dentist on Thursday at three", "She doesn't like olives.", "That was great, thanks!", "Could you pass me the salt?", "My sister moved to Toronto"},
	"zh": {"我明天下午三点去看牙医。", "好的", "你住在哪里？", "钥匙放在抽屉里了", "今天天气真好", "下周二有面试。"},
	"de": {"Ich wohne seit drei Jahren in Hamburg.", "Wir sehen uns morgen um acht.", "Das ist nicht mein Schlüssel.", "Meine Schwester hat heute Geburtstag.", "Hast du schon gegessen? Ich noch nicht."},
	"fr": {"Je suis allergique aux noix.", "On se retrouve demain à la gare.", "C'est pas grave, je te rappelle.", "Mon frère habite à Lyon.", "J'ai perdu mes clés hier."},
	"es": {"Vivo en Sevilla con mi hermana.", "No me gusta el café.", "Mañana tengo cita con el dentista.", "¿Dónde están las llaves?", "Ayer fuimos a la playa."},
	"it": {"Abito a Torino con mia sorella.", "Non mi piace il formaggio.", "Domani ho un appuntamento dal dentista.", "Le chiavi sono nel cassetto."},
	"pt": {"Eu moro em Lisboa com a minha irmã.", "Não gosto de café.", "Amanhã tenho dentista às três.", "As chaves estão na gaveta."},
	"nl": {"Ik woon al drie jaar in Utrecht.", "We gaan morgen naar het strand.", "Mijn zus heeft een hond.", "Dat vind ik niet erg."},
	"sv": {"Jag bor i Malmö med min syster.", "Vi ses imorgon på stationen.", "Det är inte min nyckel."},
	"pl": {"Mieszkam w Krakowie z siostrą.", "Nie lubię kawy.", "Jutro mam wizytę u dentysty."},
	"tr": {"Ben İzmir'de yaşıyorum.", "Yarın dişçiye gidiyorum.", "Bu benim anahtarım değil."},
	"ja": {"明日の三時に歯医者に行きます。", "コーヒーが好きです。"},
	"ko": {"내일 오후 세 시에 치과에 가요.", "저는 부산에 살아요."},
	"ru": {"Я живу в Казани.", "Завтра иду к зубному врачу."},
	"uk": {"Я живу у Києві.", "Їжу їм вранці."},
	"el": {"Μένω στην Αθήνα."},
	"ar": {"أعيش في القاهرة."},
	"he": {"אני גר בחיפה."},
	"th": {"ฉันอยู่กรุงเทพ"},
	"hi": {"मैं दिल्ली में रहता हूँ।"},
	"id": {"Saya tinggal di Bandung.", "Besok aku mau pergi ke dokter."},
	"vi": {"Tôi sống ở Hà Nội.", "Tôi không thích cà phê."},
	"":   {"", "42", "Rufus!", "+44 20 7946 0018", "…"},
}

func TestDetect(t *testing.T) {
	for want, all := range lines {
		for _, line := range all {
			got := ""
			if g := Detect(line); len(g) > 0 {
				got = g[0].Tag
			}
			if got != want {
				t.Errorf("%q is %q, want %q: %+v", line, got, want, Detect(line))
			}
		}
	}
}

// A line in two languages is reported with both, and their shares.
func TestMixed(t *testing.T) {
	g := Detect("我明天有个meeting with the whole design team，别忘了")
	if len(g) != 2 || g[0].Tag == g[1].Tag || g[0].Share < g[1].Share || g[0].Share+g[1].Share > 1.0001 {
		t.Errorf("%+v", g)
	}
	if g := Detect("我在Siemens上班"); len(g) != 1 || g[0].Tag != "zh" {
		t.Errorf("a name is no second language: %+v", g)
	}
}

// The answer depends neither on the length of a text nor on the order of a map.
func TestLong(t *testing.T) {
	text := strings.Repeat("Ich wohne in Hamburg und du? 我住在上海。", 4000)
	var first abi.Output
	if err := Extract(&abi.Event{Text: text}, &first); err != nil || len(first.Annotations) != 2 {
		t.Fatal(first, err)
	}
	for range 20 {
		var again abi.Output
		if err := Extract(&abi.Event{Text: text}, &again); err != nil || len(again.Annotations) != 2 || again.Annotations[0] != first.Annotations[0] {
			t.Fatalf("%+v, then %+v", first, again)
		}
	}
}
