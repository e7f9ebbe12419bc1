package atlas

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/names"
)

var y2024, y2025, y2026 = time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// drawn is the atlas of memories.
func drawn(ms []memory.Memory, o Options) *Atlas {
	a, err := Draw(context.Background(), ms, o)
	if err != nil {
		panic(err) // the context never ends
	}
	return a
}

func tie(n byte, subject, predicate, object string) memory.Memory {
	return memory.Memory{ID: memory.ID{n}, State: memory.Active, Rank: memory.RankDevice, Learnt: y2024.Add(time.Duration(n) * time.Hour), Candidate: memory.Candidate{Type: memory.Semantic,
		Text: subject + " " + predicate + " " + object, Fields: memory.Fields{Semantic: &memory.SemanticFields{Subject: subject, Predicate: predicate, Object: object}}, Confidence: .8}}
}

func names2(n byte, list ...string) memory.Memory {
	m := memory.Memory{ID: memory.ID{n}, State: memory.Active, Learnt: y2024, Candidate: memory.Candidate{Type: memory.Episodic, Text: strings.Join(list, " and ")}}
	for _, e := range list {
		m.Entities = append(m.Entities, memory.Entity{Name: e, Kind: "person"})
	}
	return m
}

func decide(n byte, rank memory.Rank, a, b string, same bool) memory.Memory {
	text, f := Decide(a, b, same)
	m := tie(n, f.Subject, f.Predicate, f.Object)
	m.Text, m.Rank = text, rank
	return m
}

// again returns m as it is derived if it repeats an earlier memory.
func again(m memory.Memory) memory.Memory {
	m.State, m.Repeats = memory.Superseded, true
	return m
}

func ids(v View) string {
	var out []string
	for _, e := range v.Entities {
		out = append(out, e.ID)
	}
	slices.Sort(out)
	return strings.Join(out, ",")
}

func preds(v View) string {
	var out []string
	for _, r := range v.Relations {
		out = append(out, r.Subject+" "+r.Predicate+" "+r.Object)
	}
	slices.Sort(out)
	return strings.Join(out, "; ")
}

