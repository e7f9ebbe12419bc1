package reconcile

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/locket-dev/locket/memory"
)

// replicaOf is one member's copy of a group, and what the member adds to it.
type replicaOf struct {
	member byte
	as     []memory.Assertion
	seq    uint64
	hours  int
}

// tell adds an assertion by somebody who knows everything in this replica.
func (r *replicaOf) tell(a memory.Assertion) {
	for _, b := range r.as {
		if b.Dot.Member == (memory.MemberID{r.member}) {
			r.seq = max(r.seq, b.Dot.Seq)
		}
	}
	r.seq++
	a.Dot, a.Space = memory.Dot{Member: memory.MemberID{r.member}, Seq: r.seq}, memory.SpaceID{1}
	if a.Clock == (memory.Clock{}) {
		a.Clock = memory.Clock{Wall: day0.Add(time.Duration(r.hours) * time.Hour).UnixMilli()}
	}
	if a.Act == memory.ActPropose {
		var group []memory.Assertion
		for _, b := range r.as {
			if b.Candidate != nil && b.Candidate.Group() == a.Candidate.Group() {
				group = append(group, b)
			}
		}
		a.Seen = SeenDots(group, &a)
	} else {
		a.Seen = Overrules(r.as, &a)
	}
	r.as = append(r.as, a)
}

func (r *replicaOf) home(id byte, hours int, city string) {
	r.hours = hours
	a := memory.Assertion{Rank: memory.RankDevice, Memory: memory.ID{id}, Act: memory.ActPropose}
	home(city, hours, false)(&a)
	r.tell(a)
}

// settle settles a conflict, and returns the assertions.
func (r *replicaOf) settle(t interface {
	Helper()
	Fatalf(string, ...any)
}, c *Conflict, s Settlement) {
	t.Helper()
	at := day0.Add(time.Duration(r.hours) * time.Hour)
	as, err := Settle(r.as, c, s, memory.Evidence{At: at, Excerpt: s.Write}, func(c *memory.Candidate) memory.ID {
		return memory.DeriveID([]byte("key"), memory.EventID{Device: "api", Boot: uint64(r.member), Seq: uint64(r.hours)}, "person", c.Fingerprint())
	})
	if err != nil {
		t.Fatalf("%+v: %v", s, err)
	}
	for _, a := range as {
		r.tell(a)
	}
}

// unsettle takes a settlement back in every memory that has a part of it.
func (r *replicaOf) unsettle(t *testing.T, conflict string) {
	t.Helper()
	of := map[memory.ID][]memory.Assertion{}
	for _, a := range r.as {
		of[a.Memory] = append(of[a.Memory], a)
	}
	n := 0
	for _, as := range of {
		w, ok, err := Unsettle(as, conflict)
		if err != nil {
			t.Fatal(err)
		}
		if ok {
			n++
			r.seq++
			w.Dot, w.Space, w.Clock = memory.Dot{Member: memory.MemberID{r.member}, Seq: r.seq}, memory.SpaceID{1}, memory.Clock{Wall: day0.Add(time.Duration(r.hours) * time.Hour).UnixMilli()}
			r.as = append(r.as, w)
		}
	}
	if n == 0 {
		t.Fatal("nothing of it stands")
	}
}

func meet(rs ...*replicaOf) {
	var all []memory.Assertion
	seen := map[memory.Dot]bool{}
	for _, r := range rs {
		for _, a := range r.as {
			if !seen[a.Dot] {
				seen[a.Dot] = true
				all = append(all, a)
			}
		}
	}
	for _, r := range rs {
		r.as = append([]memory.Assertion(nil), all...)
	}
}

func active(as []memory.Assertion) string {
	var out []string
	for _, m := range Derive(as) {
		if m.State == memory.Active && !m.Negates {
			out = append(out, m.Slot.Value)
		}
	}
	return strings.Join(out, " ")
}

// values returns the only conflict, and the values of its sides.
func values(t *testing.T, as []memory.Assertion) (*Conflict, string) {
	t.Helper()
	cs := Conflicts(as)
	if len(cs) != 1 {
		t.Fatalf("%d conflicts: %+v", len(cs), cs)
	}
	var out []string
	for _, s := range cs[0].Sides {
		out = append(out, s.Value)
	}
	return &cs[0], strings.Join(out, " | ")
}

