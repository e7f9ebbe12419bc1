package share

import (
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode"

	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"

	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/memory"
)

func TestRedactText(t *testing.T) {
	v := Vocabulary{Names: []string{"Anna Meyer", "José", "Bo", "王芳", "陈怡君", "the wearer", "user"}, Places: []string{"Lisbon", "Rua da Prata"}}
	for _, c := range []struct {
		how      Redaction
		in, want string
	}{
		{Redaction{Names: true}, "Anna's sister met ANNA MEYER and Annas dog", "[…]'s sister met […] and […] dog"},
		{Redaction{Names: true}, "Annapolis is a bore, said Bo", "Annapolis is a bore, said […]"},
		{Redaction{Names: true}, "Jose\u0301 and Jos\u00e9 and jose and JO\u200bSÉ", "[…] and […] and […] and […]"},
		{Redaction{Names: true}, "王芳住在里斯本", "[…]住在里斯本"},
		{Redaction{Names: true}, "陳怡君和陈怡君見面", "[…]和[…]見面"},
		{Redaction{Names: true}, "The user said that the wearer left", "The user said that the wearer left"},
		{Redaction{Places: true}, "In Lisbon, lisbon2024, at Rua  da-Prata 5", "In […], […]2024, at […] 5"},
		{Redaction{Words: []string{"bike"}}, "My bike, two bikes, a motorbike and a bikeshed", "My […], two […], a motorbike and a bikeshed"},
		{Redaction{Words: []string{"blue door"}}, "The Blue-Door and blue doors", "The […] and […]s"},
		{Redaction{Words: []string{"ab"}}, "a b ab", "[…] […]"},
		{Redaction{Words: []string{"Strasse"}}, "Die Straße, die STRASSE", "Die […], die […]"},
		{Redaction{Words: []string{"Weiß"}}, "Frau Weiss und Frau WEIẞ", "Frau […] und Frau […]"},
		{Redaction{Words: []string{"Soren"}}, "Søren, SØREN", "[…], […]"},
		{Redaction{Names: true}, "\u0410nn\u0430 and \u0391NN\u0391", "[…] and […]"}, // with Cyrillic and Greek letters
		{Redaction{Words: []string{"Москва"}}, "В МОСКВЕ и Москва", "В МОСКВЕ и […]"},
		{Redaction{Times: true}, "On Friday at 9:30 am, 2026-11-20, 20.11.2026, tomorrow morning, in May 2025, last week", "On […] […], […], […], […] […], in […], […]"},
		{Redaction{Times: true}, "下午三点在周五见面", "[…]在[…]见面"},
		{Redaction{Times: true}, "下午三點在週五見面，12號再說", "[…]在[…]見面，[…]再說"},
		{Redaction{Words: []string{"Müller"}}, "Frau Mueller, MUELLER, Mu\u0308ller, Muller", "Frau […], […], […], […]"},
		{Redaction{Words: []string{"Goeran Aakesson"}}, "Göran Åkesson", "[…]"},
		{Redaction{Words: []string{"Sørby"}}, "Soerby, Sorby", "[…], […]"},
		{Redaction{Names: true}, "ᴀɴɴᴀ and An\u0578a", "[…] and […]"}, // small capitals, and an Armenian letter
		{Redaction{Times: true}, "At half past nine, half nine, a quarter to ten, twenty past three, nine thirty", "[…], […], […], […], […]"},
		{Redaction{Times: true}, "um 14h30, 1430 hours, １４：３０, on the third of May, the 3rd, at Christmas, on Easter Monday, New Year's Eve", "um […], […], […], on […], […], at […], on […], […]"},
		{Redaction{Times: true}, "昨晚、上周、下个月、去年、今年、周末、十一月二十日、二〇二六年、三点一刻、下午3：30", "[…]、[…]、[…]、[…]、[…]、[…]、[…]、[…]、[…]、[…]"},
		{Redaction{Times: true}, "We marched. The second try was fine, a quarter of the cake is left, and half of it", "We marched. The second try was fine, a quarter of the cake is left, and half of it"},
		{Redaction{}, "Nothing of this goes: Anna, 9:30", "Nothing of this goes: Anna, 9:30"},
	} {
		if got := NewRedactor(c.how, v, fixed).Text(c.in); got != c.want {
			t.Errorf("%+v of %q:\n got %q\nwant %q", c.how, c.in, got, c.want)
		}
	}
}

