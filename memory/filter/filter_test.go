package filter

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/locket-dev/locket/memory"
)

var day = time.Date(2026, 3, 1, 14, 30, 0, 0, time.UTC)

// lunch returns a memory with a value in most fields.
func lunch() *Item {
	return &Item{Categories: func() []string { return []string{"food"} }, Memory: &memory.Memory{
		ID: memory.ID{1}, State: memory.Active, Pinned: true, Heard: 3, Learnt: day,
		Candidate: memory.Candidate{
			Type: memory.Episodic, Text: "Lunch with Ann at Miro", Lang: "en",
			Owner: memory.Owner{User: "wearer", Agent: "helper", Run: "r1"},
			Slot:  &memory.Slot{Subject: "ann", Attribute: "lunch", Value: "Miro"},
			Tags:  []string{"Work", "visit"}, Metadata: memory.Metadata{"project": "apollo", "score": "7.5", "empty": "", "due": "2026-04-01"},
			Entities:   []memory.Entity{{Name: "Ann", Kind: "person"}, {Name: "Lyon", Kind: "place"}},
			Fields:     memory.Fields{Episodic: &memory.EpisodicFields{Actor: "Ann", Place: "Miro", Started: day}},
			Evidence:   []memory.Evidence{{Speaker: "Bo", At: day, Event: memory.EventID{Device: "pin"}}},
			Source:     memory.Source{Plugin: "plans", Device: "glasses"},
			Confidence: .8, Sensitivity: memory.Private, TrueFrom: day,
		}}}
}

func said() *Item {
	return &Item{Utterance: &memory.Utterance{ID: memory.ID{2}, Text: "我在办公室", Speaker: "张伟", Place: "office", At: day,
		Event: memory.EventID{Device: "pin"}, Session: "s1", Lang: "zh"}}
}

// Each line has what it selects: the memory (m), the utterance (u), both or none.
func TestLines(t *testing.T) {
	for _, c := range []struct{ line, chooses string }{
		{"", "mu"},
		{"type = episodic", "m"},
		{"type != episodic", "u"},
		{"type in (core, episodic)", "m"},
		{"type not in (core, semantic)", "mu"},
		{"kind = utterance", "u"},
		{"tags = work", "m"},
		{"tags = wor", ""},
		{"tags contains wor", ""},
		{"tags contains Wor", "m"},
		{"tags icontains wor", "m"},
		{"not tags = work", "u"},
		{"tags exists", "m"},
		{"not tags exists", "u"},
		{"speaker = bo or speaker = 张伟", "mu"},
		{"place = MIRO", "m"},
		{"place = lyon", "m"},
		{"place = office", "u"},
		{"device = pin", "mu"},
		{"device = glasses", "m"},
		{"actor = ann", "m"},
		{"entities = ann and place = office", ""},
		{"confidence >= 0.8", "m"},
		{"confidence > 0.8", ""},
		{"confidence < 1e0", "m"},
		{"heard = 3", "m"},
		{"pinned = true", "m"},
		{"pinned != true", "u"},
		{"conflict = false", "m"},
		{"sensitivity < secret", "m"},
		{"sensitivity <= personal", ""},
		{"sensitivity = private", "m"},
		{"learnt >= 2026-03-01", "m"},
		{"learnt < 2026-03-01", ""},
		{"said > 2026-03-01T14:29:00Z", "mu"},
		{"true_to exists", ""},
		{"true_to > 2026-01-01 or not true_to exists", "mu"},
		{"metadata.project = apollo", "m"},
		{"metadata.project = Apollo", ""},
		{"metadata.score > 10", ""},
		{"metadata.score > 7", "m"},
		{"metadata.due < 2026-05-01", "m"},
		{"metadata.empty exists", "m"},
		{"metadata.none exists", ""},
		{`"metadata.project" = "apollo"`, "m"},
		{"agent = helper and run = r1 and user = wearer", "m"},
		{"subject = Ann and attribute = lunch and value = miro", "m"},
		{"categories = Food", "m"},
		{"session = s1", "u"},
		{`text icontains "lunch with"`, "m"},
		{"text contains 办公室", "u"},
		{"NOT (type = core OR tags = none) AND lang = en", "m"},
		{"type = core or type = episodic and tags = none", ""},
		{"(type = core or type = episodic) and tags = work", "m"},
		{"not not pinned = true", "m"},
	} {
		f, err := Parse(c.line, nil)
		if err != nil {
			t.Errorf("%s: %v", c.line, err)
			continue
		}
		got := ""
		if f.Match(lunch()) {
			got = "m"
		}
		if f.Match(said()) {
			got += "u"
		}
		if got != c.chooses {
			t.Errorf("%s chooses %q, want %q", c.line, got, c.chooses)
		}
	}
}

