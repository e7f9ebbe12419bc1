package mark

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// forms writes a text with both forms at each spot.
func forms(t *Text) string {
	var b strings.Builder
	from := 0
	for _, s := range t.Spots {
		fmt.Fprintf(&b, "%s[%s|%s]", t.Rest[from:s.At], s.Forms[0], s.Forms[1])
		from = s.At
	}
	return b.String() + t.Rest[from:]
}

func TestFind(t *testing.T) {
	for _, c := range [][2]string{
		{"Tomatoes want water at the root", "Tomatoes want water at the root[|.]"},
		{"Usually I don't water it.", "[Usually|Normally] I [don't|do not] water it[|.]"},
		{"I don’t know what it is.", "I [don’t|do not] know what it is[|.]"},
		{"It is in bloom, and it's been so for 3 weeks!", "[It is|It's] in bloom, and it's been so for [3|three] weeks!"},
		{"Mrs Gray meets Gray Kids at 3 pm on 3 May.", "Mrs Gray meets Gray Kids at 3 pm on 3 May[|.]"},
		{"I'm glad I am.", "[I'm|I am] glad I am[|.]"},
		{"MAYBE it starts to rain", "MAYBE it starts to rain[|.]"},
		{"He starts the car, version 2 of 2.", "He starts the car, version 2 of 2."},
		{"妈妈每天喝3杯茶，但是今天没有。", "妈妈每天喝[3|三]杯茶，[但是|不过]今天没有[|。]"},
		{"第三个门，二十三个人", "第三个门，二十三个人[|。]"},
		{"At 5 p.m.", "At 5 p.m."}, {"Tea.", "Tea."}, {"", ""},
	} {
		text := Find(c[0])
		if got := forms(&text); got != c[1] || text.Original() != c[0] {
			t.Errorf("%q:\n got %s\nwant %s\n was %q", c[0], got, c[1], text.Original())
		}
		for i := range text.Spots {
			less := text.Without(i)
			if len(less.Spots) != len(text.Spots)-1 || less.Original() != c[0] {
				t.Errorf("%q without spot %d: %q", c[0], i, less.Original())
			}
		}
	}
}

// There is no spot where another form would mean something else, nor in a name, a link or an
// address. The full stop at the end is tested separately.
func TestTextsWithoutSpots(t *testing.T) {
	for _, text := range []string{
		"We till the beds", "They rested for a while", "They came while it rained", "Never take two at once", "They let us go", "She's helped me", "She is helped by nurses", "It's grown", "It is grown", "The motorbike is red",
		"A bike for Ann", "See https://photos.example for more", "Write to children@school.org", "Write to maybe@often.example, or to #usually", "The file maybe_often.txt", "A well-travelled man",
		"Gray is my dentist", "Mr Gray came", "Children of Men is a film", "Center Parcs is closed", "There are twenty two beds", "The three fifteen train is late", "She has a Windows 10 laptop", "He has the Windows 10 laptops",
		"Take the 3 train", "She came on 3 May", "It is half past three", "For 3.5 hours", "In 2 to 3 weeks she comes", "They need two hundred cans", "not nearly enough", "He breathes normally", "My bigger brother", "The parking lots of Linz",
		"From start to finish", "He got started in May", "What he has to offer", "A need to know", "All that she needs to live", "Money owing to me", "He photographs birds", "Why don't you come", "Each other day", "not every day",
		"That is, he was late", "The plan is not to go", "I bought into it", "She films birds", "Couch grass", "He has 3kids", "(usually)x", "a/usually", "usually/often", "x.usually", "usually.x", "usually-dry", "usually's", "ten.often",
		"开心果很好吃", "父亲节到了", "一起事故", "今日头条", "今天是晴天", "他很高兴", "母亲河", "妈妈桑", "不但是他", "非常时期", "非常常见", "最大约束", "如果实成熟", "已经常驻", "独立刻苦", "他刚才能动", "晚上学", "第3个门",
		"每周3次", "三只松鼠", "三杯鸡", "3次元", "二十3个人", "各自行车", "十分之一", "士大夫", "光明天使",
	} {
		for _, s := range Find(text).Spots {
			if s.Forms[0] != "" {
				t.Errorf("%q: %q", text, s.Forms)
			}
		}
	}
	for _, text := range []string{"All is on https://photos.example", "All is on https://photos.example.", "Write to ann@school.org.", "Her code is tulip7", "See notes.txt, all of it in notes.txt", "She works at Tulip Inc.", "Her tag is #garden", "He left at 17:30", "The car is a BMW", "都在 https://a.example/说明"} {
		if n := len(Find(text).Spots); n > 0 {
			t.Errorf("%q has a full stop: %v", text, Find(text).Spots)
		}
	}
}