// Two devices heard different values without knowing of each other; each way to settle the conflict
// ends it.
func TestSlotConflict(t *testing.T) {
	for _, tt := range []struct {
		s    Settlement
		want string
	}{
		{Settlement{Choose: 1}, "Antwerp"}, {Settlement{Choose: 2}, "Ghent"}, {Settlement{Write: "Bruges"}, "Bruges"},
		{Settlement{Write: "Bruges", Text: "Ana has a house in Bruges"}, "Bruges"}, {Settlement{Both: true}, "Antwerp Ghent"},
	} {
		phone, watch := &replicaOf{member: 1}, &replicaOf{member: 2}
		phone.home(1, 0, "Berlin")
		meet(phone, watch)
		watch.home(2, 3, "Ghent")
		phone.home(3, 5, "Antwerp")
		if c := Conflicts(phone.as); len(c) != 0 {
			t.Fatalf("a device disagrees with what it knew: %+v", c)
		}
		meet(phone, watch)
		c, sides := values(t, watch.as)
		if sides != "Antwerp | Ghent" || c.Kind != SlotConflict || c.Slot.Attribute != "home" || !strings.Contains(c.Why, "since") {
			t.Fatalf("%s: %+v", sides, c)
		}
		watch.hours = 9
		watch.settle(t, c, tt.s)
		meet(watch, phone)
		for _, r := range []*replicaOf{phone, watch} {
			got := active(r.as)
			if tt.s.Both { // the other value stays beside it, in its own group
				got = active(groupOf(r.as, false)) + " " + active(groupOf(r.as, true))
			}
			if cs := Conflicts(groupOf(r.as, false)); got != tt.want || len(cs) != 0 {
				t.Errorf("%+v: %s, conflicts %+v", tt.s, got, cs)
			}
		}
		phone.hours = 12
		phone.unsettle(t, c.ID)
		meet(watch, phone)
		for _, r := range []*replicaOf{phone, watch} {
			if back, sides := values(t, groupOf(r.as, false)); sides != "Antwerp | Ghent" || back.ID != c.ID {
				t.Errorf("%+v, taken back: %s %+v", tt.s, sides, back)
			}
			if got := active(groupOf(r.as, false)) + active(groupOf(r.as, true)); got != "Antwerp" {
				t.Errorf("%+v, taken back: %s", tt.s, got)
			}
		}
		watch.hours = 14
		watch.settle(t, c, tt.s)
		meet(watch, phone)
		if cs := Conflicts(groupOf(phone.as, false)); len(cs) != 0 {
			t.Errorf("%+v, once more: %+v", tt.s, cs)
		}
		phone.home(7, 20, "Oslo")
		meet(phone, watch)
		if got := active(groupOf(watch.as, false)); got != "Oslo" || len(Conflicts(groupOf(watch.as, false))) != 0 {
			t.Errorf("%+v, and a move later: %s", tt.s, got)
		}
	}
}

// The name of a conflict is of the sides as they are shown: with a corrected side it is another one.
func TestConflictNamesWhatIsShown(t *testing.T) {
	phone, watch := &replicaOf{member: 1}, &replicaOf{member: 2}
	phone.home(1, 0, "Berlin")
	meet(phone, watch)
	watch.home(2, 3, "Ghent")
	phone.home(3, 5, "Antwerp")
	meet(phone, watch)
	was, _ := values(t, phone.as)
	text, value := "Ana lives in Bruges", "Bruges"
	phone.tell(memory.Assertion{Rank: memory.RankPerson, Memory: was.Sides[1].Memory, Act: memory.ActCorrect, Patch: &memory.Patch{Text: &text, Value: &value}})
	c, sides := values(t, phone.as)
	if sides != "Antwerp | Bruges" || c.ID == was.ID {
		t.Errorf("%s is %s, was %s", sides, c.ID, was.ID)
	}
	meet(phone, watch)
	if there, _ := values(t, watch.as); there.ID != c.ID {
		t.Errorf("another device names it %s, not %s", there.ID, c.ID)
	}
}