// No redacted word remains in any text of a copy, wherever it was.
func TestNoRedactedWordRemains(t *testing.T) {
	words := []string{"Anna", "Bo", "Lisbon", "José", "Straße", "blue door", "里斯本", "x", "ﬁn"}
	ids := seal.NewKey()
	rapid.Check(t, func(t *rapid.T) {
		chosen := rapid.SliceOfNDistinct(rapid.SampledFrom(words), 1, 4, rapid.ID).Draw(t, "words")
		text := rapid.Custom(func(t *rapid.T) string {
			var b strings.Builder
			for range rapid.IntRange(1, 8).Draw(t, "n") {
				w := rapid.OneOf(rapid.SampledFrom(words), rapid.StringMatching(`[a-z]{1,6}`), rapid.Just("\u200b"), rapid.Just("\u0301")).Draw(t, "w")
				switch rapid.IntRange(0, 3).Draw(t, "form") {
				case 0:
					w = strings.ToUpper(w)
				case 1:
					w = norm.NFD.String(w)
				}
				b.WriteString(w + rapid.SampledFrom([]string{" ", ", ", "'s ", "-", "", "\n"}).Draw(t, "gap"))
			}
			return b.String()
		})
		one := func(name string) string { return text.Draw(t, name) }
		m := memory.Memory{ID: memory.ID{1}, Candidate: memory.Candidate{Type: memory.Episodic, Text: "It rained: " + one("text"), Lang: one("lang"),
			Owner: memory.Owner{User: one("user"), Agent: one("agent")}, Slot: &memory.Slot{Subject: one("subject"), Attribute: one("attribute"), Value: one("value")},
			Entities: []memory.Entity{{Name: one("entity"), Kind: one("kind")}}, Tags: []string{one("tag"), "kept"}, Links: []memory.Link{{Relation: one("relation"), To: one("to")}},
			Metadata: memory.Metadata{one("key"): one("meta")}, Source: memory.Source{Device: one("device"), Plugin: one("plugin")},
			Evidence: []memory.Evidence{{Speaker: one("speaker"), At: time.Unix(1, 0), Excerpt: one("excerpt")}}, TrueFrom: time.Unix(1, 0)}}
		switch rapid.IntRange(0, 3).Draw(t, "type") {
		case 0:
			m.Fields.Episodic = &memory.EpisodicFields{EventType: one("event"), Details: one("details"), Actor: one("actor"), Place: one("place"), Started: time.Unix(1, 0)}
		case 1:
			m.Type, m.Fields.Semantic = memory.Semantic, &memory.SemanticFields{Name: one("name"), Details: one("details"), Subject: one("s"), Predicate: one("p"), Object: one("o")}
		case 2:
			m.Type, m.Fields.Procedural = memory.Procedural, &memory.ProceduralFields{EntryType: one("entry"), Description: one("description"), Steps: []string{one("step"), one("step 2")}}
		case 3:
			m.Type, m.Fields.Resource = memory.Resource, &memory.ResourceFields{Title: one("title"), MediaType: "text/plain", Content: one("content"), Blob: one("blob")}
		}
		how := Redaction{Words: chosen, Quotes: rapid.Bool().Draw(t, "quotes"), Times: rapid.Bool().Draw(t, "times")}
		c, ok, err := copyOf(&m, NewRedactor(how, Vocabulary{}, nil), &how, time.Time{}, ids)
		if err != nil {
			t.Fatal(err)
		}
		if !ok {
			return
		}
		if how.Times && (!c.Candidate.TrueFrom.IsZero() || c.Candidate.Fields.Episodic != nil && !c.Candidate.Fields.Episodic.Started.IsZero()) {
			t.Error("a moment stays")
		}
		c.Candidate.Owner.User, c.Candidate.Type = "", ""
		for _, s := range stringsIn(reflect.ValueOf(c.Candidate)) {
			for _, w := range chosen {
				for _, have := range wordsOf(s) {
					if have == string(fold(w)) {
						t.Fatalf("%q stays in %q", w, s)
					}
				}
			}
		}
	})
}

