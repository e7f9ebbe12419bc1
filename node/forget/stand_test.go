package forget

import (
	"testing"

	"github.com/locket-dev/locket/memory"
)

func TestStatementStandsWithoutSource(t *testing.T) {
	for _, c := range []struct {
		name, text, gone, left string
		want                   bool
	}{
		{"said in the same words", "Ana lives in Lisbon", "I live in Lisbon", "I live in Lisbon.", true},
		{"said in others", "Ana lives in Lisbon", "I live in Lisbon", "My home is Lisbon", true},
		{"a name that only what goes has", "Ana met Bo in Lisbon", "I met Bo in Lisbon", "I was in Lisbon", false},
		{"a number that only what goes has", "The code of the door is 7", "the door's code is 7", "the door has a code", false},
		{"what nobody of both said", "Ana is in Portugal", "I am in Lisbon", "Lisbon it is", true},
		{"Chinese, in the same words", "Ana住在北京", "我住在北京", "我现在住在北京", true},
		{"Chinese, a place that only what goes has", "Ana住在北京", "我住在北京", "我住在这里", false},
		{"nothing is left", "Ana lives in Lisbon", "I live in Lisbon", "", false},
	} {
		m := &memory.Memory{Candidate: memory.Candidate{Type: memory.Semantic, Text: c.text}}
		if got := canStay(m, c.gone, c.left); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
	slot := &memory.Memory{Candidate: memory.Candidate{Type: memory.Semantic, Text: "home", Slot: &memory.Slot{Subject: "user", Attribute: "home", Value: "Lisbon"}}}
	if canStay(slot, "I live in Lisbon", "I live there") {
		t.Error("a slot's value that only what goes has")
	}
	for _, kind := range []memory.Type{memory.Resource, memory.Vault} {
		if canStay(&memory.Memory{Candidate: memory.Candidate{Type: kind, Text: "photo"}}, "", "photo") {
			t.Errorf("a %s", kind)
		}
	}
}