// groupOf separates what the store would keep in separate groups.
func groupOf(as []memory.Assertion, many bool) []memory.Assertion {
	ids := map[memory.ID]bool{}
	for _, a := range as {
		if a.Candidate != nil && a.Candidate.Slot.Many == many {
			ids[a.Memory] = true
		}
	}
	var out []memory.Assertion
	for _, a := range as {
		if ids[a.Memory] {
			out = append(out, a)
		}
	}
	return out
}

// Two members who settle a conflict differently, without knowing of each other, leave a conflict
// and a value.
func TestConcurrentSettlements(t *testing.T) {
	phone, watch := &replicaOf{member: 1}, &replicaOf{member: 2}
	watch.home(2, 3, "Ghent")
	phone.home(3, 5, "Antwerp")
	meet(phone, watch)
	c, _ := values(t, phone.as)
	phone.hours, watch.hours = 8, 9
	phone.settle(t, c, Settlement{Choose: 1})
	watch.settle(t, c, Settlement{Choose: 2})
	meet(phone, watch)
	c, sides := values(t, phone.as)
	if got := active(phone.as); got != "Antwerp" && got != "Ghent" || !strings.Contains(sides, "Antwerp") || !strings.Contains(sides, "Ghent") {
		t.Fatalf("%s, %s", got, sides)
	}
	phone.hours = 12
	phone.settle(t, c, Settlement{Choose: 2})
	if cs := Conflicts(phone.as); len(cs) != 0 || active(phone.as) != c.Sides[1].Value {
		t.Errorf("%s, %+v", active(phone.as), cs)
	}
}

func TestPinConflict(t *testing.T) {
	for _, tt := range []struct {
		s    Settlement
		want string
	}{{Settlement{Choose: 1}, "Berlin"}, {Settlement{Choose: 2}, "Ghent"}, {Settlement{Write: "Lyon"}, "Lyon"}} {
		r := &replicaOf{member: 1}
		r.home(1, 0, "Berlin")
		r.tell(memory.Assertion{Rank: memory.RankPerson, Memory: memory.ID{1}, Act: memory.ActPin})
		r.home(2, 4, "Ghent")
		c, sides := values(t, r.as)
		if sides != "Berlin | Ghent" || c.Kind != PinConflict || !strings.Contains(c.Why, "pinned") {
			t.Fatalf("%s: %+v", sides, c)
		}
		r.hours = 9
		r.settle(t, c, tt.s)
		if cs := Conflicts(r.as); active(r.as) != tt.want || len(cs) != 0 {
			t.Errorf("%+v: %s, %+v", tt.s, active(r.as), cs)
		}
	}
}

// A machine's correction, closing and negation of a pinned memory are shown as conflicts, and each
// can be settled both ways.
func TestPinConflictsOfOneMemory(t *testing.T) {
	text := "Ana lives in Berlin Mitte"
	deny := memory.Assertion{Rank: memory.RankDevice, Memory: memory.ID{2}, Act: memory.ActPropose}
	home("Berlin", 5, true)(&deny)
	for name, tt := range map[string]struct {
		a     memory.Assertion
		sides string
		kept  func(m memory.Memory) bool
	}{
		"corrects": {memory.Assertion{Rank: memory.RankDevice, Memory: memory.ID{1}, Act: memory.ActCorrect, Patch: &memory.Patch{Text: &text}},
			"Ana lives in Berlin | " + text, func(m memory.Memory) bool { return m.Text == "Ana lives in Berlin" }},
		"puts away": {memory.Assertion{Rank: memory.RankDevice, Memory: memory.ID{1}, Act: memory.ActArchive}, "in use | put away",
			func(m memory.Memory) bool { return m.State == memory.Active }},
		"denies": {deny, "Berlin | Berlin", func(m memory.Memory) bool { return m.State == memory.Active }},
	} {
		for choose := 1; choose <= 2; choose++ {
			r := &replicaOf{member: 1}
			r.home(1, 0, "Berlin")
			r.tell(memory.Assertion{Rank: memory.RankPerson, Memory: memory.ID{1}, Act: memory.ActPin})
			r.hours = 6
			r.tell(tt.a)
			c, sides := values(t, r.as)
			if sides != tt.sides || c.Kind != PinConflict {
				t.Fatalf("%s: %s: %+v", name, sides, c)
			}
			r.hours = 9
			r.settle(t, c, Settlement{Choose: choose})
			if m := Derive(r.as)[0]; tt.kept(m) != (choose == 1) || len(Conflicts(r.as)) != 0 {
				t.Errorf("%s, %d: %+v, %+v", name, choose, m, Conflicts(r.as))
			}
		}
	}
}

