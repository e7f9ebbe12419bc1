package rules

import (
	"flag"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/wasm/abi"
)

var mangledSeed = flag.Uint64("mangled-seed", 0, "what TestMangled draws from; 0: the time")
var mangledRuns = flag.Int("mangled", 20000, "how many texts TestMangled reads")

// TestMangled reads lines as recognisers, keyboards and people spoil them: without some of their words,
// with others twice or out of order, marks anywhere, two lines in one.
func TestMangled(t *testing.T) {
	seed := *mangledSeed
	if seed == 0 {
		seed = uint64(time.Now().UnixNano())
	}
	t.Logf("-mangled-seed %d", seed)
	var lines []string
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(b)) {
			if said, _, _ := strings.Cut(strings.TrimSpace(line), "\t"); said != "" && said[0] != '#' {
				lines = append(lines, said)
			}
		}
	}
	r := rand.New(rand.NewPCG(seed, 1))
	var state []byte
	for range *mangledRuns {
		ev := &abi.Event{ID: "x", At: 1790000000000 + r.Int64N(1<<40), Offset: 3600, Speaker: "Tom", Wearer: "Mei", Text: mangle(r, lines), State: state}
		if r.IntN(2) == 0 {
			ev.Before = []abi.Turn{{At: ev.At - 1000, Speaker: "Mei", Text: mangle(r, lines)}}
		}
		func() {
			defer func() {
				if err := recover(); err != nil {
					t.Errorf("%q after %+v: %v\n%s", ev.Text, ev.Before, err, debug.Stack())
				}
			}()
			state = checked(t, ev).State
		}()
	}
}

var mangledMarks = strings.Split(", . ? ! ; : - — ( ) \" ' “ ” 「 」 、 ， 。 ？ ： \n / @ # 5 3pm 三点 明天 我 他 的 了 and I my not", " ")

// mangle gives one or two of the lines, changed in some places.
func mangle(r *rand.Rand, lines []string) string {
	text := lines[r.IntN(len(lines))]
	if r.IntN(4) == 0 {
		text += []string{" ", "\n", "，", ", "}[r.IntN(4)] + lines[r.IntN(len(lines))]
	}
	toks := lex(text)
	words := make([]string, len(toks))
	for i, tok := range toks {
		end := len(text)
		if i+1 < len(toks) {
			end = toks[i+1].start
		}
		words[i] = text[tok.start:end]
	}
	for range 1 + r.IntN(4) {
		if len(words) == 0 {
			break
		}
		i, j := r.IntN(len(words)), r.IntN(len(words))
		switch r.IntN(6) {
		case 0:
			words = slices.Delete(words, i, i+1)
		case 1:
			words = slices.Insert(words, i, words[j])
		case 2:
			words[i], words[j] = words[j], words[i]
		case 3:
			words = slices.Insert(words, i, mangledMarks[r.IntN(len(mangledMarks))])
		case 4:
			words = words[min(i, j) : max(i, j)+1]
		case 5:
			words[i] = mangledMarks[r.IntN(len(mangledMarks))]
		}
	}
	return strings.Join(words, "")
}
