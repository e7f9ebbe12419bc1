package main

import (
	"path/filepath"
	"time"

	"github.com/locket-dev/locket/wasm/plugins/syntax"
	"github.com/locket-dev/locket/wasm/plugins/syntax/conllu"
	"github.com/locket-dev/locket/wasm/plugins/syntax/sample"
)

// readerResults measures how sentences are read: on the samples that Locket
// holds, or on the whole test parts of the treebanks in dir. LAS is of the
// treebank's words with told tags; Chinese is the mean of written and spoken.
func readerResults(dir string) ([]result, error) {
	load := func(bank, file string, from int) ([]conllu.Sentence, error) {
		if dir == "" {
			return sample.Load(bank)
		}
		list, err := conllu.ReadFile(filepath.Join(dir, file))
		if err != nil {
			return nil, err
		}
		return list[len(list)*from/5:], nil
	}
	var out []result
	add := func(name string, n int, value float64, unit, note string) {
		out = append(out, result{Suite: "extract", Case: name, N: n, Value: round(value), Unit: unit, Note: note})
	}
	note := "samples of the test parts; --treebanks DIR for all of them"
	if dir != "" {
		note = "test parts; of the spoken Chinese one, its last fifth"
	}
	var each time.Duration
	var sentences int
	measure := func(lang string, list []conllu.Sentence) sample.Result {
		r := sample.Measure(syntax.Default(lang), list)
		each += r.Each * time.Duration(len(list))
		sentences += len(list)
		return r
	}
	english, err := load("en_ewt", "en_ewt-test.conllu.gz", 0)
	if err != nil {
		return nil, err
	}
	en := measure("en", english)
	heard := measure("en", sample.Spoken(english))
	add("parser_tags_en", en.Words.Gold, en.Words.UPOS(), "%", note)
	add("parser_las_en", en.Words.Gold, en.Words.LAS(), "%", note)
	add("parser_las_en_text", en.Words.Gold, en.Text.LAS(), "%", "words cut by the reader as well")
	add("parser_las_en_heard", heard.Words.Gold, heard.Words.LAS(), "%", "lower case, no marks")
	written, err := load("zh_gsdsimp", "zh_gsdsimp-test.conllu.gz", 0)
	if err != nil {
		return nil, err
	}
	spoken, err := load("zh_hk", "zh_hk.conllu.gz", 4)
	if err != nil {
		return nil, err
	}
	w, s := measure("zh", written), measure("zh", spoken)
	add("parser_las_zh", w.Words.Gold+s.Words.Gold, (w.Words.LAS()+s.Words.LAS())/2, "%", note)
	add("parser_las_zh_written", w.Words.Gold, w.Words.LAS(), "%", note)
	add("parser_las_zh_spoken", s.Words.Gold, s.Words.LAS(), "%", note)
	add("words_f1_zh", w.Words.Gold+s.Words.Gold, (w.Text.WordsF1()+s.Text.WordsF1())/2, "%", note)
	add("line_ms", sentences, float64(each.Microseconds())/1000/float64(sentences), "ms", "to read one sentence, natively, on one core")
	return out, nil
}