func TestFieldConflict(t *testing.T) {
	set := func(s string) memory.Assertion {
		return memory.Assertion{Rank: memory.RankPerson, Memory: memory.ID{1}, Act: memory.ActCorrect, Patch: &memory.Patch{Text: &s}}
	}
	for _, tt := range []struct {
		s    Settlement
		want string
	}{{Settlement{Choose: 1}, "Peking"}, {Settlement{Choose: 2}, "北京"}, {Settlement{Both: true}, "Peking / 北京"}, {Settlement{Write: "a third"}, "a third"}} {
		phone, watch := &replicaOf{member: 1}, &replicaOf{member: 2}
		phone.home(1, 0, "Beijing")
		meet(phone, watch)
		watch.hours, phone.hours = 1, 2
		watch.tell(set("北京"))
		phone.tell(set("Peking"))
		watch.tell(memory.Assertion{Rank: memory.RankPerson, Memory: memory.ID{1}, Act: memory.ActPin})
		phone.tell(memory.Assertion{Rank: memory.RankPerson, Memory: memory.ID{1}, Act: memory.ActUnpin})
		meet(phone, watch)
		cs := Conflicts(phone.as)
		if len(cs) != 2 {
			t.Fatalf("%+v", cs)
		}
		phone.hours = 5
		for _, c := range cs {
			if c.Field == "pin" {
				if c.Sides[0].Value != notPinned || c.Why != "it was said last" {
					t.Errorf("%+v", c)
				}
				phone.settle(t, &c, Settlement{Choose: 2})
			} else {
				phone.settle(t, &c, tt.s)
			}
		}
		if m := Derive(phone.as)[0]; m.Text != tt.want || !m.Pinned || m.Conflict != nil || len(Conflicts(phone.as)) != 0 {
			t.Errorf("%+v: %+v", tt.s, m)
		}
	}
}

// A correction on each of two devices is one conflict, although it changes the text, the value and
// the fields. The side that a person chooses is shown as a whole.
func TestCorrectionIsOneConflict(t *testing.T) {
	set := func(city string) memory.Assertion {
		return memory.Assertion{Rank: memory.RankPerson, Memory: memory.ID{1}, Act: memory.ActCorrect, Patch: &memory.Patch{Text: &city, Value: &city,
			Fields: &memory.Fields{Semantic: &memory.SemanticFields{Name: "city", Details: city}}}}
	}
	for _, tt := range []struct {
		s          Settlement
		text, city string // of the memory, once it is settled
		left       []string
	}{
		{Settlement{Choose: 1}, "Lyon", "Lyon", nil},
		{Settlement{Choose: 2}, "Ghent", "Ghent", nil},
		{Settlement{Both: true}, "Lyon / Ghent", "Lyon", nil},
		{Settlement{Write: "Oslo"}, "Oslo", "Lyon", []string{"value"}},
	} {
		phone, watch := &replicaOf{member: 1}, &replicaOf{member: 2}
		phone.home(1, 0, "Beijing")
		meet(phone, watch)
		watch.hours, phone.hours = 1, 2
		watch.tell(set("Ghent"))
		phone.tell(set("Lyon"))
		meet(phone, watch)
		cs := Conflicts(phone.as)
		if len(cs) != 1 || cs[0].Field != "text" || len(cs[0].Sides) != 2 {
			t.Fatalf("%+v", cs)
		}
		phone.hours = 5
		phone.settle(t, &cs[0], tt.s)
		m := Derive(phone.as)[0]
		if m.Text != tt.text || m.Slot.Value != tt.city || m.Fields.Semantic.Details != tt.city {
			t.Errorf("%+v: %+v", tt.s, m)
		}
		var left []string
		for _, c := range Conflicts(phone.as) {
			left = append(left, c.Field)
		}
		if !slices.Equal(left, tt.left) {
			t.Errorf("%+v: %v is left, want %v", tt.s, left, tt.left)
		}
	}
}

