package reconcile

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/memory"
)

var day0 = time.Date(2026, 9, 14, 8, 0, 0, 0, time.UTC)

// script builds a group by telling it like a story.
type script struct {
	as   []memory.Assertion
	seqs map[byte]uint64
}

func (s *script) say(member byte, hours int, rank memory.Rank, id byte, act memory.Act, edit func(*memory.Assertion)) *script {
	if s.seqs == nil {
		s.seqs = map[byte]uint64{}
	}
	s.seqs[member]++
	at := day0.Add(time.Duration(hours) * time.Hour)
	a := memory.Assertion{Dot: memory.Dot{Member: memory.MemberID{member}, Seq: s.seqs[member]}, Clock: memory.Clock{Wall: at.UnixMilli()},
		Rank: rank, Space: memory.SpaceID{1}, Memory: memory.ID{id}, Act: act}
	if edit != nil {
		edit(&a)
	}
	s.as = append(s.as, a)
	return s
}

func home(city string, hours int, negates bool) func(*memory.Assertion) {
	return func(a *memory.Assertion) {
		a.Candidate = &memory.Candidate{Type: memory.Semantic, Text: "Ana lives in " + city, Owner: memory.Owner{User: "ana"}, Negates: negates,
			Slot:     &memory.Slot{Subject: "user", Attribute: "home", Value: city},
			Evidence: []memory.Evidence{{Event: memory.EventID{Device: "pin", Boot: 1, Seq: a.Dot.Seq}, At: day0.Add(time.Duration(hours) * time.Hour), Excerpt: city}},
			TrueFrom: day0.Add(time.Duration(hours) * time.Hour), Confidence: .9}
	}
}

// since moves the beginning of a claim to so many hours after day0.
func since(claim func(*memory.Assertion), hours int) func(*memory.Assertion) {
	return func(a *memory.Assertion) {
		claim(a)
		a.Candidate.TrueFrom = day0.Add(time.Duration(hours) * time.Hour)
	}
}

// seen has an assertion name the dot of another.
func seen(member byte, seq uint64) func(*memory.Assertion) {
	return func(a *memory.Assertion) { a.Seen = []memory.Dot{{Member: memory.MemberID{member}, Seq: seq}} }
}

// settles marks an assertion as part of a settlement.
func settles(a *memory.Assertion) {
	a.Source = memory.Source{Plugin: memory.PersonPlugin, Version: "of a conflict"}
}

func view(ms []memory.Memory) string {
	s := ""
	for _, m := range ms {
		s += fmt.Sprintf("%d:%s", m.ID[0], m.State)
		if m.Pinned {
			s += "!"
		}
		if !m.Into.IsZero() {
			s += fmt.Sprintf(">%d", m.Into[0])
		}
		s += fmt.Sprintf(" x%d; ", m.Heard)
	}
	return s
}

// still makes a claim say that it is true now and has been for a while.
func still(claim func(*memory.Assertion)) func(*memory.Assertion) {
	return func(a *memory.Assertion) {
		claim(a)
		a.Candidate.Tags = append(a.Candidate.Tags, memory.StillTag)
	}
}

// swims claims a habit on some weekday.
func swims(day string, hours int, negates bool) func(*memory.Assertion) {
	return func(a *memory.Assertion) {
		home(day, hours, negates)(a)
		a.Candidate.Slot = &memory.Slot{Subject: "user", Attribute: "routine: swim", Value: day, Many: true}
	}
}

