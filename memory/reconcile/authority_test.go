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

// What a worker says about things it may not decide has no effect, whether it says it before the
// others or after. Member 7 is a hostile worker.
func TestWorkerHasNoEffectBeyondItsRights(t *testing.T) {
	const dev, person, cloud = memory.RankDevice, memory.RankPerson, memory.RankCloud
	text := func(s string) func(*memory.Assertion) {
		return func(a *memory.Assertion) { a.Patch = &memory.Patch{Text: &s} }
	}
	private := func(s memory.Sensitivity) func(*memory.Assertion) {
		return func(a *memory.Assertion) { a.Patch = &memory.Patch{Sensitivity: &s} }
	}
	over := func(a *memory.Assertion) {
		a.Patch = &memory.Patch{Validity: &memory.Validity{To: day0.Add(time.Hour)}}
	}
	called := func(s memory.Sensitivity, tags ...string) func(*memory.Assertion) {
		return func(a *memory.Assertion) {
			home("Beijing", 0, false)(a)
			a.Candidate.Sensitivity, a.Candidate.Tags = s, tags
		}
	}
	pinNames := func(as []memory.Assertion) func(*memory.Assertion) {
		return func(a *memory.Assertion) { a.Seen = Overrules(as, a) }
	}
	shown := func(ms []memory.Memory) string {
		var out []string
		for _, m := range ms {
			if m.State == memory.Active {
				out = append(out, fmt.Sprintf("%d %s %s %v heard %d", m.ID[0], strings.TrimPrefix(m.Text, "Ana lives in "), m.Sensitivity, m.Tags, m.Heard))
			}
		}
		return strings.Join(out, "; ")
	}
	devices := new(script).say(1, 1, dev, 1, memory.ActPropose, called(memory.Private, "town")).as
	workers := new(script).say(6, 1, cloud, 1, memory.ActPropose, called(memory.Private, "town")).as
	inVault := new(script).say(1, 1, dev, 1, memory.ActPropose, func(a *memory.Assertion) { called(memory.Secret)(a); a.Candidate.Type = memory.Vault }).as
	by := func(before []memory.Assertion) *script { return &script{as: slices.Clone(before)} }
	tests := []struct {
		name string
		s    *script
		want string
	}{
		{"corrects a device's", by(devices).say(7, 2, cloud, 1, memory.ActCorrect, text("x")), "1 Beijing private [town] heard 1"},
		{"closes a device's", by(devices).say(7, 2, cloud, 1, memory.ActClose, over), "1 Beijing private [town] heard 1"},
		{"puts a device's away", by(devices).say(7, 2, cloud, 1, memory.ActArchive, nil), "1 Beijing private [town] heard 1"},
		{"calls a device's less private", by(devices).say(7, 2, cloud, 1, memory.ActCorrect, private(memory.Personal)), "1 Beijing private [town] heard 1"},
		{"calls a device's more private", by(devices).say(7, 2, cloud, 1, memory.ActCorrect, private(memory.Secret)), "1 Beijing private [town] heard 1"},
		{"proposes a device's in other words, and earlier", by(devices).say(7, 0, cloud, 1, memory.ActPropose, home("Rome", -900, false)), "1 Beijing private [town] heard 2"},
		{"tags what a device proposed", by(devices).say(7, 2, cloud, 1, memory.ActTag, func(a *memory.Assertion) { a.Tags = []string{"mine"} }), "1 Beijing private [town] heard 1"},
		{"adds to the vault", by(inVault).say(7, 2, cloud, 1, memory.ActReinforce, func(a *memory.Assertion) { a.Evidence = []memory.Evidence{{At: day0}} }), "1 Beijing secret [] heard 1"},

		{"corrects a worker's", by(workers).say(7, 2, cloud, 1, memory.ActCorrect, text("x")), "1 x private [town] heard 1"},
		{"closes a worker's", by(workers).say(7, 2, cloud, 1, memory.ActClose, over), ""},
		{"corrects what a person corrected", by(workers).say(1, 2, person, 1, memory.ActCorrect, text("so")).
			say(7, 3, cloud, 1, memory.ActCorrect, func(a *memory.Assertion) { v := "Rome"; a.Patch = &memory.Patch{Value: &v} }), "1 so private [town] heard 1"},
		{"closes what a person corrected", by(workers).say(1, 2, person, 1, memory.ActCorrect, text("so")).say(7, 3, cloud, 1, memory.ActClose, over), "1 so private [town] heard 1"},
		{"puts away what a device corrected", by(workers).say(1, 2, dev, 1, memory.ActCorrect, text("so")).say(7, 3, cloud, 1, memory.ActArchive, nil), "1 so private [town] heard 1"},
		{"calls a worker's less private", by(workers).say(7, 2, cloud, 1, memory.ActCorrect, private(memory.Personal)), "1 Beijing private [town] heard 1"},
		{"takes back that it called it secret", by(workers).say(7, 2, cloud, 1, memory.ActCorrect, private(memory.Secret)).
			say(7, 3, cloud, 1, memory.ActCorrect, func(a *memory.Assertion) { private(memory.Personal)(a); seen(7, 1)(a) }), "1 Beijing secret [town] heard 1"},
		{"proposes it as less private", by(workers).say(7, 2, cloud, 1, memory.ActPropose, called(memory.Personal)), "1 Beijing private [town] heard 1"},
		{"a person calls it less private", by(workers).say(7, 2, cloud, 1, memory.ActCorrect, private(memory.Secret)).say(1, 3, person, 1, memory.ActCorrect, private(memory.Personal)),
			"1 Beijing personal [town] heard 1"},

		{"corrects what is pinned", by(workers).say(1, 2, person, 1, memory.ActPin, nil).say(7, 3, cloud, 1, memory.ActCorrect, text("x")), "1 Beijing private [town] heard 1"},
		{"puts away what is pinned", by(workers).say(1, 2, person, 1, memory.ActPin, nil).say(7, 3, cloud, 1, memory.ActArchive, nil), "1 Beijing private [town] heard 1"},
		{"proposes what is pinned in other words, and earlier", by(workers).say(1, 2, person, 1, memory.ActPin, pinNames(workers)).
			say(7, 0, cloud, 1, memory.ActPropose, home("Rome", -900, false)), "1 Beijing private [town] heard 2"},
		{"calls what is pinned secret", by(workers).say(1, 2, person, 1, memory.ActPin, pinNames(workers)).say(7, 3, cloud, 1, memory.ActCorrect, private(memory.Secret)),
			"1 Beijing private [town] heard 1"},
		{"pins", by(workers).say(7, 2, cloud, 1, memory.ActPin, nil).say(7, 3, cloud, 1, memory.ActCorrect, text("x")), "1 x private [town] heard 1"},
		{"pins, as a device", by(workers).say(7, 2, dev, 1, memory.ActPin, nil).say(7, 3, cloud, 1, memory.ActCorrect, text("x")), "1 x private [town] heard 1"},
		{"unpins, as a device", by(workers).say(1, 2, person, 1, memory.ActPin, nil).say(7, 3, dev, 1, memory.ActUnpin, seen(1, 1)).say(7, 4, cloud, 1, memory.ActClose, over),
			"1 Beijing private [town] heard 1"},

		{"makes the present the past by its evidence", new(script).
			say(1, 1, dev, 1, memory.ActPropose, home("Beijing", 1, false)).
			say(1, 2, dev, 2, memory.ActPropose, func(a *memory.Assertion) { home("Rome", 2, false)(a); a.Candidate.TrueFrom = time.Time{} }).
			say(7, 3, cloud, 2, memory.ActReinforce, func(a *memory.Assertion) {
				a.Evidence = []memory.Evidence{{At: day0.Add(-9000 * time.Hour), Excerpt: "Rome"}}
			}), "2 Rome public [] heard 2"},
		{"says it earlier, and puts that away", new(script).
			say(1, 5, dev, 1, memory.ActPropose, home("Beijing", 5, false)).
			say(7, 0, cloud, 2, memory.ActPropose, home("Beijing", 0, false)).
			say(7, 9, cloud, 2, memory.ActArchive, func(a *memory.Assertion) { a.Into = memory.ID{9} }), "1 Beijing public [] heard 1"},
		{"says it earlier, in other words", new(script).
			say(1, 5, dev, 1, memory.ActPropose, home("Beijing", 5, false)).
			say(7, 0, cloud, 2, memory.ActPropose, home("Beijing", 0, false)).
			say(7, 9, cloud, 2, memory.ActCorrect, text("x")), "1 Beijing public [] heard 1"},
		{"said it earlier, and a person put that away", new(script).
			say(1, 1, dev, 1, memory.ActPropose, home("Beijing", 5, false)).
			say(7, 0, cloud, 2, memory.ActPropose, home("Beijing", 0, false)).
			say(1, 9, person, 2, memory.ActArchive, nil), ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			mixed := slices.Clone(tt.s.as)
			slices.Reverse(mixed)
			if got, back := shown(Derive(tt.s.as)), shown(Derive(mixed)); got != tt.want || back != tt.want {
				t.Errorf("got  %s\nor   %s\nwant %s", got, back, tt.want)
			}
		})
	}
}