// Machines that change a pinned memory are one conflict, too, and the old value is kept whole.
func TestPinnedCorrectionIsOneConflict(t *testing.T) {
	text, city := "x lives in Ghent", "Ghent"
	for choose, want := range map[int]string{1: "Beijing", 2: "Ghent"} {
		phone := &replicaOf{member: 1}
		phone.home(1, 0, "Beijing")
		phone.tell(memory.Assertion{Rank: memory.RankPerson, Memory: memory.ID{1}, Act: memory.ActPin})
		phone.hours = 2
		phone.tell(memory.Assertion{Rank: memory.RankDevice, Memory: memory.ID{1}, Act: memory.ActCorrect, Patch: &memory.Patch{Text: &text, Value: &city}})
		cs := Conflicts(phone.as)
		if len(cs) != 1 || cs[0].Field != "text" || cs[0].Kind != PinConflict {
			t.Fatalf("%+v", cs)
		}
		phone.hours = 5
		phone.settle(t, &cs[0], Settlement{Choose: choose})
		if m := Derive(phone.as)[0]; m.Slot.Value != want || (m.Text == text) != (choose == 2) || len(Conflicts(phone.as)) > 0 {
			t.Errorf("%d: %+v, %+v", choose, m, Conflicts(phone.as))
		}
	}
}

func TestInvalidSettlements(t *testing.T) {
	phone, watch := &replicaOf{member: 1}, &replicaOf{member: 2}
	watch.home(2, 3, "Ghent")
	phone.home(3, 5, "Antwerp")
	meet(phone, watch)
	c, _ := values(t, phone.as)
	for _, s := range []Settlement{{}, {Choose: 3}, {Choose: -1}, {Choose: 1, Both: true}, {Both: true, Write: "x"}, {Choose: 1, Text: "x"}} {
		if as, err := Settle(phone.as, c, s, memory.Evidence{}, func(*memory.Candidate) memory.ID { return memory.ID{9} }); err == nil {
			t.Errorf("%+v: %+v", s, as)
		}
	}
}

// The conflicts are a function of the set. Choosing any side of any conflict ends it, and leaves no
// earlier conflict with the same sides.
func TestSettlementEndsAConflict(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := &replicaOf{member: 9, as: genGroup(t), hours: 100}
		cs := Conflicts(r.as)
		mixed := rapid.Permutation(r.as).Draw(t, "order")
		if again := Conflicts(append(mixed, mixed...)); fmt.Sprint(ids(again)) != fmt.Sprint(ids(cs)) {
			t.Fatalf("order or repetition changed what is disagreed about: %v, %v", ids(cs), ids(again))
		}
		if len(cs) == 0 {
			return
		}
		c := cs[rapid.IntRange(0, len(cs)-1).Draw(t, "which")]
		choose := rapid.IntRange(1, len(c.Sides)).Draw(t, "side")
		r.settle(t, &c, Settlement{Choose: choose})
		for _, left := range Conflicts(r.as) {
			if left.ID == c.ID || left.Field == c.Field && c.Field != "" && left.Sides[0].Memory == c.Sides[0].Memory {
				t.Fatalf("settled, and there: %+v", left)
			}
			if c.Field == "" && left.Field == "" && left.Kind == c.Kind {
				t.Fatalf("settled\n%+v\nand there\n%+v", c, left)
			}
		}
		side, shown := c.Sides[choose-1], strings.Fields(active(r.as))
		if c.Kind != SlotConflict || side.Negates {
			return
		}
		// Another value may also be shown beside a pinned one, until that is settled.
		alone := !slices.ContainsFunc(Conflicts(r.as), func(left Conflict) bool { return left.Kind == PinConflict })
		if !slices.ContainsFunc(shown, func(v string) bool { return strings.EqualFold(v, side.Value) }) || alone && len(shown) > 1 {
			t.Fatalf("chosen %q, and shown %q", side.Value, shown)
		}
	})
}

func ids(cs []Conflict) (out []string) {
	for _, c := range cs {
		out = append(out, c.ID)
	}
	return out
}
