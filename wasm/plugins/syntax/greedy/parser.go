package greedy

import "math/bits"

// The parser is arc-hybrid (Kuhlmann, Gómez-Rodríguez and Satta, 2011): a
// stack, a buffer, and three moves. Shift puts the buffer's first word on the
// stack; left makes the stack's top a dependent of the buffer's first, right
// of the word below it, and both take it off. The root stands at the buffer's
// end, as the word after the last, and takes one dependent.

// Move is what a parser can do: shift, or an arc with a label.
type Move struct {
	Kind  Kind
	Label uint8
}

// Kind is a move without its label.
type Kind uint8

// The kinds of moves.
const (
	Shift Kind = iota
	Left
	Right
)

// Parser builds trees.
type Parser struct {
	Weights Scorer
	Moves   []Move  // the classes
	Root    uint8   // the label of the root's dependent
	Coarse  []uint8 // of each tag, its part of speech

	state  State
	scores []int32
	buf    []uint32
}

// State is a parse under way.
type State struct {
	words  []Word
	tags   []uint32 // of each word, and of the root and of no word: 0 is none
	coarse []uint32
	stack  []int
	front  int // first of the buffer
	Head   []int
	Label  []uint8
	marked uint32 // whether the sentence has marks

	// Of each word: outermost and second outermost child on either side, -1 if
	// there is none, how many there are, and the set of their labels.
	l1, l2, r1, r2 []int
	ln, rn         []uint32
	labels         []uint64
	commas         []uint32 // how many marks there are before each word
}

// Parse gives each word its head, len(words) for the root, and its label. The
// slices are overwritten by the next call.
func (p *Parser) Parse(words []Word, tags []uint8) ([]int, []uint8) {
	s := p.Start(words, tags)
	for !s.Done() {
		features, scores := p.Look(s)
		clear(scores)
		p.Weights.Add(features, scores)
		s.Do(p.Moves[p.Best(s, scores)])
	}
	return s.Head, s.Label
}

// Start begins to parse; the state holds until the next call.
func (p *Parser) Start(words []Word, tags []uint8) *State {
	s := &p.state
	n := len(words)
	s.words = words
	s.tags, s.coarse = resize(s.tags, n+2), resize(s.coarse, n+2)
	s.Head, s.Label = resize(s.Head, n), resize(s.Label, n)
	for _, list := range []*[]int{&s.l1, &s.l2, &s.r1, &s.r2} {
		*list = resize(*list, n+2)
		for i := range *list {
			(*list)[i] = n + 1
		}
	}
	s.ln, s.rn = resize(s.ln, n+2), resize(s.rn, n+2)
	s.labels = resize(s.labels, n+2)
	s.commas = resize(s.commas, n+1)
	s.marked = 0
	for i, t := range tags {
		s.tags[i], s.coarse[i] = uint32(t)+1, uint32(p.Coarse[t])+1
		s.Head[i] = -1
		s.commas[i+1] = s.commas[i]
		if words[i].shape&shapeNoLetter != 0 && words[i].shape&shapeDigit == 0 {
			s.commas[i+1]++
			s.marked = 1
		}
	}
	s.tags[n], s.coarse[n] = 255, 255
	s.stack, s.front = s.stack[:0], 0
	return s
}

func resize[T any](list []T, n int) []T {
	if cap(list) < n {
		return make([]T, n, 2*n)
	}
	list = list[:n]
	clear(list)
	return list
}

// Done says whether the tree is whole.
func (s *State) Done() bool { return s.front == len(s.words) && len(s.stack) == 0 }

// Front is the first word of the buffer, len(words) for the root.
func (s *State) Front() int { return s.front }

// Stack lists the words on the stack, the top last.
func (s *State) Stack() []int { return s.stack }

// Can says whether a kind of move is possible.
func (s *State) Can(k Kind) bool {
	atRoot := s.front == len(s.words)
	switch k {
	case Shift:
		return !atRoot
	case Left:
		return len(s.stack) == 1 || len(s.stack) > 1 && !atRoot
	default:
		return len(s.stack) > 1
	}
}

// allowed says whether a move is possible with its label.
func (p *Parser) Allowed(s *State, m Move) bool {
	if !s.Can(m.Kind) {
		return false
	}
	toRoot := m.Kind == Left && s.front == len(s.words)
	return m.Kind == Shift || toRoot == (m.Label == p.Root)
}

