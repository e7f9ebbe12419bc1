package share

import (
	"crypto/sha256"
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"

	"github.com/locket-dev/locket/memory"
)

func fixed(term string) [32]byte { return sha256.Sum256([]byte(term)) }

// Each person has one pseudonym, whichever part of the name is used, and shares it
// with nobody.
func TestPseudonyms(t *testing.T) {
	v := Vocabulary{Names: []string{"Anna Meyer", "Anna", "Meyer", "Ben Kern", "Ben Voss", "Ben", "王芳", "user", "José"}}
	r := NewRedactor(Redaction{Names: true, Pseudonyms: true, Roles: map[string]string{"José": "my uncle"}}, v, fixed)
	of := func(s string) string {
		got := r.Text(s)
		if !strings.HasPrefix(got, "[") || !strings.HasSuffix(got, "]") || got == removedMark {
			t.Fatalf("%q became %q", s, got)
		}
		return got
	}
	anna := of("Anna Meyer")
	for _, s := range []string{"Anna", "ANNA", "Meyer", "anna meyer", "Аnna"} {
		if of(s) != anna {
			t.Errorf("%q became %q and not %q", s, of(s), anna)
		}
	}
	others := map[string]bool{anna: true}
	for _, s := range []string{"Ben", "Kern", "Voss", "王芳"} { // nobody can tell which Ben
		if others[of(s)] {
			t.Errorf("%q is another's pseudonym", of(s))
		}
		others[of(s)] = true
	}
	if of("Ben Kern") != of("Kern") || of("José") != "[my uncle]" {
		t.Error(of("Ben Kern"), of("José"))
	}
	if got := r.Text("The user met Anna's mother"); got != "The user met "+anna+"'s mother" {
		t.Error(got)
	}
	other := NewRedactor(Redaction{Names: true, Pseudonyms: true}, v, func(s string) [32]byte { return sha256.Sum256([]byte("x" + s)) })
	if other.Text("Anna") == anna {
		t.Error("two shares have the same pseudonym")
	}
}

// Pseudonyms contain no real name, and there are many of them.
func TestPseudonymsAreNotRealNames(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		names := rapid.SliceOfN(rapid.StringMatching(`[A-Z][aeiou][bdfgk][aeiou]{1,2}( [A-Z][aeiou][a-z]{0,4})?`), 1, 30).Draw(t, "names")
		r := NewRedactor(Redaction{Names: true, Pseudonyms: true}, Vocabulary{Names: names}, fixed)
		for _, n := range names {
			if p := r.Text("with " + n); p == "with "+removedMark || r.Holds(p) || strings.Contains(p, n) {
				t.Fatalf("%q became %q", n, p)
			}
		}
	})
}

func TestRegions(t *testing.T) {
	var v Vocabulary
	for _, x := range [][3]string{{"Café Mono", "located", "Alfama"}, {"Alfama", "located", "Lisbon"}, {"Lisbon", "located", "Portugal"}, {"Ghent", "located", "Belgium"}, {"A", "located", "B"}, {"B", "located", "A"}} {
		v.Add(&memory.Memory{Candidate: memory.Candidate{Slot: &memory.Slot{Subject: x[0], Attribute: x[1], Value: x[2]}}})
	}
	v.Add(&memory.Memory{Candidate: memory.Candidate{Fields: memory.Fields{Semantic: &memory.SemanticFields{Subject: "Quay", Predicate: "located_in", Object: "Ghent"}}}})
	v.Add(&memory.Memory{Candidate: memory.Candidate{Entities: []memory.Entity{{Name: "Nowhere", Kind: "place"}, {Name: "Lisbon Harbour", Kind: "place"}}}})
	for _, c := range []struct {
		how      []string
		in, want string
	}{
		{[]string{"places"}, "Café Mono in Lisbon", "[…] in […]"},
		{[]string{"places=Lisbon"}, "Café Mono in Lisbon, Alfama, the Quay, Portugal, Nowhere", "[Lisbon] in Lisbon, [Lisbon], the […], […], […]"},
		{[]string{"places=Portugal", "places=belgium"}, "Café Mono in Lisbon and the Quay", "[Portugal] in [Portugal] and the [belgium]"},
	} {
		how, err := ParseRedaction(c.how)
		if err != nil {
			t.Fatal(err)
		}
		if got := NewRedactor(how, v, nil).Text(c.in); got != c.want {
			t.Errorf("%v of %q:\n got %q\nwant %q", c.how, c.in, got, c.want)
		}
		if strings.Join(how.List(), ",") != strings.Join(c.how, ",") {
			t.Errorf("%v is listed as %v", c.how, how.List())
		}
	}
}

func TestNumbers(t *testing.T) {
	r := NewRedactor(Redaction{Numbers: true}, Vocabulary{}, nil)
	for in, want := range map[string]string{
		"It cost 1,234.50 or 1.234 or 1'234 or 37 euros": "It cost 1000 or 1000 or 1000 or 40 euros",
		"3 children, 0 cars, 3.7 km, 0.04 g, 9.6 kg":     "3 children, 0 cars, 4 km, 0 g, 10 kg",
		"Call 030 1234567, room A380, lisbon2024":        "Call 30 […], room A400, lisbon2000",
		"version 1.2.3 and 99":                           "version […] and 100",
		"她有三十七本书和３７只猫":                                   "她有三十七本书和40只猫",
		"𝟛𝟟 dogs":                                        "40 dogs",
		"٣٧ cats":                                        "40 cats",
		"5 of 10, 100.":                                  "5 of 10, 100.",
	} {
		if got := r.Text(in); got != want {
			t.Errorf("%q:\n got %q\nwant %q", in, got, want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.StringOfN(rapid.RuneFrom([]rune("0123456789.,' a３٣"), unicode.Nd), 0, 12, -1).Draw(t, "text")
		if once := r.Text(s); r.Text(once) != once {
			t.Fatalf("%q became %q, and that %q", s, once, r.Text(once))
		}
	})
}
