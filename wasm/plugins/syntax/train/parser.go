package main

import (
	"math"
	"math/rand/v2"

	"github.com/locket-dev/locket/wasm/plugins/syntax/greedy"
)

// tree is a sentence as the models see it.
type tree struct {
	words []greedy.Word
	gold  []uint8 // tags
	tags  []uint8 // tags as they are told
	head  []int   // len(words) for the root
	label []uint8
}

// children lists those of each word, and of the root.
func (t *tree) children() [][]int {
	list := make([][]int, len(t.words)+1)
	for i, h := range t.head {
		list[h] = append(list[h], i)
	}
	return list
}

// costs says how many arcs of the tree each kind of move would make impossible
// (Goldberg and Nivre, 2013).
func costs(s *greedy.State, t *tree, children [][]int, on []bool) [3]int {
	var cost [3]int
	front, stack := s.Front(), s.Stack()
	n := len(t.words)
	clear(on)
	for _, w := range stack {
		on[w] = true
	}
	if len(stack) > 0 {
		s0 := stack[len(stack)-1]
		lost := 0
		for _, c := range children[s0] {
			if c >= front {
				lost++
			}
		}
		cost[greedy.Left] += lost
		cost[greedy.Right] += lost
		h := t.head[s0]
		below := -1
		if len(stack) > 1 {
			below = stack[len(stack)-2]
		}
		if h == below || h > front {
			cost[greedy.Left]++
		}
		if h >= front {
			cost[greedy.Right]++
		}
		if front < n {
			if h := t.head[front]; h < n && h != s0 && on[h] {
				cost[greedy.Shift]++
			}
			for _, c := range children[front] {
				if c < front && on[c] {
					cost[greedy.Shift]++
				}
			}
		}
	}
	return cost
}

const (
	margin  = 20  // by how much the right move must be better than the best wrong one
	explore = 0.9 // how often the parser goes where it would go, right or wrong
)

// learner trains a parser.
type learner struct {
	parser *greedy.Parser
	table  *table
	random *rand.Rand
	wrong  int
}

// tree learns from one tree; it follows the parser's own moves only if follow is set.
func (l *learner) tree(t *tree, follow bool) {
	p := l.parser
	s := p.Start(t.words, t.tags)
	children := t.children()
	on := make([]bool, len(t.words)+1)
	for !s.Done() {
		features, scores := p.Look(s)
		clear(scores)
		l.table.Add(features, scores)
		cost := costs(s, t, children, on)
		least := math.MaxInt
		for k, c := range cost {
			if s.Can(greedy.Kind(k)) {
				least = min(least, c)
			}
		}
		right, wrong, top := -1, -1, -1
		for c, m := range p.Moves {
			if !p.Allowed(s, m) {
				continue
			}
			if top < 0 || scores[c] > scores[top] {
				top = c
			}
			if ok := cost[m.Kind] == least && l.labelled(s, t, m); ok {
				if right < 0 || scores[c] > scores[right] {
					right = c
				}
			} else if wrong < 0 || scores[c] > scores[wrong] {
				wrong = c
			}
		}
		l.table.time++
		if right < 0 { // its label is so rare that no move has it
			s.Do(p.Moves[top])
			continue
		}
		if top != right {
			l.wrong++
		}
		if wrong >= 0 && scores[right]-scores[wrong] < margin {
			l.table.update(features, right, wrong)
		}
		next := right
		if follow && l.random.Float64() < explore {
			next = top
		}
		s.Do(p.Moves[next])
	}
}

// labelled says whether a move, if it makes an arc of the tree, has its label.
func (l *learner) labelled(s *greedy.State, t *tree, m greedy.Move) bool {
	if m.Kind == greedy.Shift {
		return true
	}
	stack := s.Stack()
	child, head := stack[len(stack)-1], s.Front()
	if m.Kind == greedy.Right {
		head = stack[len(stack)-2]
	}
	return t.head[child] != head || t.label[child] == m.Label
}
