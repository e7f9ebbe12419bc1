package filter

import (
	"math/rand/v2"
	"testing"

	"github.com/locket-dev/locket/memory"
)

// What a brief decides equals what reading the item decides, for any filter, and for any part of
// the item in the brief.
func TestGlanceAgreesWithMatch(t *testing.T) {
	r := rand.New(rand.NewPCG(22, 18))
	pick := func(list ...string) string { return list[r.IntN(len(list))] }
	leaf := func() string {
		return pick("user = wearer", "user = ann", "user != wearer", "user in (ann, wearer)", "user exists", "agent = a", "not agent exists", "run exists", "run = r",
			"type = core", "type in (semantic, core)", "kind = memory", "kind != memory", "sensitivity <= personal", "sensitivity > public", "tags = work", "text contains x", "user contains wear")
	}
	var tree func(depth int) string
	tree = func(depth int) string {
		if depth == 0 || r.IntN(3) == 0 {
			return leaf()
		}
		switch a, b := tree(depth-1), tree(depth-1); r.IntN(3) {
		case 0:
			return "not (" + a + ")"
		case 1:
			return "(" + a + " and " + b + ")"
		default:
			return "(" + a + " or " + b + ")"
		}
	}
	sure := map[Verdict]int{}
	for range 20_000 {
		line := tree(3)
		f, err := Parse(line, nil)
		if err != nil {
			t.Fatal(line, err)
		}
		it, b := Item{}, Brief{Utterance: r.IntN(4) == 0}
		if b.Utterance {
			it.Utterance = &memory.Utterance{User: pick("", "ann"), Agent: pick("", "a"), Run: pick("", "r"), Text: pick("x", "y")}
		} else {
			m := memory.Memory{Candidate: memory.Candidate{Type: memory.Types[r.IntN(len(memory.Types))], Sensitivity: memory.Sensitivity(r.IntN(4)), Text: pick("x", "y"),
				Tags: []string{pick("work", "home")}, Owner: memory.Owner{User: pick(memory.WearerUser, "ann", ""), Agent: pick("", "", "a"), Run: pick("", "", "r")}}}
			it.Memory, b.Type = &m, m.Type
			if b.Rated = r.IntN(2) == 0; b.Rated {
				b.Sensitivity = m.Sensitivity
			}
			b.Plain = m.Owner == memory.Owner{User: memory.WearerUser} && r.IntN(4) > 0
		}
		v := f.Glance(b)
		sure[v]++
		if v != Unsure && (v == Yes) != f.Match(&it) {
			t.Fatalf("%s: %d by %+v, and %v by the item %+v", line, v, b, f.Match(&it), it)
		}
	}
	for _, v := range []Verdict{No, Unsure, Yes} {
		if sure[v] < 1000 {
			t.Errorf("of 20,000 only %d were %d", sure[v], v)
		}
	}
}

// A brief decides if each part of a filter is known, or if one part is known not to match.
func TestGlance(t *testing.T) {
	says := func(v Verdict) Filter {
		return Glanced(func(*Item) bool { return v != No }, func(Brief) Verdict { return v })
	}
	tag, err := Equal("tags", "work")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		f    Filter
		want Verdict
	}{
		{Filter{}, Yes}, {says(Yes), Yes}, {says(No), No}, {says(Unsure), Unsure}, {tag, Unsure}, {Only(func(*Item) bool { return true }), Unsure},
		{All(says(Yes), says(Yes)), Yes}, {All(says(Yes), tag), Unsure}, {All(tag, says(No)), No}, {All(says(No), says(Unsure)), No},
		{Filter{anyOf{says(No).root, tag.root}}, Unsure}, {Filter{negate{says(No).root}}, Yes},
		{Filter{anyOf{says(No).root, says(Yes).root}}, Yes}, {Filter{anyOf{says(No).root}}, No}, {Filter{negate{tag.root}}, Unsure},
	} {
		if got := c.f.Glance(Brief{}); got != c.want {
			t.Errorf("%s: %d, want %d", c.f, got, c.want)
		}
	}
}
