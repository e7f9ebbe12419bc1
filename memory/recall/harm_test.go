package recall

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/memory"
)

// chance returns a number from 0 to 1 that depends on nothing but its arguments.
func chance(of ...string) float64 {
	sum := sha256.Sum256([]byte(strings.Join(of, "\x00")))
	return float64(binary.BigEndian.Uint32(sum[:])) / (1 << 32)
}

var wordsOf = map[string]map[string]bool{} // by text

// alike returns how many words two texts share, divided by the length of both.
func alike(a, b string) float64 {
	words := func(s string) map[string]bool {
		if wordsOf[s] == nil {
			wordsOf[s] = map[string]bool{}
			for _, w := range strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return !('a' <= r && r <= 'z') }) {
				wordsOf[s][w] = true
			}
		}
		return wordsOf[s]
	}
	x, y, n := words(a), words(b), 0
	for w := range x {
		if y[w] {
			n++
		}
	}
	return float64(n) / math.Sqrt(float64(len(x)*len(y))+1)
}

// judge is a model of either kind: it says how near a text is to a question; right means that it
// is evidence.
type judge func(question, text string, right bool) float64

// friendsTalk is one of the two talks with its questions.
type friendsTalk struct {
	x     *Index
	now   time.Time
	text  map[memory.ID]string
	asked []friendsAsked
	right []map[memory.ID]bool // evidence, by question
}

func friendsTalks(t *testing.T) (out []friendsTalk) {
	one, askedOne := readFriends(t, "testdata/friends-1.txt")
	two, askedTwo := readFriends(t, "testdata/friends-2.txt")
	for _, side := range []struct {
		turns, others []friendsTurn
		asked         []friendsAsked
		names         *strings.Replacer
	}{
		{one, two, askedOne, strings.NewReplacer("Greta", "Nora", "Malik", "Theo")},
		{two, one, askedTwo, strings.NewReplacer("Nora", "Greta", "Theo", "Malik")},
	} {
		f := friendsTalk{text: map[memory.ID]string{}, asked: side.asked}
		f.x, f.now = friends(t, side.turns, side.others, side.names)
		for i, u := range side.turns {
			f.text[idOf(i+1)] = u.speaker + ": " + u.text
		}
		for i, u := range side.others {
			f.text[idOf(10_000+i+1)] = side.names.Replace(u.speaker + ": " + u.text)
		}
		for _, q := range side.asked {
			right := map[memory.ID]bool{}
			for i, u := range side.turns {
				if slices.Contains(q.evidence, u.label) {
					right[idOf(i+1)] = true
				}
			}
			f.right = append(f.right, right)
		}
		out = append(out, f)
	}
	return out
}

// dense makes a Dense of a judge for question i.
func (f *friendsTalk) dense(j judge, i int) Dense {
	return denseFunc(func(_ context.Context, q string, n int) ([]Similar, error) {
		var out []Similar
		for id, text := range f.text {
			out = append(out, Similar{id, j(q, text, f.right[i][id])})
		}
		slices.SortFunc(out, func(a, b Similar) int {
			return cmp.Or(cmp.Compare(b.Similarity, a.Similarity), slices.Compare(a.ID[:], b.ID[:]))
		})
		return out[:min(n, len(out))], nil
	})
}

func (f *friendsTalk) texts(_ context.Context, hits []Hit) ([]string, error) {
	var out []string
	for _, h := range hits {
		out = append(out, f.text[h.ID])
	}
	return out, nil
}

func (f *friendsTalk) reranker(j judge, i int) Reranker {
	return rerankFunc(func(_ context.Context, q string, texts []string) ([]float64, error) {
		var out []float64
		for _, s := range texts {
			right := false
			for id := range f.right[i] {
				right = right || f.text[id] == s
			}
			out = append(out, j(q, s, right))
		}
		return out, nil
	})
}

// recalled asks all questions of new models and returns how much of the evidence is within ten
// hits, in per cent.
func recalled(t *testing.T, talks []friendsTalk, of func(f *friendsTalk, i int) Models) float64 {
	found, n := 0.0, 0
	for k := range talks {
		f := &talks[k]
		f.x.dense.agreed, f.x.judge.agreed = agreement{}, agreement{}
		for i, q := range f.asked {
			m := of(f, i)
			m.Within, m.Texts = time.Minute, f.texts
			hits := 0
			for _, h := range find(t, f.x, Query{Text: q.text, Now: f.now, K: 10, Models: m}).Hits {
				if f.right[i][h.ID] {
					hits++
				}
			}
			found += float64(hits) / float64(len(f.right[i]))
			n++
		}
	}
	return 100 * found / float64(n)
}

