package rules

import (
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/locket-dev/locket/wasm/abi"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/timex"
)

// monday is Monday, 14 September 2026, 10:00 in Shanghai.
var monday = timex.Moment{Day: timex.DayOf(2026, 9, 14), Minute: 10 * 60, Offset: 8 * 3600}

// hear plays turns by Mei, the wearer, unless they begin with "Name: ", and returns the output for
// the last.
func hear(t testing.TB, turns string) *abi.Output {
	t.Helper()
	var before []abi.Turn
	var state []byte
	var out *abi.Output
	for i, text := range strings.Split(turns, " / ") {
		speaker := "Mei"
		if name, rest, ok := strings.Cut(text, ": "); ok && len(name) < 8 && name[0] >= 'A' && name[0] <= 'Z' && !strings.Contains(name, " ") {
			speaker, text = name, rest
		}
		ev := &abi.Event{ID: "pin/1/" + strconv.Itoa(i), Kind: "text", At: monday.Unix() + int64(i)*8000, Zone: "Asia/Shanghai", Offset: 8 * 3600,
			Speaker: speaker, Wearer: "Mei", Text: text, Before: before, State: state}
		out = all(ev)
		state = out.State
		before = append(before, abi.Turn{ID: ev.ID, At: ev.At, Speaker: speaker, Text: text})
		for _, r := range out.Refusals {
			if r.Span.Start < 0 || r.Span.End > len(text) || r.Span.Start > r.Span.End {
				t.Errorf("%q: refusal of %q with span %+v, which the node takes for a fault", turns, r.Kind, r.Span)
			}
		}
		for _, c := range out.Candidates {
			if c.Text == "" || c.Confidence <= 0 || c.Confidence > 1 || len(c.Spans) == 0 || c.Kind == "" {
				t.Errorf("%q: candidate %+v", turns, c)
			}
			for _, s := range c.Spans {
				if s.Turn == 0 && (s.Start < 0 || s.End > len(text) || s.Start >= s.End) {
					t.Errorf("%q: span %+v", turns, s)
				}
			}
			if c.Predicate != "" && c.Object == "" {
				t.Errorf("%q: a relation to nothing, which the node refuses: %+v", turns, c)
			}
			if c.Slot != nil && c.Slot.Value == "" && !c.Negates {
				t.Errorf("%q: slot without value: %+v", turns, c.Slot)
			}
		}
	}
	return out
}

// all returns what the three extractors make of an event.
func all(ev *abi.Event) *abi.Output {
	out := &abi.Output{}
	Extract(ev, out, discourse.Facts)
	for _, part := range [...]discourse.Part{discourse.Plans, discourse.HowTo} {
		var more abi.Output
		Extract(ev, &more, part)
		out.Candidates = append(out.Candidates, more.Candidates...)
	}
	return out
}

// keys writes candidates in the short form of testdata/said.txt.
func keys(out *abi.Output) []string {
	var all []string
	for _, c := range out.Candidates {
		k := ""
		switch {
		case c.Type == "procedural":
			k = "howto " + strconv.Itoa(len(c.Steps))
		case c.Type == "episodic":
			k = c.EventType
			if c.Slot != nil {
				k, _, _ = strings.Cut(c.Slot.Attribute, " 2") // one of several
				if strings.HasPrefix(k, "plan:") || strings.HasPrefix(k, "计划：") {
					k = "plan"
				}
			}
			if c.Started != 0 {
				m := timex.MomentOf(c.Started, monday.Offset)
				y, mm, d := timex.Date(m.Day)
				k += "@" + strconv.Itoa(y) + "-" + timex.Pad2(mm) + "-" + timex.Pad2(d)
				if m.Minute != 0 {
					k += " " + timex.Pad2(m.Minute/60) + ":" + timex.Pad2(m.Minute%60)
				}
			}
		case c.Slot == nil, strings.HasPrefix(c.Slot.Attribute, "routine: ") && !c.Negates:
			k = c.Kind
		default:
			k = c.Slot.Attribute + "=" + strings.ToLower(c.Slot.Value)
			if c.Slot.Subject != "user" {
				k = c.Slot.Subject + "." + k
			}
			if c.Type == "core" {
				k = "core " + k
			}
		}
		if c.Negates {
			k = "!" + k
		}
		all = append(all, k)
	}
	return all
}