// A pin keeps the sensitivity that a worker had set.
func TestPinKeepsSensitivity(t *testing.T) {
	secret := memory.Secret
	s := new(script).say(6, 1, memory.RankCloud, 1, memory.ActPropose, home("Beijing", 0, false)).
		say(6, 2, memory.RankCloud, 1, memory.ActCorrect, func(a *memory.Assertion) { a.Patch = &memory.Patch{Sensitivity: &secret} })
	s.say(1, 3, memory.RankPerson, 1, memory.ActPin, func(a *memory.Assertion) { a.Seen = Overrules(s.as, a) })
	if m := Derive(s.as)[0]; m.Sensitivity != memory.Secret {
		t.Errorf("pinned, and %s now", m.Sensitivity)
	}
}

// A pin on a device's memory keeps what was shown when it was pinned.
func TestPinKeepsTheShownText(t *testing.T) {
	s := new(script).say(1, 0, memory.RankDevice, 1, memory.ActPropose, home("Beijing", 0, false)).
		say(1, 1, memory.RankDevice, 1, memory.ActPropose, home("Peking", 0, false))
	s.say(1, 2, memory.RankPerson, 1, memory.ActPin, func(a *memory.Assertion) { a.Seen = Overrules(s.as, a) })
	s.say(1, 3, memory.RankDevice, 1, memory.ActPropose, home("Rome", 0, false))
	if m := Derive(s.as)[0]; m.Text != "Ana lives in Peking" {
		t.Errorf("pinned as Peking, and now %q", m.Text)
	}
}