// Best is the class of the best move that is possible.
func (p *Parser) Best(s *State, scores []int32) int {
	return best(scores, func(c int) bool { return p.Allowed(s, p.Moves[c]) })
}

// Do makes a move.
func (s *State) Do(m Move) {
	if m.Kind == Shift {
		s.stack = append(s.stack, s.front)
		s.front++
		return
	}
	top := len(s.stack) - 1
	child, head := s.stack[top], s.front
	if m.Kind == Right {
		head = s.stack[top-1]
	}
	s.stack = s.stack[:top]
	s.Head[child], s.Label[child] = head, m.Label
	s.labels[head] |= 1 << (m.Label & 63)
	if m.Kind == Left {
		s.l1[head], s.l2[head] = child, s.l1[head]
		s.ln[head]++
	} else {
		s.r1[head], s.r2[head] = child, s.r1[head]
		s.rn[head]++
	}
}

// Look gives the features of a state, and room for its scores; both hold until
// the next call.
func (p *Parser) Look(s *State) ([]uint32, []int32) {
	if p.scores == nil {
		p.scores = make([]int32, len(p.Moves))
	}
	p.buf = s.features(p.buf[:0])
	return p.buf, p.scores
}

func distance(a, b, none int) uint32 {
	if a >= none || b >= none {
		return 0
	}
	d := b - a
	switch {
	case d <= 4:
		return uint32(d)
	case d <= 6:
		return 5
	case d <= 10:
		return 6
	}
	return 7
}

func few(n uint32) uint32 { return min(n, 3) }

// label of the arc that a word hangs by, 0 for no word.
func (s *State) label(i int) uint32 {
	if i >= len(s.words) {
		return 0
	}
	return uint32(s.Label[i]) + 1
}

func (s *State) low(i int) uint32 {
	if i >= len(s.words) {
		return uint32(i-len(s.words)) << 1
	}
	return s.words[i].low
}

func (s *State) suffix(i int) uint32 {
	if i >= len(s.words) {
		return 0
	}
	return s.words[i].suffix[2]
}