// A model that knows nothing, or the opposite, or only the words, costs at most a point of recall,
// and a model that knows the answers gains most of what there is to gain.
func TestModelsHelpOrDoNoHarm(t *testing.T) {
	talks := friendsTalks(t)
	without := recalled(t, talks, func(*friendsTalk, int) Models { return Models{} })
	one := map[bool]float64{true: 1}
	for _, c := range []struct {
		name          string
		of            judge
		dense, rerank float64 // the least gain
		both          float64
	}{
		{"by chance", func(q, s string, _ bool) float64 { return chance("1", q, s) }, -1, -1, -1},
		{"by chance, without reading the question", func(_, s string, _ bool) float64 { return chance(s) }, -1, -1, -1},
		{"the farthest for the nearest", func(q, s string, _ bool) float64 { return -alike(q, s) }, -1, -1, -1},
		{"all the same", func(string, string, bool) float64 { return 1 }, -1, -1, -1},
		{"long texts", func(_, s string, _ bool) float64 { return float64(len(s)) }, -1, -1, -2},
		{"common words", alikeTo, -1, -1, -2},
		{"the answers, the rest by words", func(q, s string, right bool) float64 { return alike(q, s) + one[right] }, 12, 12, 18},
		{"the answers, the rest by chance", func(q, s string, right bool) float64 { return chance(q, s) + one[right] }, 6, 6, 9},
		{"half of the answers", func(q, s string, right bool) float64 { return alike(q, s) + .3*one[right] + .3*chance(q, s) }, 7, 6, 10},
	} {
		dense := recalled(t, talks, func(f *friendsTalk, i int) Models { return Models{Dense: f.dense(c.of, i)} }) - without
		rerank := recalled(t, talks, func(f *friendsTalk, i int) Models { return Models{Reranker: f.reranker(c.of, i)} }) - without
		both := recalled(t, talks, func(f *friendsTalk, i int) Models {
			return Models{Dense: f.dense(c.of, i), Reranker: f.reranker(c.of, i)}
		}) - without
		t.Logf("%-40s dense %+5.1f, reranker %+5.1f, both %+5.1f", c.name, dense, rerank, both)
		if dense < c.dense || rerank < c.rerank || both < c.both {
			t.Errorf("%s: want at least %+.1f, %+.1f, %+.1f", c.name, c.dense, c.rerank, c.both)
		}
	}
}

// alikeTo is a judge that counts common words.
func alikeTo(q, s string, _ bool) float64 { return alike(q, s) }

// With a reranker that does not count, the hits are those without it.
func TestRerankerThatDoesNotCount(t *testing.T) {
	f := friendsTalks(t)[0]
	for i, q := range f.asked[:60] {
		want := find(t, f.x, Query{Text: q.text, Now: f.now, K: 10})
		for name, r := range map[string]Reranker{
			"it fails":   rerankFunc(func(context.Context, string, []string) ([]float64, error) { return nil, errors.New("no model") }),
			"it is late": rerankFunc(func(context.Context, string, []string) ([]float64, error) { return nil, context.DeadlineExceeded }),
			"no numbers": rerankFunc(func(_ context.Context, _ string, s []string) ([]float64, error) {
				return slices.Repeat([]float64{math.NaN()}, len(s)), nil
			}),
			"too few": rerankFunc(func(_ context.Context, _ string, s []string) ([]float64, error) {
				return make([]float64, len(s)-1), nil
			}),
			"no difference":  rerankFunc(func(_ context.Context, _ string, s []string) ([]float64, error) { return make([]float64, len(s)), nil }),
			"the worst best": f.reranker(func(q, s string, _ bool) float64 { return -alike(q, s) - chance(s)/100 }, i),
		} {
			f.x.judge.agreed = agreement{}
			got := find(t, f.x, Query{Text: q.text, Now: f.now, K: 10, Models: Models{Reranker: r, Texts: f.texts, Within: time.Minute}})
			got.Skipped = nil
			if !reflect.DeepEqual(got, want) {
				t.Fatalf("%s, %s: %+v\nwant %+v", q.text, name, got, want)
			}
		}
	}
}

// A model is trusted after a few questions, each of which counts once, and soon no more if it
// changes.
func TestAgreement(t *testing.T) {
	var a agreement
	for range 50 {
		a = a.with(2, 9, "the same question")
	}
	if a.trust() != 0 {
		t.Errorf("after one question it counts %.2f", a.trust())
	}
	for i := range 50 {
		if a = a.with(1, 9, strconv.Itoa(i)); a.trust() > 0 && i < 3 {
			t.Errorf("after %d questions it counts %.2f", i+2, a.trust())
		}
	}
	if a.trust() != 1 {
		t.Errorf("a model that always agrees counts %.2f", a.trust())
	}
	was := a
	for i := range 15 {
		a = a.with(-2, 9, strconv.Itoa(-1-i))
	}
	if a.trust() != 0 || was.trust() != 1 {
		t.Errorf("after it changed, it counts %.2f", a.trust())
	}
}
