package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/locket-dev/locket/wasm/plugins/syntax"
	"github.com/locket-dev/locket/wasm/plugins/syntax/conllu"
	"github.com/locket-dev/locket/wasm/plugins/syntax/greedy"
)

// subtypes that rules need; other labels lose theirs.
var subtypes = []string{"nsubj:pass", "aux:pass", "nmod:poss", "acl:relcl", "compound:prt", "obl:unmarked", "obl:agent", "csubj:pass"}

func english(dir string, log io.Writer, write func([]byte) error) error {
	list, err := load(dir, "en_ewt-train")
	if err != nil {
		return err
	}
	l := &learning{
		tagOf: func(w conllu.Word) string { return w.UPOS + "/" + w.XPOS },
		labelOf: func(w conllu.Word) string {
			if slices.Contains(subtypes, w.Label) {
				return w.Label
			}
			return conllu.Universal(w.Label)
		},
		word: func(form string) greedy.Word { return greedy.NewWord(form, 0) },
		log:  log,
	}
	l.name(list)
	all, from := withSpoken(list)
	trees := l.trees(all)
	fmt.Fprintf(log, "en: %d sentences, %d tags, %d labels\n", len(trees), len(l.tags.list), len(l.labels.list))
	l.tell(trees, from, 2, 2)
	// The tagger is learnt beside the parser.
	tag := make(chan []byte, 1)
	go func() { tag <- greedy.Encode(learnTags(trees, len(l.tags.list), 3).quantise(scale, least)) }()
	moves := l.moves(trees)
	endings := learnLemmas(list, l)
	var tagger []byte
	return l.parse(trees, moves, l.coarse(), parseRounds, func(t *table) error {
		if tagger == nil {
			tagger = <-tag
		}
		return write(syntax.EncodeModel(l.tags.list, l.labels.list, moves, tagger, greedy.Encode(t.quantise(scale, leastParse)), nil, endings))
	})
}

const parseRounds = 6

// learnLemmas finds for each tag the endings from which a lemma follows: an
// ending is kept where it says other than the next shorter one.
func learnLemmas(list []conllu.Sentence, l *learning) string {
	type edit struct {
		off int
		on  string
	}
	said := map[string]map[edit]int{} // by tag and ending
	for _, s := range list {
		for _, w := range s.Words {
			low := strings.ToLower(greedy.Apostrophe(w.Form))
			lemma := strings.ToLower(greedy.Apostrophe(w.Lemma))
			same := 0
			for same < len(low) && same < len(lemma) && low[same] == lemma[same] {
				same++
			}
			e := edit{len(low) - same, lemma[same:]}
			for _, end := range syntax.Endings(low) {
				if len(end) > 0 && end[0] != '^' && e.off > len(end) {
					continue
				}
				key := l.tagOf(w) + "\t" + end
				if said[key] == nil {
					said[key] = map[edit]int{}
				}
				said[key][e]++
			}
		}
	}
	keys := make([]string, 0, len(said))
	for k := range said {
		keys = append(keys, k)
	}
	// Shorter endings first, so that a longer one is held against what is kept.
	weight := func(k string) int {
		_, end, _ := strings.Cut(k, "\t")
		if strings.HasPrefix(end, "^") {
			return 1 << 10
		}
		return len(end)
	}
	slices.SortFunc(keys, func(a, b string) int { return cmp.Or(weight(a)-weight(b), strings.Compare(a, b)) })
	kept := map[string]edit{}
	var out strings.Builder
	for _, k := range keys {
		var top edit
		n := 0
		for e, c := range said[k] {
			if c > n || c == n && (e.off < top.off || e.off == top.off && e.on < top.on) {
				top, n = e, c
			}
		}
		tag, end, _ := strings.Cut(k, "\t")
		whole, isWhole := strings.CutPrefix(end, "^")
		form := end
		if isWhole {
			form = whole
		} else if end != "" && n < 2 {
			continue
		}
		var before *edit
		for _, shorter := range syntax.Endings(form)[1:] {
			if !isWhole && shorter == end {
				continue
			}
			if e, ok := kept[tag+"\t"+shorter]; ok {
				before = &e
				break
			}
		}
		if before != nil && *before == top || before == nil && top == (edit{}) && end != "" {
			continue
		}
		kept[k] = top
		fmt.Fprintf(&out, "%s\t%d\t%s\n", k, top.off, top.on)
	}
	return out.String()
}