func (s *State) features(f []uint32) []uint32 {
	n := len(s.words)
	none := n + 1
	s0, s1, s2 := none, none, none
	if k := len(s.stack); k > 0 {
		s0 = s.stack[k-1]
		if k > 1 {
			s1 = s.stack[k-2]
		}
		if k > 2 {
			s2 = s.stack[k-3]
		}
	}
	b0, b1, b2 := s.front, none, none
	if b0+1 <= n {
		b1 = b0 + 1
	}
	if b0+2 <= n {
		b2 = b0 + 2
	}
	s0w, s1w, s2w, b0w, b1w, b2w := s.low(s0), s.low(s1), s.low(s2), s.low(b0), s.low(b1), s.low(b2)
	s0t, s1t, s2t, b0t, b1t, b2t := s.tags[s0], s.tags[s1], s.tags[s2], s.tags[b0], s.tags[b1], s.tags[b2]
	s0p, s1p, s2p, b0p, b1p, b2p := s.coarse[s0], s.coarse[s1], s.coarse[s2], s.coarse[b0], s.coarse[b1], s.coarse[b2]
	s0l, s0r, s0l2, s0r2 := s.l1[s0], s.r1[s0], s.l2[s0], s.r2[s0]
	s1l, s1r, s1r2 := s.l1[s1], s.r1[s1], s.r2[s1]
	b0l, b0l2 := s.l1[b0], s.l2[b0]
	d0, d1 := distance(s0, b0, none), distance(s1, s0, none)
	s0v, s1v, b0v := few(s.ln[s0])<<2|few(s.rn[s0]), few(s.ln[s1])<<2|few(s.rn[s1]), few(s.ln[b0])
	s0set, s1set, b0set := set(s.labels[s0]), set(s.labels[s1]), set(s.labels[b0])
	var marks0, marks1 uint32
	if s0 <= n && b0 <= n {
		marks0 = few(s.commas[b0] - s.commas[s0])
	}
	if s1 <= n && s0 <= n {
		marks1 = few(s.commas[s0] - s.commas[s1])
	}
	return append(f,
		hash(100, s0t, b0t, s1t<<8|s.marked),
		hash(101, s0w, s0t, 0),
		hash(102, s0w, 0, 0),
		hash(103, s0t, 0, 0),
		hash(104, s1w, s1t, 0),
		hash(105, s1w, 0, 0),
		hash(106, s1t, 0, 0),
		hash(107, s2w, s2t, 0),
		hash(108, b0w, b0t, 0),
		hash(109, b0w, 0, 0),
		hash(110, b0t, 0, 0),
		hash(111, b1w, b1t, 0),
		hash(112, b1t, b0t, 0),
		hash(113, b2w, b2t, 0),
		// pairs
		hash(114, s0w, b0w, 0),
		hash(115, s0w, b0t, 0),
		hash(116, s0t, b0w, 0),
		hash(117, s0t, b0t, 0),
		hash(118, s0w, s0t, b0t),
		hash(119, s0t, b0w, b0t),
		hash(120, s1w, s0w, 0),
		hash(121, s1w, s0t, 0),
		hash(122, s1t, s0w, 0),
		hash(123, s1t, s0t, 0),
		hash(124, s1w, s1t, s0t),
		hash(125, s1t, s0w, s0t),
		hash(126, s1t, b0t, 0),
		hash(127, s1w, b0w, 0),
		hash(128, s0w, b1w, 0),
		hash(129, b0w, b1w, 0),
		// triples
		hash(130, b0p, b1p, b2p<<8|s0p),
		hash(131, s0t, b0t, b1t),
		hash(132, s1t, s0t, b0w),
		hash(133, s2p, s1p, s0p<<8|b0p),
		hash(134, s1t, s0w, b0t),
		hash(135, s1w, s0t, b0t),
		hash(136, s0w, b0t, b1t),
		hash(137, s0t, b0w, b1t),
		hash(138, s1t<<8|s0t, b0t, b1t),
		// children
		hash(140, s0t, s.tags[s0l], b0t),
		hash(141, s0t, s.tags[s0r], b0t),
		hash(142, s0t, s.tags[b0l], b0t),
		hash(143, s1t, s.tags[s1l], s0t),
		hash(144, s1t, s.tags[s1r], s0t),
		hash(145, s1t, s.tags[s0l], s0t),
		hash(146, s1t, s.tags[s0r], s0t),
		hash(147, s0t, s.low(s0l), b0t),
		hash(148, s1w, s.low(s0l), s0t),
		hash(149, s1t, s.low(s0l), s0w),
		hash(150, s1t, s.low(s0l), s0t),
		hash(151, s1t, s.low(s1r), s0t),
		hash(152, b0t, s.low(b0l), s0t),
		hash(153, b0w, s.low(b0l), s0t),
		hash(154, s0t, s.label(s0l)<<8|s.label(s0r), b0t),
		hash(155, s1t, s.label(s1l)<<8|s.label(s1r), s0t),
		hash(156, s0t, s.label(s0l2)<<8|s.label(s0r2), b0t),
		hash(157, s.label(s0l), s.label(s0l2), s0t),
		hash(158, s.label(s1r), s.label(s1r2), s1t),
		hash(159, s.label(b0l), s.label(b0l2), b0t),
		hash(160, s1t, s.low(s1r), s.low(s0l)),
		// sets of labels
		hash(161, s0set, s0t, b0t),
		hash(162, s1set, s1t, s0t),
		hash(163, b0set, b0t, s0t),
		hash(164, s0set, s0w, 0),
		hash(165, s1set, s1w, 0),
		hash(166, s1set, s0set, s1p<<8|s0p),
		hash(167, s0set, b0set, b0p<<8|s0p),
		// how far, how many
		hash(170, d0, s0t, b0t),
		hash(171, d1, s1t, s0t),
		hash(172, d0, s0w, 0),
		hash(173, d0, b0w, 0),
		hash(174, d1, s1w, 0),
		hash(175, s0v, s0t, 0),
		hash(176, s1v, s1t, 0),
		hash(177, b0v, b0t, 0),
		hash(178, s0v, s0w, 0),
		hash(179, s1v, s1w, 0),
		hash(180, marks0, s0t, b0t),
		hash(181, marks1, s1t, s0t),
		// words that were not seen
		hash(182, s.suffix(s0), s0t, b0t),
		hash(183, s.suffix(b0), b0t, s0t),
		hash(184, s.suffix(s1), s1t, s0t),
		hash(185, s0p, s.coarse[s0l]<<8|s.coarse[s0r], b0p<<8|s1p),
	)
}

func set(labels uint64) uint32 {
	return uint32(labels) ^ bits.RotateLeft32(uint32(labels>>32)*0x9E3779B1, 7)
}