// A worker's assertion that does not count makes no conflict; against a pinned memory, or workers'
// own, it is shown as a machine's is.
func TestConflictsWithWorkers(t *testing.T) {
	other := "Ana lives elsewhere"
	correct := func(a *memory.Assertion) { a.Patch = &memory.Patch{Text: &other} }
	for rank, want := range map[memory.Rank]int{memory.RankDevice: 0, memory.RankCloud: 1} {
		s := new(script).say(1, 0, rank, 1, memory.ActPropose, home("Beijing", 0, false)).
			say(1, 1, memory.RankPerson, 1, memory.ActPin, nil).
			say(7, 2, memory.RankCloud, 1, memory.ActCorrect, correct)
		if cs := Conflicts(s.as); len(cs) != want || want > 0 && cs[0].Kind != PinConflict {
			t.Errorf("of rank %d: %+v", rank, cs)
		}
	}
}

// If anybody else has proposed a memory, workers' assertions change nothing but its evidence. The
// same holds for a memory whose pin names what it keeps.
func TestWorkersChangeNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := genGroup(t)
		for _, id := range memoriesOf(all) {
			var with, without []*memory.Assertion
			others := false
			for i := range all {
				if a := &all[i]; a.Memory == id {
					with = append(with, a)
					if a.Rank > memory.RankCloud {
						without = append(without, a)
						others = others || a.Act == memory.ActPropose
					}
				}
			}
			if !others {
				continue
			}
			x, y := fold(id, with), fold(id, without)
			if y == nil { // the others' proposals were withdrawn, so the memory is the workers' own
				continue
			}
			if x == nil {
				t.Fatalf("gone, and without workers there: %s", valueText(y.mem))
			}
			for _, it := range []*item{x, y} {
				it.evidence, it.mem.Evidence, it.mem.Heard = nil, nil, 0
			}
			if valueText(x.mem) != valueText(y.mem) || !x.from.Equal(y.from) || x.value != y.value {
				t.Fatalf("with workers\n%s at %s\nwithout\n%s at %s", valueText(x.mem), x.from, valueText(y.mem), y.from)
			}
		}
	})
}