// wordsOf returns a text's words and its pairs of words, folded, in another way than the
// redactor does.
func wordsOf(s string) []string {
	fields := strings.FieldsFunc(norm.NFKD.String(s), func(c rune) bool {
		return !unicode.IsLetter(c) && !unicode.IsDigit(c) && !unicode.IsMark(c) && !unicode.Is(unicode.Cf, c)
	})
	var out []string
	for i, f := range fields {
		out = append(out, string(fold(f)))
		if i > 0 {
			out = append(out, string(fold(fields[i-1]))+string(fold(f)))
		}
	}
	return out
}

func stringsIn(v reflect.Value) (out []string) {
	switch v.Kind() {
	case reflect.String:
		return []string{v.String()}
	case reflect.Pointer:
		if !v.IsNil() {
			return stringsIn(v.Elem())
		}
	case reflect.Struct:
		if v.Type() == timeType {
			return nil
		}
		for i := range v.NumField() {
			out = append(out, stringsIn(v.Field(i))...)
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			out = append(out, stringsIn(v.Index(i))...)
		}
	case reflect.Map:
		for it := v.MapRange(); it.Next(); {
			out = append(append(out, stringsIn(it.Key())...), stringsIn(it.Value())...)
		}
	}
	return out
}

// A number that was measured from a picture identifies it as well as a name: anybody who
// has the picture, or another copy of it, has the same number.
func TestImageMeasurementsAreRemoved(t *testing.T) {
	m := memory.Memory{ID: memory.ID{1}, Candidate: memory.Candidate{Type: memory.Resource, Text: "A page about bread.", Owner: memory.Owner{User: "u"},
		Fields: memory.Fields{Resource: &memory.ResourceFields{Title: "bread", MediaType: "image/jpeg", Content: "Bread.", Hash: "00ff00ff00ff00ff", Sharpness: 1234.5678}}}}
	c, ok, err := copyOf(&m, NewRedactor(Redaction{}, Vocabulary{}, nil), &Redaction{}, time.Time{}, seal.NewKey())
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	if f := c.Candidate.Fields.Resource; f.Sharpness != 0 || f.Hash != "" {
		t.Errorf("%+v", f)
	}
}

// Fields that memories may get in future are redacted, too.
func TestRedactsEveryTextField(t *testing.T) {
	v := struct {
		M map[string][]string
		P *string
		I any
		A [1]struct{ S string }
		T memory.Type
	}{M: map[string][]string{"Anna": {"of Anna"}}, P: new(string), I: &struct{ S string }{"Anna"}, T: "Anna"}
	*v.P, v.A[0].S = "Anna", "Anna"
	r := NewRedactor(Redaction{Words: []string{"Anna"}}, Vocabulary{}, nil)
	r.Apply(&v)
	if v.M[removedMark] == nil || v.M[removedMark][0] != "of "+removedMark || *v.P != removedMark || v.I.(*struct{ S string }).S != removedMark || v.A[0].S != removedMark || v.T != "Anna" {
		t.Errorf("%+v", v)
	}
	if r.holds(reflect.ValueOf(&v)) {
		t.Error("still holds a word")
	}
	v.M["Anna"] = nil
	if !r.holds(reflect.ValueOf(&v)) {
		t.Error("a key is not looked at")
	}
}

func TestVocabulary(t *testing.T) {
	var v Vocabulary
	v.Add(&memory.Memory{Candidate: memory.Candidate{Entities: []memory.Entity{{Name: "Ada", Kind: "person"}, {Name: "Graz", Kind: "place"}},
		Evidence: []memory.Evidence{{Speaker: "Ben"}}, Slot: &memory.Slot{Subject: "user", Attribute: "home", Value: "Linz"},
		Fields: memory.Fields{Episodic: &memory.EpisodicFields{Actor: "Cleo", Place: "Wels"}}}})
	r := NewRedactor(Redaction{Names: true, Places: true}, v, nil)
	if got := r.Text("Ada, Ben and Cleo went from Graz to Linz and Wels"); got != "[…], […] and […] went from […] to […] and […]" {
		t.Error(got)
	}
	if _, err := ParseRedaction([]string{"names", "—"}); err == nil {
		t.Error("a word of no letters was taken")
	}
	if got, _ := ParseRedaction([]string{"names", "times", " bike ", ""}); !got.Names || !got.Times || got.Places || len(got.Words) != 1 || got.Words[0] != "bike" {
		t.Errorf("%+v", got)
	}
}
