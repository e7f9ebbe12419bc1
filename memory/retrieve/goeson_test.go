package retrieve

import (
	"bufio"
	"encoding/binary"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/recall"
)

var showGoesOn = flag.Bool("goeson", false, "print where the evidence of testdata/goeson.txt stands")

// goesOn is a follow-up question, after another question and its answer.
type goesOn struct {
	before   []Turn
	ask      string
	evidence []memory.ID
}

func readGoesOn(t *testing.T) (*recall.Index, []goesOn) {
	t.Helper()
	x, err := recall.Open(t.Context(), recall.InMemory{}, recall.Options{})
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.Open("testdata/goeson.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	labels := map[string]memory.ID{}
	var asked []goesOn
	var at time.Time
	session, n := "", uint64(0)
	for s := bufio.NewScanner(f); s.Scan(); {
		line := s.Text()
		switch {
		case line == "" || line[0] == '#':
		case line[0] == '=':
			f := strings.Fields(line)
			session = f[1]
			if at, err = time.Parse(time.DateOnly, f[2]); err != nil {
				t.Fatal(err)
			}
		case line[0] == '?':
			f := strings.Split(line[1:], "|")
			q := goesOn{before: []Turn{{"Ines", f[0]}, {"", f[1]}}, ask: strings.TrimSpace(f[2])}
			for _, l := range strings.Fields(f[3]) {
				if _, ok := labels[l]; !ok {
					t.Fatalf("%s: no line %s", line, l)
				}
				q.evidence = append(q.evidence, labels[l])
			}
			asked = append(asked, q)
		default:
			n++
			at = at.Add(10 * time.Second)
			speaker, text, _ := strings.Cut(line, ": ")
			text, label, _ := strings.Cut(strings.TrimSuffix(text, "]"), " [")
			var id memory.ID
			binary.BigEndian.PutUint64(id[:], n)
			labels[label] = id
			if err := x.Add(recall.Doc{ID: id, Kind: recall.Utterance, Session: session, At: at, Order: n, Speaker: speaker, Text: text}); err != nil {
				t.Fatal(err)
			}
		}
	}
	return x, asked
}

// places counts the questions whose evidence is the first hit, and those whose evidence is
// among the first three.
func places(t *testing.T, x *recall.Index, asked []goesOn, query func(goesOn) recall.Query) (first, three int) {
	for _, g := range asked {
		q := query(g)
		q.Now, q.K = time.Date(2026, 6, 8, 9, 0, 0, 0, time.UTC), 10
		r, err := x.Search(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		at := slices.IndexFunc(r.Hits, func(h recall.Hit) bool { return slices.Contains(g.evidence, h.ID) })
		if at == 0 {
			first++
		}
		if at >= 0 && at < 3 {
			three++
		} else if *showGoesOn && q.Weights == nil {
			fmt.Println(at, q.Text)
		}
	}
	return first, three
}

// TestFollowUpQuestions: a follow-up question finds its evidence more often if it is lent words of what was
// said before. It finds it more often still if those words count less than its own. How much less
// (Lent and LentName) was chosen on these questions.
func TestFollowUpQuestions(t *testing.T) {
	x, asked := readGoesOn(t)
	lent := func(w *recall.Weights) func(goesOn) recall.Query {
		return func(g goesOn) recall.Query {
			topic, own := Topic(append(slices.Clone(g.before), Turn{"Ines", g.ask}))
			return recall.Query{Text: topic, Own: own, Weights: w}
		}
	}
	first, three := places(t, x, asked, lent(nil))
	report := func(name string, f, th int) {
		if *showGoesOn {
			fmt.Printf("%-8s %d, %d of %d\n", name, f, th, len(asked))
		}
	}
	report("shipped", first, three)
	f, th := places(t, x, asked, func(g goesOn) recall.Query { return recall.Query{Text: g.ask, Weights: new(recall.DefaultWeights())} })
	report("alone", f, th)
	if f >= first || th >= three {
		t.Errorf("without what was lent %d, %d; with it %d, %d", f, th, first, three)
	}
	for _, share := range []float64{0, .1, .2, .3, 1} {
		for _, name := range []float64{.1, .2, .5, .7, 1} {
			w := recall.DefaultWeights()
			w.Lent, w.LentName = share, name
			f, th := places(t, x, asked, lent(&w))
			report(fmt.Sprintf("%.1f %.1f", share, name), f, th)
			if share == 1 && name == 1 && (f >= first || th >= three) {
				t.Errorf("where lent words count fully %d, %d; as shipped %d, %d", f, th, first, three)
			}
		}
	}
}