// The same in JSON, as programs write it.
func TestJSON(t *testing.T) {
	for _, c := range []struct{ json, line string }{
		{`{}`, ""},
		{`null`, ""},
		{`{"type": "core"}`, "type = core"},
		{`{"type": "core", "tags": {"ne": "x"}}`, "type = core and tags != x"},
		{`[{"type": "core"}, {"pinned": true}]`, "type = core and pinned = true"},
		{`{"AND": [{"agent": "a"}, {"OR": [{"heard": {"gte": 2, "lt": 9}}, {"confidence": .5}]}]}`, ""},
		{`{"AND": [{"agent": "a"}, {"OR": [{"heard": {"gte": 2, "lt": 9}}, {"confidence": 0.5}]}]}`, "agent = a and (heard >= 2 and heard < 9 or confidence = 0.5)"},
		{`{"NOT": {"place": {"in": ["home", "the office"]}}}`, `not place in (home, "the office")`},
		{`{"NOT": [{"tags": "a"}, {"tags": "b"}]}`, "not (tags = a and tags = b)"},
		{`{"metadata.k": {"exists": false}}`, "not metadata.k exists"},
		{`{"learnt": {"gt": "2026-03-01"}}`, "learnt > 2026-03-01T00:00:00Z"},
	} {
		var f Filter
		err := json.Unmarshal([]byte(c.json), &f)
		if strings.Contains(c.json, " .5") {
			if err == nil {
				t.Errorf("%s was taken", c.json)
			}
			continue
		}
		if err != nil || f.String() != c.line {
			t.Errorf("%s: %q, %v, want %q", c.json, f, err, c.line)
		}
	}
}

func TestRefused(t *testing.T) {
	deep := strings.Repeat("not ", 20) + "pinned = true"
	for _, c := range []struct{ text, says string }{
		{"tpye = core", "did you mean type"},
		{"type = cores", "want core, episodic"},
		{"type > core", "has no order"},
		{"pinned = yes", "want true or false"},
		{"heard = many", "not a number"},
		{"heard = NaN", "not a number"},
		{"heard contains 1", "is not a text"},
		{"learnt > soon", "not a time"},
		{"type in ()", "want a value"},
		{"type in (core", `want ")"`},
		{"(type = core", `want ")"`},
		{"type = core tags = x", "character 13"},
		{"type", "want a comparison after type"},
		{"= core", "want a field"},
		{`text = "open`, "quotation mark"},
		{"metadata. = x", "not a field"},
		{deep, "nested deeper"},
		{strings.Repeat("heard = 1 and ", 300) + "heard = 1", "more than 256"},
		{"text = \xff", "UTF-8"},
		{`{"tpye": 1}`, "filters.tpye: not a field"},
		{`{"AND": {"type": "core"}}`, "filters.AND: want an array"},
		{`{"AND": [{"type": "core"}, {"OR": [{"heard": "x"}]}]}`, "filters.AND[1].OR[0].heard: "},
		{`{"AND": []}`, "filters.AND: empty"},
		{`{"AND": [{}]}`, "filters.AND[0]: empty"},
		{`{"NOT": {}}`, "filters.NOT: empty"},
		{`{"type": {}}`, "filters.type: no comparison"},
		{`{"type": {"like": "x"}}`, `"like" is not a comparison`},
		{`{"type": "core", "type": "vault"}`, "filters.type: given twice"},
		{`{"type": ["core", "vault"]}`, "eq takes one value"},
		{`{"tags": {"in": [["a"]]}}`, "filters.tags[0]: want a text"},
		{`{"tags": null}`, "filters.tags: want a text"},
		{`"type = core"`, "want an object"},
		{`{`, "filters: the JSON value is cut off"},
		{`{"AND": [{"type": "core"`, "filters.AND[0]: the JSON value is cut off"},
		{`{"type": "co`, "filters.type: the JSON value is cut off"},
		{`{type: "core"}`, "filters: not JSON after byte 1"},
		{`{"AND": [{"type": core}]}`, "filters.AND[0].type: not JSON after byte 18"},
		{`{"type": "core"} {"type": "vault"}`, "filters: something follows"},
		{`{"type": "core"}}`, "filters: something follows"},
		{strings.Repeat(`{"NOT":`, 40) + `{"pinned":true}` + strings.Repeat("}", 40), "deep"},
		{strings.Repeat(`[`, 5000) + strings.Repeat("]", 5000), "deep"},
	} {
		var f Filter
		var err error
		if strings.ContainsRune(`{["`, rune(c.text[0])) {
			err = f.UnmarshalJSON([]byte(c.text))
		} else {
			f, err = Parse(c.text, nil)
		}
		if !errors.Is(err, memory.ErrInvalid) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%.60s: error %v, want one that says %q", c.text, err, c.says)
		}
		if !f.IsZero() {
			t.Errorf("%.60s: refused, and a filter all the same", c.text)
		}
	}
}