// Names that differ in case, accents, word order or script are one name; unclear cases stay apart
// until somebody decides.
func TestResolve(t *testing.T) {
	for name, c := range map[string]struct {
		ms   []memory.Memory
		want string
	}{
		"case and accents":        {[]memory.Memory{names2(1, "José", "ana"), names2(2, "JOSE", "Ana")}, "ana,jose"},
		"order":                   {[]memory.Memory{names2(1, "Wei Zhang"), names2(2, "Zhang Wei")}, "wei zhang"},
		"transliteration":         {[]memory.Memory{names2(1, "张伟"), names2(2, "Zhang Wei"), names2(3, "Zhang Wei")}, "zhang wei"},
		"two with one reading":    {[]memory.Memory{names2(1, "张伟", "张威"), names2(2, "Zhang Wei")}, "zhang wei,张伟,张威"},
		"an alias":                {[]memory.Memory{names2(1, "Elizabeth", "Liz"), tie(2, "Elizabeth", "nickname", "Liz")}, "elizabeth"},
		"split what sounds alike": {[]memory.Memory{names2(1, "张伟", "Zhang Wei"), decide(2, memory.RankPerson, "张伟", "Zhang Wei", false)}, "zhang wei,张伟"},
		"a person outranks":       {[]memory.Memory{names2(1, "Liz", "Beth"), decide(2, memory.RankPerson, "Liz", "Beth", false), decide(3, memory.RankCloud, "Beth", "Liz", true)}, "beth,liz"},
		"the latest holds":        {[]memory.Memory{names2(1, "Liz", "Beth"), decide(2, memory.RankPerson, "Liz", "Beth", false), decide(3, memory.RankPerson, "Beth", "Liz", true)}, "beth"},
		"decided again":           {[]memory.Memory{decide(1, memory.RankPerson, "Liz", "Beth", true), decide(2, memory.RankPerson, "Liz", "Beth", false), again(decide(3, memory.RankPerson, "Liz", "Beth", true))}, "beth"},
		"by way of a third":       {[]memory.Memory{decide(1, memory.RankPerson, "A1", "C1", false), decide(2, memory.RankCloud, "A1", "B1", true), decide(3, memory.RankCloud, "B1", "C1", true)}, "a1,b1"},
		"a worker parts nobody":   {[]memory.Memory{decide(1, memory.RankCloud, "A1", "B1", false), decide(2, memory.RankPerson, "A1", "C1", true), decide(3, memory.RankPerson, "C1", "B1", true)}, "a1"},
		"a person parts them":     {[]memory.Memory{decide(1, memory.RankPerson, "A1", "B1", false), decide(2, memory.RankDevice, "A1", "C1", true), decide(3, memory.RankDevice, "C1", "B1", true)}, "a1,b1"},
		"in other letters":        {[]memory.Memory{names2(1, "张伟", "Zhang Wei"), tie(2, "张伟", "Not the same as", "Zhang Wei")}, "zhang wei,张伟"},
		"the wearer":              {[]memory.Memory{tie(1, "user", "home", "Porto"), tie(2, "Ana", "likes", "tea")}, "ana,porto,tea"},
		"not the vault's":         {[]memory.Memory{{ID: memory.ID{1}, State: memory.Active, Candidate: memory.Candidate{Type: memory.Vault, Entities: []memory.Entity{{Name: "Bank"}}}}}, ""},
		"not what is secret":      {[]memory.Memory{{ID: memory.ID{1}, State: memory.Active, Candidate: memory.Candidate{Type: memory.Semantic, Sensitivity: memory.Secret, Entities: []memory.Entity{{Name: "Bank"}}}}}, ""},
	} {
		a := drawn(c.ms, Options{Wearer: "Ana"})
		if got := ids(a.View(Query{})); name == "by way of a third" {
			// A1 and C1 stay apart; B1 joins the one that was decided last.
			if got != "a1,b1" && got != "a1,c1" {
				t.Errorf("%s: %s", name, got)
			}
		} else if got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// The four times: what was true at a time, and what was believed at a time.
func TestTimes(t *testing.T) {
	old, now, mistaken := tie(1, "Ana", "home", "Porto"), tie(2, "Ana", "home", "Lisbon"), tie(3, "Ana", "home", "Faro")
	old.State, old.TrueFrom, old.TrueTo, old.Learnt, old.Unlearnt = memory.Superseded, y2024, y2025, y2024, y2026
	now.TrueFrom, now.Learnt = y2025, y2026
	mistaken.State, mistaken.Learnt, mistaken.Unlearnt, mistaken.TrueFrom, mistaken.TrueTo = memory.Superseded, y2024, y2025, y2024, y2024
	a := drawn([]memory.Memory{old, now, mistaken}, Options{})
	for name, c := range map[string]struct {
		q    Query
		want string
	}{
		"now":                {Query{}, "ana home lisbon"},
		"in 2024":            {Query{At: y2024.Add(time.Hour)}, "ana home porto"},
		"believed in 2025":   {Query{Known: y2025.Add(time.Hour)}, "ana home porto"},
		"believed in 2024":   {Query{Known: y2024.Add(time.Hour)}, "ana home faro; ana home porto"},
		"all":                {Query{Past: true}, "ana home faro; ana home lisbon; ana home porto"},
		"around, all":        {Query{Entity: "ANA", Past: true}, "ana home faro; ana home lisbon; ana home porto"},
		"around what was so": {Query{Entity: "Porto"}, ""},
		"both":               {Query{At: y2025.Add(time.Hour), Known: y2026.Add(time.Hour)}, "ana home lisbon"},
	} {
		if got := preds(a.View(c.q)); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// circles returns memories of two circles of friends with one connection between them, and of a
// wearer who knows all of them.
func circles() []memory.Memory {
	var ms []memory.Memory
	n := byte(0)
	next := func() byte { n++; return n }
	for _, c := range [][]string{{"Ben", "Mia", "Tom", "Lea"}, {"Karl", "Nora", "Otto", "Paula"}} {
		for i, p := range c {
			for _, q := range c[:i] {
				ms = append(ms, tie(next(), p, "friend of", q))
			}
			ms = append(ms, tie(next(), "Ana", "knows", p))
		}
	}
	return append(ms, tie(next(), "Ben", "works with", "Karl"))
}

func TestViewByEntityAndByText(t *testing.T) {
	a := drawn(circles(), Options{Wearer: "Ana"})
	v := a.View(Query{Entity: "mia", Limit: 5})
	if got := ids(v); !strings.Contains(got, "mia") || !strings.Contains(got, "tom") || strings.Contains(got, "otto") || !v.More || len(v.Meant) != 1 || v.Entities[0].ID != "mia" {
		t.Errorf("around Mia: %s, %+v", got, v.Meant)
	}
	v = a.View(Query{Text: "who does Ben work with?"})
	if len(v.Relations) == 0 || v.Relations[0].Predicate != "works with" || v.Relations[0].Score <= v.Relations[len(v.Relations)-1].Score {
		t.Errorf("by triplets: %+v", v.Relations)
	}
	if v := a.View(Query{Text: "quantum chromodynamics"}); len(v.Relations)+len(v.Entities) > 0 {
		t.Errorf("%+v", v)
	}
	if v := a.View(Query{Entity: "nobody"}); len(v.Meant)+len(v.Entities) > 0 {
		t.Errorf("%+v", v)
	}
	if v := a.View(Query{Limit: 2}); len(v.Entities) != 2 || !v.More {
		t.Errorf("%+v", v)
	}
}

// The limit also holds if a name may mean more entities than that, and a limit of 0 or below is the
// default.
func TestLimitOfEntities(t *testing.T) {
	ms := append(circles(), names2(201, "Ada Silva", "Mia"), names2(202, "Ada Costa", "Karl"), names2(203, "Ada Moor", "Otto"))
	a := drawn(ms, Options{Wearer: "Ana"})
	if v := a.View(Query{Entity: "Ada", Limit: 2}); len(v.Meant) != 3 || len(v.Entities) != 2 || !v.More {
		t.Errorf("%d meant, %d entities, more %t", len(v.Meant), len(v.Entities), v.More)
	}
	all := a.View(Query{})
	if v := a.View(Query{Limit: -1}); len(v.Entities) != len(all.Entities) {
		t.Errorf("%d entities, want %d", len(v.Entities), len(all.Entities))
	}
}

// A memory that names one member, however often, does not summarise a community.
func TestSummaryNamesACommunity(t *testing.T) {
	sum := memory.Memory{ID: memory.ID{200}, State: memory.Active, Candidate: memory.Candidate{Type: memory.Semantic, Text: "Buy at Mallory's.", Tags: []string{TagCommunity},
		Entities: []memory.Entity{{Name: "Ben"}, {Name: "ben"}, {Name: "BEN"}, {Name: "Bén"}}}}
	one := sum
	one.ID, one.Entities = memory.ID{201}, sum.Entities[:1]
	if all := drawn(append(circles(), sum, one), Options{Wearer: "Ana"}).Communities(); len(all) != 2 || all[0].Summary != "" || all[1].Summary != "" {
		t.Errorf("%+v", all)
	}
}

// A decision about a name holds for the entity to which the name belongs now.
func TestDecidedNamesAreNotSuggested(t *testing.T) {
	ms := []memory.Memory{names2(1, "Thomas", "Tom"), names2(2, "Thomas"), names2(3, "Tom Weaver"),
		decide(4, memory.RankPerson, "Tom", "Thomas", true), decide(5, memory.RankPerson, "Tom", "Tom Weaver", false)}
	like := func(x, y string) float64 { return .95 }
	if s := drawn(ms, Options{}).Suggest(like); len(s) > 0 {
		t.Errorf("%+v", s)
	}
	var crowd []memory.Memory
	for n, given := range []rune("魏韦卫伟威薇炜玮维巍为蔚未惟唯") {
		crowd = append(crowd, names2(byte(n+1), "张"+string(given), "章"+string(given), "璋"+string(given)))
	}
	if s := drawn(append(crowd, names2(99, "Zhang Wei")), Options{}).Suggest(nil); len(s) > maxAlike {
		t.Errorf("%d suggestions for one name", len(s))
	}
}

func TestCommunities(t *testing.T) {
	ms := circles()
	sum := memory.Memory{ID: memory.ID{200}, State: memory.Active, Candidate: memory.Candidate{Type: memory.Semantic, Text: "Friends from school.", Tags: []string{TagCommunity},
		Entities: []memory.Entity{{Name: "Ben"}, {Name: "Mia"}, {Name: "Tom"}}, Fields: memory.Fields{Semantic: &memory.SemanticFields{Name: "School"}}}}
	a := drawn(append(ms, sum), Options{Wearer: "Ana"})
	all := a.Communities()
	if len(all) != 2 || all[0].ID != "ben" || len(all[0].Members) != 4 || len(all[1].Members) != 4 || all[0].Title != "School" || all[1].Memory != (memory.ID{}) {
		t.Fatalf("%+v", all)
	}
	if s := a.Sentence(&all[1]); !strings.Contains(s, "Karl") || !strings.Contains(s, "friend of") || strings.Contains(s, "Ben") {
		t.Errorf("%q", s)
	}
	for _, e := range a.View(Query{}).Entities {
		if (e.Community == "") != (e.ID == "ana") {
			t.Errorf("%+v", e)
		}
	}
}

func TestSuggest(t *testing.T) {
	ms := []memory.Memory{names2(1, "Tom", "Tom Weaver"), names2(2, "张伟", "张威", "Zhang Wei"), names2(3, "Acme GmbH", "Acme Ltd"),
		names2(5, "Nora", "with Nora"), names2(6, "Lindau", "Hotel Lindau"), decide(4, memory.RankPerson, "Acme", "Acme Ltd", false)}
	a := drawn(ms, Options{})
	var got []string
	for _, s := range a.Suggest(nil) {
		got = append(got, s.A+"/"+s.B)
	}
	if want := "Lindau/Hotel Lindau,Tom/Tom Weaver,Zhang Wei/张伟,Zhang Wei/张威"; strings.Join(got, ",") != want {
		t.Errorf("%q, want %q", got, want)
	}
	like := func(x, y string) float64 {
		if strings.HasPrefix(x, "Acme") && strings.HasPrefix(y, "Acme") {
			return .95
		}
		return 0
	}
	if s := a.Suggest(like); s[0].Weight != .95 || !strings.HasPrefix(s[0].A, "Acme") {
		t.Errorf("%+v", s)
	}
}

func genMemories(t *rapid.T) []memory.Memory {
	people := []string{"Ana", "ana", "Ben", "Ben Weaver", "Weaver Ben", "张伟", "Zhang Wei", "张威", "Porto", "user"}
	one := func() string { return rapid.SampledFrom(people).Draw(t, "name") }
	var ms []memory.Memory
	for i := range rapid.IntRange(0, 25).Draw(t, "memories") {
		n := byte(i + 1)
		var m memory.Memory
		switch rapid.IntRange(0, 3).Draw(t, "kind") {
		case 0:
			m = names2(n, one(), one(), one())
		case 1:
			m = decide(n, rapid.SampledFrom([]memory.Rank{memory.RankCloud, memory.RankPerson}).Draw(t, "rank"), one(), one(), rapid.Bool().Draw(t, "same"))
		default:
			m = tie(n, one(), rapid.SampledFrom([]string{"likes", "home", "sister of"}).Draw(t, "predicate"), one())
		}
		m.State = rapid.SampledFrom([]memory.State{memory.Active, memory.Active, memory.Superseded, memory.Archived}).Draw(t, "state")
		ms = append(ms, m)
	}
	return ms
}

// The atlas is the same in any order of the memories. No name belongs to two entities. Names that
// the last decision keeps apart are apart, unless decisions of a higher rank join them. Every
// relation has both of its ends.
func TestAtlasInvariants(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ms := genMemories(t)
		a := drawn(ms, Options{Wearer: "Ana"})
		v := a.View(Query{Past: true, Limit: MaxLimit})
		mixed := rapid.Permutation(ms).Draw(t, "order")
		if w := drawn(mixed, Options{Wearer: "Ana"}).View(Query{Past: true, Limit: MaxLimit}); !reflect.DeepEqual(v, w) {
			t.Fatalf("%+v\n%+v", v, w)
		}
		of := map[string]string{}
		for _, e := range v.Entities {
			for _, n := range append([]string{e.Name}, e.Aliases...) {
				f := names.Fold(n)
				if o, ok := of[f]; ok && o != e.ID {
					t.Fatalf("%q is of %s and %s", n, o, e.ID)
				}
				of[f] = e.ID
			}
		}
		for _, r := range v.Relations {
			if a.Name(r.Subject) == "" || a.Name(r.Object) == "" || r.Subject == r.Object {
				t.Fatalf("%+v", r)
			}
		}
		last := map[[2]string]Decision{}
		for _, d := range a.Decisions() {
			last[pair(foldAs(d.A), foldAs(d.B))] = d
		}
		for p, d := range last {
			if !d.Same && p[0] != p[1] && of[p[0]] == of[p[1]] && !tied(last, p, d.Rank) {
				t.Fatalf("%v are kept apart, and one: %+v", p, v.Entities)
			}
		}
		// After undoing a decision, the atlas is as without it.
		if n := len(ms); n > 0 {
			without := drawn(ms[:n-1], Options{Wearer: "Ana"}).View(Query{Past: true})
			ms[n-1].State = memory.Erased
			if w := drawn(ms, Options{Wearer: "Ana"}).View(Query{Past: true}); !reflect.DeepEqual(without, w) {
				t.Fatal("what was erased is still of effect")
			}
		}
	})
}

// tied reports whether decisions of a higher rank connect the two names of a pair.
func tied(last map[[2]string]Decision, p [2]string, rank memory.Rank) bool {
	reached := map[string]bool{p[0]: true}
	for range last {
		for q, d := range last {
			if d.Same && d.Rank > rank && (reached[q[0]] || reached[q[1]]) {
				reached[q[0]], reached[q[1]] = true, true
			}
		}
	}
	return reached[p[1]]
}

func foldAs(s string) string {
	if f := names.Fold(s); f != "user" {
		return f
	}
	return "ana"
}

func TestFormats(t *testing.T) {
	m := tie(1, `Ana <"&`, "likes", "tea\x01 ]]>")
	m.TrueFrom = y2024
	v := drawn(append(circles(), m), Options{Wearer: "Ana"}).View(Query{Past: true})
	for _, f := range Formats {
		var b bytes.Buffer
		if err := Write(&b, f, &v); err != nil || f.MediaType() == "" {
			t.Fatalf("%s: %v", f, err)
		}
		switch f {
		case GraphML:
			var g graphML
			if err := xml.Unmarshal(b.Bytes(), &g); err != nil || len(g.Graph.Nodes) != len(v.Entities) || len(g.Graph.Edges) != len(v.Relations)+len(v.Beside) {
				t.Fatalf("%v: %d nodes, %d edges", err, len(g.Graph.Nodes), len(g.Graph.Edges))
			}
			declared, node := map[string]bool{}, map[string]bool{}
			for _, k := range g.Keys {
				declared[k.ID] = true
			}
			for _, n := range g.Graph.Nodes {
				node[n.ID] = true
			}
			for _, e := range g.Graph.Edges {
				if !node[e.Source] || !node[e.Target] {
					t.Errorf("an edge without an end: %+v", e)
				}
				for _, d := range e.Data {
					if !declared[d.Key] {
						t.Errorf("the key %s is not declared", d.Key)
					}
				}
			}
		case JSONLD:
			var g struct {
				Context map[string]any   `json:"@context"`
				Graph   []map[string]any `json:"@graph"`
			}
			if err := json.Unmarshal(b.Bytes(), &g); err != nil || len(g.Graph) != len(v.Entities)+len(v.Relations)+len(v.Communities) || g.Context["@vocab"] == nil {
				t.Fatalf("%v: %d", err, len(g.Graph))
			}
			for _, o := range g.Graph {
				if o["@id"] == "" || o["@type"] == "" || strings.ContainsAny(fmt.Sprint(o["@id"]), " <>\"") {
					t.Errorf("%v", o)
				}
			}
		}
	}
	if err := Write(&bytes.Buffer{}, "dot", &v); err == nil {
		t.Error("a format that is none")
	}
}