// A worker alone cannot end what a person has said of a slot, with another value or a negation,
// before it or after. Both are shown until the wearer says which is true, or somebody else's
// assertion ends one.
func TestWorkerCannotEndAPersonsValue(t *testing.T) {
	const dev, person, cloud = memory.RankDevice, memory.RankPerson, memory.RankCloud
	shown := func(ms []memory.Memory) string {
		var out []string
		for _, m := range ms {
			if m.State == memory.Active {
				out = append(out, strings.TrimPrefix(m.Text, "Ana lives in "))
			}
		}
		slices.Sort(out)
		return strings.Join(out, " ")
	}
	said := func(rank memory.Rank) *script {
		return new(script).say(1, 1, rank, 1, memory.ActPropose, home("Ghent", 1, false))
	}
	tests := []struct {
		name string
		s    *script
		want string
	}{
		{"another value, of a person's", said(person).say(7, 5, cloud, 2, memory.ActPropose, home("Lyon", 5, false)), "Ghent Lyon"},
		{"a denial, of a person's", said(person).say(7, 5, cloud, 2, memory.ActPropose, home("Ghent", 5, true)), "Ghent"},
		{"another value, of a device's", said(dev).say(7, 5, cloud, 2, memory.ActPropose, home("Lyon", 5, false)), "Lyon"},
		{"a denial, of a device's", said(dev).say(7, 5, cloud, 2, memory.ActPropose, home("Ghent", 5, true)), ""},
		{"of a device's that a person corrected", said(dev).say(1, 2, person, 1, memory.ActCorrect, func(a *memory.Assertion) { v := "Gent"; a.Patch = &memory.Patch{Value: &v} }).
			say(7, 5, cloud, 2, memory.ActPropose, home("Lyon", 5, false)), "Ghent Lyon"},
		{"of a device's that a person said, too", said(dev).say(1, 2, person, 3, memory.ActPropose, home("Ghent", 2, false)).
			say(7, 5, cloud, 2, memory.ActPropose, home("Lyon", 5, false)), "Ghent Lyon"},
		{"a device hears otherwise", said(person).say(1, 5, dev, 2, memory.ActPropose, home("Lyon", 5, false)), "Lyon"},
		{"two workers' values", said(person).say(7, 5, cloud, 2, memory.ActPropose, home("Lyon", 5, false)).
			say(6, 6, cloud, 3, memory.ActPropose, home("Rome", 6, false)), "Ghent Rome"},
		{"the worker's, and a device hears it", said(person).say(7, 5, cloud, 2, memory.ActPropose, home("Lyon", 5, false)).
			say(1, 6, dev, 3, memory.ActPropose, home("Lyon", 6, false)), "Lyon"},
		{"the worker's, and a device hears the person's", said(person).say(7, 5, cloud, 2, memory.ActPropose, home("Lyon", 5, false)).
			say(1, 6, dev, 3, memory.ActPropose, home("Ghent", 6, false)), "Ghent"},
		{"the worker's, and another worker reads the person's", said(person).say(7, 5, cloud, 2, memory.ActPropose, home("Lyon", 5, false)).
			say(6, 6, cloud, 3, memory.ActPropose, home("Ghent", 6, false)), "Ghent Lyon"},
		{"the worker's, and a third by a person", said(person).say(7, 5, cloud, 2, memory.ActPropose, home("Lyon", 5, false)).
			say(1, 6, person, 3, memory.ActPropose, home("Rome", 6, false)), "Rome"},
		{"a worker's from before", said(person).say(7, 0, cloud, 2, memory.ActPropose, home("Lyon", 0, false)), "Ghent"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			mixed := slices.Clone(tt.s.as)
			slices.Reverse(mixed)
			if got, back := shown(Derive(tt.s.as)), shown(Derive(mixed)); got != tt.want || back != tt.want {
				t.Errorf("got  %s\nor   %s\nwant %s", got, back, tt.want)
			}
		})
	}

	// The conflict is listed, with the wearer's value first, and either value settles it.
	s := said(person).say(7, 5, cloud, 2, memory.ActPropose, home("Lyon", 5, false))
	before := Derive(s.as[:1])
	if c := Diff(before, Derive(s.as), s.as[1]); len(c) != 1 || c[0].Other != before[0].ID || !strings.Contains(c[0].Reason, SparedSaid) {
		t.Errorf("told as %+v", c)
	}
	denied := said(person).say(7, 5, cloud, 2, memory.ActPropose, home("Ghent", 5, true))
	if c := Diff(before, Derive(denied.as), denied.as[1]); len(c) != 1 || c[0].Other != before[0].ID || !strings.Contains(c[0].Reason, SparedSaid) {
		t.Errorf("a denial is told as %+v", c)
	}
	cs := Conflicts(s.as)
	if len(cs) != 1 || len(cs[0].Sides) != 2 || cs[0].Sides[0].Value != "Ghent" || !strings.Contains(cs[0].Why, "the wearer said it") {
		t.Fatalf("%+v", cs)
	}
	for choice, want := range map[int]string{1: "Ghent", 2: "Lyon"} {
		as, err := Settle(s.as, &cs[0], Settlement{Choose: choice}, memory.Evidence{At: day0.Add(100 * time.Hour)}, func(*memory.Candidate) memory.ID { return memory.ID{9} })
		if err != nil {
			t.Fatal(err)
		}
		all := slices.Clone(s.as)
		for i := range as {
			as[i].Dot, as[i].Clock = memory.Dot{Member: memory.MemberID{1}, Seq: uint64(90 + i)}, memory.Clock{Wall: day0.Add(100 * time.Hour).UnixMilli(), Logical: uint32(i)}
			as[i].Seen = Overrules(all, &as[i])
			if as[i].Act == memory.ActPropose {
				as[i].Seen = SeenDots(all, &as[i])
			}
			all = append(all, as[i])
		}
		if got := shown(Derive(all)); got != want {
			t.Errorf("chose %d: shown %s, want %s", choice, got, want)
		}
		if cs := Conflicts(all); len(cs) > 0 {
			t.Errorf("chose %d: still open: %+v", choice, cs)
		}
	}
}
