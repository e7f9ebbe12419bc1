package category

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/locket-dev/locket/memory"
)

func of(text, attribute string) *memory.Memory {
	m := &memory.Memory{Candidate: memory.Candidate{Text: text}}
	if attribute != "" {
		m.Slot = &memory.Slot{Subject: "user", Attribute: attribute, Value: "x"}
	}
	return m
}

func TestDefault(t *testing.T) {
	s, err := New(Default())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ text, attribute, in string }{
		{"Ann is swimming every Friday", "", "sports"},
		{"My sisters cooked dinner", "", "family food"},
		{"User lives in Lyon", "home", "personal_details home"},
		{"我妈妈喜欢喝茶", "", "family food preferences"},
		{"The router restarts at noon", "", "technology"},
		{"The coffee machine is running", "", "food"},
		{"The phone is running out of battery", "", "technology"},
		{"Ann goes running on Sundays", "", "sports"},
		{"Ann likes running", "", "sports preferences"},
		{"Something else altogether", "", "misc"},
		{"The carpet is grey", "", "misc"}, // no "car", no "pet"
		{"x", "appointment:dentist", "plans"},
	} {
		if got := s.Of(of(c.text, c.attribute)); strings.Join(got, " ") != c.in {
			t.Errorf("%s is in %v, want %s", c.text, got, c.in)
		}
	}
}

func TestOwnCategories(t *testing.T) {
	s, err := New([]Category{{Name: "Garden", Words: []string{"tomato", "compost heap", "番茄"}}})
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]bool{
		"Tomatoes want water": true, "the compost heap": true, "compost": false, "种番茄": true, "the compost heaps": false,
	} {
		if got := slices.Contains(s.Of(of(text, "")), "garden"); got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
	if !slices.Equal(s.Names(), []string{"garden", Misc}) {
		t.Error(s.Names())
	}
}

func TestRefused(t *testing.T) {
	for _, list := range [][]Category{
		{{Name: "", Words: []string{"a"}}}, {{Name: "misc", Words: []string{"a"}}}, {{Name: "a"}},
		{{Name: "a", Words: []string{"x"}}, {Name: "A", Words: []string{"y"}}}, {{Name: "a", Words: []string{"!"}}},
		make([]Category, MaxCategories+1),
	} {
		if _, err := New(list); !errors.Is(err, memory.ErrInvalid) {
			t.Errorf("%.80v: %v", list, err)
		}
	}
}
