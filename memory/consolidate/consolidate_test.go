package consolidate

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/reconcile"
)

var now = time.Date(2026, 9, 20, 3, 0, 0, 0, time.UTC)

// device is a replica: the assertions that it knows.
type device struct {
	member memory.MemberID
	seq    uint64
	clock  time.Time
	as     []memory.Assertion
}

func (d *device) say(rank memory.Rank, as ...memory.Assertion) {
	for _, a := range as {
		d.seq++
		d.clock = d.clock.Add(time.Second)
		a.Dot, a.Clock = memory.Dot{Member: d.member, Seq: d.seq}, memory.Clock{Wall: d.clock.UnixMilli()}
		a.Rank, a.Space = rank, memory.SpaceID{1}
		a.Seen = append(a.Seen, reconcile.Overrules(d.as, &a)...)
		if err := a.Validate(); err != nil {
			panic(err)
		}
		d.as = append(d.as, a)
	}
}

func (d *device) memories() (out []memory.Memory) {
	groupOf, groups := map[memory.ID]string{}, map[string][]memory.Assertion{}
	for _, a := range d.as {
		if a.Act == memory.ActPropose && groupOf[a.Memory] == "" {
			groupOf[a.Memory] = a.Candidate.Group()
		}
	}
	for _, a := range d.as {
		groups[groupOf[a.Memory]] = append(groups[groupOf[a.Memory]], a)
	}
	for _, g := range groups {
		out = append(out, reconcile.Derive(g)...)
	}
	slices.SortFunc(out, func(a, b memory.Memory) int { return slices.Compare(a.ID[:], b.ID[:]) })
	return slices.DeleteFunc(out, func(m memory.Memory) bool { return m.State == memory.Erased })
}

func (d *device) text() string {
	b, err := json.Marshal(d.memories())
	if err != nil {
		panic(err)
	}
	return string(b)
}

func (d *device) plan() Plan {
	return New(Input{Memories: d.memories(), Now: now, ID: func(name string) memory.ID {
		h := sha256.Sum256([]byte(name))
		return memory.ID(h[:16])
	}})
}

// dream makes and applies a plan, and returns what undoes it.
func (d *device) dream() (Plan, []memory.Assertion) {
	p := d.plan()
	by := map[memory.ID][]memory.Dot{}
	for _, s := range p.Steps {
		ms := map[memory.ID]memory.Memory{}
		for _, m := range d.memories() {
			ms[m.ID] = m
		}
		m, into := ms[s.Memory], ms[s.Into]
		for _, a := range s.Assertions(&m, &into) {
			d.say(memory.RankDevice, a)
			last := d.as[len(d.as)-1]
			by[last.Memory] = append(by[last.Memory], last.Dot)
		}
	}
	var undo []memory.Assertion
	for id, dots := range by {
		undo = append(undo, memory.Assertion{Memory: id, Act: memory.ActWithdraw, Seen: dots})
	}
	slices.SortFunc(undo, func(a, b memory.Assertion) int { return slices.Compare(a.Memory[:], b.Memory[:]) })
	return p, undo
}

// heard adds a memory that was said so many days ago.
func (d *device) heard(id byte, typ memory.Type, text string, ago int, edit func(*memory.Candidate)) {
	c := memory.Candidate{Type: typ, Text: text, Owner: memory.Owner{User: memory.WearerUser}, Confidence: .9, Sensitivity: memory.Personal,
		Evidence: []memory.Evidence{{Event: memory.EventID{Device: "pin", Boot: 1, Seq: uint64(id)}, Utterance: memory.ID{id, 1}, At: now.AddDate(0, 0, -ago).Add(time.Duration(id) * time.Second), Excerpt: text}}}
	if typ == memory.Core {
		c.Fields.Core = &memory.CoreFields{Block: "human", Limit: 60}
	}
	if edit != nil {
		edit(&c)
	}
	d.say(memory.RankDevice, memory.Assertion{Memory: memory.ID{id}, Act: memory.ActPropose, Candidate: &c})
}

func tag(t string) func(*memory.Candidate) { return func(c *memory.Candidate) { c.Tags = []string{t} } }

