package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/locket-dev/locket/wasm/plugins/syntax"
	"github.com/locket-dev/locket/wasm/plugins/syntax/conllu"
	"github.com/locket-dev/locket/wasm/plugins/syntax/greedy"
)

var chineseSubtypes = []string{"nsubj:pass", "aux:pass", "mark:rel", "acl:relcl", "discourse:sp", "case:loc", "obl:agent", "obl:patient"}

func chinese(dir string, log io.Writer, write func([]byte) error) error {
	list, err := chineseTraining(dir)
	if err != nil {
		return err
	}
	l := &learning{
		tagOf: func(w conllu.Word) string { return w.UPOS },
		labelOf: func(w conllu.Word) string {
			switch {
			case w.Label == "obl:tmod" || w.Label == "nmod:tmod":
				return "obl:tmod"
			case slices.Contains(chineseSubtypes, w.Label):
				return w.Label
			}
			return conllu.Universal(w.Label)
		},
		word: syntax.ChineseWord,
		log:  log,
	}
	l.name(list)
	segment := learnTags(segments(list), 4, 4).quantise(scale, least)
	all, from := withSpoken(list)
	trees := l.trees(all)
	fmt.Fprintf(log, "zh: %d sentences, %d tags, %d labels\n", len(trees), len(l.tags.list), len(l.labels.list))
	l.tell(trees, from, 3, 2)
	tag := learnTags(trees, len(l.tags.list), 3).quantise(scale, least)
	moves := l.moves(trees)
	return l.parse(trees, moves, l.coarse(), chineseRounds, func(t *table) error {
		return write(syntax.EncodeModel(l.tags.list, l.labels.list, moves, greedy.Encode(tag), greedy.Encode(t.quantise(scale, leastChinese)), greedy.Encode(segment), ""))
	})
}

const chineseRounds = 5

// leastChinese is leastParse for Chinese: the treebanks are small, and the room is short.
const leastChinese = 12

// heldOut is the share of the spoken treebank that is not learnt from: its last fifth.
const heldOut = 5

func chineseTraining(dir string) ([]conllu.Sentence, error) {
	spoken, err := load(dir, "zh_hk")
	if err != nil {
		return nil, err
	}
	spoken = spoken[:len(spoken)-len(spoken)/heldOut]
	list, err := load(dir, "zh_gsdsimp-dev", "zh_pud")
	if err != nil {
		return nil, err
	}
	list = append(list, spoken...)
	for i := range list {
		list[i].Text = syntax.Simplified(list[i].Text)
		for k := range list[i].Words {
			list[i].Words[k].Form = syntax.Simplified(list[i].Words[k].Form)
		}
	}
	return list, nil
}

// segments are sentences as the segmenter sees them.
func segments(list []conllu.Sentence) []*tree {
	var out []*tree
	for i, s := range list {
		if bare, ok := conllu.Spoken(s); ok && i%2 == 0 {
			s = bare
		}
		var text strings.Builder
		var words []syntax.Span
		for _, w := range s.Words {
			at := text.Len()
			text.WriteString(w.Form)
			words = append(words, syntax.Span{Start: at, End: text.Len()})
			if !w.Joined {
				text.WriteByte(' ')
			}
		}
		spans, chars := syntax.Characters(text.String())
		out = append(out, &tree{words: chars, gold: syntax.SegmentTags(spans, words)})
	}
	return out
}