func TestZone(t *testing.T) {
	tokyo := time.FixedZone("JST", 9*3600)
	f, err := Parse("learnt >= 2026-03-01", tokyo)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := Parse(f.String(), time.UTC); err != nil || again.String() != f.String() {
		t.Fatalf("%q reads as %q in another zone, %v", f, again, err)
	}
	it := lunch()
	it.Memory.Learnt = time.Date(2026, 2, 28, 16, 0, 0, 0, time.UTC) // 1 March in Tokyo
	if !f.Match(it) {
		t.Error("a date is not read in its zone")
	}
}

func TestAll(t *testing.T) {
	tag, err := Equal("tags", "work")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Equal("tag", "work"); !errors.Is(err, memory.ErrInvalid) {
		t.Errorf("an unknown field: %v", err)
	}
	if got := All(Filter{}, tag, Filter{}, tag).String(); got != "tags = work and tags = work" {
		t.Error(got)
	}
	if !All().IsZero() || !All(Filter{}).IsZero() {
		t.Error("nothing and nothing is something")
	}
}

// randomFilter generates filters over a few fields.
func randomFilter() *rapid.Generator[Filter] {
	leaf := rapid.Custom(func(t *rapid.T) node {
		name := rapid.SampledFrom([]string{"tags", "speaker", "type", "heard", "pinned", "learnt", "sensitivity", "metadata.a b", "text"}).Draw(t, "field")
		word := map[string]*rapid.Generator[string]{
			"type": rapid.SampledFrom([]string{"core", "vault", "episodic"}), "heard": rapid.SampledFrom([]string{"0", "3", "-1.5"}),
			"pinned": rapid.SampledFrom([]string{"true", "false"}), "learnt": rapid.SampledFrom([]string{"2026-03-01", "2026-03-01T14:30:00Z"}),
			"sensitivity": rapid.SampledFrom([]string{"public", "private"}),
		}[name]
		if word == nil {
			word = rapid.String()
		}
		op := Op(rapid.SampledFrom([]string{"eq", "ne", "in", "nin", "gt", "lte", "contains", "icontains", "exists"}).Draw(t, "op"))
		words := []string{word.Draw(t, "value")}
		switch op {
		case OpIn, OpNotIn:
			words = rapid.SliceOfN(word, 1, 3).Draw(t, "values")
		case OpExists:
			words = []string{"true"}
		}
		c, err := newCondition(name, name, op, words, nil)
		if err != nil {
			c, _ = newCondition(name, name, OpExists, []string{"false"}, nil)
		}
		return c
	})
	var tree func(depth int) *rapid.Generator[node]
	tree = func(depth int) *rapid.Generator[node] {
		if depth == 0 {
			return leaf
		}
		below := rapid.SliceOfN(rapid.Deferred(func() *rapid.Generator[node] { return tree(depth - 1) }), 2, 3)
		return rapid.OneOf(leaf,
			rapid.Custom(func(t *rapid.T) node { return all(below.Draw(t, "and")) }),
			rapid.Custom(func(t *rapid.T) node { return anyOf(below.Draw(t, "or")) }),
			rapid.Custom(func(t *rapid.T) node { return negate{below.Draw(t, "not")[0]} }))
	}
	return rapid.Custom(func(t *rapid.T) Filter { return Filter{tree(3).Draw(t, "filter")} })
}