func fresh() *device { return &device{member: memory.MemberID{1}, clock: now.AddDate(-2, 0, 0)} }

func (p *Plan) String() string {
	var all []string
	for _, s := range p.Steps {
		all = append(all, fmt.Sprintf("%s %d>%d", s.Kind, s.Memory[0], s.Into[0]))
	}
	return strings.Join(all, ", ")
}

func TestPlan(t *testing.T) {
	for _, tt := range []struct {
		name string
		make func(*device)
		want string
	}{
		{"duplicates", func(d *device) {
			d.heard(1, memory.Semantic, "The boiler is serviced by Hansen every autumn", 3, nil)
			d.heard(2, memory.Semantic, "The boiler is serviced every autumn by Hansen", 2, nil)
			d.heard(3, memory.Semantic, "The boiler is serviced every spring by Hansen", 1, nil)
		}, "merge 2>1"},
		{"a pinned one takes in", func(d *device) {
			d.heard(1, memory.Semantic, "The boiler is serviced by Hansen every autumn", 3, nil)
			d.heard(2, memory.Semantic, "The boiler is serviced every autumn by Hansen", 2, nil)
			d.say(memory.RankPerson, memory.Assertion{Memory: memory.ID{2}, Act: memory.ActPin})
		}, "merge 1>2"},
		{"two pinned ones stay", func(d *device) {
			d.heard(1, memory.Semantic, "The boiler is serviced by Hansen every autumn", 3, nil)
			d.heard(2, memory.Semantic, "The boiler is serviced every autumn by Hansen", 2, nil)
			d.say(memory.RankPerson, memory.Assertion{Memory: memory.ID{1}, Act: memory.ActPin}, memory.Assertion{Memory: memory.ID{2}, Act: memory.ActPin})
		}, ""},
		{"what happened on two days happened twice", func(d *device) {
			d.heard(1, memory.Episodic, "Ana swam in the lake", 3, nil)
			d.heard(2, memory.Episodic, "ana swam in the lake!", 2, nil)
		}, ""},
		{"operational for a week", func(d *device) {
			d.heard(1, memory.Semantic, "The van is on level 3", 8, tag("place"))
			d.heard(2, memory.Semantic, "The bike is at the station", 6, tag("place"))
		}, "expire 1>0"},
		{"not what holds until the next value", func(d *device) {
			place := func(many bool) func(*memory.Candidate) {
				return func(c *memory.Candidate) {
					c.Tags = []string{"place"}
					c.Slot = &memory.Slot{Subject: "passport", Attribute: "location", Value: "blue folder", Many: many}
				}
			}
			d.heard(1, memory.Semantic, "The passport is in the blue folder", 300, place(false))
			d.heard(2, memory.Semantic, "The old van may stand at the depot", 8, place(true))
		}, "expire 2>0"},
		{"a project for ninety days", func(d *device) {
			d.heard(1, memory.Semantic, "The bid is due in June", 91, tag("project"))
			d.heard(2, memory.Semantic, "The bid is checked by Bo", 89, tag("project"))
		}, "expire 1>0"},
		{"noted for ninety days", func(d *device) {
			d.heard(1, memory.Semantic, "The roof of the shed leaks", 91, tag("noted"))
			d.heard(2, memory.Semantic, "Mei's aunt repairs clocks", 89, tag("noted"))
		}, "expire 1>0"},
		{"not what is pinned", func(d *device) {
			d.heard(1, memory.Semantic, "The van is on level 3", 80, tag("place"))
			d.say(memory.RankPerson, memory.Assertion{Memory: memory.ID{1}, Act: memory.ActPin})
		}, ""},
		{"not what a person wrote", func(d *device) {
			d.heard(1, memory.Semantic, "The van is on level 3", 80, tag("place"))
			text := "The van is on level 4"
			d.say(memory.RankPerson, memory.Assertion{Memory: memory.ID{1}, Act: memory.ActCorrect, Patch: &memory.Patch{Text: &text}})
		}, ""},
		{"not the vault", func(d *device) {
			d.heard(1, memory.Vault, "password of the van", 800, func(c *memory.Candidate) {
				c.Tags, c.Sensitivity, c.Fields.Vault = []string{"place"}, memory.Secret, &memory.VaultFields{Label: "x", Sealed: []byte{1}}
			})
		}, ""},
		{"a full block", func(d *device) {
			d.heard(1, memory.Core, "Ana is a nurse in a hospital", 9, nil)
			d.heard(2, memory.Core, "Ana is forty and has a brother", 8, nil)
		}, fmt.Sprintf("move 1>%d", sha256.Sum256([]byte("core " + memory.ID{1}.String()))[0])},
		{"a past that nobody asks for", func(d *device) {
			home := func(city string) func(*memory.Candidate) {
				return func(c *memory.Candidate) { c.Slot = &memory.Slot{Subject: "user", Attribute: "home", Value: city} }
			}
			d.heard(1, memory.Semantic, "Ana lives in Rome", 900, home("Rome"))
			d.heard(2, memory.Semantic, "Ana lives in Oslo", 500, home("Oslo"))
			d.heard(3, memory.Semantic, "Ana lives in Lyon", 100, home("Lyon"))
		}, "archive 1>0"},
		{"a day", func(d *device) {
			for i := range byte(6) {
				d.heard(i+1, memory.Semantic, fmt.Sprintf("Ana told Bo about the lake and thing number %d", i), 2, nil)
			}
		}, fmt.Sprintf("summarise %[1]d>%[1]d", sha256.Sum256([]byte("day 2026-09-18"))[0])},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := fresh()
			tt.make(d)
			p := d.plan()
			if got := p.String(); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
			for _, s := range p.Steps {
				if s.Reason == "" || s.Text == "" || s.Stamp == "" {
					t.Errorf("without a reason: %+v", s)
				}
			}
			if again := d.plan(); again.ID != p.ID {
				t.Errorf("the same, under another id: %s, %s", p.ID, again.ID)
			}
		})
	}
}

