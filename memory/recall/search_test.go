package recall

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/memory"
)

func idOf(n int) memory.ID { return memory.ID{15: byte(n), 14: byte(n >> 8), 13: byte(n >> 16), 0: 1} }

func openOn(t testing.TB, s Segments, o Options) *Index {
	t.Helper()
	x, err := Open(t.Context(), s, o)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// talk indexes lines "speaker: text" a minute apart, as one session.
func talk(t testing.TB, x *Index, session string, from time.Time, first int, lines ...[2]string) {
	t.Helper()
	for i, l := range lines {
		d := Doc{ID: idOf(first + i), Kind: Utterance, Session: session, At: from.Add(time.Duration(i) * time.Minute), Speaker: l[0], Text: l[1]}
		if err := x.Add(d); err != nil {
			t.Fatal(err)
		}
	}
}

func find(t testing.TB, x *Index, q Query) Result {
	t.Helper()
	r, err := x.Search(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

var june = time.Date(2025, 6, 12, 9, 0, 0, 0, time.UTC)

func TestNeighbouringLinesFindTheAnswer(t *testing.T) {
	x := openOn(t, newSegments(), Options{})
	talk(t, x, "s1", june, 1,
		[2]string{"Ana", "Did you ever call the dentist about the crown?"},
		[2]string{"Ben", "Yes, next Tuesday at ten."},
		[2]string{"Ana", "Good. Shall we cook rice tonight?"},
		[2]string{"Ben", "I would rather have noodles."},
		[2]string{"Ana", "The garden needs water as well."},
	)
	r := find(t, x, Query{Text: "when is the dentist", Now: june, K: 3})
	if len(r.Hits) == 0 || r.Hits[0].ID != idOf(2) {
		t.Fatalf("hits %+v: want the answer to the question first", r.Hits)
	}
	if r.Shape != When {
		t.Errorf("shape %s", r.Shape)
	}
}

func TestFolding(t *testing.T) {
	x := openOn(t, newSegments(), Options{})
	talk(t, x, "s1", june, 1, [2]string{"Ana", "I moved to Lisbon in March, it is lovely here."}, [2]string{"Ben", "Lisbon is far away."})
	if err := x.Add(Doc{ID: idOf(9), Kind: Memory, Type: memory.Semantic, At: june, Text: "Ana lives in Lisbon", Source: idOf(1)}); err != nil {
		t.Fatal(err)
	}
	r := find(t, x, Query{Text: "where does Ana live, Lisbon", Now: june})
	if len(r.Hits) != 2 {
		t.Fatalf("%d hits, want the memory and its utterance as one, and Ben's", len(r.Hits))
	}
	if h := r.Hits[0]; len(h.Also) != 1 {
		t.Errorf("first hit %+v: want the other in Also", h)
	}
	if r := find(t, x, Query{Text: "where does Ana live, Lisbon", Now: june, Apart: true}); len(r.Hits) != 3 {
		t.Errorf("apart: %d hits, want 3", len(r.Hits))
	}
	r = find(t, x, Query{Text: "Lisbon", Kinds: []Kind{Memory}, Types: []memory.Type{memory.Semantic}})
	if len(r.Hits) != 1 || r.Hits[0].ID != idOf(9) || r.Hits[0].Type != memory.Semantic || r.Hits[0].Source != idOf(1) {
		t.Errorf("memories alone: %+v", r.Hits)
	}
}

// Each value of a list is a memory of the same line, and all of them are found before another line.
func TestMemoriesOfOneLineAreSeparateHits(t *testing.T) {
	x := openOn(t, newSegments(), Options{})
	talk(t, x, "s1", june, 1, [2]string{"Ana", "I'm allergic to peanuts, shellfish and penicillin."}, [2]string{"Ben", "I am not allergic to a thing."})
	var want []memory.ID
	for i, what := range []string{"peanuts", "shellfish", "penicillin"} {
		id := idOf(20 + i)
		want = append(want, id)
		if err := x.Add(Doc{ID: id, Kind: Memory, Type: memory.Semantic, At: june, Text: "Ana is allergic to " + what, Source: idOf(1)}); err != nil {
			t.Fatal(err)
		}
	}
	for _, q := range []string{"what am I allergic to", "is Ana allergic to anything", "what is Ana allergic to"} {
		r := find(t, x, Query{Text: q, Now: june, Wearer: "Ana"})
		if len(r.Hits) != 4 {
			t.Fatalf("%s: %d hits, want the three memories, one of them with the line, and what Ben said", q, len(r.Hits))
		}
		var got, also []memory.ID
		for _, h := range r.Hits[:3] {
			got, also = append(got, h.ID), append(also, h.Also...)
		}
		slices.SortFunc(got, func(a, b memory.ID) int { return bytes.Compare(a[:], b[:]) })
		if !slices.Equal(got, want) || !slices.Equal(also, []memory.ID{idOf(1)}) {
			t.Errorf("%s: first hits %v with %v, want %v with the line", q, got, also, want)
		}
	}
}

// A memory that says no more than another one of its line is not a hit of its own.
func TestRepeatedMemoriesAreOneHit(t *testing.T) {
	x := openOn(t, newSegments(), Options{})
	talk(t, x, "s1", june, 1, [2]string{"Ana", "My sister Ola works at the harbour in Gdansk."}, [2]string{"Ben", "The harbour is loud."})
	for i, text := range []string{"Ana's sister Ola works at the harbour in Gdansk", "Ola works at the harbour", "Ola is Ana's sister"} {
		if err := x.Add(Doc{ID: idOf(20 + i), Kind: Memory, Type: memory.Semantic, At: june, Text: text, Source: idOf(1)}); err != nil {
			t.Fatal(err)
		}
	}
	r := find(t, x, Query{Text: "where does Ana's sister Ola work in Gdansk", Now: june})
	if len(r.Hits) != 2 || r.Hits[0].ID != idOf(20) {
		t.Fatalf("%+v, want the whole memory and what Ben said", r.Hits)
	}
	for _, id := range []memory.ID{idOf(1), idOf(21), idOf(22)} {
		if !slices.Contains(r.Hits[0].Also, id) {
			t.Errorf("%s is not named with it: %v", id, r.Hits[0].Also)
		}
	}
}

func TestFilters(t *testing.T) {
	x := openOn(t, newSegments(), Options{})
	talk(t, x, "s1", june, 1, [2]string{"Ana", "The soup was cold"}, [2]string{"Ben", "The soup was fine"})
	talk(t, x, "s2", june.AddDate(0, 0, 3), 11, [2]string{"Ana", "More soup please"})
	for name, c := range map[string]struct {
		q    Query
		want []int
	}{
		"allow":   {Query{Allow: func(a About) bool { return a.ID != idOf(1) }}, []int{2, 11}},
		"speaker": {Query{Speaker: "ana"}, []int{1, 11}},
		"from":    {Query{From: june.AddDate(0, 0, 1)}, []int{11}},
		"to":      {Query{To: june.Add(time.Minute)}, []int{1}},
		"kind":    {Query{Kinds: []Kind{Memory}}, nil},
		"k":       {Query{K: 1}, []int{11}},
	} {
		c.q.Text = "soup"
		got := map[memory.ID]bool{}
		r := find(t, x, c.q)
		for _, h := range r.Hits {
			got[h.ID] = true
		}
		if name == "k" {
			if len(got) != 1 {
				t.Errorf("k: %d hits", len(got))
			}
			continue
		}
		for _, w := range c.want {
			if !got[idOf(w)] {
				t.Errorf("%s: %d is missing", name, w)
			}
		}
		if len(got) != len(c.want) {
			t.Errorf("%s: %d hits, want %d", name, len(got), len(c.want))
		}
	}
}

// The index has two weeks of small talk; the answer to each question must come first.
func TestSignals(t *testing.T) {
	x := openOn(t, newSegments(), Options{})
	talk(t, x, "mon", june.AddDate(0, 0, -10), 1,
		[2]string{"Ana", "Good morning, did you sleep well?"},
		[2]string{"Ben", "I have started kickboxing at the hall."},
		[2]string{"Ana", "My sister plays the cello in Vienna."},
		[2]string{"Ben", "We ate dumplings for dinner."},
		[2]string{"Ana", "The train to Prague leaves at seven."},
	)
	talk(t, x, "fri", june.AddDate(0, 0, -1), 11,
		[2]string{"Ben", "I bought new boots for the winter."},
		[2]string{"Ana", "The accountant called about the receipts."},
		[2]string{"Ben", "My favourite colour has always been turquoise."},
		[2]string{"Ana", "To reset the boiler, hold the red button for ten seconds."},
	)
	for q, want := range map[string]struct {
		id   int
		part string
	}{
		"What martial arts does Ben do?":              {2, "lexicon_match"},
		"Which instruments does Ana's family play?":   {3, "lexicon_match"},
		"acountant reciepts":                          {12, "string_match"},
		"what did I buy yesterday for winter":         {11, "time_match"},
		"how do I reset the boiler":                   {14, "bm25_match"},
		"Which colour does Ben like":                  {13, "speaker_match"},
		`what was said with "train to Prague" in it?`: {5, "bm25_match"},
	} {
		r := find(t, x, Query{Text: q, Now: june, Wearer: "Ben"})
		if len(r.Hits) == 0 || r.Hits[0].ID != idOf(want.id) {
			t.Errorf("%q: first %+v, want %d", q, r.Hits, want.id)
			continue
		}
		sum, has := 0.0, false
		for _, p := range r.Hits[0].Parts {
			sum += p.Value
			has = has || p.Name == want.part
		}
		if d := sum - r.Hits[0].Score; d > 1e-4 || d < -1e-4 {
			t.Errorf("%q: the parts sum to %g, the score is %g", q, sum, r.Hits[0].Score)
		}
		if !has {
			t.Errorf("%q: no %s in %+v", q, want.part, r.Hits[0].Parts)
		}
		if want.part == "bm25_match" && r.Confidence < Unsure {
			t.Errorf("%q: confidence %g", q, r.Confidence)
		}
	}
	for _, q := range []string{"what is the name of the submarine captain", "潜水艇船长叫什么"} {
		if r := find(t, x, Query{Text: q, Now: june}); r.Confidence >= Unsure {
			t.Errorf("%q: confidence %g, and nobody said anything of it", q, r.Confidence)
		}
	}
}

// TestQuotedQuestion: if no document has a phrase, its words are searched for, and the result says
// so.
func TestQuotedQuestion(t *testing.T) {
	x := openOn(t, newSegments(), Options{})
	lines := []string{"My sister moved to Lisbon in May.", "The kettle is broken again.", "我上个月去了京都。"}
	texts := map[memory.ID]string{}
	for i, l := range lines {
		talk(t, x, "s", june, 1+i, [2]string{"Ana", l})
		texts[idOf(1+i)] = l
	}
	holds := func(id memory.ID, p Phrase) bool { return p.In(texts[id]) }
	for _, q := range []string{"where did her sister move", "我去了哪里 京都"} {
		plain := find(t, x, Query{Text: q, Now: june, Holds: holds})
		for _, m := range marks {
			r := []rune(m)
			got := find(t, x, Query{Text: string(r[0]) + q + string(r[1]), Now: june, Holds: holds})
			if !got.Unquoted || len(plain.Hits) == 0 || len(got.Hits) == 0 || got.Hits[0].ID != plain.Hits[0].ID || got.Confidence != plain.Confidence {
				t.Errorf("%s around %q: %d hits, confidence %g; without marks %d hits, %g", m, q, len(got.Hits), got.Confidence, len(plain.Hits), plain.Confidence)
			}
		}
	}
	r := find(t, x, Query{Text: `"the kettle is broken"`, Now: june, Holds: holds})
	if r.Unquoted || len(r.Hits) != 1 || r.Hits[0].ID != idOf(2) {
		t.Errorf("a phrase that was said: %+v", r)
	}
	if r := find(t, x, Query{Text: `"zeppelin"`, Now: june, Holds: holds}); len(r.Hits) > 0 && r.Confidence >= Unsure {
		t.Errorf("words that nobody said are known: %+v", r)
	}
}

// For a question with hundreds of quotes, texts are read only for the first eight, because every
// candidate is read for each while the index is locked.
func TestThreatQuotesWithoutEnd(t *testing.T) {
	x := openOn(t, newSegments(), Options{})
	for n := range 100 {
		talk(t, x, "s", june.Add(time.Duration(n)*time.Hour), 1+n, [2]string{"Ana", "The old tree by the river is tall."})
	}
	asked := map[memory.ID]int{}
	holds := func(id memory.ID, _ Phrase) bool { asked[id]++; return true }
	of := func(text string) (most int) {
		t.Helper()
		clear(asked)
		if r := find(t, x, Query{Text: text, Now: june, K: 20, Holds: holds}); len(r.Hits) != 20 || r.Unquoted {
			t.Errorf("%.20q: %d hits", text, len(r.Hits))
		}
		for _, n := range asked {
			most = max(most, n)
		}
		return most
	}
	if n := of(strings.Repeat(`"old tree" `, 300)); n != 1 {
		t.Errorf("one phrase is looked for %d times in a text", n)
	}
	var all strings.Builder
	words := strings.Fields("old tree by river is tall")
	for _, a := range words {
		for _, b := range words {
			fmt.Fprintf(&all, "%q ", a+" "+b)
		}
	}
	if n := of(all.String()); n != 8 {
		t.Errorf("of 36 phrases %d are looked for in a text", n)
	}
}

// TestChineseNames: a place whose name contains a grammar character is found before lines that have
// its characters separately.
func TestChineseNames(t *testing.T) {
	x := openOn(t, newSegments(), Options{})
	lines := []string{"北京和上海我都去过。", "那年秋天我们一家去了京都，在寺庙旁边的小旅馆住了三个晚上，早上吃了豆腐，下午看了红叶，非常安静。",
		"小雨喜欢吃面。", "北京的都市生活很累。", "小雨说她想学日语。", "昨天下小雨，没出门。", "我在京东买了一个杯子，都很好。",
		"小雨去年和我去了京都看红叶，那里人很多很多，我们走了一整天。", "我对花生过敏。", "过年的时候他很敏感。"}
	for i, l := range lines {
		talk(t, x, strconv.Itoa(i), june, i+1, [2]string{"我", l})
	}
	for q, want := range map[string][]int{"京都": {8, 2}, "小雨 京都": {8}, "京都在哪里": {8, 2}, "对什么过敏": {9}} {
		r := find(t, x, Query{Text: q, Now: june})
		for i, n := range want {
			if r.Confidence < Unsure {
				t.Errorf("%s: confidence %g", q, r.Confidence)
			}
			if i >= len(r.Hits) || r.Hits[i].ID != idOf(n) {
				t.Errorf("%s: hit %d is not %q: %+v", q, i, lines[n-1], r.Hits[:min(3, len(r.Hits))])
				break
			}
		}
	}
}

func TestQuestionShapes(t *testing.T) {
	for q, want := range map[string]Shape{
		"When did Ana move?": When, "what year was it": When, "什么时候开会": When, "Who came to dinner?": Who, "谁来了": Who,
		"Where is my key": Where, "钥匙在哪里": Where, "how do I bake bread": HowTo, "怎么做饺子": HowTo, "how many cats has she": HowMany,
		"what does Ana like": Preference, "我喜欢吃什么": Preference, "the boiler": Plain,
	} {
		if got := shapeOf(q, split(q)); got != want {
			t.Errorf("%q is %s, want %s", q, got, want)
		}
	}
}

// If a line is found, the memory made from it is shown, because it has dates; a line without
// memories is shown itself.
func TestMemoryIsShownForItsLine(t *testing.T) {
	x := openOn(t, newSegments(), Options{})
	said, known := memory.ID{1}, memory.ID{2}
	day := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	err := x.Add(Doc{ID: said, Kind: Utterance, Session: "s", At: day, Speaker: "Ana", Text: "we finally moved over to Lyon last week with all the boxes"},
		Doc{ID: known, Kind: Memory, Type: memory.Semantic, At: day, Source: said, Text: "Ana lives in Lyon"})
	if err != nil {
		t.Fatal(err)
	}
	for _, ask := range []string{"did Ana move to Lyon with the boxes", "who lives in Lyon"} {
		res, err := x.Search(t.Context(), Query{Text: ask})
		if err != nil || len(res.Hits) != 1 || res.Hits[0].ID != known || res.Hits[0].Kind != Memory || res.Hits[0].Type != memory.Semantic ||
			!slices.Equal(res.Hits[0].Also, []memory.ID{said}) {
			t.Errorf("%s: %+v, %v", ask, res.Hits, err)
		}
	}
	res, err := x.Search(t.Context(), Query{Text: "who moved the boxes", Kinds: []Kind{Utterance}})
	if err != nil || len(res.Hits) != 1 || res.Hits[0].ID != said {
		t.Errorf("utterances alone: %+v, %v", res.Hits, err)
	}
}

// Allow has to read the document, so a search calls it only for the best; the result is the same as
// without Allow.
func TestAllowIsCalledForTheBest(t *testing.T) {
	x := openOn(t, newSegments(), Options{})
	const many = 3000
	docs := make([]Doc, many)
	for i := range docs {
		docs[i] = Doc{ID: idOf(i), Kind: Memory, Type: memory.Semantic, At: june.Add(time.Duration(i) * time.Minute), Text: strings.Repeat("soup ", 1+i%7) + "and bread"}
	}
	if err := x.Add(docs...); err != nil {
		t.Fatal(err)
	}
	q := Query{Text: "soup", K: 10}
	without := find(t, x, q)
	asked := map[memory.ID]bool{}
	q.Allow = func(a About) bool { asked[a.ID] = true; return true }
	with := find(t, x, q)
	for i := range without.Hits {
		if without.Hits[i].ID != with.Hits[i].ID {
			t.Fatalf("hit %d is %s, want %s", i, with.Hits[i].ID, without.Hits[i].ID)
		}
	}
	if n := poolBase + poolPerK*q.K; len(without.Hits) != q.K || len(asked) != n {
		t.Errorf("asked about %d documents for %d hits, want %d", len(asked), len(with.Hits), n)
	}
	none := 0
	q.Allow = func(a About) bool { none++; return a.ID == idOf(0) }
	if r := find(t, x, q); len(r.Hits) != 1 || r.Hits[0].ID != idOf(0) || none < many {
		t.Errorf("%d hits, asked %d times: the last document is allowed", len(r.Hits), none)
	}
}