// TestSaid goes through the labelled utterances: what is said, a tab, and the expected result: keys
// separated by "; ", "refused KIND", or nothing.
func TestSaid(t *testing.T) {
	var hit, missed, extra, all, silent, refused, wrongKind int
	for line := range lines(t, "testdata/said.txt") {
		all++
		said, want, _ := strings.Cut(line, "\t")
		want = strings.TrimSpace(want)
		out := hear(t, said)
		got := keys(out)
		if want == "" || strings.HasPrefix(want, "refused") {
			silent++
			if kind, ok := strings.CutPrefix(want, "refused "); ok {
				refused++
				if !slices.ContainsFunc(out.Refusals, func(r abi.Refusal) bool { return r.Kind == kind && r.Reason != "" }) {
					wrongKind++
					t.Logf("refusal: %q: %v, want %s", said, out.Refusals, kind)
				}
			}
			want = ""
		}
		for k := range strings.SplitSeq(want, "; ") {
			if k == "" {
				continue
			}
			if i := slices.Index(got, k); i >= 0 {
				hit++
				got = slices.Delete(got, i, i+1)
			} else {
				missed++
				t.Logf("missed: %q: %q; got %q", said, k, got)
			}
		}
		extra += len(got)
		if len(got) > 0 {
			t.Logf("extra: %q: %q", said, got)
		}
	}
	precision, recall := float64(hit)/float64(hit+extra), float64(hit)/float64(hit+missed)
	t.Logf("facts: %d utterances (%d of them without a memory, %d of %d refused as what they are), %d memories: precision %.3f, recall %.3f",
		all, silent, refused-wrongKind, refused, hit+missed, precision, recall)
	if all < 150 || precision < 0.93 || recall < 0.93 || wrongKind > refused/10 {
		t.Errorf("want at least 150 utterances, precision and recall of 0.93, and refusals of the right kind")
	}
}

// Texts of statements: names for pronouns, dates next to times, the language kept.
func TestWords(t *testing.T) {
	for _, c := range []struct{ said, want string }{
		{"I told Clara I'd bring her the book.", "Mei told Clara Mei would bring her the book."},
		{"I was born on 3 May 1988.", "Mei was born on 3 May 1988."},
		{"I live in Leeds.", "Mei lives in Leeds."},
		{"I don't like olives.", "Mei doesn't like olives."},
		{"I'm allergic to peanuts.", "Mei is allergic to peanuts."},
		{"Tom: I work at Siemens.", "Tom works at Siemens."},
		{"We flew to Rome yesterday.", "Mei and others flew to Rome yesterday (Sunday 13 September 2026)."},
		{"I have a dentist appointment on Thursday at 3pm.", "Mei has a dentist appointment on Thursday at 3pm (Thursday 17 September 2026, 15:00)."},
		{"My sister lives in Berlin.", "Mei's sister lives in Berlin."},
		{"Priya: Shall we start? / Tom: Yes. / I'll send you the slides by Friday, Priya.", "Mei will send Priya the slides by Friday (Friday 18 September 2026)."},
		{"As of today I work for Greywacke.", "Mei works for Greywacke, as of Monday 14 September 2026."},
		{"Daniel: Have you seen my charger? / It's in the drawer under the kettle.", "Daniel's charger is in the drawer under the kettle."},
		{"Daniel: The coffee machine is flashing at me. / How do you descale that thing, anyway? / Daniel: It's easy. First you empty the tank. Then you add the descaler. And finally you rinse it.",
			"How to descale the coffee machine: empty the tank; add the descaler; rinse it."},
		{"Here's how you reset the projector. You start like this: switch it off. Next, wait a minute. Finally, switch it on.",
			"How to reset the projector: switch it off; wait a minute; switch it on."},
		{"To back up the server, you first stop the queue, then you start the job, and in the end you start the queue again.",
			"How to back up the server: stop the queue; start the job; start the queue again."},
		{"Tom: 你妈妈身体怎么样? / 她最近每天早上去公园打太极。", "Mei的妈妈最近每天早上去公园打太极。"},
		{"我住在上海。", "Mei住在上海。"},
		{"我明天下午三点去看牙医。", "Mei明天下午三点（2026年9月15日星期二 15:00）去看牙医。"},
	} {
		out := hear(t, c.said)
		if len(out.Candidates) != 1 || out.Candidates[0].Text != c.want {
			t.Errorf("%q: %+v, want %q", c.said, out.Candidates, c.want)
		}
	}
}