// Both forms of each pair have the same number of words, so that a text can be read by positions.
// Each spot is found with either form, and a changed form is read as the other one.
func TestPairs(t *testing.T) {
	n := 0
	for word, list := range pairs {
		for _, p := range list {
			n++
			a, b := tokens(p.form), tokens(p.to)
			if a[0].word != word || len(a) != len(b) || max(len(p.form), len(p.to)) > MaxForm || p.form == p.to || p.form == "" || p.to == "" {
				t.Errorf("%q and %q", p.form, p.to)
			}
			text := "Ann and her old aunt said, " + p.form + " the big red roses near her house, Linz!"
			if p.form[0] > 127 {
				text = "安和她的老姨，" + p.form + "那些大红花在林茨！"
			}
			if slices.Contains(p.never, "the") {
				text = strings.Replace(text, " the ", " grow ", 1)
			}
			found := Find(text)
			if len(found.Spots) != 1 {
				t.Errorf("%q: %s", p.form, forms(&found))
				continue
			}
			for bit := range 2 {
				if seen := readAll(t, []Text{found}, found.WithForms(func(int) int { return bit })); len(seen) != 1 || seen[0].Bit != bit {
					t.Errorf("%q as %d is read as %+v", p.form, bit, seen)
				}
			}
		}
	}
	if n < 140 {
		t.Errorf("%d forms", n)
	}
}

