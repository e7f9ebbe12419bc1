// Package mangle distorts lines like recognisers, keyboards and people do: some words are missing,
// repeated or out of order, marks are anywhere, two lines become one.
package mangle

import (
	"flag"
	"math/rand/v2"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"
)

var (
	seed = flag.Uint64("mangle-seed", 1, "what spoils lines draws from this seed; 0: from the time")
	runs = flag.Int("mangle", 0, "how many lines are spoilt; 0: as many as the test says")
)

// marks are put into lines. They include letters that are longer or shorter in lower case (İ, K,
// Ⱥ), joiners, accents and direction marks.
var marks = strings.Split(", . ? ! ; : - — ( ) \" ' “ ” 「 」 、 ， 。 ？ ： / @ # 5 3pm 三点 明天 我 他 的 了 and I my not 😀 [ ] İ İİİ \u212a Ⱥ ẞ ǅ ﬁ é e\u0301 \u200d \u200b \u202e \ufe0f ５ 〇 ก ₂", " ")

// Each calls f with n distorted lines, and reports their seed. A panic of f ends the test, and
// names the line.
func Each(t *testing.T, n int, lines []string, f func(r *rand.Rand, line string)) {
	t.Helper()
	from := *seed
	if from == 0 {
		from = uint64(time.Now().UnixNano())
	}
	if *runs > 0 {
		n = *runs
	}
	t.Logf("-mangle-seed %d", from)
	r := rand.New(rand.NewPCG(from, 0))
	for range n {
		line := Line(r, lines)
		func() {
			defer func() {
				if err := recover(); err != nil {
					t.Fatalf("%q: %v\n%s", line, err, debug.Stack())
				}
			}()
			f(r, line)
		}()
	}
}

// Lines returns the lines of files up to the first tab, without those that begin with #.
func Lines(t *testing.T, files ...string) []string {
	t.Helper()
	var lines []string
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(b)) {
			if line, _, _ = strings.Cut(strings.TrimSpace(line), "\t"); line != "" && line[0] != '#' {
				lines = append(lines, line)
			}
		}
	}
	return lines
}

// Line returns one line, or two joined, distorted in up to four places. It is valid UTF-8 if they
// are.
func Line(r *rand.Rand, lines []string) string {
	line := lines[r.IntN(len(lines))]
	if r.IntN(4) == 0 {
		line += []string{" ", "\n", "，", ", "}[r.IntN(4)] + lines[r.IntN(len(lines))]
	}
	words := split(line)
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
			words = slices.Insert(words, i, marks[r.IntN(len(marks))])
		case 4:
			words = words[min(i, j) : max(i, j)+1]
		case 5:
			words[i] = marks[r.IntN(len(marks))]
		}
	}
	return strings.Join(words, "")
}

// split separates words, numbers, Chinese characters and marks.
func split(line string) []string {
	var words []string
	letters := false
	for _, c := range line {
		is := (unicode.IsLetter(c) || unicode.IsDigit(c)) && !unicode.Is(unicode.Han, c)
		if is && letters {
			words[len(words)-1] += string(c)
		} else {
			words = append(words, string(c))
		}
		letters = is
	}
	return words
}