// Sentences about another world than the speaker's are refused as a story, and quotations of
// somebody else give nothing, even if a rule knows them.
func TestStories(t *testing.T) {
	for _, said := range []string{
		"In the film I live in Rome.", "In that book the hero moved to Mars.", "The detective lives in London.", "I dreamt I moved to Paris.", "Just kidding, I have two dogs.",
		"Imagine I moved to Oslo tomorrow.", "Pretend you live on a ship.", "If I work for Siemens I'll be rich.", "Let's say I live in Leeds.",
		"电影里他住在上海。", "我梦见我住在上海。", "假如我住在上海。", "开玩笑的，我住在上海。", "小说里的主角搬到了北京。",
	} {
		out := hear(t, said)
		if len(out.Candidates) > 0 || !slices.ContainsFunc(out.Refusals, func(r abi.Refusal) bool { return r.Kind == "story" && r.Reason != "" }) {
			t.Errorf("%q: %q, %v", said, keys(out), out.Refusals)
		}
	}
	for _, said := range []string{`He always says "I live in Canada".`, "He was like, I have ten cats.", "She goes, I'm allergic to work."} {
		if out := hear(t, said); len(out.Candidates) > 0 {
			t.Errorf("%q: %q", said, keys(out))
		}
	}
	for _, said := range []string{"I left my keys in the car.", "I like that film.", "We watched a film about Mars yesterday."} {
		if out := hear(t, said); slices.ContainsFunc(out.Refusals, func(r abi.Refusal) bool { return r.Kind == "story" }) {
			t.Errorf("%q is taken for a story", said)
		}
	}
}

// A hedge makes a statement less certain, in both languages; nothing else does.
func TestDoubt(t *testing.T) {
	for _, c := range []struct{ plain, hedged string }{
		{"My appointment is on Tuesday.", "I think my appointment is on Tuesday."},
		{"Lena moved to Vienna.", "Lena probably moved to Vienna."},
		{"Lena works at the museum.", "Apparently Lena works at the museum."},
		{"I'm allergic to latex.", "I'm allergic to latex, I think."},
		{"我对乳胶过敏。", "我可能对乳胶过敏。"},
		{"小王在银行上班。", "听说小王在银行上班。"},
		{"我明天下午三点去看牙医。", "我好像明天下午三点去看牙医。"},
	} {
		plain, hedged := hear(t, c.plain), hear(t, c.hedged)
		if len(plain.Candidates) != 1 || len(hedged.Candidates) != 1 {
			t.Errorf("%q: %q; %q: %q", c.plain, keys(plain), c.hedged, keys(hedged))
			continue
		}
		if d := plain.Candidates[0].Confidence - hedged.Candidates[0].Confidence; d < discourse.Hedge-0.001 || d > discourse.Hedge+0.001 {
			t.Errorf("%q takes %.2f off", c.hedged, d)
		}
	}
}

// Evidence is the exact span: it begins and ends with the words that were said, and contains the
// value that is taken from it.
func TestEvidence(t *testing.T) {
	for _, file := range []string{"testdata/develop.txt", "testdata/said.txt"} {
		for line := range lines(t, file) {
			turns, _, _ := strings.Cut(line, "\t")
			texts := strings.Split(turns, " / ")
			for i, s := range texts {
				if name, rest, ok := strings.Cut(s, ": "); ok && len(name) < 8 && name[0] >= 'A' && name[0] <= 'Z' && !strings.Contains(name, " ") {
					texts[i] = rest
				}
			}
			for _, c := range hear(t, turns).Candidates {
				evidence := ""
				for _, s := range c.Spans {
					text := texts[len(texts)-1+s.Turn]
					part := text[s.Start:s.End]
					if part == "" || strings.TrimSpace(part) != part {
						t.Errorf("%q: evidence %q", turns, part)
					}
					evidence += " " + strings.ToLower(strings.ReplaceAll(part, "’", "'"))
				}
				if c.Type != "semantic" || c.Slot == nil || c.Slot.Attribute == "birthday" || strings.HasSuffix(c.Slot.Attribute, "anniversary") {
					continue
				}
				value := strings.ToLower(c.Slot.Value)
				if i := strings.LastIndexByte(value, ' '); i >= 0 {
					value = value[i+1:]
				}
				if stem := strings.TrimSuffix(strings.TrimSuffix(value, "s"), "ing"); !strings.Contains(evidence, stem) && !strings.Contains("married retired 失业 吃素 烟", value) {
					t.Errorf("%q: evidence %q does not hold %q", turns, evidence, value)
				}
			}
		}
	}
}