// A long text has no more spots than an item may have, and reading ends when its context does.
func TestFindIsBounded(t *testing.T) {
	long := strings.Repeat("I don't know, maybe. ", 10_000)
	if found := Find(long); len(found.Spots) != MaxInItem || found.Original() != long {
		t.Errorf("%d spots", len(found.Spots))
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, err := Read(ctx, garden(3), "x"); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func readAll(t testing.TB, items []Text, text string) []Seen {
	t.Helper()
	seen, err := Read(context.Background(), items, text)
	if err != nil {
		t.Fatal(err)
	}
	return seen
}

func FuzzFind(f *testing.F) {
	f.Add("It's usually 3 kids, and they’re fine. I don't know")
	f.Add("妈妈每天喝3杯茶，但是今天没有。")
	f.Fuzz(func(t *testing.T, text string) {
		found := Find(text)
		if found.Original() != text {
			t.Errorf("%q became %q", text, found.Original())
		}
		readAll(t, []Text{found}, text)
	})
}

// garden returns a bundle of n items, as long as memories are.
func garden(n int) (out []Text) {
	who := []string{"tomatoes", "beans", "roses", "leeks", "peppers", "plums"}
	what := []string{"The %[1]s usually want %[2]d cans of water before the sun is up", "She doesn't move the %[1]s while the soil is wet, as roots broke in March.",
		"We bought %[2]d trays of %[1]s, and it's the east wall that keeps them warm", "Nearly all %[1]s beside the shed got brown spots each summer.",
		"Somebody left %[2]d crates with %[1]s near the gate, perhaps for the children", "Until the frost was gone the %[1]s needed to stay in the cold frame.",
		"A neighbour gave her seed of old %[1]s from his aunt in Graz", "Slugs don't like copper tape, which she put around the %[1]s", "I'm told that ash helps %[1]s, mostly in heavy clay.",
		"The fridge holds %[2]d jars of %[1]s that were boiled in August", "For the show in Linz he chose the biggest %[1]s of the row", "Rain came late, so the hose ran an hour for the %[1]s each evening.",
		"Her favourite book says that %[1]s grow badly next to fennel", "They're tied to canes with jute, never wire, since the %[1]s bruise", "Compost went under the %[1]s in %[2]d layers with straw between.",
		"His photos of the %[1]s won a prize at the town hall", "It didn't hurt the %[1]s that hail fell for ten minutes", "Perhaps goats ate the %[1]s, because the fence was down.",
		"Mulch of cocoa shells kept the %[1]s clean but smelt for weeks", "Bees quickly found the %[1]s after lavender was planted there", "Every week the allotment club weighs its %[1]s on a borrowed scale.",
		"Grandfather began to prune %[1]s with a knife that he ground himself", "The greenhouse door sticks, so nobody gets the %[1]s out on wet days", "Someone from the market pays double for %[1]s with leaves on."}
	for i := range n {
		s := fmt.Sprintf(what[i%len(what)], who[(i+i/len(what))%len(who)], 2+i%11)
		out = append(out, Find(strings.Split(s, "%!(EXTRA")[0]))
	}
	return out
}

// bits returns the bits of an order, which nobody can guess.
func bits(seed uint64) func(item, spot int) int {
	return func(item, spot int) int {
		return int(rand.NewPCG(seed, uint64(item)<<16|uint64(spot)).Uint64() >> 17 & 1)
	}
}

func copyOf(items []Text, bit func(item, spot int) int) (lines []string) {
	for n := range items {
		lines = append(lines, items[n].WithForms(func(i int) int { return bit(n, i) }))
	}
	return lines
}

// spoiled returns what is left of a copy: a third of the items is gone, the others are in another
// order, and a tenth of the words are changed.
func spoiled(r *rand.Rand, lines []string) string {
	lines = slices.Clone(lines)
	r.Shuffle(len(lines), func(i, j int) { lines[i], lines[j] = lines[j], lines[i] })
	lines = lines[:len(lines)-len(lines)/3]
	for i, l := range lines {
		words := strings.Fields(l)
		for j := range words {
			if r.IntN(10) == 0 {
				words[j] = []string{"something", "quite", "usually", "grows", "the", "it's"}[r.IntN(6)]
			}
		}
		lines[i] = strings.Join(words, " ")
	}
	return strings.Join(lines, "\n")
}

func spots(items []Text) (n int) {
	for i := range items {
		n += len(items[i].Spots)
	}
	return n
}

// A buyer who passes a copy on is identified by it, even if a third is gone and, with more spots,
// if a tenth of the words are changed, too; nobody else ever is.
func TestThreatBuyerPassesACopyOn(t *testing.T) {
	const orders = 100
	r := rand.New(rand.NewPCG(1, 1))
	for _, c := range []struct {
		items, least int
		leak         func(lines []string) string
	}{
		{33, MinSpots, func(lines []string) string { return strings.Join(lines[len(lines)/3:], "\n") }},
		{72, Robust, func(lines []string) string { return spoiled(r, lines) }},
	} {
		items := garden(c.items)
		if n := spots(items); n < c.least || n > c.least+16 {
			t.Fatalf("%d spots, want few more than %d", n, c.least)
		}
		for round := range 200 {
			guilty := uint64(round % orders)
			seen := readAll(t, items, c.leak(copyOf(items, bits(guilty))))
			for o := range uint64(orders) {
				if s := ScoreOf(seen, bits(o), orders); (s.Chance <= Sure) != (o == guilty) {
					t.Errorf("%d items, round %d, order %d of guilty %d: %+v", c.items, round, o, guilty, s)
				}
			}
		}
	}
}

// Ten thousand copies of somebody who has none of the orders identify none of them.
func TestNoFalsePositives(t *testing.T) {
	items := garden(33)
	r := rand.New(rand.NewPCG(2, 2))
	const orders = 20
	least := 1.0
	for n := range 10_000 {
		lines := copyOf(items, bits(1_000_000+uint64(n)))
		text := strings.Join(lines, "\n")
		if n%10 == 0 {
			text = spoiled(r, lines)
		}
		seen := readAll(t, items, text)
		for o := range uint64(orders) {
			s := ScoreOf(seen, bits(o), orders)
			if least = min(least, s.Chance); s.Chance <= Sure {
				t.Fatalf("copy %d names order %d: %+v", n, o, s)
			}
		}
	}
	// with 200,000 comparisons, the least chance is about one in as many, and not far below
	if least < 1e-6 || least > 0.5 {
		t.Errorf("the least chance is %g", least)
	}
	for _, text := range []string{"", "usually maybe.", strings.Repeat("The tomatoes usually want 3 cans of water.\n", 50), "番茄"} {
		for o := range uint64(orders) {
			if s := ScoreOf(readAll(t, items, text), bits(o), orders); s.Chance <= Sure {
				t.Errorf("%.40q names order %d", text, o)
			}
		}
	}
}

// If two buyers mix their copies word by word, the text agrees with at least three quarters of one
// copy, so a bundle with many spots identifies one of the two, and nobody else.
func TestColludingBuyers(t *testing.T) {
	items := garden(100)
	if n := spots(items); n < 200 || n > 300 {
		t.Fatalf("%d spots", n)
	}
	r := rand.New(rand.NewPCG(3, 3))
	for range 50 {
		a, b := bits(r.Uint64()), bits(r.Uint64())
		mixed := copyOf(items, func(item, spot int) int {
			if r.IntN(2) == 0 {
				return a(item, spot)
			}
			return b(item, spot)
		})
		seen := readAll(t, items, strings.Join(mixed, "\n"))
		named := 0
		for _, bit := range []func(int, int) int{a, b} {
			if ScoreOf(seen, bit, 100).Chance <= Sure {
				named++
			}
		}
		if named == 0 {
			t.Error("neither is named")
		}
		for o := range uint64(100) {
			if s := ScoreOf(seen, bits(o), 100); s.Chance <= Sure {
				t.Errorf("order %d is named: %+v", o, s)
			}
		}
	}
}

// Removing all full stops removes those spots, and no others.
func TestFullStopsRemoved(t *testing.T) {
	items := garden(60)
	var lines []string
	for _, l := range copyOf(items, bits(7)) {
		lines = append(lines, strings.TrimSuffix(l, "."))
	}
	if s := ScoreOf(readAll(t, items, strings.Join(lines, "\n")), bits(7), 100); s.Chance > Sure || s.Agree != s.Read {
		t.Errorf("%+v", s)
	}
}

func TestBinomialTail(t *testing.T) {
	for _, c := range []struct {
		n, m int
		want float64
	}{{0, 0, 1}, {1, 1, 0.5}, {4, 3, 5.0 / 16}, {20, 20, 1.0 / (1 << 20)}, {10, 0, 1}, {3, 4, 0}} {
		if got := tail(c.n, c.m); got < c.want*0.999999 || got > c.want*1.000001 {
			t.Errorf("%d of %d: %g, want %g", c.m, c.n, got, c.want)
		}
	}
}