// Two devices merged two memories each in its own way; after they met, one dream brings one of the
// two back, and they agree.
func TestCircularMerges(t *testing.T) {
	d := fresh()
	d.heard(1, memory.Semantic, "The boiler is serviced by Hansen every autumn", 3, nil)
	d.heard(2, memory.Semantic, "The boiler is serviced every autumn by Hansen", 2, nil)
	d.say(memory.RankDevice, memory.Assertion{Memory: memory.ID{1}, Act: memory.ActArchive, Into: memory.ID{2}}, memory.Assertion{Memory: memory.ID{2}, Act: memory.ActArchive, Into: memory.ID{1}})
	p, undo := d.dream()
	if p.String() != "revive 1>0" || d.memories()[0].State != memory.Active {
		t.Fatalf("%s: %s", p.String(), d.text())
	}
	d.say(memory.RankPerson, undo...)
	if again := d.plan(); again.String() != "revive 1>0" {
		t.Errorf("after the undo: %s", again.String())
	}
}

// list returns memories in short form.
func list(ms []memory.Memory) string {
	var b strings.Builder
	for _, m := range ms {
		fmt.Fprintf(&b, "\n%d %s %s %q slot %v tags %v rank %d pinned %v at %s into %d", m.ID[0], m.Type, m.State, m.Text, m.Slot, m.Tags, m.Rank, m.Pinned, m.When().Format(time.DateTime), m.Into[0])
	}
	return b.String()
}