// Both spellings are parsed to the filter from which they were written.
func TestSpellings(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := randomFilter().Draw(t, "filter")
		line, err := Parse(f.String(), nil)
		if err != nil || line.String() != f.String() {
			t.Fatalf("line %q is read as %q, %v", f, line, err)
		}
		b, err := json.Marshal(f)
		if err != nil {
			t.Fatal(err)
		}
		var back Filter
		if err := json.Unmarshal(b, &back); err != nil {
			t.Fatalf("%s: %v", b, err)
		}
		for _, it := range []*Item{lunch(), said(), {}} {
			if want := f.Match(it); line.Match(it) != want || back.Match(it) != want {
				t.Fatalf("%q, its line and its JSON %s choose otherwise", f, b)
			}
		}
	})
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"type in (core, episodic) and not tags = work", `text contains "a\"b"`, "heard >= 2 or pinned = true", "((a"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, line string) {
		got, err := Parse(line, nil)
		if err != nil {
			if !errors.Is(err, memory.ErrInvalid) {
				t.Fatalf("%q: %v", line, err)
			}
			return
		}
		got.Match(lunch())
		if again, err := Parse(got.String(), nil); err != nil || again.String() != got.String() {
			t.Fatalf("%q → %q → %q, %v", line, got, again, err)
		}
	})
}

func FuzzJSON(f *testing.F) {
	for _, s := range []string{`{"AND":[{"type":"core"},{"NOT":{"heard":{"gt":2}}}]}`, `[{"tags":{"in":["a","b"]}}]`, `{"a":1`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var got Filter
		if err := got.UnmarshalJSON([]byte(text)); err != nil {
			if !errors.Is(err, memory.ErrInvalid) {
				t.Fatalf("%q: %v", text, err)
			}
			return
		}
		b, err := json.Marshal(got)
		if err != nil {
			t.Fatal(err)
		}
		var again Filter
		if err := again.UnmarshalJSON(b); err != nil || again.String() != got.String() {
			t.Fatalf("%q → %s → %q, %v", text, b, again, err)
		}
	})
}

// A filter is the AND of its parts, whose lines can be joined to the same filter.
func TestPartsJoinToTheSameFilter(t *testing.T) {
	for line, want := range map[string]string{
		"":                                "",
		"type = core":                     "type = core",
		"type = core or tags = work":      "(type = core or tags = work)",
		"type = core and not tags = work": "type = core|not tags = work",
		`(type = core and speaker = "A and B") and (tags = a or tags = b) and not (place = x and pinned = true)`: `type = core|speaker = "A and B"|(tags = a or tags = b)|not (place = x and pinned = true)`,
	} {
		f, err := Parse(line, nil)
		if err != nil {
			t.Fatal(err)
		}
		var lines []string
		for _, p := range f.Parts() {
			lines = append(lines, p.Operand())
		}
		if got := strings.Join(lines, "|"); got != want {
			t.Errorf("%q has the parts %q, not %q", line, got, want)
		}
		again, err := Parse(strings.Join(lines, " and "), nil)
		if err != nil || len(again.Parts()) != len(lines) || again.Match(lunch()) != f.Match(lunch()) || again.Match(said()) != f.Match(said()) {
			t.Errorf("%q: joined again it is %q, %v", line, again, err)
		}
	}
	f, err := Parse(`speaker not in (Ann, "Bo B")`, nil)
	if err != nil {
		t.Fatal(err)
	}
	if field, op, values, ok := f.Condition(); !ok || field != "speaker" || op != OpNotIn || strings.Join(values, "|") != "Ann|Bo B" {
		t.Errorf("%s %s %q, %v", field, op, values, ok)
	}
}
