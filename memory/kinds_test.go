package memory

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// The error of each type's rules names the field that breaks them.
func TestFieldsNameWhatIsWrong(t *testing.T) {
	noon := time.Date(2026, 9, 14, 12, 0, 0, 0, time.UTC)
	long := strings.Repeat("x", MaxName+1)
	many := make([]string, MaxSteps+1)
	for i := range many {
		many[i] = "step"
	}
	for _, tt := range []struct {
		of    Type
		f     Fields
		field string // "" is valid
	}{
		{Core, Fields{Core: &CoreFields{Block: "human", Limit: 10}}, ""},
		{Core, Fields{}, "fields.core"},
		{Core, Fields{Core: &CoreFields{Block: " ", Limit: 10}}, "fields.core.block"},
		{Core, Fields{Core: &CoreFields{Block: long, Limit: 10}}, "fields.core.block"},
		{Core, Fields{Core: &CoreFields{Block: "human"}}, "fields.core.limit"},
		{Episodic, Fields{}, ""},
		{Episodic, Fields{Episodic: &EpisodicFields{EventType: "visit", Started: noon, Ended: noon.Add(time.Hour)}}, ""},
		{Episodic, Fields{Episodic: &EpisodicFields{Started: noon, Ended: noon.Add(-time.Hour)}}, "fields.episodic.ended"},
		{Episodic, Fields{Episodic: &EpisodicFields{Place: long}}, "fields.episodic.place"},
		{Episodic, Fields{Episodic: &EpisodicFields{Actor: "\xff"}}, "fields.episodic.actor"},
		{Semantic, Fields{Semantic: &SemanticFields{Subject: "Mei", Predicate: "sister of", Object: "Anna"}}, ""},
		{Semantic, Fields{Semantic: &SemanticFields{Predicate: "sister of"}}, "fields.semantic.object"},
		{Semantic, Fields{Semantic: &SemanticFields{Predicate: long, Object: "x"}}, "fields.semantic.predicate"},
		{Procedural, Fields{Procedural: &ProceduralFields{Steps: []string{"a", " "}}}, "fields.procedural.steps[1]"},
		{Procedural, Fields{Procedural: &ProceduralFields{Steps: many}}, "fields.procedural.steps"},
		{Resource, Fields{Resource: &ResourceFields{MediaType: "text"}}, "fields.resource.media_type"},
		{Resource, Fields{Resource: &ResourceFields{MediaType: "text/plain", Content: strings.Repeat("x", MaxContent+1)}}, "fields.resource.content"},
		{Vault, Fields{Vault: &VaultFields{Sealed: []byte{1}}}, "fields.vault.label"},
		{Vault, Fields{Vault: &VaultFields{Label: "door"}}, "fields.vault"},
		{Semantic, Fields{Core: &CoreFields{Block: "human", Limit: 10}}, "fields.core"},
	} {
		c := Candidate{Type: tt.of, Text: "x", Owner: Owner{User: "ana"}, Fields: tt.f}
		err := c.Validate()
		if tt.field == "" && err != nil || tt.field != "" && (!errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), tt.field+":")) {
			t.Errorf("%s %+v: %v, want %q", tt.of, tt.f, err, tt.field)
		}
	}
}

func TestAppendAndReplace(t *testing.T) {
	v, err := AppendLine("Ana is a nurse.", "She sings.")
	if err != nil || v != "Ana is a nurse.\nShe sings." {
		t.Fatalf("%q, %v", v, err)
	}
	if again, err := AppendLine(v, "she sings"); err != nil || again != v {
		t.Errorf("said again: %q, %v", again, err)
	}
	if v, err = ReplaceText(v, "a nurse", "a doctor"); err != nil || v != "Ana is a doctor.\nShe sings." {
		t.Errorf("%q, %v", v, err)
	}
	if v, err = ReplaceText(v, "Ana is a doctor.", ""); err != nil || v != "She sings." {
		t.Errorf("a line that is empty goes: %q, %v", v, err)
	}
	for _, bad := range [][2]string{{"", "x"}, {"zebra", "x"}, {"s", "x"}, {"She sings.", ""}} {
		if _, err := ReplaceText(v, bad[0], bad[1]); !errors.Is(err, ErrInvalid) {
			t.Errorf("%q by %q: %v", bad[0], bad[1], err)
		}
	}
	for _, bad := range []string{"", "  ", "a\nb"} {
		if _, err := AppendLine(v, bad); !errors.Is(err, ErrInvalid) {
			t.Errorf("append %q: %v", bad, err)
		}
	}
}