// Dates convert both ways, over leap years and before 1970.
func TestDates(t *testing.T) {
	for day := -40000; day < 60000; day += 13 {
		y, m, d := timex.Date(day)
		if timex.DayOf(y, m, d) != day || m < 1 || m > 12 || d < 1 || d > timex.MonthLength(y, m) {
			t.Fatalf("day %d is %d-%d-%d, which is day %d", day, y, m, d, timex.DayOf(y, m, d))
		}
	}
	if y, m, d := timex.Date(timex.AddMonths(timex.DayOf(2028, 1, 31), 1)); y != 2028 || m != 2 || d != 29 {
		t.Errorf("a month after 31 January 2028: %d-%d-%d", y, m, d)
	}
	if y, m, d := timex.Date(timex.AddMonths(timex.DayOf(2026, 1, 15), -2)); y != 2025 || m != 11 || d != 15 {
		t.Errorf("two months before 15 January 2026: %d-%d-%d", y, m, d)
	}
	if m := timex.MomentOf(-1, 0); m.Day != -1 || m.Minute != 1439 {
		t.Errorf("a millisecond before 1970: %+v", m)
	}
}

// checked extracts from an event, and checks that the output is valid.
func checked(t *testing.T, ev *abi.Event) *abi.Output {
	t.Helper()
	out := all(ev)
	if len(out.Candidates) > 3*discourse.MaxCandidates || len(out.State) > 64<<10 {
		t.Fatalf("%d candidates, %d bytes of state", len(out.Candidates), len(out.State))
	}
	for _, r := range out.Refusals {
		if r.Span.Turn != 0 || r.Span.Start < 0 || r.Span.End > len(ev.Text) || r.Span.Start > r.Span.End {
			t.Fatalf("refusal %+v of %q", r, ev.Text)
		}
	}
	for _, c := range out.Candidates {
		for _, s := range c.Spans {
			src := ev.Text
			if s.Turn == -1 {
				src = ev.Before[0].Text
			}
			if s.Start < 0 || s.End > len(src) || s.Start > s.End {
				t.Fatalf("span %+v of %q", s, src)
			}
		}
		if c.Text == "" || c.Predicate != "" && c.Object == "" || c.Type == "procedural" && len(c.Steps) == 0 || c.Type == "core" && c.Block == "" {
			t.Fatalf("candidate %+v of %q", c, ev.Text)
		}
	}
	return out
}

func FuzzExtract(f *testing.F) {
	b, err := os.ReadFile("testdata/said.txt")
	if err != nil {
		f.Fatal(err)
	}
	for line := range strings.SplitSeq(string(b), "\n") {
		said, _, _ := strings.Cut(line, "\t")
		f.Add(said, "I have a dentist appointment on Thursday at 3pm.", []byte{}, int64(0))
	}
	f.Add("make it four", "", discourse.EncodePlans([]discourse.Plan{{Subject: "user", Attribute: "dentist_appointment", Label: "x", Day: 20710, Minute: 900, Clock: true}}), int64(1<<52))
	f.Fuzz(func(t *testing.T, text, before string, state []byte, at int64) {
		at %= 1 << 53
		text, before = strings.ToValidUTF8(text, ""), strings.ToValidUTF8(before, "") // as [abi.DecodeEvent] returns them
		ev := &abi.Event{ID: "x", At: at, Offset: 3600, Speaker: "Tom", Wearer: "Mei", Text: text, State: state, Before: []abi.Turn{{At: at - 1, Speaker: "Mei", Text: before}}}
		checked(t, ev)
	})
}

func BenchmarkExtract(b *testing.B) {
	before := make([]abi.Turn, 8)
	for i := range before {
		before[i] = abi.Turn{Speaker: "Tom", Text: "I have a dentist appointment on Thursday at 3pm, and we went to the lake yesterday."}
	}
	ev := &abi.Event{At: monday.Unix(), Speaker: "Mei", Wearer: "Mei", Text: "I moved to Shanghai last month, and I'm meeting Lin for lunch tomorrow at noon.", Before: before}
	b.ReportAllocs()
	for b.Loop() {
		var out abi.Output
		Extract(ev, &out, discourse.Facts)
	}
}
