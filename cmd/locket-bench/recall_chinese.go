package main

import (
	"context"
	"os"
	"slices"
	"time"

	_ "github.com/blevesearch/bleve/v2/analysis/lang/cjk"

	"github.com/locket-dev/locket/cmd/locket-bench/labelled"
	"github.com/locket-dev/locket/internal/day"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/config"
	"github.com/locket-dev/locket/node/serve"
)

// chineseWearer wears the device in the Chinese set.
const chineseWearer = "沈悦"

// depths at which the Chinese set is measured.
var depths = []int{5, 10}

// recallChinese feeds the Chinese set to a node and asks it like any caller, compared with bleve
// and its analyzer for Chinese. If a file is given, it also measures with that as the node's
// dictionary.
func recallChinese(ctx context.Context, cache, dictionary string) ([]result, error) {
	lines, questions, err := labelled.Chinese()
	if err != nil {
		return nil, err
	}
	peer, err := chinesePeer(ctx, lines, questions)
	if err != nil {
		return nil, err
	}
	out, err := chineseBeside(ctx, cache, "chinese", "", lines, questions, peer)
	if err != nil || dictionary == "" {
		return out, err
	}
	more, err := chineseBeside(ctx, cache, "chinese_dictionary", dictionary, lines, questions, peer)
	return append(out, more...), err
}

func chineseBeside(ctx context.Context, cache, name, dictionary string, lines []labelled.Line, questions []labelled.Question, peer [][]answer) ([]result, error) {
	own, took, err := chineseOwn(ctx, cache, dictionary, lines, questions)
	if err != nil {
		return nil, err
	}
	groups := []struct {
		name string
		of   func(*labelled.Question) bool
	}{
		{name, func(*labelled.Question) bool { return true }},
		{name + "_same_language", func(q *labelled.Question) bool { return !q.Cross }},
		{name + "_cross_language", func(q *labelled.Question) bool { return q.Cross }},
		{name + "_english_over_chinese", func(q *labelled.Question) bool { return q.Cross && q.Lang == "en" }},
		{name + "_chinese_over_english", func(q *labelled.Question) bool { return q.Cross && q.Lang == "zh" }},
	}
	var out []result
	for _, g := range groups {
		for _, k := range depths {
			ours, theirs, n := 0.0, 0.0, 0
			for i := range questions {
				if q := &questions[i]; g.of(q) {
					ours += evidenceRecall(own[i], q.Evidence, k)
					theirs += evidenceRecall(peer[i], q.Evidence, k)
					n++
				}
			}
			r := result{Suite: "recall", Case: g.name + map[int]string{5: "_at_5", 10: "_at_10"}[k], N: n, Value: round(100 * ours / float64(n)), Unit: "%"}
			out = append(out, r.beside("bleve", round(100*theirs/float64(n)), true))
		}
	}
	return append(out, result{Suite: "recall", Case: name + "_p50", N: len(took), Value: percentile(took, 50), Unit: "ms"}), nil
}

// chineseOwn returns each question's hits, and how long each took in ms.
func chineseOwn(ctx context.Context, cache, dictionary string, lines []labelled.Line, questions []labelled.Question) (got [][]answer, took []float64, err error) {
	l, err := newLifeWith(ctx, cache, chineseWearer, func(c *config.Config) { c.Recall.Dictionary = dictionary })
	if err != nil {
		return nil, nil, err
	}
	defer func() {
		if e := l.Close(); err == nil {
			err = e
		}
	}()
	events := make([]day.Event, len(lines))
	ids := map[memory.EventID]string{}
	for i, line := range lines {
		events[i] = said("talk", i+1, memory.Event{At: line.At, Zone: line.Zone, Text: line.Text, Speaker: line.Speaker})
		ids[events[i].ID] = line.ID
	}
	if err := l.happen(ctx, "talk", events); err != nil {
		return nil, nil, err
	}
	now := lines[len(lines)-1].At.Add(24 * time.Hour)
	for _, q := range questions {
		begin := time.Now()
		res, err := l.node.Search(ctx, serve.SearchRequest{Query: q.Question, K: slices.Max(depths), At: now})
		took = append(took, float64(time.Since(begin))/float64(time.Millisecond))
		if err != nil {
			return nil, nil, err
		}
		hits := make([]answer, len(res.Hits))
		for i, h := range res.Hits {
			if len(h.Evidence) > 0 {
				hits[i].turn = ids[h.Evidence[0].Event]
			}
		}
		got = append(got, hits)
	}
	return got, took, nil
}

func chinesePeer(ctx context.Context, lines []labelled.Line, questions []labelled.Question) (got [][]answer, err error) {
	dir, err := os.MkdirTemp("", "locket-bench-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	f := &bleveFinder{dir: dir, analyzer: "cjk"}
	all := make([]line, len(lines))
	for i, l := range lines {
		all[i] = line{speaker: l.Speaker, text: l.Text}
	}
	if err := f.build(ctx, all); err != nil {
		return nil, err
	}
	defer f.close()
	for _, q := range questions {
		found, err := f.find(ctx, q.Question, slices.Max(depths))
		if err != nil {
			return nil, err
		}
		hits := make([]answer, len(found))
		for i, n := range found {
			hits[i].turn = lines[n].ID
		}
		got = append(got, hits)
	}
	return got, nil
}