func TestCondense(t *testing.T) {
	ten := func(c string) string { return strings.Repeat(c, 9) }
	for _, tt := range []struct {
		name  string
		lines []CoreLine
		limit int
		want  string
	}{
		{"it fits", []CoreLine{{Text: ten("a")}, {Text: ten("a")}}, 100, "{[0 1] [] []}"},
		{"the earlier of two that say the same", []CoreLine{{Text: ten("a")}, {Text: ten("b")}, {Text: strings.ToUpper(ten("a")) + "."}}, 24, "{[1 2] [0] []}"},
		{"what is no longer so", []CoreLine{{Text: ten("a"), Past: true}, {Text: ten("b")}, {Text: ten("c")}}, 24, "{[1 2] [0] []}"},
		{"the least used, the oldest of them", []CoreLine{{Text: ten("a"), Uses: 3}, {Text: ten("b")}, {Text: ten("c")}}, 24, "{[0 2] [] [1]}"},
		{"not what is pinned", []CoreLine{{Text: ten("a"), Keep: true}, {Text: ten("b"), Uses: 9}, {Text: ten("a"), Keep: true}}, 24, "{[0 2] [] [1]}"},
	} {
		if got := fmt.Sprint(Condense(tt.lines, tt.limit)); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
}

// Every line of a block is kept, dropped or moved, exactly once; dropped lines are stated
// elsewhere; the rest fits, unless it is pinned.
func TestCondenseLosesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lines := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) CoreLine {
			return CoreLine{Text: rapid.StringMatching(`[abc]{1,6}`).Draw(t, "text"), Uses: rapid.IntRange(0, 3).Draw(t, "uses"),
				Past: rapid.IntRange(0, 4).Draw(t, "past") == 0, Keep: rapid.IntRange(0, 4).Draw(t, "keep") == 0}
		}), 0, 12).Draw(t, "lines")
		limit := rapid.IntRange(1, 60).Draw(t, "limit")
		c := Condense(lines, limit)
		var all []int
		for _, l := range [][]int{c.Keep, c.Drop, c.Move} {
			all = append(all, l...)
		}
		slices.Sort(all)
		for i := range lines {
			if len(all) != len(lines) || all[i] != i {
				t.Fatalf("%d lines, and %v", len(lines), c)
			}
		}
		for _, i := range c.Drop {
			elsewhere := lines[i].Past
			for _, k := range append(slices.Clone(c.Keep), c.Move...) {
				elsewhere = elsewhere || Normal(lines[k].Text) == Normal(lines[i].Text)
			}
			if !elsewhere || lines[i].Keep {
				t.Fatalf("%q is lost", lines[i].Text)
			}
		}
		size, loose := -1, false
		for _, i := range c.Keep {
			size += utf8.RuneCountInString(lines[i].Text) + 1
			loose = loose || !lines[i].Keep
		}
		if f := (&CoreFields{Limit: limit}); loose && f.Full(max(size, 0)) {
			t.Fatalf("%d of %d characters are left", size, limit)
		}
	})
}

