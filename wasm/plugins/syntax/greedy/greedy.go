// Package greedy cuts, tags and parses from left to right, one decision at a
// time, each the best by a linear model over hashed features. A tag is a part
// of speech of Universal Dependencies with a finer one of the treebank. The
// package knows no file and no language: weights come as a Scorer, what a word
// looks like as a Word.
package greedy

// Scorer knows the weights of a model.
type Scorer interface {
	// Add adds to scores, one of each class, what the features weigh.
	Add(features []uint32, scores []int32)
}

// hash mixes the number of a feature's template with what it holds.
func hash(template, a, b, c uint32) uint32 {
	h := uint64(template)*0x9E3779B97F4A7C15 + uint64(a)*0xC2B2AE3D27D4EB4F + uint64(b)*0x165667B19E3779F9 + uint64(c)*0xD6E8FEB86659FD93
	h ^= h >> 32
	h *= 0xD6E8FEB86659FD93
	return uint32(h >> 32)
}

// Text hashes letters: FNV-1a, of which 0 stands for none.
func Text(s string) uint32 {
	h := uint32(2166136261)
	for i := range len(s) {
		h = (h ^ uint32(s[i])) * 16777619
	}
	return h | 1
}

// best is the class of the highest score among those that are allowed.
func best(scores []int32, allowed func(int) bool) int {
	top := -1
	for c, s := range scores {
		if (top < 0 || s > scores[top]) && allowed(c) {
			top = c
		}
	}
	return top
}
