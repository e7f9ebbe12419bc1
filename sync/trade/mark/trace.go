package mark

import (
	"context"
	"math"
	"slices"
	"strings"
)

// Seen is what was read at one spot of a bundle.
type Seen struct {
	Item, Spot int  // indexes, from 0
	Bit        int  // the form that was found
	Stop       bool // one of the forms is empty: a program that tidies texts may have set all of them
}

// around is how many words before and after a spot are used to find it.
const around = 12

// margin is by how many tokens a spot may begin before or after a text when votes are counted: more
// than a spot and the words around it.
const margin = around + MaxForm

// Read finds the spots of a bundle in a text, by the words around each, and returns the forms at
// them. It leaves out spots that are not found or have another word. If two spots are found at one
// place, it leaves out the one that fits less, or both. If ctx ends, it returns the error of ctx.
func Read(ctx context.Context, items []Text, text string) (out []Seen, err error) {
	ts := tokens(text)
	at := map[string][]int{}
	for i, t := range ts {
		at[t.word] = append(at[t.word], i)
	}
	type claim struct {
		Seen
		find
	}
	var claims []claim
	type place struct {
		at   int // index in ts
		stop bool
	}
	best := map[place]find{}
	for n := range items {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		its := items[n].template()
		for i, s := range items[n].Spots {
			f := its.find(i, ts, at)
			if len(f.places) == 0 {
				continue
			}
			c := claim{Seen{n, i, its.bit(i, text, ts, f.places), s.Forms[0] == "" || s.Forms[1] == ""}, f}
			claims = append(claims, c)
			for _, j := range f.places {
				at := place{j, c.Stop}
				switch was := best[at]; {
				case was.there == 0 || f.fits(was) > 0:
					best[at] = f
				case f.fits(was) == 0:
					was.shared = true
					best[at] = was
				}
			}
		}
	}
	for _, c := range claims {
		mine := func(j int) bool { b := best[place{j, c.Stop}]; return c.fits(b) == 0 && !b.shared }
		if c.Bit >= 0 && !slices.ContainsFunc(c.places, func(j int) bool { return !mine(j) }) {
			out = append(out, c.Seen)
		}
	}
	return out, nil
}

// find says where a spot may be.
type find struct {
	votes, there int   // number of the words around it that are in their places
	places       []int // indexes in the tokens of a text
	shared       bool  // another spot fits equally well
}

// fits is above 0 if f is more certain than g, and 0 if it is equally certain.
func (f find) fits(g find) int { return f.votes*g.there - g.votes*f.there }

// template is the words of an item, with both forms at each spot.
type template struct {
	words [][2]string
	spots []within
}

// within says where the words of a spot are.
type within struct {
	from, n int
	forms   [2]string
}

func (t *Text) template() (out template) {
	from := 0
	fixed := func(s string) {
		for _, w := range tokens(s) {
			out.words = append(out.words, [2]string{w.word, w.word})
		}
	}
	for _, s := range t.Spots {
		fixed(t.Rest[from:s.At])
		from = s.At
		a, b := tokens(s.Forms[0]), tokens(s.Forms[1])
		out.spots = append(out.spots, within{len(out.words), min(len(a), len(b)), s.Forms})
		for i := range min(len(a), len(b)) {
			out.words = append(out.words, [2]string{a[i].word, b[i].word})
		}
	}
	fixed(t.Rest[from:])
	return out
}

// find finds the places where a spot may be.
func (t *template) find(spot int, ts []token, at map[string][]int) (f find) {
	s := t.spots[spot]
	votes := make([]uint8, len(ts)+2*margin) // by where the spot would begin in ts, plus margin
	for i := max(0, s.from-around); i < min(len(t.words), s.from+s.n+around); i++ {
		if i >= s.from && i < s.from+s.n {
			continue
		}
		f.there++
		for v, w := range t.words[i] {
			if v == 0 || w != t.words[i][0] {
				for _, j := range at[w] {
					votes[j-(i-s.from)+margin]++
				}
			}
		}
	}
	most := slices.Max(votes)
	if f.votes = int(most); most < 2 || f.votes*5 < f.there*2 {
		return f
	}
	for j, n := range votes {
		if n == most {
			f.places = append(f.places, j-margin)
		}
	}
	return f
}

// bit returns the form that is at all places; -1: another word, or not the same form at all.
func (t *template) bit(spot int, text string, ts []token, places []int) int {
	bit := t.spots[spot].bit(text, ts, places[0])
	for _, j := range places[1:] {
		if t.spots[spot].bit(text, ts, j) != bit {
			return -1
		}
	}
	return bit
}

// bit returns the form that begins with token j.
func (s *within) bit(text string, ts []token, j int) int {
	if s.n == 0 {
		if j < 1 || j > len(ts) {
			return -1
		}
		stop := s.forms[0] + s.forms[1] // one of them is empty
		full := strings.HasPrefix(text[ts[j-1].to:], stop)
		if full == (s.forms[1] == stop) {
			return 1
		}
		return 0
	}
	if j < 0 || j+s.n > len(ts) {
		return -1
	}
	for bit, form := range s.forms {
		words := tokens(form)
		if len(words) == s.n && slices.EqualFunc(words, ts[j:j+s.n], func(a, b token) bool { return a.word == b.word }) {
			return bit
		}
	}
	return -1
}

// Score says how well a text agrees with the mark of one order.
type Score struct {
	Read, Agree int
	// Chance is an upper bound for the probability that, of all orders, one whose copy had no part
	// in the text agrees equally well, whoever made the text.
	Chance float64
}

// ScoreOf compares what was read with the bits of an order; orders is the number of orders. It
// considers all spots, and also only those without full stops: the better result counts, with its
// chance doubled.
func ScoreOf(seen []Seen, bit func(item, spot int) int, orders int) Score {
	var all, words Score
	for _, s := range seen {
		same := 0
		if bit(s.Item, s.Spot) == s.Bit {
			same = 1
		}
		all.Read, all.Agree = all.Read+1, all.Agree+same
		if !s.Stop {
			words.Read, words.Agree = words.Read+1, words.Agree+same
		}
	}
	for _, s := range []*Score{&all, &words} {
		s.Chance = min(1, tail(s.Read, s.Agree)*2*float64(max(1, orders)))
	}
	if words.Chance < all.Chance {
		return words
	}
	return all
}

// Sure is the chance below which an order is identified.
const Sure = 1e-6

// tail returns the probability that at least m of n fair coins show the same side.
func tail(n, m int) (p float64) {
	for k := m; k <= n; k++ {
		a, _ := math.Lgamma(float64(n + 1))
		b, _ := math.Lgamma(float64(k + 1))
		c, _ := math.Lgamma(float64(n - k + 1))
		p += math.Exp(a - b - c - float64(n)*math.Ln2)
	}
	return min(1, p)
}
