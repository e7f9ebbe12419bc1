package consolidate

import (
	"fmt"
	"strings"
	"testing"

	"github.com/locket-dev/locket/memory"
)

// about returns an edit that makes a fact about the wearer.
func about(attribute, value, tag string) func(*memory.Candidate) {
	return func(c *memory.Candidate) {
		c.Slot, c.Tags = &memory.Slot{Subject: "user", Attribute: attribute, Value: value}, []string{tag}
	}
}

// again says something another time.
func (d *device) again(id byte) {
	d.say(memory.RankDevice, memory.Assertion{Memory: memory.ID{id}, Act: memory.ActReinforce,
		Evidence: []memory.Evidence{{Event: memory.EventID{Device: "pin", Boot: 2, Seq: uint64(id)}, At: now.AddDate(0, 0, -1)}}})
}

func (d *device) coreLines() string {
	var lines []string
	for _, m := range d.memories() {
		if m.Type == memory.Core && m.State == memory.Active {
			lines = append(lines, m.Text)
		}
	}
	return strings.Join(lines, "; ")
}

func TestCoreIsFilledFromRepetition(t *testing.T) {
	d := fresh()
	d.heard(1, memory.Semantic, "Ana lives in Oslo.", 3, about("home", "Oslo", "residence"))
	d.heard(2, memory.Semantic, "Ana works at Siemens.", 3, about("employer", "Siemens", "work"))
	d.heard(3, memory.Semantic, "Ana对花生过敏。", 3, about("allergies", "花生", "allergy"))
	d.heard(4, memory.Semantic, "Ana likes tea.", 3, about("likes", "tea", "preference"))
	d.heard(5, memory.Semantic, "Bo lives in Rome.", 3, func(c *memory.Candidate) {
		c.Slot, c.Tags = &memory.Slot{Subject: "bo", Attribute: "home", Value: "Rome"}, []string{"residence"}
	})
	d.heard(7, memory.Semantic, "User is allergic to nuts.", 3, func(c *memory.Candidate) { // of another user
		about("allergies", "nuts", "allergy")(c)
		c.Owner.User = "alice"
	})
	for _, id := range []byte{1, 4, 5} {
		d.again(id)
	}
	// The home was said twice, and health need not be said twice. Work was said only once, and tea
	// does not belong in a core block.
	p, undo := d.dream()
	if got := d.coreLines(); strings.Count(got, ";") != 1 || !strings.Contains(got, "Oslo") || !strings.Contains(got, "花生") {
		t.Fatalf("%q by %s", got, &p)
	}
	if p := d.plan(); len(p.Steps) != 0 {
		t.Errorf("again: %s", &p)
	}
	// Another home replaces it: the line is removed, and the new home has to be said again first.
	d.heard(6, memory.Semantic, "Ana moved to Bergen.", 2, about("home", "Bergen", "residence"))
	d.dream()
	if got := d.coreLines(); got != "Ana对花生过敏。" {
		t.Errorf("after a move: %q", got)
	}
	d.again(6)
	d.dream()
	if got := d.coreLines(); !strings.Contains(got, "Bergen") || strings.Contains(got, "Oslo") {
		t.Errorf("said again: %q", got)
	}
	// A dream can be undone.
	d.say(memory.RankDevice, undo...)
	if got := d.coreLines(); strings.Contains(got, "花生") || strings.Contains(got, "Oslo") {
		t.Errorf("undone: %q", got)
	}
}

// A full block loses its least used lines, but none that is pinned or about health.
func TestCoreKeepsHealth(t *testing.T) {
	d := fresh()
	for i := byte(1); i <= 60; i++ {
		tag := "work"
		if i <= 3 {
			tag = "health"
		}
		d.heard(i, memory.Semantic, fmt.Sprintf("Ana's fact %d is %s", i, strings.Repeat("long ", 10)), 90-int(i), about(fmt.Sprint("attribute ", i), fmt.Sprint(i), tag))
		d.again(i)
	}
	for range 2 {
		d.dream()
	}
	got := d.coreLines()
	if n := len(got); n > memory.CoreLimit || n < memory.CoreLimit/2 {
		t.Errorf("%d characters", n)
	}
	for i := 1; i <= 3; i++ {
		if !strings.Contains(got, fmt.Sprintf("fact %d is", i)) {
			t.Errorf("fact %d about health is gone", i)
		}
	}
	lines := map[memory.ID]bool{}
	for _, m := range d.memories() {
		lines[m.ID] = m.Type == memory.Core
	}
	p := d.plan()
	for _, s := range p.Steps {
		if s.Kind == Promote || lines[s.Memory] {
			t.Errorf("it does not come to rest: %s %q: %s", s.Kind, s.Text, s.Reason)
		}
	}
}
