package greedy

// Tagger gives each word a tag, from left to right.
type Tagger struct {
	Weights Scorer
	Tags    int // how many there are
	scores  []int32
	buf     []uint32
}

// Tag writes the tag of each word into tags, which is as long as words.
func (t *Tagger) Tag(words []Word, tags []uint8) {
	for i := range words {
		tags[i] = uint8(t.Next(words, tags, i))
	}
}

// Next is the tag of word i, when those before it have theirs.
func (t *Tagger) Next(words []Word, tags []uint8, i int) int {
	features, scores := t.Look(words, tags, i)
	clear(scores)
	t.Weights.Add(features, scores)
	return best(scores, func(int) bool { return true })
}

// Look gives the features of word i, and room for its scores; both hold until
// the next call.
func (t *Tagger) Look(words []Word, tags []uint8, i int) ([]uint32, []int32) {
	if t.scores == nil {
		t.scores = make([]int32, t.Tags)
	}
	t.buf = tagFeatures(t.buf[:0], words, tags, i)
	return t.buf, t.scores
}

var noWord Word

func at(words []Word, i int) *Word {
	if i < 0 || i >= len(words) {
		return &noWord
	}
	return &words[i]
}

func tagFeatures(f []uint32, words []Word, tags []uint8, i int) []uint32 {
	w := &words[i]
	p, pp, n, nn := at(words, i-1), at(words, i-2), at(words, i+1), at(words, i+2)
	var t1, t2 uint32
	if i > 0 {
		t1 = uint32(tags[i-1]) + 1
	}
	if i > 1 {
		t2 = uint32(tags[i-2]) + 1
	}
	first := uint32(0)
	if i == 0 {
		first = 1
	}
	return append(f,
		hash(1, 0, 0, 0),
		hash(2, w.low, 0, 0),
		hash(3, p.low, 0, 0),
		hash(4, n.low, 0, 0),
		hash(5, pp.low, 0, 0),
		hash(6, nn.low, 0, 0),
		hash(7, w.suffix[0], w.shape, 0),
		hash(8, w.suffix[1], 0, 0),
		hash(9, w.suffix[2], 0, 0),
		hash(10, w.suffix[3], 0, 0),
		hash(11, w.prefix[0], 0, 0),
		hash(12, w.prefix[1], 0, 0),
		hash(13, w.prefix[2], 0, 0),
		hash(14, w.shape, first, 0),
		hash(15, w.shape, n.shape, p.shape),
		hash(16, t1, 0, 0),
		hash(17, t1, t2, 0),
		hash(18, t1, w.low, 0),
		hash(19, p.low, w.low, 0),
		hash(20, w.low, n.low, 0),
		hash(21, t1, n.low, 0),
		hash(22, w.suffix[2], p.low, 0),
		hash(23, w.suffix[2], n.low, 0),
		hash(24, w.suffix[2], t1, 0),
		hash(25, n.suffix[2], t1, 0),
		hash(26, n.suffix[2], w.suffix[2], 0),
		hash(27, p.suffix[2], w.suffix[2], 0),
		hash(28, t1, t2, w.low),
		hash(29, n.suffix[1], nn.suffix[1], t1),
		hash(30, p.low, n.low, 0),
		hash(31, w.low, w.shape, first),
		hash(32, w.lex, w.shape&0xff, 0),
		hash(33, w.lex, t1, n.lex),
		hash(34, w.lex, n.lex, nn.lex),
		hash(35, w.lex, p.lex, w.suffix[0]),
		hash(36, n.shape, t1, w.shape),
	)
}
