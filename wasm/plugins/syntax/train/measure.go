package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/locket-dev/locket/wasm/plugins/syntax"
	"github.com/locket-dev/locket/wasm/plugins/syntax/conllu"
	"github.com/locket-dev/locket/wasm/plugins/syntax/sample"
)

// reported labels are those that rules live by.
var reported = []string{"nsubj", "obj", "iobj", "obl", "negation", "ccomp", "xcomp", "appos", "case", "conj", "cop", "aux"}

// measure prints how well the weights in a folder read a part of the treebanks, dev or test.
func measure(dir, weights, part string, w io.Writer) error {
	for _, lang := range []string{"en", "zh"} {
		file, err := os.ReadFile(filepath.Join(weights, lang+".bin"))
		if err != nil {
			return err
		}
		m, err := syntax.OpenModel(string(file))
		if err != nil {
			return fmt.Errorf("%s: %w", lang, err)
		}
		r := syntax.NewReader(lang, m)
		banks := []string{"en_ewt-" + part}
		if lang == "zh" {
			banks = []string{"zh_gsdsimp-test", "zh_hk"} // the dev part is learnt from
		}
		for _, bank := range banks {
			list, err := load(dir, bank)
			if err != nil {
				return err
			}
			if bank == "zh_hk" {
				list = list[len(list)-len(list)/heldOut:]
			}
			fmt.Fprintf(w, "%s, %d bytes of weights\n", bank, len(file))
			show(w, "as written", sample.Measure(r, list))
			show(w, "as heard", sample.Measure(r, sample.Spoken(list)))
		}
	}
	return nil
}

func show(w io.Writer, name string, r sample.Result) {
	line := func(what string, s *conllu.Score) {
		fmt.Fprintf(w, "  %s, %s: words %.2f UPOS %.2f UAS %.2f LAS %.2f;", name, what, s.WordsF1(), s.UPOS(), s.UAS(), s.LAS())
		for _, l := range reported {
			if c := s.Labels[l]; c != nil {
				fmt.Fprintf(w, " %s %.1f", l, c.F1())
			}
		}
		fmt.Fprintln(w)
	}
	line("given words", &r.Words)
	line("given text", &r.Text)
	fmt.Fprintf(w, "  %v a sentence\n", r.Each)
}