func genDevice(t *rapid.T) *device {
	d := fresh()
	for i := range byte(rapid.IntRange(1, 14).Draw(t, "n")) {
		typ := rapid.SampledFrom([]memory.Type{memory.Semantic, memory.Semantic, memory.Episodic, memory.Core}).Draw(t, "type")
		word := rapid.SampledFrom([]string{"autumn", "spring", "winter"})
		text := "The boiler is serviced by Hansen every " + word.Draw(t, "when") + rapid.SampledFrom([]string{"", ".", " for sure", " again"}).Draw(t, "end")
		d.heard(i+1, typ, text, rapid.SampledFrom([]int{1, 2, 2, 2, 9, 100}).Draw(t, "ago"), func(c *memory.Candidate) {
			c.Tags = rapid.SliceOfN(rapid.SampledFrom([]string{"place", "project", "x"}), 0, 2).Draw(t, "tags")
			if rapid.IntRange(0, 3).Draw(t, "slot") == 0 {
				c.Slot = &memory.Slot{Subject: "boiler", Attribute: "serviced", Value: word.Draw(t, "value")}
			}
		})
		switch rapid.IntRange(0, 9).Draw(t, "then") {
		case 0:
			d.say(memory.RankPerson, memory.Assertion{Memory: memory.ID{i + 1}, Act: memory.ActPin})
		case 1:
			d.say(memory.RankPerson, memory.Assertion{Memory: memory.ID{i + 1}, Act: memory.ActArchive})
		case 2:
			d.say(memory.RankPerson, memory.Assertion{Memory: memory.ID{i + 1}, Act: memory.ActErase})
		case 3:
			text := "as a person says"
			d.say(memory.RankPerson, memory.Assertion{Memory: memory.ID{i + 1}, Act: memory.ActCorrect, Patch: &memory.Patch{Text: &text}})
		}
	}
	return d
}

// An undone dream leaves no trace, and a second dream finds nothing to do. Pinned memories and
// those of a person stay as they are, except for evidence from merged ones.
func TestUndoIsExactAndDreamIsIdempotent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := genDevice(t)
		was, before := d.text(), d.memories()
		first, undo := d.dream()
		after := map[memory.ID]memory.Memory{}
		for _, m := range d.memories() {
			after[m.ID] = m
		}
		for _, m := range before {
			now, ok := after[m.ID]
			if !ok {
				t.Fatalf("%q is gone", m.Text)
			}
			if m.Pinned && StateFingerprint(&m) != StateFingerprint(&now) || m.Rank == memory.RankPerson && (m.State != now.State || m.Text != now.Text) {
				t.Fatalf("%s%safter %s%s", list([]memory.Memory{m, now}), "\n", first.String(), list(before))
			}
		}
		if p := d.plan(); len(p.Steps) > 0 {
			t.Fatalf("a second dream: %s after %s%s", p.String(), first.String(), list(before))
		}
		d.say(memory.RankPerson, undo...)
		if got := d.text(); got != was {
			t.Fatalf("undone, and otherwise:\n%s\n%s", was, got)
		}
	})
}

// Two devices that dream separately, with slightly different knowledge, agree once they have met,
// and what one had merged away is not lost on both.
func TestDreamsApartConverge(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := genDevice(t)
		b := &device{member: memory.MemberID{2}, clock: a.clock.Add(time.Hour), as: slices.Clone(a.as)}
		if rapid.Bool().Draw(t, "pinned on one") {
			a.say(memory.RankPerson, memory.Assertion{Memory: memory.ID{1}, Act: memory.ActPin})
		}
		b.heard(200, memory.Semantic, "The boiler is serviced by Hansen every winter now", 1, nil)
		had := a.memories()
		a.dream()
		b.dream()
		meet := func() {
			know := map[memory.Dot]bool{}
			all := slices.Clone(a.as)
			for _, x := range a.as {
				know[x.Dot] = true
			}
			for _, x := range b.as {
				if !know[x.Dot] {
					all = append(all, x)
				}
			}
			a.as, b.as = all, slices.Clone(all)
			slices.Reverse(b.as)
		}
		meet()
		if a.text() != b.text() {
			t.Fatalf("met, and apart:\n%s\n%s", a.text(), b.text())
		}
		a.dream()
		b.dream()
		meet()
		if a.text() != b.text() {
			t.Fatal("after a second night: apart")
		}
		state := map[memory.ID]memory.Memory{}
		for _, m := range a.memories() {
			state[m.ID] = m
		}
		for _, m := range had {
			seen := map[memory.ID]bool{}
			at := state[m.ID]
			for at.State == memory.Archived && !at.Into.IsZero() && !seen[at.ID] {
				seen[at.ID] = true
				at = state[at.Into]
			}
			if m.State == memory.Active && seen[at.ID] {
				t.Fatalf("%q is merged away in a ring", m.Text)
			}
		}
	})
}
