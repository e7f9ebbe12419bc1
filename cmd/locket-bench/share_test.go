package main

import "testing"

// With unredacted names the attacker names everybody. Each further redaction lets it name fewer
// people. The result is not always 0 or 100.
func TestShareSuite(t *testing.T) {
	code, stdout, stderr := bench(t, "share", "--people", "200", "--known", "15", "--json")
	if code != 0 {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	got := readResults(t, "share", stdout)
	at := func(how string) float64 {
		r, ok := got["reidentified "+how]
		if !ok || r.Unit != "%" {
			t.Errorf("%q: %+v", how, r)
		}
		return r.Value
	}
	all, names, pseudonyms, places, most := at("unredacted"), at("names"), at("names=pseudonyms"), at("names,places"), at("names,places,times,numbers")
	if all < 80 || names >= all || pseudonyms <= names || places >= names || most > places || most >= 50 {
		t.Errorf("unredacted %v, names %v, pseudonyms %v, and places %v, and times and numbers %v", all, names, pseudonyms, places, most)
	}
	for _, args := range [][]string{{"share", "--people", "1"}, {"share", "--known", "0"}, {"share", "more"}} {
		if code, _, stderr := bench(t, args...); code != 2 || stderr == "" {
			t.Errorf("%q: exit %d, %q", args, code, stderr)
		}
	}
}
