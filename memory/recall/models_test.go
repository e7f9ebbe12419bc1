package recall

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/locket-dev/locket/memory"
)

// sound is a Dense that compares the letters of two texts.
type sound map[memory.ID]string

func (d sound) Nearest(_ context.Context, text string, n int) ([]Similar, error) {
	var out []Similar
	for id, s := range d {
		shared := 0
		for _, r := range "abcdefghijklmnopqrstuvwxyz" {
			if strings.ContainsRune(s, r) && strings.ContainsRune(text, r) {
				shared++
			}
		}
		out = append(out, Similar{id, float64(shared)})
	}
	slices.SortFunc(out, func(a, b Similar) int { return int(b.Similarity - a.Similarity) })
	return out[:min(n, len(out))], nil
}

// shorter is a Reranker that prefers short texts.
type shorter struct{}

func (shorter) Rerank(_ context.Context, _ string, texts []string) ([]float64, error) {
	out := make([]float64, len(texts))
	for i, t := range texts {
		out[i] = -float64(len(t))
	}
	return out, nil
}

type denseFunc func(context.Context, string, int) ([]Similar, error)

func (f denseFunc) Nearest(ctx context.Context, text string, n int) ([]Similar, error) {
	return f(ctx, text, n)
}

type rerankFunc func(context.Context, string, []string) ([]float64, error)

func (f rerankFunc) Rerank(ctx context.Context, q string, texts []string) ([]float64, error) {
	return f(ctx, q, texts)
}

var soups = [][2]string{
	{"Ana", "The soup was cold and nobody wanted to finish it at all"},
	{"Ben", "The soup was fine"},
	{"Ana", "Quixotic jazz"},
	{"Ben", "More soup please, and some bread for the children"},
}

func soupIndex(t *testing.T) (*Index, Texts) {
	x := openOn(t, newSegments(), Options{})
	talk(t, x, "s", june, 1, soups...)
	return x, func(_ context.Context, hits []Hit) ([]string, error) {
		out := make([]string, len(hits))
		for i, h := range hits {
			for j := range soups {
				if h.ID == idOf(j+1) {
					out[i] = soups[j][1]
				}
			}
		}
		return out, nil
	}
}

func partOf(h Hit, name string) float64 {
	for _, p := range h.Parts {
		if p.Name == name {
			return p.Value
		}
	}
	return 0
}

func checkSums(t *testing.T, r Result) {
	t.Helper()
	for i, h := range r.Hits {
		sum := 0.0
		for _, p := range h.Parts {
			sum += p.Value
		}
		if math.Abs(sum-h.Score) > 1e-4 && h.Score > 0 {
			t.Errorf("hit %d: parts sum to %f, score is %f", i, sum, h.Score)
		}
		if i > 0 && h.Score > r.Hits[i-1].Score {
			t.Errorf("hit %d scores more than the one before", i)
		}
	}
}

// A document that shares no word with the question is found by its meaning, and one that the index
// does not have is ignored.
func TestEmbeddingsFindCandidates(t *testing.T) {
	x := openOn(t, newSegments(), Options{})
	for i, l := range soups { // no session, so no line is another's context
		if err := x.Add(Doc{ID: idOf(i + 1), Kind: Utterance, At: june, Text: l[1]}); err != nil {
			t.Fatal(err)
		}
	}
	q := Query{Text: "xjqz tiuc"}
	if r := find(t, x, q); len(r.Hits) != 0 {
		t.Fatalf("without a model: %+v", r.Hits)
	}
	d := sound{idOf(77): "xjqztiuc"}
	for i, s := range soups {
		d[idOf(i+1)] = strings.ToLower(s[1])
	}
	q.Models.Dense = d
	r := find(t, x, q)
	if len(r.Hits) != len(soups) || r.Hits[0].ID != idOf(3) || partOf(r.Hits[0], PartEmbedding) == 0 || len(r.Skipped) > 0 {
		t.Fatalf("%+v", r)
	}
	checkSums(t, r)
	q.Speaker, q.Allow = "", func(a About) bool { return a.ID != idOf(3) }
	for _, h := range find(t, x, q).Hits {
		if h.ID == idOf(3) {
			t.Error("a document that is not allowed came through the model")
		}
	}
}

func TestRerankSortsTheFirst(t *testing.T) {
	x, texts := soupIndex(t)
	x.judge.agreed = agreement{sum: 100, can: 100, of: 1}
	q := Query{Text: "soup", K: 2, Models: Models{Reranker: shorter{}, Texts: texts}}
	r := find(t, x, q)
	if len(r.Hits) != 2 || r.Hits[0].ID != idOf(3) && r.Hits[0].ID != idOf(2) || partOf(r.Hits[0], PartRerank) == 0 || len(r.Skipped) > 0 {
		t.Fatalf("%+v", r)
	}
	checkSums(t, r)
	var read int
	q.Models.First = 3
	q.Models.Reranker = rerankFunc(func(_ context.Context, question string, texts []string) ([]float64, error) {
		read = len(texts)
		return make([]float64, len(texts)), nil // it sees no difference
	})
	plain := find(t, x, Query{Text: "soup", K: 2})
	if r := find(t, x, q); read != 3 || r.Hits[0].ID != plain.Hits[0].ID || r.Hits[1].ID != plain.Hits[1].ID {
		t.Errorf("read %d texts; %+v, want %+v", read, r.Hits, plain.Hits)
	}
	gone := func(ctx context.Context, hits []Hit) ([]string, error) {
		out, err := texts(ctx, hits)
		for i, h := range hits {
			if h.ID == idOf(3) {
				out[i] = ""
			}
		}
		return out, err
	}
	for _, h := range find(t, x, Query{Text: "soup", Models: Models{Reranker: shorter{}, Texts: gone}}).Hits {
		if h.ID == idOf(3) && partOf(h, PartRerank) != 0 {
			t.Error("a text that is gone was judged")
		}
	}
}

