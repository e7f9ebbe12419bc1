// Command train learns the weights of package syntax from treebanks of
// Universal Dependencies, and writes them with their notice. The same
// treebanks give the same bytes, on any machine.
//
//	go run ./wasm/plugins/syntax/train -data DIR
//
// reads en_ewt-{train,dev}.conllu.gz, zh_gsdsimp-dev, zh_hk and zh_pud from DIR.
// -measure test tells how well the weights read what they were not learnt from;
// -words FILE makes the dictionary anew of gse's data/dict/zh/s_1.txt.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"

	"github.com/locket-dev/locket/wasm/plugins/syntax/conllu"
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

func run(args []string, stdout, stderr io.Writer) int {
	fs := flag.NewFlagSet("train", flag.ContinueOnError)
	fs.SetOutput(stderr)
	data := fs.String("data", "", "the folder of the treebanks")
	out := fs.String("out", "wasm/plugins/syntax/weights", "the folder that the weights are written to")
	only := fs.String("only", "", "learn this language alone: en or zh")
	words := fs.String("words", "", "make the dictionary of this file first")
	part := fs.String("measure", "", "learn nothing, and measure the weights on this part of the treebanks: dev or test")
	if err := fs.Parse(args); err != nil {
		return 2
	}
	debug.SetGCPercent(1000) // nearly all of it is kept to the end
	if *words != "" {
		if err := writeWords(*words, filepath.Join(*out, "words.bin")); err != nil {
			fmt.Fprintln(stderr, "train:", err)
			return 1
		}
		fmt.Fprintln(stdout, "the dictionary is written; build this command again before you train with it")
		return 0
	}
	if *part != "" {
		if err := measure(*data, *out, *part, stdout); err != nil {
			fmt.Fprintln(stderr, "train:", err)
			return 1
		}
		return 0
	}
	for _, lang := range []string{"en", "zh"} {
		if *only != "" && *only != lang {
			continue
		}
		l := english
		if lang == "zh" {
			l = chinese
		}
		if err := l(*data, stdout, func(file []byte) error {
			return os.WriteFile(filepath.Join(*out, lang+".bin"), file, 0o644)
		}); err != nil {
			fmt.Fprintln(stderr, "train:", err)
			return 1
		}
	}
	return 0
}

// load reads the treebanks of a folder, one after the other.
func load(dir string, names ...string) ([]conllu.Sentence, error) {
	var out []conllu.Sentence
	for _, n := range names {
		list, err := conllu.ReadFile(filepath.Join(dir, n+".conllu.gz"))
		if err != nil {
			return nil, err
		}
		out = append(out, list...)
	}
	return out, nil
}

// withSpoken adds every third sentence as it is heard. from says of each which
// sentence of the list it was.
func withSpoken(list []conllu.Sentence) (all []conllu.Sentence, from []int) {
	all = slices.Clone(list)
	for i := range list {
		from = append(from, i)
	}
	for i := 0; i < len(list); i += 3 {
		if s, ok := conllu.Spoken(list[i]); ok {
			all, from = append(all, s), append(from, i)
		}
	}
	return all, from
}