func TestDerive(t *testing.T) {
	const dev, person, cloud = memory.RankDevice, memory.RankPerson, memory.RankCloud
	tests := []struct {
		name string
		s    *script
		want string
	}{
		{"one claim", new(script).say(1, 0, dev, 1, memory.ActPropose, home("Beijing", 0, false)), "1:active x1; "},
		{"a new value ends the old one", new(script).
			say(1, 0, dev, 1, memory.ActPropose, home("Beijing", 0, false)).
			say(1, 5, dev, 2, memory.ActPropose, home("Shanghai", 5, false)), "1:superseded>2 x1; 2:active x1; "},
		{"learnt late, true early", new(script).
			say(1, 0, dev, 1, memory.ActPropose, home("Beijing", 5, false)).
			say(1, 5, dev, 2, memory.ActPropose, home("Paris", 0, false)), "2:superseded>1 x1; 1:active x1; "},
		{"a change is news for a while, whatever was said since it happened", new(script).
			say(1, 8, dev, 1, memory.ActPropose, home("Ghent", 8, false)).
			say(1, 9, dev, 2, memory.ActPropose, since(home("Lyon", 9, false), -7*24)), "1:superseded>2 x1; 2:active x1; "},
		{"what began long before it was said is history", new(script).
			say(1, 8, dev, 1, memory.ActPropose, home("Ghent", 8, false)).
			say(1, 9, dev, 2, memory.ActPropose, since(home("Lyon", 9, false), -700*24)), "2:superseded>1 x1; 1:active x1; "},
		{"unless it is so still", new(script).
			say(1, 8, dev, 1, memory.ActPropose, home("Ghent", 8, false)).
			say(1, 9, dev, 2, memory.ActPropose, still(since(home("Lyon", 9, false), -700*24))), "1:superseded>2 x1; 2:active x1; "},
		{"which a negation of another before it does not end", new(script).
			say(1, 8, dev, 1, memory.ActPropose, home("Ghent", 8, false)).
			say(1, 9, dev, 2, memory.ActPropose, home("Ghent", 9, true)).
			say(1, 10, dev, 3, memory.ActPropose, still(since(home("Lyon", 10, false), -700*24))), "1:superseded x1; 2:superseded>1 x1; 3:active x1; "},
		{"said again", new(script).
			say(1, 0, dev, 1, memory.ActPropose, home("Beijing", 0, false)).
			say(1, 5, dev, 2, memory.ActPropose, home("beijing", 5, false)), "1:active x2; 2:superseded>1 x1; "},
		{"and back again is a third period", new(script).
			say(1, 0, dev, 1, memory.ActPropose, home("Beijing", 0, false)).
			say(1, 1, dev, 2, memory.ActPropose, home("Shanghai", 1, false)).
			say(1, 2, dev, 3, memory.ActPropose, home("Beijing", 2, false)), "1:superseded>2 x1; 2:superseded>3 x1; 3:active x1; "},
		{"a negation ends it", new(script).
			say(1, 0, dev, 1, memory.ActPropose, home("Beijing", 0, false)).
			say(1, 5, dev, 2, memory.ActPropose, home("Beijing", 5, true)), "1:superseded x1; 2:superseded>1 x1; "},
		{"a negation by its name ends it wherever it is", new(script).
			say(1, 0, dev, 1, memory.ActPropose, home("the mill on Park Street", 0, false)).
			say(1, 5, dev, 2, memory.ActPropose, home("the mill", 5, true)), "1:superseded x1; 2:superseded>1 x1; "},
		{"and not what only begins alike", new(script).
			say(1, 0, dev, 1, memory.ActPropose, home("the mill house", 0, false)).
			say(1, 5, dev, 2, memory.ActPropose, home("the mill", 5, true)), "1:active x1; 2:superseded x1; "},
		{"habits of other days stand beside each other", new(script).
			say(1, 0, dev, 1, memory.ActPropose, swims("tuesday", 0, false)).
			say(1, 1, dev, 2, memory.ActPropose, swims("saturday", 1, false)).
			say(1, 2, dev, 3, memory.ActPropose, swims("tuesday", 2, true)), "1:superseded x1; 2:active x1; 3:superseded>1 x1; "},
		{"what ends the habit ends it on all days", new(script).
			say(1, 0, dev, 1, memory.ActPropose, swims("tuesday", 0, false)).
			say(1, 1, dev, 2, memory.ActPropose, swims("saturday", 1, false)).
			say(1, 2, dev, 3, memory.ActPropose, swims("", 2, true)), "1:superseded x1; 2:superseded x1; 3:superseded>2 x1; "},
		{"a negation of something else does not", new(script).
			say(1, 0, dev, 1, memory.ActPropose, home("Beijing", 0, false)).
			say(1, 5, dev, 2, memory.ActPropose, home("Rome", 5, true)), "1:active x1; 2:superseded x1; "},
		{"pinned stands against a machine", new(script).
			say(1, 0, dev, 1, memory.ActPropose, home("Beijing", 0, false)).
			say(1, 1, person, 1, memory.ActPin, nil).
			say(1, 5, dev, 2, memory.ActPropose, home("Shanghai", 5, false)), "1:active! x1; 2:active x1; "},
		{"pinned stands against a machine's negation", new(script).
			say(1, 0, dev, 1, memory.ActPropose, home("Beijing", 0, false)).
			say(1, 1, person, 1, memory.ActPin, nil).
			say(1, 5, cloud, 2, memory.ActPropose, home("Beijing", 5, true)), "1:active! x1; 2:superseded x1; "},
		{"pinned gives way to the person", new(script).
			say(1, 0, dev, 1, memory.ActPropose, home("Beijing", 0, false)).
			say(1, 1, person, 1, memory.ActPin, nil).
			say(1, 5, person, 2, memory.ActPropose, home("Shanghai", 5, false)), "1:superseded!>2 x1; 2:active x1; "},
		{"erased stays erased", new(script).
			say(1, 0, dev, 1, memory.ActPropose, home("Beijing", 0, false)).
			say(1, 1, person, 1, memory.ActErase, nil).
			say(2, 3, dev, 1, memory.ActPropose, home("Beijing", 0, false)).
			say(2, 4, person, 1, memory.ActPin, nil), "1:erased x0; "},
		{"erasing the later one brings the earlier back", new(script).
			say(1, 0, dev, 1, memory.ActPropose, home("Beijing", 0, false)).
			say(1, 5, dev, 2, memory.ActPropose, home("Shanghai", 5, false)).
			say(1, 6, person, 2, memory.ActErase, nil), "1:active x1; 2:erased x0; "},
		{"restored after an archive that it had seen", new(script).
			say(1, 0, dev, 1, memory.ActPropose, home("Beijing", 0, false)).
			say(1, 9, person, 1, memory.ActArchive, nil).
			say(2, 1, person, 1, memory.ActRestore, seen(1, 2)), "1:active x1; "},
		{"not by a machine, where a person had put it away", new(script).
			say(1, 0, dev, 1, memory.ActPropose, home("Beijing", 0, false)).
			say(1, 9, person, 1, memory.ActArchive, nil).
			say(2, 10, dev, 1, memory.ActRestore, seen(1, 2)), "1:archived x1; "},
		{"put away again by a machine, once it was said again", new(script).
			say(1, 0, dev, 1, memory.ActPropose, home("Beijing", 0, false)).
			say(1, 9, person, 1, memory.ActArchive, nil).
			say(1, 11, dev, 2, memory.ActPropose, home("Beijing", 0, false)).
			say(1, 12, dev, 1, memory.ActArchive, seen(1, 2)), "1:archived x2; 2:superseded>1 x1; "},
		{"of two that knew nothing of each other the person's shows", new(script).
			say(1, 0, dev, 1, memory.ActPropose, home("Beijing", 0, false)).
			say(1, 1, person, 1, memory.ActArchive, nil).
			say(2, 5, dev, 1, memory.ActRestore, nil), "1:archived x1; "},
		{"what is withdrawn is as if it had not been said", new(script).
			say(1, 0, dev, 1, memory.ActPropose, home("Beijing", 0, false)).
			say(1, 1, dev, 1, memory.ActArchive, nil).
			say(2, 2, person, 1, memory.ActWithdraw, seen(1, 2)), "1:active x1; "},
		{"a proposal, too", new(script).
			say(1, 0, dev, 1, memory.ActPropose, home("Beijing", 0, false)).
			say(2, 2, dev, 1, memory.ActWithdraw, seen(1, 1)), ""},
		{"but not one of which a person has spoken", new(script).
			say(1, 0, dev, 1, memory.ActPropose, home("Beijing", 0, false)).
			say(1, 1, person, 1, memory.ActPin, nil).
			say(2, 2, person, 1, memory.ActWithdraw, seen(1, 1)), "1:active! x1; "},
		{"a person's word is withdrawn by nobody", new(script).
			say(1, 0, dev, 1, memory.ActPropose, home("Beijing", 0, false)).
			say(1, 1, person, 1, memory.ActArchive, nil).
			say(2, 2, person, 1, memory.ActWithdraw, seen(1, 2)), "1:archived x1; "},
		{"but how a person settled a conflict is, by a person", new(script).
			say(1, 0, dev, 1, memory.ActPropose, home("Beijing", 0, false)).
			say(1, 1, person, 1, memory.ActArchive, settles).
			say(2, 2, person, 1, memory.ActWithdraw, seen(1, 2)), "1:active x1; "},
		{"and by no device", new(script).
			say(1, 0, dev, 1, memory.ActPropose, home("Beijing", 0, false)).
			say(1, 1, person, 1, memory.ActArchive, settles).
			say(2, 2, dev, 1, memory.ActWithdraw, seen(1, 2)), "1:archived x1; "},
		{"an erasure stays, whatever it says of itself", new(script).
			say(1, 0, dev, 1, memory.ActPropose, home("Beijing", 0, false)).
			say(1, 1, person, 1, memory.ActErase, settles).
			say(2, 2, person, 1, memory.ActWithdraw, seen(1, 2)), "1:erased x0; "},
		{"nor a device's by a worker", new(script).
			say(1, 0, dev, 1, memory.ActPropose, home("Beijing", 0, false)).
			say(1, 1, dev, 1, memory.ActArchive, nil).
			say(2, 2, cloud, 1, memory.ActWithdraw, seen(1, 2)), "1:archived x1; "},
		{"put away, although it had been repeated", new(script).
			say(1, 0, dev, 1, memory.ActPropose, home("Beijing", 0, false)).
			say(1, 1, dev, 2, memory.ActPropose, home("Beijing", 1, false)).
			say(1, 2, person, 1, memory.ActArchive, nil), "1:archived x2; 2:superseded>1 x1; "},
		{"put away, and said again", new(script).
			say(1, 0, dev, 1, memory.ActPropose, home("Beijing", 0, false)).
			say(1, 2, person, 1, memory.ActArchive, nil).
			say(1, 3, dev, 2, memory.ActPropose, home("Beijing", 3, false)), "1:active x2; 2:superseded>1 x1; "},
		{"a pin for what nobody proposed waits", new(script).say(1, 0, person, 1, memory.ActPin, nil), ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := view(Derive(tt.s.as)); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestConflictingCorrectionsAreBothKept(t *testing.T) {
	text := func(s string, seen ...memory.Dot) func(*memory.Assertion) {
		return func(a *memory.Assertion) { a.Patch, a.Seen = &memory.Patch{Text: &s}, seen }
	}
	s := new(script).say(1, 0, memory.RankDevice, 1, memory.ActPropose, home("Beijing", 0, false)).
		say(1, 2, memory.RankPerson, 1, memory.ActCorrect, text("Ana lives in Peking")).
		say(2, 1, memory.RankPerson, 1, memory.ActCorrect, text("Ana lives in 北京"))
	m := Derive(s.as)[0]
	if m.Text != "Ana lives in Peking" || len(m.Conflict) != 1 || m.Conflict[0].Value != "Ana lives in 北京" {
		t.Fatalf("shown %q, conflict %v", m.Text, m.Conflict)
	}
	s.say(2, 1, memory.RankPerson, 1, memory.ActCorrect, text("settled", Overrules(s.as, &memory.Assertion{Memory: memory.ID{1}, Act: memory.ActCorrect, Patch: &memory.Patch{Text: new(string)}})...))
	if m = Derive(s.as)[0]; m.Text != "settled" || m.Conflict != nil {
		t.Fatalf("after settling: shown %q, conflict %v", m.Text, m.Conflict)
	}
}

// The same words from the same place are one piece of evidence, whoever cites them.
func TestSameEvidenceCountsOnce(t *testing.T) {
	cite := func(a *memory.Assertion) {
		a.Evidence = []memory.Evidence{{Event: memory.EventID{Device: "pin", Boot: 1, Seq: 7}, At: day0, Excerpt: "Beijing", End: 7}}
	}
	s := new(script).say(1, 0, memory.RankDevice, 1, memory.ActPropose, home("Beijing", 0, false)).
		say(1, 1, memory.RankDevice, 1, memory.ActReinforce, cite).
		say(2, 1, memory.RankDevice, 1, memory.ActReinforce, cite)
	if m := Derive(s.as)[0]; m.Heard != 2 {
		t.Errorf("heard %d times: %+v", m.Heard, m.Evidence)
	}
}

func TestTagsAreAnObservedRemoveSet(t *testing.T) {
	tag := func(tags []string, seen ...memory.Dot) func(*memory.Assertion) {
		return func(a *memory.Assertion) { a.Tags, a.Seen = tags, seen }
	}
	s := new(script).say(1, 0, memory.RankDevice, 1, memory.ActPropose, home("Beijing", 0, false)).
		say(1, 1, memory.RankPerson, 1, memory.ActTag, tag([]string{"x", "y"})).
		say(1, 2, memory.RankPerson, 1, memory.ActUntag, tag([]string{"x"}, memory.Dot{Member: memory.MemberID{1}, Seq: 2})).
		say(2, 1, memory.RankPerson, 1, memory.ActTag, tag([]string{"x"}))
	if got := fmt.Sprint(Derive(s.as)[0].Tags); got != "[x y]" {
		t.Fatalf("a tag set elsewhere must survive a removal that did not know of it: %s", got)
	}
	if got := fmt.Sprint(Derive(s.as[:3])[0].Tags); got != "[y]" {
		t.Fatalf("got %s", got)
	}
}

// A machine can't remove a tag that a person set, whatever it has seen.
func TestTagsOfAPerson(t *testing.T) {
	tag := func(tags []string, seen ...memory.Dot) func(*memory.Assertion) {
		return func(a *memory.Assertion) { a.Tags, a.Seen = tags, seen }
	}
	s := new(script).say(1, 0, memory.RankDevice, 1, memory.ActPropose, home("Beijing", 0, false)).
		say(1, 1, memory.RankPerson, 1, memory.ActTag, tag([]string{"x"})).
		say(1, 2, memory.RankDevice, 1, memory.ActTag, tag([]string{"y"})).
		say(2, 3, memory.RankDevice, 1, memory.ActUntag, tag([]string{"x", "y"}, memory.Dot{Member: memory.MemberID{1}, Seq: 2}, memory.Dot{Member: memory.MemberID{1}, Seq: 3}))
	if got := fmt.Sprint(Derive(s.as)[0].Tags); got != "[x]" {
		t.Fatalf("got %s", got)
	}
}

// A plugin's later version that proposes the same memory in other words does
// not change what a person has pinned.
func TestPinnedTextIsNotReworded(t *testing.T) {
	s := new(script).say(1, 0, memory.RankDevice, 1, memory.ActPropose, home("Beijing", 0, false)).
		say(1, 1, memory.RankPerson, 1, memory.ActPin, nil).
		say(2, 5, memory.RankDevice, 1, memory.ActPropose, home("Peking", 5, false))
	if m := Derive(s.as)[0]; m.Text != "Ana lives in Beijing" {
		t.Errorf("pinned, and now %q", m.Text)
	}
	s.as = append(s.as[:1:1], s.as[2])
	if m := Derive(s.as)[0]; m.Text != "Ana lives in Peking" {
		t.Errorf("not pinned, and still %q", m.Text)
	}
}

func TestDiffNamesTheVerdict(t *testing.T) {
	s := new(script).say(1, 0, memory.RankDevice, 1, memory.ActPropose, home("Beijing", 0, false)).
		say(1, 1, memory.RankDevice, 2, memory.ActPropose, home("Beijing", 1, false)).
		say(1, 2, memory.RankDevice, 3, memory.ActPropose, home("Shanghai", 2, false)).
		say(1, 3, memory.RankDevice, 4, memory.ActPropose, home("Shanghai", 3, true)).
		say(1, 4, memory.RankPerson, 1, memory.ActErase, nil)
	want := []string{
		"1 ADD nothing known about this before; ",
		"1 NOOP said again: 2 pieces of evidence; ",
		`3 UPDATE takes the place of "Ana lives in Beijing": there is one home of the wearer at a time; 1 UPDATE true until 2026-09-14, when "Ana lives in Shanghai" took its place; `,
		`4 DELETE says that this no longer holds: "Ana lives in Shanghai"; 3 DELETE no longer so, as of 2026-09-14; `,
		"1 DELETE erased by the wearer; ",
	}
	for i := range s.as {
		got := ""
		for _, c := range Diff(Derive(s.as[:i]), Derive(s.as[:i+1]), s.as[i]) {
			got += fmt.Sprintf("%d %s %s; ", c.Memory[0], c.Verdict, c.Reason)
		}
		if i == len(s.as)-1 { // what it leaves of memory 2 is reported as well, but only the erasure counts here
			if got[:len(want[i])] != want[i] {
				t.Errorf("step %d:\n got %s\nwant %s…", i, got, want[i])
			}
		} else if got != want[i] {
			t.Errorf("step %d:\n got %s\nwant %s", i, got, want[i])
		}
	}
}

// An update names the memory whose words it holds, even if pinned ones stand beside it, because an
// erasure finds those words by that name.
func TestUpdateNamesTheMemoryItQuotes(t *testing.T) {
	one := func(id byte, city string) memory.Memory {
		var a memory.Assertion
		home(city, int(id), false)(&a)
		return memory.Memory{ID: memory.ID{id}, Candidate: *a.Candidate, State: memory.Active}
	}
	old, pinned, next := one(1, "Beijing"), one(2, "Oslo"), one(3, "Lyon")
	pinned.Pinned = true
	ended := old
	ended.State, ended.Into = memory.Superseded, next.ID
	for name, order := range map[string][2][]memory.Memory{
		"pinned last":  {{old, pinned}, {ended, pinned, next}},
		"pinned first": {{pinned, old}, {pinned, ended, next}},
	} {
		changes := Diff(order[0], order[1], memory.Assertion{Memory: next.ID, Act: memory.ActPropose})
		if c := changes[0]; c.Verdict != memory.Update || c.Old != old.Text || c.Other != old.ID || strings.Contains(c.Reason, Spared) {
			t.Errorf("%s: %+v", name, c)
		}
	}
}

// Recordings, photos and the memories made from them are distinguished by their files and sources.
// Their texts don't help: two recordings of one second are described in the same words.
func TestResourcesOfTheSameSecond(t *testing.T) {
	of := func(text, blob string, slot *memory.Slot, to ...string) func(*memory.Assertion) {
		return func(a *memory.Assertion) {
			a.Candidate = &memory.Candidate{Type: memory.Resource, Text: text, Owner: memory.Owner{User: "ana"}, Slot: slot, TrueFrom: day0, Confidence: 1,
				Evidence: []memory.Evidence{{Event: memory.EventID{Device: "pin", Boot: uint64(a.Dot.Member[0]), Seq: 1}, At: day0}},
				Fields:   memory.Fields{Resource: &memory.ResourceFields{Title: text, Blob: blob}}}
			for _, id := range to {
				a.Candidate.Links = append(a.Candidate.Links, memory.Link{Relation: "transcript_of", To: id})
			}
		}
	}
	scene := &memory.Slot{Subject: "photo", Attribute: "scene", Value: "00ff", Many: true}
	passport := &memory.Slot{Subject: "user", Attribute: "passport", Value: "old"}
	for _, c := range []struct {
		name string
		a, b func(*memory.Assertion)
		want string
	}{
		{"recordings", of("Recording of 11.0 s", "b1", nil), of("Recording of 11.0 s", "b2", nil), "1:active x1; 2:active x1; "},
		{"photos of one scene", of("Photo", "b1", scene), of("Photo", "b2", scene), "1:active x1; 2:active x1; "},
		{"transcripts of two", of("Yes.", "", nil, "r1"), of("Yes.", "", nil, "r2"), "1:active x1; 2:active x1; "},
		{"two transcripts of one", of("Yes.", "", nil, "r1"), of("Yes.", "", nil, "r1"), "1:active x2; 2:superseded>1 x1; "},
		{"a page that is read twice", of("The manual", "", nil), of("The manual", "", nil), "1:active x2; 2:superseded>1 x1; "},
		{"the newest scan", of("Passport", "b1", passport), of("Passport", "b2", &memory.Slot{Subject: "user", Attribute: "passport", Value: "new"}), "1:superseded>2 x1; 2:active x1; "},
	} {
		s := new(script).say(1, 0, memory.RankDevice, 1, memory.ActPropose, c.a).say(2, 1, memory.RankDevice, 2, memory.ActPropose, c.b)
		if got := view(Derive(s.as)); got != c.want {
			t.Errorf("%s: %s\nwant %s", c.name, got, c.want)
		}
	}
}