func TestEditSteps(t *testing.T) {
	steps := []string{"grind", "boil", "pour"}
	for _, tt := range []struct {
		edits []StepEdit
		want  string // the place that the error names
	}{
		{[]StepEdit{{Op: StepInsert, At: 2, Text: "rinse"}}, "grind rinse boil pour"},
		{[]StepEdit{{Op: StepInsert, At: 4, Text: "drink"}}, "grind boil pour drink"},
		{[]StepEdit{{Op: StepInsert, Text: "drink"}, {Op: StepInsert, Text: "rest"}}, "grind boil pour drink rest"},
		{[]StepEdit{{Op: StepRevise, At: 2, Text: " simmer "}}, "grind simmer pour"},
		{[]StepEdit{{Op: StepRemove, At: 1}}, "boil pour"},
		{[]StepEdit{{Op: StepMove, At: 1, To: 3}}, "boil pour grind"},
		{[]StepEdit{{Op: StepMove, At: 3, To: 1}}, "pour grind boil"},
		{[]StepEdit{{Op: StepRemove, At: 1}, {Op: StepRevise, At: 1, Text: "heat"}}, "heat pour"},
		{[]StepEdit{{Op: StepInsert, At: 5, Text: "x"}}, "steps[0].at: 5"},
		{[]StepEdit{{Op: StepRemove, At: 0}}, "steps[0].at: 0"},
		{[]StepEdit{{Op: StepRemove, At: 3}, {Op: StepRemove, At: 3}}, "steps[1].at: 3"},
		{[]StepEdit{{Op: StepMove, At: 1, To: 4}}, "steps[0].to: 4"},
		{[]StepEdit{{Op: StepRevise, At: 1}}, "steps[0].text: empty"},
		{[]StepEdit{{Op: StepRemove, At: 1, Text: "x"}}, "steps[0].text"},
		{[]StepEdit{{Op: "swap", At: 1}}, "steps[0].op"},
		{[]StepEdit{{Op: StepRemove, At: 1}, {Op: StepRemove, At: 1}, {Op: StepRemove, At: 1}}, "none would be left"},
	} {
		got, err := EditSteps(steps, tt.edits...)
		if err != nil && (!errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), tt.want)) || err == nil && strings.Join(got, " ") != tt.want {
			t.Errorf("%v: %v, %v; want %s", tt.edits, got, err, tt.want)
		}
		if strings.Join(steps, " ") != "grind boil pour" {
			t.Fatalf("%v changed what it was given: %v", tt.edits, steps)
		}
	}
}

// The chunks cover the content without a gap, are cut between characters, and none is longer than
// allowed.
func TestChunks(t *testing.T) {
	paragraph := strings.Repeat("The heron stood in the reeds. ", 30) // 900 characters
	f := ResourceFields{Content: strings.Join([]string{paragraph, paragraph, paragraph}, "\n\n")}
	cs := f.Chunks()
	if len(cs) != 3 || !strings.HasPrefix(cs[1].Text, "The heron") || !strings.HasSuffix(cs[0].Text, "\n\n") {
		t.Errorf("%d chunks of three paragraphs: %+v", len(cs), cs)
	}
	f.Content = strings.Repeat("苍鹭站在芦苇中。", 400)
	for _, c := range f.Chunks() {
		if !strings.HasSuffix(c.Text, "。") {
			t.Errorf("cut within a sentence: …%s", c.Text[len(c.Text)-9:])
		}
	}
	if f.Content = "short"; f.Chunks() != nil {
		t.Error("a short content is cut")
	}
	rapid.Check(t, func(t *rapid.T) {
		unit := rapid.SampledFrom([]string{"a", "word ", "Ends here. ", "\n", "\n\n", "汉", "。", "🙂"})
		f := ResourceFields{Content: strings.Repeat(strings.Join(rapid.SliceOfN(unit, 1, 40).Draw(t, "units"), ""), rapid.IntRange(1, 400).Draw(t, "times"))}
		at, cs := 0, f.Chunks()
		for i, c := range cs {
			if c.Start != at || c.End <= c.Start || c.Text != f.Content[c.Start:c.End] || c.Number != i+1 || c.Of != len(cs) || !utf8.ValidString(c.Text) {
				t.Fatalf("chunk %d: %+v", i, c)
			}
			if n := utf8.RuneCountInString(c.Text); n > max(chunkSize, utf8.RuneCountInString(f.Content)/(MaxChunks/2)) {
				t.Fatalf("chunk %d has %d characters", i, n)
			}
			at = c.End
		}
		if cs != nil && at != len(f.Content) || len(cs) > MaxChunks {
			t.Fatalf("%d of %d bytes in %d chunks", at, len(f.Content), len(cs))
		}
	})
}
