package judge

import (
	"testing"

	"github.com/locket-dev/locket/memory"
)

// A relation is accepted if the words support both of its ends. It ends the previous value only if
// the speaker may speak for its subject.
func TestRelate(t *testing.T) {
	for _, c := range []struct {
		name, speaker, said string
		relation            Relation
		want                Relation // zero: left out
		slot                memory.Slot
	}{
		{"one's own home", "Maja", "I moved to Lisbon in May", Relation{"Maja", "lives in", "Lisbon"}, Relation{"Maja", "home", "Lisbon"}, memory.Slot{Subject: "user", Attribute: "home", Value: "Lisbon"}},
		{"another's, who is named", "Maja", "Bo works for Philips now", Relation{"Bo", "works_for", "Philips"}, Relation{"Bo", "employer", "Philips"}, memory.Slot{Subject: "bo", Attribute: "employer", Value: "Philips"}},
		{"another's home by who is not named", "Bo", "We moved to Lisbon", Relation{"Maja", "lives in", "Lisbon"}, Relation{}, memory.Slot{}},
		{"many", "Maja", "Lena is Bo's sister", Relation{"Lena", "Sister Of", "Bo"}, Relation{"Lena", "sister of", "Bo"}, memory.Slot{Subject: "lena", Attribute: "sister of", Value: "Bo", Many: true}},
		{"an end that was not said", "Maja", "Lena came by", Relation{"Lena", "sister of", "Bo"}, Relation{}, memory.Slot{}},
		{"with itself", "Maja", "Lena came by", Relation{"Lena", "knows", "lena"}, Relation{}, memory.Slot{}},
		{"no predicate", "Maja", "Lena and Bo", Relation{"Lena", "--", "Bo"}, Relation{}, memory.Slot{}},
		{"within a word", "Maja", "Bolivia is where Lena is", Relation{"Lena", "knows", "Bo"}, Relation{}, memory.Slot{}},
		{"Chinese", "Maja", "小李在上海", Relation{"小李", "lives in", "上海"}, Relation{"小李", "home", "上海"}, memory.Slot{Subject: "小李", Attribute: "home", Value: "上海"}},
	} {
		b := &Batch{Wearer: "Maja", Messages: []Message{line(1, c.speaker, c.said)}}
		r := Rule(b, []Operation{{Op: "ADD", Message: 1, Quote: c.said, Text: c.said, Type: "semantic", Confidence: .8, Relation: &c.relation}}, memory.Source{}, "u")[0]
		if r.Verdict != memory.Add {
			t.Errorf("%s: %s %s", c.name, r.Verdict, r.Reason)
			continue
		}
		f := r.Candidate.Fields.Semantic
		if got := (Relation{f.Subject, f.Predicate, f.Object}); got != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
		if s := r.Candidate.Slot; s == nil && c.slot != (memory.Slot{}) || s != nil && *s != c.slot {
			t.Errorf("%s: slot %+v, want %+v", c.name, s, c.slot)
		}
	}
}

func TestTypesOfTheGrant(t *testing.T) {
	whole := "I am called Mimi by everybody"
	b := &Batch{Wearer: "Maja", Messages: []Message{line(1, "Maja", whole), line(2, "Bo", whole)}}
	core := Operation{Op: "ADD", Message: 1, Quote: whole, Text: whole, Type: memory.Core, Block: "human", Confidence: .8}
	page := Operation{Op: "ADD", Message: 1, Quote: whole, Text: "What Maja is called by everybody", Type: memory.Resource, Title: "A name", Confidence: .8}
	other, foreign, untitled := core, core, page
	other.Block, foreign.Message, untitled.Title = "vault", 2, " "
	ops := []Operation{core, page, other, foreign, untitled}
	for i, r := range Rule(b, ops, memory.Source{}, "u") {
		if r.Verdict != memory.Refuse {
			t.Errorf("operation %d: a %s memory without leave", i, ops[i].Type)
		}
	}
	b.Types = []memory.Type{memory.Core, memory.Resource}
	for i, r := range Rule(b, ops, memory.Source{}, "u") {
		if (r.Verdict == memory.Add) != (i < 2) {
			t.Errorf("operation %d: %s %s", i, r.Verdict, r.Reason)
		}
	}
}
