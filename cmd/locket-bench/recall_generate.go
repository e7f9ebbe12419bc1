package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/locket-dev/locket/memory"
)

// corpus is an invented life, generated from a seed: lines of talk in sessions, and questions whose
// right answers are known because the questions were made from them. Words are made of syllables
// and drawn by Zipf's law, so that no engine has seen them and none of our lexicons knows them.
type corpus struct {
	lines   []line
	queries []query
}

type line struct {
	id      memory.ID
	session string
	order   uint64
	at      time.Time
	speaker string
	text    string
}

// query is a question and the one line that answers it.
type query struct {
	text string
	way  string // how it was made from its answer, see ways
	want int    // index of the line
}

// ways are how questions are made from their answers, and the share of each. Any full-text engine
// can answer six in ten. typo needs a comparison of letters. reply needs the previous turn: its
// words are the question that the answer replies to.
var ways = []struct {
	name  string
	share float64
}{{"direct", .4}, {"inflected", .3}, {"typo", .1}, {"reply", .2}}

const (
	vocabulary = 40_000
	perSession = 20
)

// generate makes n lines and a number of questions. Every question has two distractors among the
// lines: each contains all but one of its words.
func generate(seed uint64, n, questions int) *corpus {
	r := rand.New(rand.NewPCG(seed, 1))
	words := makeWords(r)
	zipf := rand.NewZipf(r, 1.08, 4, vocabulary-1)
	speakers := []string{"Anna", "Bram", "Chidi", "Dana"}
	start := time.Date(2024, 1, 1, 8, 0, 0, 0, time.UTC)
	c := &corpus{}
	var picked [][]string
	for i := range n {
		l := line{session: fmt.Sprintf("s%d", i/perSession), order: uint64(i), speaker: speakers[r.IntN(2)+2*(i/perSession%2)]}
		l.at = start.Add(time.Duration(i/perSession)*9*time.Hour/8 + time.Duration(i%perSession)*20*time.Second)
		for j := range l.id {
			l.id[j] = byte(r.Uint32())
		}
		var text []string
		for range 6 + r.IntN(14) {
			text = append(text, words[zipf.Uint64()])
		}
		picked = append(picked, text)
		c.lines = append(c.lines, l)
	}
	rare := func(text []string, k int) []string { // k words, but none of the most common
		var out []string
		for _, j := range r.Perm(len(text)) {
			if len(out) < k && len(text[j]) > 5 {
				out = append(out, text[j])
			}
		}
		return out
	}
	for q := 0; q < questions; {
		i := 1 + r.IntN(n-1)
		way := pickWay(r)
		from := picked[i]
		if way == "reply" {
			if i%perSession == 0 {
				continue
			}
			from = picked[i-1]
		}
		k := rare(from, 4)
		if len(k) < 3 {
			continue
		}
		for range 2 { // distractors
			d, drop := r.IntN(n), r.IntN(len(k))
			for j, w := range k {
				if j != drop && d != i && d != i-1 {
					picked[d] = append(picked[d], w)
				}
			}
		}
		if way == "reply" {
			picked[i-1] = append(picked[i-1], "?")
		}
		asks := make([]string, len(k))
		for j, w := range k {
			switch {
			case way == "inflected" && j%2 == 0:
				w += []string{"s", "ing", "ed"}[r.IntN(3)]
			case way == "typo" && j == 0:
				at := 2 + r.IntN(len(w)-3)
				w = w[:at] + string(rune('a'+r.IntN(26))) + w[at+1:]
			}
			asks[j] = w
		}
		c.queries = append(c.queries, query{"what about the " + strings.Join(asks, " "), way, i})
		q++
	}
	for i := range c.lines {
		text := strings.Join(picked[i], " ")
		c.lines[i].text = strings.ReplaceAll(text, " ?", "") + map[bool]string{true: "?"}[strings.Contains(text, " ?")]
	}
	return c
}

func pickWay(r *rand.Rand) string {
	v := r.Float64()
	for _, w := range ways {
		if v -= w.share; v < 0 {
			return w.name
		}
	}
	return ways[0].name
}

// makeWords makes the vocabulary. More common words are shorter.
func makeWords(r *rand.Rand) []string {
	const onsets, vowels, codas = "b d f g k l m n p r t v z", "a e i o u", "k l m n p r t d g"
	o, v, c := strings.Fields(onsets), strings.Fields(vowels), strings.Fields(codas)
	seen := map[string]bool{}
	var out []string
	for len(out) < vocabulary {
		n := 1 + int(math.Log10(float64(10+len(out))))/2
		n += r.IntN(2)
		var b strings.Builder
		for range n {
			b.WriteString(o[r.IntN(len(o))] + v[r.IntN(len(v))])
		}
		b.WriteString(o[r.IntN(len(o))] + v[r.IntN(len(v))] + c[r.IntN(len(c))])
		if w := b.String(); !seen[w] {
			seen[w] = true
			out = append(out, w)
		}
	}
	return out
}