// Whatever a model does, the answer is the same as without it, and says so.
func TestModelsNeverFailASearch(t *testing.T) {
	x, texts := soupIndex(t)
	want := find(t, x, Query{Text: "cold soup"})
	broken := errors.New("no such model")
	for name, m := range map[string]Models{
		"dense error":    {Dense: denseFunc(func(context.Context, string, int) ([]Similar, error) { return nil, broken })},
		"dense NaN":      {Dense: denseFunc(func(context.Context, string, int) ([]Similar, error) { return []Similar{{idOf(1), math.NaN()}}, nil })},
		"dense gives up": {Dense: denseFunc(func(context.Context, string, int) ([]Similar, error) { return nil, context.DeadlineExceeded })},
		"rerank error":   {Reranker: rerankFunc(func(context.Context, string, []string) ([]float64, error) { return nil, broken })},
		"rerank too few": {Reranker: rerankFunc(func(context.Context, string, []string) ([]float64, error) { return []float64{1}, nil })},
		"rerank infinite": {Reranker: rerankFunc(func(_ context.Context, _ string, t []string) ([]float64, error) {
			return []float64{math.Inf(1), 0, 0, 0}[:len(t)], nil
		})},
		"texts error":     {Reranker: shorter{}, Texts: func(context.Context, []Hit) ([]string, error) { return nil, broken }},
		"texts too few":   {Reranker: shorter{}, Texts: func(context.Context, []Hit) ([]string, error) { return nil, nil }},
		"rerank gives up": {Reranker: rerankFunc(func(context.Context, string, []string) ([]float64, error) { return nil, context.DeadlineExceeded })},
	} {
		reason := SkippedFailed
		if strings.HasSuffix(name, "gives up") {
			reason = SkippedLate
		}
		if m.Texts == nil {
			m.Texts = texts
		}
		r := find(t, x, Query{Text: "cold soup", Models: m})
		if len(r.Skipped) != 1 || r.Skipped[0].Reason != reason {
			t.Errorf("%s: skipped %+v", name, r.Skipped)
		}
		if !slices.EqualFunc(r.Hits, want.Hits, func(a, b Hit) bool { return a.ID == b.ID && a.Score == b.Score }) {
			t.Errorf("%s: %+v\nwant %+v", name, r.Hits, want.Hits)
		}
	}
}

// A model that ignores its context is given up in time, is not asked again while its calls are
// running, and is waited for at the end.
func TestModelThatIgnoresItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x, texts := soupIndex(t)
		stuck := make(chan struct{})
		var calls, ended atomic.Int32
		m := Models{Within: 50 * time.Millisecond, Texts: texts, Reranker: shorter{},
			Dense: denseFunc(func(context.Context, string, int) ([]Similar, error) {
				calls.Add(1)
				<-stuck
				ended.Add(1)
				return []Similar{{idOf(3), 1}}, nil
			})}
		begin := time.Now()
		for i := range maxLate + 2 {
			r := find(t, x, Query{Text: "soup", Models: m})
			want := SkippedLate
			if i >= maxLate {
				want = SkippedBusy
			}
			if len(r.Hits) == 0 || len(r.Skipped) != 1 || r.Skipped[0] != (Skip{Part: PartEmbedding, Reason: want}) {
				t.Errorf("call %d: %d hits, skipped %+v", i, len(r.Hits), r.Skipped)
			}
		}
		if took := time.Since(begin); took != maxLate*m.Within {
			t.Errorf("took %s", took)
		}
		close(stuck)
		synctest.Wait()
		if r := find(t, x, Query{Text: "soup", Models: m}); len(r.Skipped) != 0 {
			t.Errorf("after it came back: %+v", r.Skipped)
		}
		ctx, cancel := context.WithCancel(t.Context())
		stuck = make(chan struct{})
		time.AfterFunc(10*time.Millisecond, cancel)
		if _, err := x.Search(ctx, Query{Text: "soup", Models: m}); !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled: %v", err)
		}
		time.AfterFunc(time.Second, func() { close(stuck) })
		if err := x.Close(); err != nil || calls.Load() != ended.Load() {
			t.Errorf("close: %v, %d of %d calls had ended", err, ended.Load(), calls.Load())
		}
		if _, err := x.Search(t.Context(), Query{Text: "soup", Models: m}); !errors.Is(err, ErrClosed) {
			t.Errorf("closed: %v", err)
		}
	})
}
